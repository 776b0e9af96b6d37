// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Follows a summand back through maps: products and quotients give factors, exponentials give rescaling, a squared distance from a
// mean gives Welford's update; anything else that depends on a reduction before it ends the analysis.
#include "StreamAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace emmy::fuse {

bool variesOver(Value value, StringAttr axis) {
  auto type = dyn_cast<ValueType>(value.getType());
  return type && type.hasAxis(axis);
}

bool Stream::hasContraction() const {
  return llvm::any_of(reductions, [](const StreamedReduction &r) { return isa<ContractOp>(r.op); });
}

static bool reducesAlong(Operation &op, StringAttr axis) {
  auto over = isa<ReduceOp, ContractOp>(op) ? op.getAttrOfType<ArrayAttr>("over") : ArrayAttr();
  return over && over.size() == 1 && over[0] == axis;
}

namespace {
class Analysis {
public:
  Analysis(KernelOp kernel, StringAttr axis) : axis(axis), size(kernel.getAxis(axis).getSize()) {
    stream.axis = axis;
    for (Operation &op : kernel.getBody().front()) {
      bool inherits = llvm::any_of(op.getOperands(), [&](Value operand) { return stream.dependent.contains(operand); });
      bool reduces = reducesAlong(op, axis);
      if (reduces)
        stream.reductions.push_back({&op, {}, {}});
      if (op.getNumResults() && (reduces || inherits))
        stream.dependent.insert(op.getResult(0));
      if (isa<ContractOp>(op) || llvm::any_of(op.getOperands(), [&](Value v) { return onContraction.contains(v); }))
        onContraction.insert(op.getResults().begin(), op.getResults().end());
      if (isa<FoldOp>(op))
        stream.whyNot = "the kernel is folded already";
    }
  }

  Stream run() {
    for (StreamedReduction &reduction : stream.reductions) {
      current = &reduction;
      roundsToHalf = false;
      for (Value operand : reduction.op->getOperands()) {
        stream.isChain |= stream.dependent.contains(operand) || (isa<ContractOp>(reduction.op) && onContraction.contains(operand));
        if (!stream.dependent.contains(operand))
          continue;
        auto reduce = dyn_cast<ReduceOp>(reduction.op);
        if (reduce && reduce.getKind() != Combiner::add)
          return fail("an extremum of values that depend on another reduction along the axis");
        if (!followValue(operand) && !matchWelford(reduction))
          return fail("a sum depends on another reduction otherwise than by a factor, an exponent or a mean");
      }
      if (roundsToHalf && !reduction.factors.empty() && reduction.exponents.empty())
        return fail("without its factor a term may leave the range of f16");
    }
    for (const StreamedReduction &reduction : stream.reductions)
      for (const Exponent &exponent : reduction.exponents)
        for (unsigned i : collectArguments(exponent.scalar))
          if (MapOp map = exponent.map; !runsAlong(map.getInputs()[i]))
            return fail("an exponent depends on a result that is only known after the stream");
    return stream;
  }

private:
  Stream fail(StringRef why) {
    if (stream.whyNot.empty())
      stream.whyNot = why.str();
    return stream;
  }
  bool runsAlong(Value value);
  bool isMeanScale(MapOp map, Value scalar, bool divides);
  bool followValue(Value value);
  bool follow(MapOp map, Value scalar);
  bool followExponent(MapOp map, Value scalar, double coefficient);
  bool matchWelford(StreamedReduction &reduction);

  /// A scalar of `map`'s region depends on a reduction along the axis.
  bool depends(MapOp map, Value scalar);
  /// A scalar of `map`'s region varies over the axis.
  bool varies(MapOp map, Value scalar);
  bool anyLeaf(MapOp map, Value scalar, function_ref<bool(Value)> test);

  StringAttr axis;
  AffineExpr size;
  Stream stream;
  bool roundsToHalf = false; // a term of the current reduction is rounded to f16, whose range a factor may be keeping
  StreamedReduction *current = nullptr;
  llvm::DenseSet<Value> onContraction;
};
} // namespace

llvm::SetVector<unsigned> collectArguments(Value scalar) {
  llvm::SetVector<unsigned> arguments;
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    arguments.insert(argument.getArgNumber());
  else
    for (Value operand : scalar.getDefiningOp()->getOperands())
      arguments.insert_range(collectArguments(operand));
  return arguments;
}

