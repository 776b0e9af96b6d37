// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops: stores, accumulations, folds, and the temporaries they fill.
#include "Emitter.h"
#include "Memory.h"
#include "emmy/Support/Elements.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace emmy::fuse {

/// Elements of an axis that a fold handles at once: enough for vector code, little enough for temporaries to stay in cache.
static constexpr int64_t kFoldBlock = 64;

void Emitter::emitKernel() {
  scopes.push_back(Scope());
  end = &*b.getInsertionPoint();
  unsigned parameter = 0;
  for (size_t i = 0, e = kernel.getBody().getNumArguments(); i < e; ++i)
    pointers.push_back(loadPointerParameter(b, loc, parameter++));
  for (unsigned symbol : getUsedSymbols(kernel))
    symbols[symbol] = loadSizeParameter(b, loc, parameter++);
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    sizes[axis.getName()] = emitExpr(axis.getSize(), {}, 0);
  prologue = arith::ConstantIntOp::create(b, loc, 0, 64); // marks the place; temporaries are allocated after it
  emitStores(placement.stores);
  for (Value pointer : allocated)
    deallocate(b, loc, pointer);
}

void Emitter::emitStores(const StoreNode &node) {
  for (const StoreNode::Item &item : node.items) {
    if (item.loop)
      loop(item.loop->axis, [&]() { emitStores(*item.loop); });
    else
      emitStore(item.store);
  }
}

//===----------------------------------------------------------------------===//
// Loop construction
//===----------------------------------------------------------------------===//

void Emitter::nest(Operation *op, Block *block, Scope scope, Body body) {
  Operation *before = std::exchange(scopes.back().inner, op);
  scopes.push_back(std::move(scope));
  {
    OpBuilder::InsertionGuard guard(b);
    if (block->mightHaveTerminator())
      b.setInsertionPoint(block->getTerminator());
    else
      b.setInsertionPointToEnd(block);
    body();
  }
  scopes.pop_back();
  scopes.back().inner = before;
}

const Scope *Emitter::findBlock(StringAttr axis) {
  for (Scope &scope : llvm::reverse(scopes))
    if (scope.block && scope.axis == axis)
      return &scope;
  return nullptr;
}

Value Emitter::indexOf(StringAttr axis) {
  for (Scope &scope : llvm::reverse(scopes))
    if (scope.index && scope.axis == axis)
      return scope.index;
  llvm_unreachable("no loop binds the axis");
}

void Emitter::loop(StringAttr axis, Body body) {
  const Scope *block = findBlock(axis);
  Value low = block ? block->low : constant(0), high = block ? block->high : sizes.lookup(axis);
  auto op = scf::ForOp::create(b, loc, low, high, constant(1));
  Scope scope;
  scope.axis = axis;
  scope.index = op.getInductionVar();
  nest(op, op.getBody(), std::move(scope), body);
}

void Emitter::loops(Axes axes, Body body) {
  if (axes.empty())
    return body();
  loop(axes.front(), [&]() { loops(axes.drop_front(), body); });
}

Value Emitter::loopCarry(StringAttr axis, Value start, CarryBody body) {
  const Scope *block = findBlock(axis);
  Value low = block ? block->low : constant(0), high = block ? block->high : sizes.lookup(axis);
  auto op = scf::ForOp::create(b, loc, low, high, constant(1), start);
  Scope scope;
  scope.axis = axis;
  scope.index = op.getInductionVar();
  nest(op, op.getBody(), std::move(scope), [&]() { scf::YieldOp::create(b, loc, body(op.getRegionIterArg(0))); });
  return op.getResult(0);
}

void Emitter::loopBlocks(FoldOp fold, Body body) {
  Value size = sizes.lookup(fold.getAxisAttr());
  auto op = scf::ForOp::create(b, loc, constant(0), size, constant(kFoldBlock));
  Scope scope;
  scope.axis = fold.getAxisAttr();
  scope.block = fold;
  scope.low = op.getInductionVar();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    scope.high = arith::MinSIOp::create(b, loc, add(scope.low, constant(kFoldBlock)), size);
  }
  nest(op, op.getBody(), std::move(scope), body);
}

//===----------------------------------------------------------------------===//
// Temporaries
//===----------------------------------------------------------------------===//

