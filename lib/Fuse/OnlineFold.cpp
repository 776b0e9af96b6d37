// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Writes the fold of an analysed stream: its body computes a block of every reduction and merges it into what is carried.
#include "StreamAnalysis.h"
#include "emmy/Support/Elements.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace emmy::fuse {

namespace {
class FoldEmitter {
public:
  FoldEmitter(KernelOp kernel, const Stream &stream) : kernel(kernel), stream(stream), builder(kernel.getContext()), loc(kernel.getLoc()) {}
  void emit();

private:
  using Body = function_ref<Value(ValueRange)>;
  using Memo = llvm::DenseMap<Value, Value>;
  const llvm::DenseMap<Operation *, Value> nothingDropped{};

  Value emitMap(ValueRange operands, Type element, Body body);
  Value emitConstant(ArrayRef<StringAttr> axes, TypedAttr value);
  Value emitBlock(const StreamedReduction &reduction);
  Value emitScale(const StreamedReduction &reduction, Type element);
  Value merge(const StreamedReduction &reduction, Value carried, Value block);
  Value mergeWelford(const StreamedReduction &reduction, Value carried);
  Value applyFactors(const StreamedReduction &reduction, Value sum);

  Value cloneTerm(Value value);
  Value cloneMap(MapOp map);
  Value cloneKept(Value value, const llvm::DenseMap<Operation *, Value> &results, Memo &memo);
  Value guardInfinity(const Exponent &exponent, Value value);
  const Exponent *findExponent(Value scalar) const;
  Value emitExponent(const Exponent &exponent, const llvm::DenseMap<Operation *, Value> &results, Memo &memo);
  Value cloneScalar(Value scalar, const llvm::DenseMap<Operation *, Value> &dropped, Memo &memo);
  void collectLeaves(Value scalar, llvm::SetVector<Value> &leaves) const;

  static Combiner kindOf(Operation *op) { return isa<ReduceOp>(op) ? cast<ReduceOp>(op).getKind() : Combiner::add; }

  KernelOp kernel;
  const Stream &stream;
  OpBuilder builder;
  Location loc;
  llvm::DenseMap<Operation *, Value> before, after, blocks; // by reduction: carried in, carried out, this block's part
  Memo terms, keptBefore, keptAfter, guarded;
  Value countBefore, countBlock;
  FloatType countType; // null where no reduction needs a count
};
} // namespace

static ValueType typeOf(Value value) { return cast<ValueType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Small pieces
//===----------------------------------------------------------------------===//

Value FoldEmitter::emitMap(ValueRange operands, Type element, Body body) {
  SmallVector<StringAttr> axes;
  for (Value operand : operands)
    llvm::append_range(axes, typeOf(operand).getAxes());
  auto map = MapOp::create(builder, loc, ValueType::get(kernel.getContext(), kernel.orderAxes(axes), element), operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&map.getBody());
  for (Value operand : operands)
    block->addArgument(typeOf(operand).getElementType(), loc);
  YieldOp::create(builder, loc, body(block->getArguments()));
  return map;
}

/// One value for every point of the axes.
Value FoldEmitter::emitConstant(ArrayRef<StringAttr> axes, TypedAttr value) {
  SmallVector<Value> operands;
  if (!axes.empty()) {
    auto type = ValueType::get(kernel.getContext(), axes, builder.getI64Type());
    AffineMap zero = AffineMap::get(axes.size(), 0, builder.getAffineConstantExpr(0));
    operands.push_back(IndexOp::create(builder, loc, type, zero));
  }
  return emitMap(operands, value.getType(), [&](ValueRange) -> Value { return arith::ConstantOp::create(builder, loc, value); });
}

//===----------------------------------------------------------------------===//
// Copies into the body
//===----------------------------------------------------------------------===//

const Exponent *FoldEmitter::findExponent(Value scalar) const {
  for (const StreamedReduction &reduction : stream.reductions)
    for (const Exponent &exponent : reduction.exponents)
      if (exponent.scalar == scalar)
        return &exponent;
  return nullptr;
}

/// What the exponent takes, as a value of the kernel, from the given results of reductions.
Value FoldEmitter::emitExponent(const Exponent &exponent, const llvm::DenseMap<Operation *, Value> &results, Memo &memo) {
  MapOp map = exponent.map;
  if (auto argument = dyn_cast<BlockArgument>(exponent.scalar))
    return cloneKept(map.getInputs()[argument.getArgNumber()], results, memo);
  if (Value known = memo.lookup(exponent.scalar))
    return known;
  llvm::SetVector<unsigned> used = collectArguments(exponent.scalar);
  SmallVector<Value> operands;
  for (unsigned i : used)
    operands.push_back(cloneKept(map.getInputs()[i], results, memo));
  return memo[exponent.scalar] = emitMap(operands, exponent.scalar.getType(), [&](ValueRange args) {
    Memo scalars;
    for (auto [i, argument] : llvm::zip(used, args))
      scalars[map.getBody().front().getArgument(i)] = argument;
    return cloneScalar(exponent.scalar, nothingDropped, scalars);
  });
}

/// -inf (+inf for a growing exponent) as 0, so that terms that are all -inf weigh nothing until a finite one comes.
Value FoldEmitter::guardInfinity(const Exponent &exponent, Value value) {
  if (auto it = guarded.find(value); it != guarded.end())
    return it->second;
  auto type = cast<FloatType>(typeOf(value).getElementType());
  return guarded[value] = emitMap(value, type, [&](ValueRange args) -> Value {
    auto infinity = FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/exponent.coefficient < 0));
    Value limit = arith::ConstantOp::create(builder, loc, infinity);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, 0));
    Value isLimit = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, args[0], limit);
    return arith::SelectOp::create(builder, loc, isLimit, zero, args[0]);
  });
}