/// Tests the map's operands that a scalar is computed from.
bool Analysis::anyLeaf(MapOp map, Value scalar, function_ref<bool(Value)> test) {
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return argument.getOwner() == &map.getBody().front() && test(map.getInputs()[argument.getArgNumber()]);
  return llvm::any_of(scalar.getDefiningOp()->getOperands(), [&](Value operand) { return anyLeaf(map, operand, test); });
}

bool Analysis::depends(MapOp map, Value scalar) {
  return anyLeaf(map, scalar, [&](Value value) { return stream.dependent.contains(value); });
}

bool Analysis::varies(MapOp map, Value scalar) {
  return anyLeaf(map, scalar, [&](Value value) { return variesOver(value, axis); });
}

/// Whether a value that does not vary over the axis can be had from the reductions' running values.
bool Analysis::runsAlong(Value value) {
  if (!stream.dependent.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  for (const StreamedReduction &reduction : stream.reductions)
    if (reduction.op == op)
      return reduction.factors.empty() && !reduction.meanOf;
  return isa_and_nonnull<MapOp>(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return runsAlong(operand); });
}

bool Analysis::followValue(Value value) {
  if (!stream.dependent.contains(value))
    return true;
  auto map = value.getDefiningOp<MapOp>();
  return map && variesOver(value, axis) && follow(map, map.getBody().front().getTerminator()->getOperand(0));
}

static void addOnce(SmallVectorImpl<Factor> &factors, Factor factor) {
  if (!llvm::is_contained(factors, factor))
    factors.push_back(factor);
}

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

/// Whether the term `scalar` is homogeneous in every reduction that it depends on.
bool Analysis::follow(MapOp map, Value scalar) {
  if (!depends(map, scalar))
    return true;
  if (!varies(map, scalar))
    return false; // not a product with something along the axis
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return followValue(map.getInputs()[argument.getArgNumber()]);
  Operation *op = scalar.getDefiningOp();
  roundsToHalf |= isa<arith::TruncFOp>(op) && op->getResult(0).getType().isF16();
  if (isa<arith::TruncFOp, arith::ExtFOp, arith::NegFOp>(op))
    return follow(map, op->getOperand(0));
  if (isa<arith::MulFOp, arith::DivFOp>(op)) {
    bool divides = isa<arith::DivFOp>(op);
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    if (depends(map, rhs) && !varies(map, rhs)) {
      addOnce(current->factors, {rhs, map, divides});
      stream.dropped[op] = lhs;
      return follow(map, lhs);
    }
    if (divides)
      return !depends(map, rhs) && follow(map, lhs);
    if (depends(map, lhs) && !varies(map, lhs)) {
      addOnce(current->factors, {lhs, map, false});
      stream.dropped[op] = rhs;
      return follow(map, rhs);
    }
    return follow(map, lhs) && follow(map, rhs);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) { // a term or nothing
    if (depends(map, select.getCondition()))
      return false;
    if (isZero(select.getFalseValue()))
      return follow(map, select.getTrueValue());
    return isZero(select.getTrueValue()) && follow(map, select.getFalseValue());
  }
  if (isa<math::ExpOp>(op))
    return followExponent(map, op->getOperand(0), 1);
  return false;
}

/// Whether an exponent is linear in what it takes from reductions.
bool Analysis::followExponent(MapOp map, Value scalar, double coefficient) {
  if (!depends(map, scalar))
    return true;
  if (!varies(map, scalar)) {
    Exponent exponent{scalar, map, coefficient};
    if (!llvm::is_contained(current->exponents, exponent))
      current->exponents.push_back(exponent);
    return isa<FloatType>(scalar.getType());
  }
  if (auto argument = dyn_cast<BlockArgument>(scalar)) { // the difference may be a map of its own
    auto inner = map.getInputs()[argument.getArgNumber()].getDefiningOp<MapOp>();
    return inner && followExponent(inner, inner.getBody().front().getTerminator()->getOperand(0), coefficient);
  }
  Operation *op = scalar.getDefiningOp();
  if (isa<arith::ExtFOp>(op))
    return followExponent(map, op->getOperand(0), coefficient);
  if (isa<arith::NegFOp>(op))
    return followExponent(map, op->getOperand(0), -coefficient);
  if (isa<arith::AddFOp>(op))
    return followExponent(map, op->getOperand(0), coefficient) && followExponent(map, op->getOperand(1), coefficient);
  if (isa<arith::SubFOp>(op))
    return followExponent(map, op->getOperand(0), coefficient) && followExponent(map, op->getOperand(1), -coefficient);
  FloatAttr constant;
  if (isa<arith::MulFOp>(op) && matchPattern(op->getOperand(1), m_Constant(&constant)))
    return followExponent(map, op->getOperand(0), coefficient * constant.getValueAsDouble());
  return false;
}