Buffer Emitter::allocateBuffer(Axes axes, Type type) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(prologue);
  Buffer buffer;
  buffer.axes = llvm::to_vector(axes);
  Value count = constant(1);
  for (StringAttr axis : llvm::reverse(axes)) {
    const Scope *block = findBlock(axis);
    buffer.bases.insert(buffer.bases.begin(), block ? block->low : Value());
    buffer.strides.insert(buffer.strides.begin(), count);
    auto size = dyn_cast<AffineConstantExpr>(kernel.getAxis(axis).getSize());
    auto known = count.getDefiningOp<arith::ConstantIntOp>();
    if (known && (block || size))
      count = constant(known.value() * (block ? kFoldBlock : size.getValue()));
    else
      count = multiply(count, block ? constant(kFoldBlock) : sizes.lookup(axis));
  }
  Allocation allocation = allocate(b, loc, count, type);
  buffer.pointer = allocation.pointer;
  if (allocation.needsFree)
    allocated.push_back(allocation.pointer);
  return buffer;
}

Value Emitter::emitBufferOffset(const Buffer &buffer) {
  Value offset = constant(0);
  for (auto [axis, stride, base] : llvm::zip(buffer.axes, buffer.strides, buffer.bases)) {
    Value index = indexOf(axis);
    if (base)
      index = arith::SubIOp::create(b, loc, index, base, arith::IntegerOverflowFlags::nsw);
    offset = add(offset, multiply(index, stride));
  }
  return offset;
}

Value Emitter::loadBuffer(const Buffer &buffer, Type type) {
  return loadElement(b, loc, buffer.pointer, emitBufferOffset(buffer), type);
}

void Emitter::storeBuffer(const Buffer &buffer, Value value) {
  storeElement(b, loc, value, buffer.pointer, emitBufferOffset(buffer));
}

//===----------------------------------------------------------------------===//
// Placed values
//===----------------------------------------------------------------------===//

void Emitter::emitPlaced(Operation *op) {
  const Place &place = *placement.lookup(op);
  Scope &home = scopes[place.depth];
  Value first = op->getResult(0);
  if (home.scalars.contains(first) || home.buffers.contains(first))
    return;
  at(place.depth, [&]() {
    if (auto fold = dyn_cast<FoldOp>(op))
      return emitFold(fold, place);
    if (isa<ReduceOp, ContractOp>(op))
      return emitAccumulation(op, place);
    Buffer buffer = allocateBuffer(place.rest, cast<ValueType>(first.getType()).getElementType());
    loops(place.rest, [&]() { storeBuffer(buffer, emitMap(cast<MapOp>(op))); });
    scopes.back().buffers[first] = buffer;
  });
}

static ValueType typeOf(Operation *op) { return cast<ValueType>(op->getResult(0).getType()); }

void Emitter::emitAccumulation(Operation *op, const Place &place) {
  if (place.rest.empty()) {
    scopes.back().scalars[op->getResult(0)] = emitReduced(op, place.order, emitStart(op));
    return;
  }
  Buffer buffer = allocateBuffer(place.rest, typeOf(op).getElementType());
  if (place.vector)
    emitVectorAccumulation(op, place, buffer);
  else
    loops(place.rest, [&]() { storeBuffer(buffer, emitReduced(op, place.order, emitStart(op))); });
  scopes.back().buffers[op->getResult(0)] = buffer;
}

/// The result's elements along `place.vector` are accumulated side by side in the buffer.
void Emitter::emitVectorAccumulation(Operation *op, const Place &place, const Buffer &buffer) {
  SmallVector<StringAttr> outer = llvm::filter_to_vector(place.rest, [&](StringAttr axis) { return axis != place.vector; });
  Type type = typeOf(op).getElementType();
  loops(outer, [&]() {
    loop(place.vector, [&]() { storeBuffer(buffer, emitStart(op)); });
    SmallVector<StringAttr> inner = place.order;
    inner.push_back(place.vector);
    loops(inner, [&]() { storeBuffer(buffer, emitStep(op, loadBuffer(buffer, type))); });
  });
}

Value Emitter::emitReduced(Operation *op, Axes order, Value start) {
  if (order.empty())
    return emitStep(op, start);
  return loopCarry(order.front(), start, [&](Value carried) { return emitReduced(op, order.drop_front(), carried); });
}

Value Emitter::emitStart(Operation *op) {
  Type type = typeOf(op).getElementType();
  auto reduce = dyn_cast<ReduceOp>(op);
  Combiner kind = reduce ? reduce.getKind() : Combiner::add;
  return arith::ConstantOp::create(b, loc, identityElement(kind, type));
}