/// A value that does not vary along the axis, from the given results of reductions.
Value FoldEmitter::cloneKept(Value value, const llvm::DenseMap<Operation *, Value> &results, Memo &memo) {
  if (!stream.dependent.contains(value))
    return value;
  Operation *op = value.getDefiningOp();
  if (Value result = results.lookup(op))
    return result;
  if (Value known = memo.lookup(value))
    return known;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneKept(operand, results, memo));
  return memo[value] = builder.clone(*op, mapping)->getResult(0);
}

/// The block of a value along the axis, without factors, exponents at the running values.
Value FoldEmitter::cloneTerm(Value value) {
  if (!variesOver(value, stream.axis))
    return cloneKept(value, after, keptAfter);
  if (Value known = terms.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto map = dyn_cast<MapOp>(op))
    return terms[value] = cloneMap(map);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isa<ValueType>(operand.getType()))
      mapping.map(operand, cloneTerm(operand));
  return terms[value] = builder.clone(*op, mapping)->getResult(0);
}

/// Copies what `scalar` is computed from, passing over dropped factors, down to what `memo` knows.
Value FoldEmitter::cloneScalar(Value scalar, const llvm::DenseMap<Operation *, Value> &dropped, Memo &memo) {
  if (Value known = memo.lookup(scalar))
    return known;
  Operation *op = scalar.getDefiningOp();
  if (Value instead = dropped.lookup(op))
    return memo[scalar] = cloneScalar(instead, dropped, memo);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneScalar(operand, dropped, memo));
  return memo[scalar] = builder.clone(*op, mapping)->getResult(cast<OpResult>(scalar).getResultNumber());
}

/// Where copying stops: region arguments, and scalars that are exponents' and so come from the running values.
void FoldEmitter::collectLeaves(Value scalar, llvm::SetVector<Value> &leaves) const {
  if (isa<BlockArgument>(scalar) || findExponent(scalar)) {
    leaves.insert(scalar);
    return;
  }
  if (Value instead = stream.dropped.lookup(scalar.getDefiningOp()))
    return collectLeaves(instead, leaves);
  for (Value operand : scalar.getDefiningOp()->getOperands())
    collectLeaves(operand, leaves);
}