/// The value of the kernel that a scalar is, up to an extension.
static Value asValue(MapOp map, Value scalar) {
  while (auto extend = scalar.getDefiningOp<arith::ExtFOp>())
    scalar = extend.getIn();
  auto argument = dyn_cast<BlockArgument>(scalar);
  return argument && argument.getOwner() == &map.getBody().front() ? map.getInputs()[argument.getArgNumber()] : Value();
}

/// What a value is before maps that only extend it.
static Value skipExtensions(Value value) {
  while (auto map = value.getDefiningOp<MapOp>()) {
    Value source = map.getInputs().size() == 1 ? asValue(map, map.getBody().front().getTerminator()->getOperand(0)) : Value();
    if (!source)
      break;
    value = source;
  }
  return value;
}

/// Whether a scalar is the number of elements along the axis, or with `divides` false its inverse.
bool Analysis::isMeanScale(MapOp map, Value scalar, bool divides) {
  FloatAttr constant;
  auto known = dyn_cast<AffineConstantExpr>(size);
  if (matchPattern(scalar, m_Constant(&constant))) {
    double value = constant.getValueAsDouble(), count = known ? known.getValue() : 0;
    return known && std::abs(divides ? value / count - 1 : value * count - 1) < 1e-6;
  }
  if (!divides)
    return false;
  if (Value value = asValue(map, scalar)) { // the conversion may be a map of its own
    auto inner = value.getDefiningOp<MapOp>();
    return inner && isMeanScale(inner, inner.getBody().front().getTerminator()->getOperand(0), divides);
  }
  auto convert = scalar.getDefiningOp<arith::SIToFPOp>();
  Value value = convert ? asValue(map, convert.getIn()) : Value();
  auto index = value ? value.getDefiningOp<IndexOp>() : IndexOp();
  return index && index.getMap().getResult(0) == size;
}

/// Σ (x - mean)², the mean being Σ x times a number.
bool Analysis::matchWelford(StreamedReduction &reduction) {
  auto reduce = dyn_cast<ReduceOp>(reduction.op);
  auto map = reduce ? reduce.getInput().getDefiningOp<MapOp>() : MapOp();
  if (!map)
    return false;
  auto square = map.getBody().front().getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!square)
    return false;
  // x - mean, here or in a map of its own.
  MapOp at = map;
  Value distance = square.getLhs();
  bool squared = square.getLhs() == square.getRhs();
  if (Value value = asValue(map, distance); squared && value)
    if (auto inner = value.getDefiningOp<MapOp>()) {
      at = inner;
      distance = inner.getBody().front().getTerminator()->getOperand(0);
    }
  auto difference = distance.getDefiningOp<arith::SubFOp>();
  if (!squared || !difference)
    return false;
  Value x = asValue(at, difference.getLhs()), mean = asValue(at, difference.getRhs());
  if (!x || !mean || stream.dependent.contains(x) || variesOver(mean, axis))
    return false;
  auto scale = mean.getDefiningOp<MapOp>();
  Operation *scaling = scale ? scale.getBody().front().getTerminator()->getOperand(0).getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(scaling) ||
      !isMeanScale(scale, scaling->getOperand(1), isa<arith::DivFOp>(scaling)))
    return false;
  Value total = asValue(scale, scaling->getOperand(0));
  auto sum = total ? total.getDefiningOp<ReduceOp>() : ReduceOp();
  if (!sum || sum.getKind() != Combiner::add || !reducesAlong(*sum, axis) || skipExtensions(sum.getInput()) != skipExtensions(x))
    return false;
  reduction.meanOf = sum;
  reduction.samples = x;
  reduction.factors.clear();
  reduction.exponents.clear();
  return true;
}

Stream analyseStream(KernelOp kernel, StringAttr axis) { return Analysis(kernel, axis).run(); }

} // namespace emmy::fuse
