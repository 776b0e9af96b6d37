// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rewrites of scalar regions that the program of a chain gains from. A positive factor moves past a selection of -inf and past a
// maximum (both exact) into its users, so that exp(x·c - m) is one multiply-add and one power of two for each element. A rounding of
// the weights becomes a map of its own: the tensor cores take rounded elements, the sums unrounded ones.
#include "Chain.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using emmy::sched::MapOp;

namespace emmy::chain {

static Value yielded(MapOp map) { return map.getBody().front().getTerminator()->getOperand(0); }

/// The constant factor of a product; nothing if `value` is not one.
static std::optional<APFloat> factorOf(Value value, Value &other) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  for (auto [factor, rest] : {std::pair(product.getRhs(), product.getLhs()), std::pair(product.getLhs(), product.getRhs())}) {
    FloatAttr number;
    if (!matchPattern(factor, m_Constant(&number)))
      continue;
    other = rest;
    return number.getValue();
  }
  return std::nullopt;
}

static bool isPositiveFinite(const APFloat &number) { return number.isFinite() && !number.isNegative() && !number.isZero(); }

static Value constantLike(OpBuilder &b, Location loc, Type type, const APFloat &number) {
  return arith::ConstantOp::create(b, loc, FloatAttr::get(type, number));
}

/// A map of one tile to itself, with `body` for an element.
static MapOp mapTile(OpBuilder &b, Location loc, Value tile, Type element, function_ref<Value(OpBuilder &, Value)> body) {
  auto type = cast<sched::TileType>(tile.getType());
  auto result = sched::TileType::get(type.getContext(), type.getAxes(), type.getSizes(), element, type.getLevel());
  auto map = MapOp::create(b, loc, result, ValueRange{tile});
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&map.getBody(), {}, type.getElementType(), loc);
  Value made = body(b, block->getArgument(0));
  sched::YieldOp::create(b, loc, made);
  return map;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// Makes `value` the element of `map` and gives a new map that multiplies it, which takes over the uses.
static void splitFactor(MapOp map, Value value, const APFloat &factor) {
  Operation *yield = map.getBody().front().getTerminator();
  OpBuilder b(map);
  b.setInsertionPointAfter(map);
  auto scaled = mapTile(b, map.getLoc(), map.getResult(), value.getType(), [&](OpBuilder &inner, Value element) -> Value {
    return arith::MulFOp::create(inner, map.getLoc(), element, constantLike(inner, map.getLoc(), value.getType(), factor));
  });
  map.getResult().replaceAllUsesExcept(scaled.getResult(), scaled);
  yield->setOperand(0, value);
}

/// True if the map does nothing but multiply its one operand.
static std::optional<APFloat> onlyScales(MapOp map) {
  Value other;
  std::optional<APFloat> factor = factorOf(yielded(map), other);
  return factor && isPositiveFinite(*factor) && map.getInputs().size() == 1 && isa<BlockArgument>(other) ? factor : std::nullopt;
}

/// x·c alone, or where not masked out, becomes a map before a map that scales.
static void exposeFactor(MapOp map) {
  Value element = yielded(map), other;
  if (onlyScales(map))
    return;
  if (std::optional<APFloat> factor = factorOf(element, other); factor && isPositiveFinite(*factor))
    return splitFactor(map, other, *factor);
  auto select = element.getDefiningOp<arith::SelectOp>();
  if (!select || !select->hasOneUse() || !matchPattern(select.getFalseValue(), m_NegInfFloat()))
    return;
  std::optional<APFloat> factor = factorOf(select.getTrueValue(), other);
  if (!factor || !isPositiveFinite(*factor))
    return;
  select.getTrueValueMutable().assign(other);
  splitFactor(map, select, *factor);
}

/// max(x·c) = max(x)·c, to the bit: rounding is monotonic.
static void commuteMax(sched::ReduceOp reduce) {
  auto map = reduce.getInput().getDefiningOp<MapOp>();
  std::optional<APFloat> factor = map && reduce.getKind() == sched::Combiner::max ? onlyScales(map) : std::nullopt;
  if (!factor)
    return;
  OpBuilder b(reduce);
  b.setInsertionPointAfter(reduce);
  reduce.getInputMutable().assign(map.getInputs()[0]);
  Type element = reduce.getType().getElementType();
  auto scaled = mapTile(b, reduce.getLoc(), reduce.getResult(), element, [&](OpBuilder &inner, Value value) -> Value {
    return arith::MulFOp::create(inner, reduce.getLoc(), value, constantLike(inner, reduce.getLoc(), element, *factor));
  });
  reduce.getResult().replaceAllUsesExcept(scaled.getResult(), scaled);
}

