// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads scenarios: what a launch of the host program would bind, from attributes.
#include "Scenario.h"
#include "Machine.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;

/// Values of the symbols s0, s1, ….
using Symbols = SmallVector<AffineExpr>;

static FailureOr<int64_t> evaluate(Operation *op, AffineExpr expr, const Symbols &symbols) {
  // Expressions of constants fold as they are built.
  if (auto constant = dyn_cast<AffineConstantExpr>(expr.replaceSymbols(symbols)))
    return constant.getValue();
  std::string text;
  llvm::raw_string_ostream os(text);
  printExpr(os, expr);
  return op->emitOpError("expects emmy.simulate to give the symbols of ") << text;
}

static FailureOr<std::vector<int64_t>> evaluate(Operation *op, ArrayRef<AffineExpr> exprs, const Symbols &symbols) {
  std::vector<int64_t> values;
  for (AffineExpr expr : exprs) {
    FailureOr<int64_t> value = evaluate(op, expr, symbols);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return values;
}

static FailureOr<Parameter> bind(tile::KernelOp kernel, unsigned index, ArrayRef<int64_t> operands, const Symbols &symbols) {
  Attribute binding = kernel.getBinding(index);
  const auto buffer = [&](int64_t operand) -> FailureOr<size_t> {
    if (operand < 0 || operand >= static_cast<int64_t>(operands.size()))
      return kernel.emitOpError("expects argument #") << index << " to be bound to one of " << operands.size() << " buffers";
    return static_cast<size_t>(operands[operand]);
  };
  if (auto pointer = dyn_cast_or_null<BindPointerAttr>(binding)) {
    FailureOr<size_t> at = buffer(pointer.getOperand());
    return failed(at) ? FailureOr<Parameter>(failure()) : FailureOr<Parameter>(PointerParameter{*at, 0});
  }
  if (auto size = dyn_cast_or_null<BindSizeAttr>(binding)) {
    FailureOr<int64_t> value = evaluate(kernel, size.getSize(), symbols);
    return failed(value) ? FailureOr<Parameter>(failure()) : FailureOr<Parameter>(Parameter(*value));
  }
  if (auto tma = dyn_cast_or_null<BindTmaAttr>(binding)) {
    FailureOr<size_t> at = buffer(tma.getOperand());
    FailureOr<std::vector<int64_t>> sizes = evaluate(kernel, tma.getSizes(), symbols), strides = evaluate(kernel, tma.getStrides(), symbols);
    FailureOr<int64_t> offset = evaluate(kernel, tma.getOffset(), symbols);
    if (failed(at) || failed(sizes) || failed(strides) || failed(offset))
      return failure();
    return Parameter(TensorMapParameter{*at, *offset, *sizes, *strides});
  }
  if (auto real = dyn_cast_or_null<FloatAttr>(binding))
    return Parameter(real.getValueAsDouble());
  return kernel.emitOpError("expects argument #") << index << " to carry a binding";
}

static FailureOr<Launch> makeLaunch(tile::KernelOp kernel, ArrayRef<int64_t> operands, const Symbols &symbols) {
  Launch launch;
  launch.kernel = kernel;
  for (unsigned i = 0; i < kernel.getBody().getNumArguments(); ++i) {
    FailureOr<Parameter> parameter = bind(kernel, i, operands, symbols);
    if (failed(parameter))
      return failure();
    launch.parameters.push_back(*parameter);
  }
  FailureOr<std::vector<int64_t>> grid = evaluate(kernel, kernel.getGrid().getSizes(), symbols);
  if (failed(grid))
    return failure();
  std::copy(grid->begin(), grid->end(), launch.grid);
  return launch;
}

/// More would be a slip of the pen: the simulator is slow, and keeps a record for every byte.
static constexpr int64_t maxElements = 1 << 26;

static FailureOr<ScenarioBuffer> parseBuffer(Operation *op, Attribute attr) {
  ScenarioBuffer buffer;
  auto dict = dyn_cast<DictionaryAttr>(attr);
  auto type = dict ? dict.getAs<TypeAttr>("type") : TypeAttr();
  buffer.type = type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  std::optional<Format> format = buffer.type ? formatOf(buffer.type.getElementType()) : std::nullopt;
  if (!buffer.type || !buffer.type.hasStaticShape() || !format)
    return op->emitOpError("expects buffers {type = tensor<…>, fill = …, expect = …}, but got ") << attr;
  buffer.format = *format;
  double elements = 1; // a product of sizes may not fit in an integer
  for (int64_t size : buffer.type.getShape())
    elements *= static_cast<double>(size);
  if (elements > static_cast<double>(maxElements))
    return op->emitOpError("expects buffers of at most ") << maxElements << " elements, but got " << buffer.type;
  // A slip in a name would silently check nothing.
  for (NamedAttribute entry : dict)
    if (!llvm::is_contained({"type", "fill", "expect", "dump"}, entry.getName()))
      return op->emitOpError("expects buffers with type, fill, expect and dump, but got ") << entry.getName();
  if (auto fill = dict.getAs<StringAttr>("fill")) {
    buffer.fill = fill.str();
    auto [kind, seed] = fill.getValue().split(' ');
    uint64_t number;
    bool isRandom = kind == "random" && !seed.getAsInteger(10, number);
    if (!isRandom && fill != "zero" && fill != "iota")
      return op->emitOpError("expects a fill of zero, iota or random SEED, but got ") << fill;
  }
  if (auto expect = dict.getAs<StringAttr>("expect")) {
    buffer.expect = expect.str();
    if (buffer.expect.empty())
      return op->emitOpError("expects the name of a reference, but got ") << expect;
  }
  buffer.dump = dict.contains("dump");
  return buffer;
}

static LogicalResult addLaunches(Scenario &scenario, DictionaryAttr attr, const Symbols &symbols) {
  if (auto kernel = dyn_cast<tile::KernelOp>(scenario.op)) {
    FailureOr<Launch> launch = makeLaunch(kernel, llvm::to_vector(llvm::seq<int64_t>(0, scenario.buffers.size())), symbols);
    if (succeeded(launch))
      scenario.launches.push_back(*launch);
    return launch;
  }
  auto launches = attr.getAs<ArrayAttr>("launches");
  if (!launches)
    return scenario.op->emitOpError("expects emmy.simulate of a module to list its launches");
  for (Attribute entry : launches) {
    auto dict = dyn_cast<DictionaryAttr>(entry);
    auto name = dict ? dict.getAs<FlatSymbolRefAttr>("kernel") : FlatSymbolRefAttr();
    auto operands = dict ? dict.getAs<DenseI64ArrayAttr>("operands") : DenseI64ArrayAttr();
    auto kernel = name ? SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(scenario.op, name) : tile::KernelOp();
    if (!kernel || !operands)
      return scenario.op->emitOpError("expects launches {kernel = @name, operands = array<i64: …>}, but got ") << entry;
    for (int64_t operand : operands.asArrayRef())
      if (operand < 0 || operand >= static_cast<int64_t>(scenario.buffers.size()))
        return scenario.op->emitOpError("expects operands to be numbers of ") << scenario.buffers.size() << " buffers, but got " << operand;
    FailureOr<Launch> launch = makeLaunch(kernel, operands.asArrayRef(), symbols);
    if (failed(launch))
      return failure();
    scenario.launches.push_back(*launch);
  }
  return success();
}

FailureOr<Scenario> simulator::parseScenario(Operation *op, DictionaryAttr attr) {
  Scenario scenario;
  scenario.op = op;
  Symbols symbols;
  if (auto values = attr.getAs<DenseI64ArrayAttr>("symbols"))
    for (int64_t value : values.asArrayRef())
      symbols.push_back(getAffineConstantExpr(value, op->getContext()));
  if (auto buffers = attr.getAs<ArrayAttr>("buffers"))
    for (Attribute entry : buffers) {
      FailureOr<ScenarioBuffer> buffer = parseBuffer(op, entry);
      if (failed(buffer))
        return failure();
      scenario.buffers.push_back(*buffer);
    }
  if (failed(addLaunches(scenario, attr, symbols)))
    return failure();
  return scenario;
}
