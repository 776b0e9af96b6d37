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
  return headerError(op) << "expects emmy.simulate to give the symbols of " << text;
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

/// The same bytes: tf32 is what the tensor cores make of f32, and a bool is a byte in memory.
static bool areAlike(Type a, Type b) {
  const auto stored = [](Type type) -> Type {
    if (type.isTF32())
      return Float32Type::get(type.getContext());
    return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : type;
  };
  return stored(a) == stored(b);
}

/// What a launch binds: numbers of the scenario's buffers, and the values of symbols.
struct Binding {
  ArrayRef<ScenarioBuffer> buffers;
  ArrayRef<int64_t> operands;
  const Symbols &symbols;
};

static FailureOr<Parameter> bind(tile::KernelOp kernel, unsigned index, const Binding &given) {
  const auto &[buffers, operands, symbols] = given;
  Attribute binding = kernel.getBinding(index);
  const auto buffer = [&](int64_t operand) -> FailureOr<size_t> {
    if (operand < 0 || operand >= static_cast<int64_t>(operands.size()))
      return headerError(kernel) << "expects argument #" << index << " to be bound to one of " << operands.size() << " buffers";
    const size_t number = operands[operand];
    Type argument = kernel.getBody().getArgument(index).getType(), element = buffers[number].type.getElementType();
    auto pointer = dyn_cast<tile::PtrType>(argument);
    auto map = dyn_cast<tile::TmapType>(argument);
    if ((pointer || map) && !areAlike(pointer ? pointer.getElementType() : map.getElementType(), element))
      return headerError(kernel) << "expects buffer #" << number << " to hold what argument #" << index << " of type " << argument
                                 << " points to, but got " << buffers[number].type;
    return number;
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
  return headerError(kernel) << "expects argument #" << index << " to carry a binding";
}

static FailureOr<Launch> makeLaunch(tile::KernelOp kernel, const Binding &given) {
  Launch launch;
  launch.kernel = kernel;
  for (unsigned i = 0; i < kernel.getBody().getNumArguments(); ++i) {
    FailureOr<Parameter> parameter = bind(kernel, i, given);
    if (failed(parameter))
      return failure();
    launch.parameters.push_back(*parameter);
  }
  FailureOr<std::vector<int64_t>> grid = evaluate(kernel, kernel.getGrid().getSizes(), given.symbols);
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
    return headerError(op) << "expects buffers {type = tensor<…>, fill = …, expect = …}, but got " << attr;
  buffer.format = *format;
  double elements = 1; // a product of sizes may not fit in an integer
  for (int64_t size : buffer.type.getShape())
    elements *= static_cast<double>(size);
  if (elements > static_cast<double>(maxElements))
    return headerError(op) << "expects buffers of at most " << maxElements << " elements, but got " << buffer.type;
  // A slip in a name would silently check nothing.
  for (NamedAttribute entry : dict)
    if (!llvm::is_contained({"type", "fill", "expect", "dump"}, entry.getName()))
      return headerError(op) << "expects buffers with type, fill, expect and dump, but got " << entry.getName();
  for (StringRef key : {"fill", "expect"})
    if (Attribute value = dict.get(key); value && !isa<StringAttr>(value))
      return headerError(op) << "expects " << key << " to be a string, but got " << value;
  if (auto fill = dict.getAs<StringAttr>("fill")) {
    buffer.fill = fill.str();
    auto [kind, seed] = fill.getValue().split(' ');
    uint64_t number;
    bool isRandom = kind == "random" && !seed.getAsInteger(10, number);
    if (!isRandom && fill != "zero" && fill != "iota")
      return headerError(op) << "expects a fill of zero, iota or random SEED, but got " << fill;
  }
  if (auto expect = dict.getAs<StringAttr>("expect")) {
    buffer.expect = expect.str();
    if (buffer.expect.empty())
      return headerError(op) << "expects the name of a reference, but got " << expect;
  }
  buffer.dump = dict.contains("dump");
  return buffer;
}

static LogicalResult addLaunches(Scenario &scenario, DictionaryAttr attr, const Symbols &symbols) {
  if (auto kernel = dyn_cast<tile::KernelOp>(scenario.op)) {
    const auto all = llvm::to_vector(llvm::seq<int64_t>(0, scenario.buffers.size()));
    FailureOr<Launch> launch = makeLaunch(kernel, {scenario.buffers, all, symbols});
    if (succeeded(launch))
      scenario.launches.push_back(*launch);
    return launch;
  }
  auto launches = attr.getAs<ArrayAttr>("launches");
  if (!launches || launches.empty())
    return headerError(scenario.op) << "expects emmy.simulate of a module to list its launches";
  for (Attribute entry : launches) {
    auto dict = dyn_cast<DictionaryAttr>(entry);
    auto name = dict ? dict.getAs<FlatSymbolRefAttr>("kernel") : FlatSymbolRefAttr();
    auto operands = dict ? dict.getAs<DenseI64ArrayAttr>("operands") : DenseI64ArrayAttr();
    auto kernel = name ? SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(scenario.op, name) : tile::KernelOp();
    if (!kernel || !operands)
      return headerError(scenario.op) << "expects launches {kernel = @name, operands = array<i64: …>}, but got " << entry;
    for (int64_t operand : operands.asArrayRef())
      if (operand < 0 || operand >= static_cast<int64_t>(scenario.buffers.size()))
        return headerError(scenario.op) << "expects operands to be numbers of " << scenario.buffers.size() << " buffers, but got " << operand;
    FailureOr<Launch> launch = makeLaunch(kernel, {scenario.buffers, operands.asArrayRef(), symbols});
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
  const bool isKernel = isa<tile::KernelOp>(op);
  for (NamedAttribute entry : attr) {
    const StringRef name = entry.getName();
    const bool fits = name == "symbols" ? isa<DenseI64ArrayAttr>(entry.getValue())
                                        : (name == "buffers" || (name == "launches" && !isKernel)) && isa<ArrayAttr>(entry.getValue());
    if (!fits)
      return headerError(op) << "expects emmy.simulate to hold symbols = array<i64: …>, buffers = […]" << (isKernel ? "" : ", launches = […]")
                             << ", but got " << entry.getName() << " = " << entry.getValue();
  }
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