/// Reads `map`'s operands before their scaling and multiplies inside.
static void absorbFactors(MapOp map) {
  for (OpOperand &operand : map->getOpOperands()) {
    auto producer = operand.get().getDefiningOp<MapOp>();
    std::optional<APFloat> factor = producer ? onlyScales(producer) : std::nullopt;
    if (!factor)
      continue;
    BlockArgument argument = map.getBody().front().getArgument(operand.getOperandNumber());
    OpBuilder b = OpBuilder::atBlockBegin(&map.getBody().front());
    Value number = constantLike(b, map.getLoc(), argument.getType(), *factor);
    auto product = arith::MulFOp::create(b, map.getLoc(), argument, number);
    argument.replaceAllUsesExcept(product, product);
    operand.set(producer.getInputs()[0]);
  }
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// value·factor, into a constant factor that is there.
static Value scaleBy(OpBuilder &b, Location loc, Value value, double factor) {
  Value other;
  if (std::optional<APFloat> known = factorOf(value, other)) {
    factor *= known->convertToDouble();
    value = other;
  }
  return arith::MulFOp::create(b, loc, value, arith::ConstantOp::create(b, loc, b.getFloatAttr(value.getType(), factor)));
}

/// True if an element is made of products alone, perhaps scaled or masked out. Only others, such as sums with a mask of the least
/// finite numbers, come so close to the largest number that log2(e) times them is infinite.
static bool isProduct(Value element) {
  Value other;
  if (std::optional<APFloat> factor = factorOf(element, other))
    return isPositiveFinite(*factor) && isProduct(other);
  if (auto select = element.getDefiningOp<arith::SelectOp>())
    return matchPattern(select.getFalseValue(), m_NegInfFloat()) && isProduct(select.getTrueValue());
  if (auto sum = element.getDefiningOp<arith::AddFOp>())
    return isProduct(sum.getLhs()) && isProduct(sum.getRhs());
  auto argument = dyn_cast<BlockArgument>(element);
  auto map = argument ? dyn_cast<MapOp>(argument.getOwner()->getParentOp()) : MapOp();
  if (!map)
    return false;
  Operation *producer = map.getInputs()[argument.getArgNumber()].getDefiningOp();
  if (auto inner = dyn_cast_or_null<MapOp>(producer))
    return isProduct(yielded(inner));
  return isa_and_nonnull<sched::MmaOp>(producer);
}

/// exp(a - b) = exp2(a·log2(e) - b·log2(e)) for products, whose factor takes up log2(e), else exp2((a - b)·log2(e)).
static void useExp2(math::ExpOp exp) {
  if (!exp.getType().isF32())
    return;
  OpBuilder b(exp);
  Location loc = exp.getLoc();
  Value exponent = exp.getOperand();
  auto difference = exponent.getDefiningOp<arith::SubFOp>();
  Value scaled;
  if (difference && isProduct(difference.getLhs()))
    scaled = arith::SubFOp::create(b, loc, scaleBy(b, loc, difference.getLhs(), M_LOG2E), scaleBy(b, loc, difference.getRhs(), M_LOG2E));
  else
    scaled = scaleBy(b, loc, exponent, M_LOG2E);
  exp.replaceAllUsesWith(math::Exp2Op::create(b, loc, scaled).getResult());
  exp.erase();
}

/// A rounding at the end of a map with more in it becomes a map of its own.
static void splitRounding(MapOp map) {
  auto round = yielded(map).getDefiningOp<arith::TruncFOp>();
  if (!round || isa<BlockArgument>(round.getIn()))
    return;
  Operation *yield = map.getBody().front().getTerminator();
  sched::TileType old = map.getType();
  Type wide = round.getIn().getType();
  OpBuilder b(map);
  b.setInsertionPointAfter(map);
  map.getResult().setType(sched::TileType::get(old.getContext(), old.getAxes(), old.getSizes(), wide, old.getLevel()));
  auto rounded = mapTile(b, map.getLoc(), map.getResult(), old.getElementType(), [&](OpBuilder &inner, Value element) -> Value {
    return arith::TruncFOp::create(inner, map.getLoc(), old.getElementType(), element);
  });
  map.getResult().replaceAllUsesExcept(rounded.getResult(), rounded);
  yield->setOperand(0, round.getIn());
  round.erase();
}

/// Statistics that several sums share, such as the factor of a new maximum, are computed and carried once.
static void mergeEqual(Block &block) {
  SmallVector<MapOp> seen;
  for (auto map : llvm::make_early_inc_range(block.getOps<MapOp>())) {
    auto *known = llvm::find_if(seen, [&](MapOp other) {
      return OperationEquivalence::isEquivalentTo(map, other, OperationEquivalence::IgnoreLocations);
    });
    if (known == seen.end()) {
      seen.push_back(map);
      continue;
    }
    map.getResult().replaceAllUsesWith(known->getResult());
    map.erase();
  }
}

static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<MapOp, sched::IndexOp, sched::FillOp, sched::ReadOp>(op) && op.use_empty())
      op.erase();
}

void simplifyMaps(sched::ProgramOp program) {
  for (auto pipeline : program.getBody().getOps<sched::PipelineOp>()) {
    Block &block = pipeline.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto map = dyn_cast<MapOp>(op))
        exposeFactor(map);
      else if (auto reduce = dyn_cast<sched::ReduceOp>(op))
        commuteMax(reduce);
    for (auto map : block.getOps<MapOp>())
      absorbFactors(map);
    pipeline.getBody().walk([](math::ExpOp exp) { useExp2(exp); });
    for (auto map : llvm::make_early_inc_range(block.getOps<MapOp>()))
      splitRounding(map);
    mergeEqual(block);
    eraseDead(block);
    for (auto map : block.getOps<MapOp>())
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(map.getBody().front())))
        if (op.use_empty() && !isa<sched::YieldOp>(op))
          op.erase();
  }
}

} // namespace emmy::chain