Value FoldEmitter::cloneMap(MapOp map) {
  Value result = map.getBody().front().getTerminator()->getOperand(0);
  llvm::SetVector<Value> leaves;
  collectLeaves(result, leaves);
  SmallVector<Value> operands;
  for (Value leaf : leaves) {
    const Exponent *exponent = findExponent(leaf);
    operands.push_back(exponent ? guardInfinity(*exponent, emitExponent(*exponent, after, keptAfter))
                                : cloneTerm(map.getInputs()[cast<BlockArgument>(leaf).getArgNumber()]));
  }
  return emitMap(operands, map.getType().getElementType(), [&](ValueRange args) {
    Memo memo;
    for (auto [leaf, argument] : llvm::zip(leaves, args))
      memo[leaf] = argument;
    return cloneScalar(result, stream.dropped, memo);
  });
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// The reduction over this block only.
Value FoldEmitter::emitBlock(const StreamedReduction &reduction) {
  IRMapping mapping;
  for (Value operand : reduction.op->getOperands())
    mapping.map(operand, cloneTerm(operand));
  return builder.clone(*reduction.op, mapping)->getResult(0);
}

/// Whether an exponent is an extremum itself, so that it moves one way, from an infinity: its factors are at most 1.
static bool isExtremum(const Exponent &exponent) {
  Value scalar = exponent.scalar;
  while (auto extend = scalar.getDefiningOp<arith::ExtFOp>())
    scalar = extend.getIn();
  auto argument = dyn_cast<BlockArgument>(scalar);
  auto reduce = argument ? MapOp(exponent.map).getInputs()[argument.getArgNumber()].getDefiningOp<ReduceOp>() : ReduceOp();
  return reduce && reduce.getKind() == (exponent.coefficient < 0 ? Combiner::max : Combiner::min);
}

/// exp(Σ coefficient * (after - before)) for the carried sum. Where it could be infinite for a first block it is the largest number
/// instead, as nothing times it has to be nothing.
Value FoldEmitter::emitScale(const StreamedReduction &reduction, Type element) {
  SmallVector<Value> operands;
  for (const Exponent &exponent : reduction.exponents) {
    operands.push_back(emitExponent(exponent, before, keptBefore));
    operands.push_back(guardInfinity(exponent, emitExponent(exponent, after, keptAfter)));
  }
  return emitMap(operands, element, [&](ValueRange args) -> Value {
    Value sum;
    for (auto [i, exponent] : llvm::enumerate(reduction.exponents)) {
      Value from = args[2 * i], to = args[2 * i + 1], term;
      if (exponent.coefficient == -1) {
        term = arith::SubFOp::create(builder, loc, from, to);
      } else {
        Value factor = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(from.getType(), exponent.coefficient));
        term = arith::MulFOp::create(builder, loc, arith::SubFOp::create(builder, loc, to, from), factor);
      }
      sum = sum ? Value(arith::AddFOp::create(builder, loc, sum, term)) : term;
    }
    Value scale = math::ExpOp::create(builder, loc, sum);
    if (llvm::all_of(reduction.exponents, isExtremum))
      return scale;
    auto type = cast<FloatType>(scale.getType());
    auto largest = FloatAttr::get(type, APFloat::getLargest(type.getFloatSemantics()));
    return arith::MinimumFOp::create(builder, loc, scale, arith::ConstantOp::create(builder, loc, largest));
  });
}

Value FoldEmitter::merge(const StreamedReduction &reduction, Value carried, Value block) {
  Type element = typeOf(carried).getElementType();
  Combiner kind = kindOf(reduction.op);
  if (reduction.exponents.empty())
    return emitMap({carried, block}, element, [&](ValueRange args) { return combineElements(builder, loc, kind, args[0], args[1]); });
  Value scale = emitScale(reduction, element);
  return emitMap({carried, scale, block}, element, [&](ValueRange args) -> Value {
    return arith::AddFOp::create(builder, loc, arith::MulFOp::create(builder, loc, args[0], args[1]), args[2]);
  });
}

/// Merges two sums of squared distances, each from the mean of its own samples.
Value FoldEmitter::mergeWelford(const StreamedReduction &reduction, Value carried) {
  Type element = typeOf(carried).getElementType();
  Value sum = before.lookup(reduction.meanOf), blockSum = blocks.lookup(reduction.meanOf);
  Value mean = emitMap({blockSum, countBlock}, element,
                       [&](ValueRange args) -> Value { return arith::DivFOp::create(builder, loc, args[0], args[1]); });
  Value squares = emitMap({cloneTerm(reduction.samples), mean}, element, [&](ValueRange args) -> Value {
    Value x = args[0];
    if (x.getType() != element)
      x = arith::ExtFOp::create(builder, loc, element, x);
    Value distance = arith::SubFOp::create(builder, loc, x, args[1]);
    return arith::MulFOp::create(builder, loc, distance, distance);
  });
  Value block = ReduceOp::create(builder, loc, carried.getType(), Combiner::add, squares, builder.getArrayAttr(stream.axis));
  return emitMap({carried, block, mean, sum, countBefore, countBlock}, element, [&](ValueRange args) -> Value {
    Value one = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(element, 1));
    Value divisor = arith::MaximumFOp::create(builder, loc, args[4], one); // nothing before the first block
    Value distance = arith::SubFOp::create(builder, loc, args[2], arith::DivFOp::create(builder, loc, args[3], divisor));
    Value total = arith::AddFOp::create(builder, loc, args[4], args[5]);
    Value weight = arith::DivFOp::create(builder, loc, arith::MulFOp::create(builder, loc, args[4], args[5]), total);
    Value between = arith::MulFOp::create(builder, loc, arith::MulFOp::create(builder, loc, distance, distance), weight);
    return arith::AddFOp::create(builder, loc, arith::AddFOp::create(builder, loc, args[0], args[1]), between);
  });
}

