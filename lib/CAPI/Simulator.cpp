// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The simulator behind a C function: steps come as JSON with every expression already evaluated.
#include "emmy-c/Emmy.h"
#include "emmy/Simulator/Simulator.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace emmy::simulator;
namespace json = llvm::json;

static std::vector<int64_t> integers(const json::Object &object, StringRef key) {
  std::vector<int64_t> values;
  if (const json::Array *array = object.getArray(key))
    for (const json::Value &value : *array)
      values.push_back(value.getAsInteger().value_or(0));
  return values;
}

/// Numbers that no 64-bit integer holds would silently be read as zero.
static bool hasOnlyIntegers(const json::Value &value) {
  if (const json::Array *array = value.getAsArray())
    return llvm::all_of(*array, hasOnlyIntegers);
  if (const json::Object *object = value.getAsObject())
    return llvm::all_of(*object, [](const auto &entry) { return hasOnlyIntegers(entry.second); });
  return value.kind() != json::Value::Number || value.getAsInteger();
}

static int64_t integer(const json::Object &object, StringRef key) { return object.getInteger(key).value_or(0); }

/// One of {"int": n}, {"float": text}, {"ptr": buffer, "offset": bytes}, {"tmap": {buffer, offset, sizes, strides}}.
static Parameter readParameter(const json::Object &object) {
  if (const json::Object *map = object.getObject("tmap"))
    return TensorMapParameter{static_cast<size_t>(integer(*map, "buffer")), integer(*map, "offset"), integers(*map, "sizes"),
                              integers(*map, "strides")};
  if (object.get("ptr"))
    return PointerParameter{static_cast<size_t>(integer(object, "ptr")), integer(object, "offset")};
  if (std::optional<StringRef> text = object.getString("float")) {
    double value = 0;
    (void)text->getAsDouble(value);
    return value;
  }
  return integer(object, "int");
}

static FailureOr<Step> readStep(ModuleOp module, const json::Object &object) {
  if (object.get("target")) {
    MemoryStep step{static_cast<size_t>(integer(object, "target")), std::nullopt, integer(object, "offset"), integer(object, "bytes"),
                    static_cast<uint8_t>(integer(object, "value"))};
    if (object.get("source"))
      step.source = integer(object, "source");
    return Step(step);
  }
  Launch launch;
  StringRef name = object.getString("kernel").value_or("");
  launch.kernel = module.lookupSymbol<emmy::tile::KernelOp>(name);
  if (!launch.kernel)
    return emitError(module.getLoc()) << "has no emmy_tile kernel '" << name << "'";
  std::vector<int64_t> grid = integers(object, "grid");
  std::copy_n(grid.begin(), std::min<size_t>(grid.size(), 3), launch.grid);
  if (const json::Array *parameters = object.getArray("params"))
    for (const json::Value &parameter : *parameters)
      if (const json::Object *entry = parameter.getAsObject())
        launch.parameters.push_back(readParameter(*entry));
  return Step(std::move(launch));
}

static FailureOr<Summary> run(ModuleOp module, const json::Object &root, MutableArrayRef<Buffer> buffers, const Options &options) {
  if (const json::Array *list = root.getArray("buffers"))
    for (auto [buffer, value] : llvm::zip(buffers, *list))
      if (const json::Object *object = value.getAsObject()) {
        buffer.name = object->getString("name").value_or("a buffer").str();
        buffer.initialized = object->getBoolean("initialized").value_or(true);
        buffer.writable = object->getBoolean("writable").value_or(true);
      }
  std::vector<Step> steps;
  if (const json::Array *list = root.getArray("steps"))
    for (const json::Value &value : *list) {
      FailureOr<Step> step = value.getAsObject() ? readStep(module, *value.getAsObject()) : FailureOr<Step>(failure());
      if (failed(step))
        return failure();
      steps.push_back(std::move(*step));
    }
  return simulate(module, steps, buffers, options);
}

/// {"launches", "programs", "steps", "unwritten": [[[first, last], …] for each buffer]}
static std::string describe(const Summary &summary, ArrayRef<Buffer> buffers) {
  json::Array unwritten;
  for (const Buffer &buffer : buffers) {
    json::Array ranges;
    for (auto [first, last] : buffer.unwritten)
      ranges.push_back(json::Array{first, last});
    unwritten.push_back(std::move(ranges));
  }
  return llvm::formatv("{0}", json::Value(json::Object{{"launches", summary.launches},
                                                       {"programs", summary.programs},
                                                       {"steps", static_cast<int64_t>(summary.steps)},
                                                       {"unwritten", std::move(unwritten)}}));
}

bool emmySimulate(MlirModule module, MlirStringRef steps, void *const *data, const int64_t *sizes, intptr_t count, uint64_t seed,
                  MlirStringRef schedule, MlirStringCallback output, void *userData) {
  std::vector<Buffer> buffers(count);
  for (intptr_t i = 0; i < count; ++i)
    buffers[i].bytes = {static_cast<uint8_t *>(data[i]), static_cast<size_t>(sizes[i])};
  std::string text;
  llvm::raw_string_ostream os(text);
  const auto collect = [&os](Diagnostic &diagnostic) {
    os << diagnostic.getLocation() << ": " << diagnostic << '\n';
    for (Diagnostic &note : diagnostic.getNotes())
      os << note.getLocation() << ": note: " << note << '\n';
    return success();
  };
  ScopedDiagnosticHandler handler(unwrap(module).getContext(), collect);
  llvm::Expected<json::Value> root = json::parse(unwrap(steps));
  if (!root)
    os << llvm::toString(root.takeError());
  Options options;
  options.seed = seed;
  options.schedule = unwrap(schedule).str();
  FailureOr<Summary> summary = failure();
  if (root && !hasOnlyIntegers(*root))
    os << "a size, offset or argument does not fit 64 bits";
  else if (root && root->getAsObject())
    summary = run(unwrap(module), *root->getAsObject(), buffers, options);
  if (succeeded(summary))
    text = describe(*summary, buffers);
  output(wrap(StringRef(text)), userData);
  return succeeded(summary);
}