static Value combineFloats(OpBuilder &b, Location loc, Combiner kind, Value lhs, Value rhs) {
  // Reassociation across the reduction only, which lets LLVM keep several partial results.
  auto flags = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
  switch (kind) {
  case Combiner::add:
    return arith::AddFOp::create(b, loc, lhs, rhs, flags);
  case Combiner::mul:
    return arith::MulFOp::create(b, loc, lhs, rhs, flags);
  case Combiner::max:
    return arith::MaximumFOp::create(b, loc, lhs, rhs);
  case Combiner::min:
    return arith::MinimumFOp::create(b, loc, lhs, rhs);
  default:
    llvm_unreachable("any and all combine integers");
  }
}

static Value combineIntegers(OpBuilder &b, Location loc, Combiner kind, Value lhs, Value rhs) {
  bool isBool = lhs.getType().isInteger(1);
  switch (kind) {
  case Combiner::add:
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case Combiner::mul:
    return arith::MulIOp::create(b, loc, lhs, rhs);
  case Combiner::max:
    return isBool ? arith::OrIOp::create(b, loc, lhs, rhs).getResult() : arith::MaxSIOp::create(b, loc, lhs, rhs).getResult();
  case Combiner::min:
    return isBool ? arith::AndIOp::create(b, loc, lhs, rhs).getResult() : arith::MinSIOp::create(b, loc, lhs, rhs).getResult();
  case Combiner::any:
    return arith::OrIOp::create(b, loc, lhs, rhs);
  case Combiner::all:
    return arith::AndIOp::create(b, loc, lhs, rhs);
  }
  llvm_unreachable("unknown combiner");
}

Value Emitter::emitStep(Operation *op, Value accumulator) {
  Type type = accumulator.getType();
  bool isFloat = isa<FloatType>(type);
  Value element;
  Combiner kind = Combiner::add;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    element = convert(emit(reduce.getInput()), type);
    kind = reduce.getKind();
  } else {
    auto contract = cast<ContractOp>(op);
    Value lhs = convert(emit(contract.getLhs()), type), rhs = convert(emit(contract.getRhs()), type);
    element = isFloat ? arith::MulFOp::create(b, loc, lhs, rhs, arith::FastMathFlags::contract).getResult()
                      : arith::MulIOp::create(b, loc, lhs, rhs).getResult();
  }
  return isFloat ? combineFloats(b, loc, kind, accumulator, element) : combineIntegers(b, loc, kind, accumulator, element);
}

void Emitter::emitFold(FoldOp fold, const Place &place) {
  SmallVector<StringAttr> outer = placement.getFoldLoops(fold);
  Operation *yield = fold.getBody().front().getTerminator();
  struct Carried {
    Buffer now, next;
    SmallVector<StringAttr> axes; // that the fold does not loop over
  };
  SmallVector<Carried, 2> carried;
  for (Value result : fold.getResults()) {
    auto type = cast<ValueType>(result.getType());
    auto within = [&](Axes axes) {
      return llvm::filter_to_vector(axes, [&](StringAttr axis) { return type.hasAxis(axis); });
    };
    SmallVector<StringAttr> axes = within(place.rest);
    SmallVector<StringAttr> inner = llvm::filter_to_vector(axes, [&](StringAttr axis) { return !llvm::is_contained(outer, axis); });
    carried.push_back({allocateBuffer(axes, type.getElementType()), allocateBuffer(inner, type.getElementType()), inner});
  }
  loops(outer, [&]() {
    for (auto [init, item] : llvm::zip(fold.getInits(), carried))
      loops(item.axes, [&]() { storeBuffer(item.now, emit(init)); });
    loopBlocks(fold, [&]() {
      for (auto [argument, item] : llvm::zip(fold.getBody().getArguments(), carried))
        scopes.back().buffers[argument] = item.now;
      for (auto [next, item] : llvm::zip(yield->getOperands(), carried))
        loops(item.axes, [&]() { storeBuffer(item.next, emit(next)); });
      for (auto [next, item] : llvm::zip(yield->getOperands(), carried))
        loops(item.axes, [&]() {
          storeBuffer(item.now, loadBuffer(item.next, cast<ValueType>(next.getType()).getElementType()));
        });
    });
  });
  for (auto [result, item] : llvm::zip(fold.getResults(), carried))
    scopes.back().buffers[result] = item.now;
}

} // namespace emmy::fuse