//===----------------------------------------------------------------------===//
// After the fold
//===----------------------------------------------------------------------===//

Value FoldEmitter::applyFactors(const StreamedReduction &reduction, Value sum) {
  if (reduction.factors.empty())
    return sum;
  llvm::SetVector<Value> operands;
  operands.insert(sum);
  for (const Factor &factor : reduction.factors)
    for (unsigned i : collectArguments(factor.scalar))
      operands.insert(MapOp(factor.map).getInputs()[i]);
  return emitMap(operands.getArrayRef(), typeOf(sum).getElementType(), [&](ValueRange args) -> Value {
    Value product = args[0];
    for (const Factor &factor : reduction.factors) {
      Memo memo;
      MapOp map = factor.map;
      for (unsigned i : collectArguments(factor.scalar))
        memo[map.getBody().front().getArgument(i)] = args[llvm::find(operands, map.getInputs()[i]) - operands.begin()];
      Value scalar = cloneScalar(factor.scalar, nothingDropped, memo);
      if (scalar.getType() != product.getType())
        scalar = arith::ExtFOp::create(builder, loc, product.getType(), scalar);
      product = factor.divides ? Value(arith::DivFOp::create(builder, loc, product, scalar))
                               : Value(arith::MulFOp::create(builder, loc, product, scalar));
    }
    return product;
  });
}

/// Puts definitions before uses again, otherwise keeping the order.
static void sortBlock(Block &block) {
  llvm::DenseSet<Operation *> placed;
  SmallVector<Operation *> order;
  std::function<void(Operation *)> place = [&](Operation *op) {
    if (!placed.insert(op).second)
      return;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp(); definition && definition->getBlock() == &block)
          place(definition);
    });
    order.push_back(op);
  };
  for (Operation &op : block)
    place(&op);
  for (Operation *op : order)
    op->moveBefore(&block, block.end());
}

void FoldEmitter::emit() {
  Block &kernelBlock = kernel.getBody().front();
  builder.setInsertionPoint(stream.reductions.front().op);
  loc = stream.reductions.back().op->getLoc();
  SmallVector<Value> starts;
  for (const StreamedReduction &reduction : stream.reductions) {
    ValueType type = typeOf(reduction.op->getResult(0));
    starts.push_back(emitConstant(type.getAxes(), identityElement(kindOf(reduction.op), type.getElementType())));
    if (reduction.meanOf)
      countType = cast<FloatType>(type.getElementType());
  }
  if (countType)
    starts.push_back(emitConstant({}, builder.getFloatAttr(countType, 0)));
  SmallVector<Type> types(ValueRange(starts).getTypes());
  auto fold = FoldOp::create(builder, loc, types, stream.axis, starts);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&fold.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    for (auto [i, reduction] : llvm::enumerate(stream.reductions))
      before[reduction.op] = body->getArgument(i);
    if (countType) {
      countBefore = body->getArguments().back();
      Value ones = emitConstant(stream.axis, builder.getFloatAttr(countType, 1));
      countBlock = ReduceOp::create(builder, loc, countBefore.getType(), Combiner::add, ones, builder.getArrayAttr(stream.axis));
    }
    SmallVector<Value> results;
    for (const StreamedReduction &reduction : stream.reductions) {
      Value carried = before[reduction.op];
      if (reduction.meanOf) {
        results.push_back(mergeWelford(reduction, carried));
      } else {
        blocks[reduction.op] = emitBlock(reduction);
        results.push_back(merge(reduction, carried, blocks[reduction.op]));
      }
      after[reduction.op] = results.back();
    }
    if (countType)
      results.push_back(emitMap({countBefore, countBlock}, countType,
                                [&](ValueRange args) { return combineElements(builder, loc, Combiner::add, args[0], args[1]); }));
    YieldOp::create(builder, loc, results);
  }
  for (auto [i, reduction] : llvm::enumerate(stream.reductions))
    reduction.op->getResult(0).replaceAllUsesWith(applyFactors(reduction, fold.getResult(i)));
  sortBlock(kernelBlock);
  SmallVector<Operation *> ops(llvm::make_pointer_range(kernelBlock));
  for (Operation *op : llvm::reverse(ops))
    if (!isa<StoreOp>(op) && op->use_empty())
      op->erase();
}

void emitOnlineFold(KernelOp kernel, const Stream &stream) { FoldEmitter(kernel, stream).emit(); }

} // namespace emmy::fuse
