// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sections of a plan that describe work: launches with their parameters, copies, fills and switches.

#include "PlanParser.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::Twine;

namespace emmy::runtime {

static constexpr unsigned kMaxSwitchNesting = 16;
/// Bytes of kernel parameters that every CUDA driver accepts.
static constexpr unsigned kMaxParamBytes = 4096;

std::vector<Step> PlanParser::readSteps(const Array &list, unsigned nesting) {
  std::vector<Step> steps;
  if (nesting > kMaxSwitchNesting) {
    fail("switches are nested too deeply");
    return steps;
  }
  for (const auto &[i, value] : llvm::enumerate(list)) {
    Place place(*this, "[" + Twine(i) + "]");
    steps.push_back(readStep(asObject(value), nesting));
  }
  return steps;
}

Step PlanParser::readStep(const Object &object, unsigned nesting) {
  if (object.get("launch"))
    return {readLaunch(object)};
  if (object.get("copy"))
    return {readCopy(object)};
  if (object.get("fill"))
    return {readFill(object)};
  if (object.get("switch"))
    return {readSwitch(object, nesting)};
  fail("expected 'launch', 'copy', 'fill' or 'switch'");
  return {CopyStep()};
}

LaunchStep PlanParser::readLaunch(const Object &object) {
  LaunchStep launch;
  auto readShape = [&](llvm::StringRef key, std::array<uint32_t, 3> &shape) {
    const Value *value = object.get(key);
    if (!value)
      return;
    Place place(*this, "." + key);
    if (const Array *list = value->getAsArray()) {
      if (list->empty() || list->size() > 3)
        return fail("expected 1 to 3 integers");
      for (const auto &[i, entry] : llvm::enumerate(*list))
        shape[i] = asInteger(entry, 1, 1024);
    } else {
      shape[0] = asInteger(*value, 1, 1024);
    }
  };
  if (object.get("grid"))
    for (const auto &[i, expr] : llvm::enumerate(exprsAt(object, "grid", 3)))
      launch.grid[i] = expr;
  readShape("block", launch.block);
  readShape("cluster", launch.cluster);
  launch.sharedBytes = integerAt(object, "shared", 0, 1 << 20, 0);
  launch.dependent = object.getBoolean("pdl").value_or(false);
  launch.kernel = internKernel(object, launch);
  unsigned numMaps = 0;
  for (const auto &[i, value] : llvm::enumerate(arrayAt(object, "params"))) {
    Place place(*this, ".params[" + Twine(i) + "]");
    launch.params.push_back(readParam(asObject(value)));
    numMaps += launch.params.back().kind == ParamSpec::TensorMap;
  }
  if (!plan.isCpu() && numMaps * 128 + (launch.params.size() - numMaps) * 8 > kMaxParamBytes)
    fail("kernel parameters take more than " + Twine(kMaxParamBytes) + " bytes");
  if (numMaps > kMaxTensorMaps)
    fail("expected at most " + Twine(kMaxTensorMaps) + " tensor maps");
  plan.maxParams = std::max<unsigned>(plan.maxParams, launch.params.size());
  return launch;
}

unsigned PlanParser::internKernel(const Object &object, const LaunchStep &launch) {
  std::string symbol = stringAt(object, "launch");
  std::string module = object.getString("module").value_or(symbol).str();
  auto [entry, isNew] = kernelIds.try_emplace(module + '\0' + symbol, plan.kernels.size());
  if (isNew)
    plan.kernels.push_back({module, symbol});
  KernelRef &kernel = plan.kernels[entry->second];
  kernel.sharedBytes = std::max<int64_t>(kernel.sharedBytes, launch.sharedBytes);
  kernel.clusterSize =
      std::max<int64_t>(kernel.clusterSize, int64_t(launch.cluster[0]) * launch.cluster[1] * launch.cluster[2]);
  return entry->second;
}

ParamSpec PlanParser::readParam(const Object &object) {
  ParamSpec param;
  if (object.get("ptr")) {
    param.kind = ParamSpec::Pointer;
    param.buffer = bufferAt(object, "ptr");
    param.value = exprAt(object, "offset", 0);
  } else if (object.get("i32")) {
    param.value = exprAt(object, "i32");
  } else if (object.get("i64")) {
    param.kind = ParamSpec::I64;
    param.value = exprAt(object, "i64");
  } else if (const Value *value = object.get("f32")) {
    param.kind = ParamSpec::F32;
    readFloatParam(*value, param);
  } else if (const Value *value = object.get("f64")) {
    param.kind = ParamSpec::F64;
    readFloatParam(*value, param);
  } else if (const Value *value = object.get("tmap")) {
    Place place(*this, ".tmap");
    param.kind = ParamSpec::TensorMap;
    param.map = readTensorMap(asObject(*value));
  } else {
    fail("expected 'ptr', 'i32', 'i64', 'f32', 'f64' or 'tmap'");
  }
  return param;
}

/// A number, the spelling of one that JSON lacks ("inf", "-inf", "nan"), or {"arg": N}.
void PlanParser::readFloatParam(const Value &value, ParamSpec &param) {
  if (std::optional<double> number = value.getAsNumber()) {
    param.number = *number;
  } else if (std::optional<llvm::StringRef> text = value.getAsString()) {
    std::optional<double> special = llvm::StringSwitch<std::optional<double>>(*text)
                                        .Case("inf", HUGE_VAL)
                                        .Case("-inf", -HUGE_VAL)
                                        .Case("nan", __builtin_nan(""))
                                        .Default(std::nullopt);
    if (!special)
      fail("expected a number, but got '" + *text + "'");
    param.number = special.value_or(0);
  } else {
    int64_t arg = integerAt(asObject(value), "arg", 0, INT32_MAX);
    if (arg >= static_cast<int64_t>(plan.args.size()) || plan.args[arg].kind != ArgSpec::Float)
      fail("argument " + Twine(arg) + " is not an f64 scalar");
    param.scalarArg = arg;
  }
}

unsigned PlanParser::readTensorMap(const Object &object) {
  if (plan.isCpu())
    fail("a plan for the CPU cannot have tensor maps");
  TensorMapSpec map;
  map.buffer = bufferAt(object, "buffer");
  map.offset = exprAt(object, "offset", 0);
  map.dtype = dtypeAt(object);
  map.sizes = exprsAt(object, "sizes", 5);
  map.strides = exprsAt(object, "strides", 4);
  for (const auto &[i, value] : llvm::enumerate(arrayAt(object, "box"))) {
    Place place(*this, ".box[" + Twine(i) + "]");
    map.box.push_back(asInteger(value, 1, 256));
  }
  if (map.sizes.empty() || map.strides.size() + 1 != map.sizes.size() || map.box.size() != map.sizes.size())
    fail("expected one box entry per size and one stride less");
  std::reverse(map.sizes.begin(), map.sizes.end());
  std::reverse(map.strides.begin(), map.strides.end());
  std::reverse(map.box.begin(), map.box.end());
  auto readCode = [&](llvm::StringRef key, std::initializer_list<int64_t> values) -> uint32_t {
    int64_t value = integerAt(object, key, 0, 256, 0);
    const int64_t *found = llvm::find(values, value);
    if (found == values.end())
      fail("'" + key + "' cannot be " + Twine(value));
    return found - values.begin();
  };
  map.swizzle = readCode("swizzle", {0, 32, 64, 128});
  map.l2Promotion = readCode("l2_promotion", {0, 64, 128, 256});
  plan.tensorMaps.push_back(std::move(map));
  return plan.tensorMaps.size() - 1;
}

CopyStep PlanParser::readCopy(const Object &object) {
  CopyStep copy;
  const Array &pair = arrayAt(object, "copy");
  if (pair.size() != 2) {
    fail("expected 'copy' to be [target, source]");
    return copy;
  }
  copy.target = asBuffer(pair[0]);
  copy.source = asBuffer(pair[1]);
  return copy;
}

FillStep PlanParser::readFill(const Object &object) {
  FillStep fill;
  fill.buffer = bufferAt(object, "fill");
  fill.value = integerAt(object, "value", 0, 255, 0);
  fill.offset = exprAt(object, "offset", 0);
  // -1 stands for the whole buffer.
  fill.bytes = exprAt(object, "bytes", -1);
  return fill;
}

SwitchStep PlanParser::readSwitch(const Object &object, unsigned nesting) {
  SwitchStep result;
  const Array &cases = arrayAt(object, "switch");
  for (const auto &[i, value] : llvm::enumerate(cases)) {
    Place place(*this, ".switch[" + Twine(i) + "]");
    const Object &entry = asObject(value);
    SwitchStep::Case branch;
    scope.addresses = true;
    branch.when = exprAt(entry, "when", 1);
    scope.addresses = false;
    if (!entry.get("when") && i + 1 != cases.size())
      fail("only the last case may lack 'when'");
    Place steps(*this, ".steps");
    branch.steps = readSteps(arrayAt(entry, "steps"), nesting + 1);
    result.cases.push_back(std::move(branch));
  }
  return result;
}

} // namespace emmy::runtime
