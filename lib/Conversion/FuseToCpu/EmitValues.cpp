// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elements: loads, maps, index expressions, stores.
#include "Emitter.h"
#include "Memory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace emmy::fuse {

Value Emitter::constant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(end->getBlock());
    known = arith::ConstantIntOp::create(b, loc, value, 64);
  }
  return known;
}

static bool isConstant(Value value, int64_t number) {
  auto op = value.getDefiningOp<arith::ConstantIntOp>();
  return op && op.value() == number;
}

Value Emitter::add(Value lhs, Value rhs) {
  if (isConstant(lhs, 0) || isConstant(rhs, 0))
    return isConstant(lhs, 0) ? rhs : lhs;
  return arith::AddIOp::create(b, loc, lhs, rhs, arith::IntegerOverflowFlags::nsw);
}

Value Emitter::multiply(Value lhs, Value rhs) {
  if (isConstant(lhs, 1) || isConstant(rhs, 1))
    return isConstant(lhs, 1) ? rhs : lhs;
  return arith::MulIOp::create(b, loc, lhs, rhs, arith::IntegerOverflowFlags::nsw);
}

size_t Emitter::getDepth(Value value) {
  Operation *op = value.getDefiningOp();
  auto fold = dyn_cast<FoldOp>(op ? op->getParentOp() : value.getParentBlock()->getParentOp());
  auto type = cast<ValueType>(value.getType());
  for (size_t i = scopes.size(); i-- > 0;)
    if ((fold && scopes[i].block == fold) || (scopes[i].index && type.hasAxis(scopes[i].axis)))
      return i;
  return 0;
}

void Emitter::at(size_t depth, Body body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Scope, 8> suspended(std::make_move_iterator(scopes.begin() + depth + 1), std::make_move_iterator(scopes.end()));
  scopes.truncate(depth + 1);
  if (Operation *inner = scopes.back().inner)
    b.setInsertionPoint(inner);
  body();
  scopes.append(std::make_move_iterator(suspended.begin()), std::make_move_iterator(suspended.end()));
}

Value Emitter::emit(Value value) {
  size_t depth = getDepth(value);
  if (Value known = scopes[depth].scalars.lookup(value))
    return known;
  Value scalar;
  at(depth, [&]() { scalar = emitHere(value); });
  scopes[depth].scalars[value] = scalar;
  return scalar;
}

Value Emitter::emitHere(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && placement.lookup(op))
    emitPlaced(op);
  for (Scope &scope : llvm::reverse(scopes)) {
    if (Value scalar = scope.scalars.lookup(value))
      return scalar;
    auto buffer = scope.buffers.find(value);
    if (buffer != scope.buffers.end())
      return loadBuffer(buffer->second, cast<ValueType>(value.getType()).getElementType());
  }
  if (auto load = dyn_cast<LoadOp>(op))
    return emitLoad(load);
  if (auto index = dyn_cast<IndexOp>(op))
    return emitPosition(index.getMap(), index.getType().getAxes(), op->getOperands()).front();
  return emitMap(cast<MapOp>(op));
}

Value Emitter::emitMap(MapOp map) {
  IRMapping mapping;
  for (auto [argument, input] : llvm::zip(map.getBody().getArguments(), map.getInputs()))
    mapping.map(argument, emit(input));
  for (Operation &op : map.getBody().front().without_terminator())
    b.clone(op, mapping);
  return mapping.lookupOrDefault(map.getBody().front().getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// True if `expr` cannot be negative; dimensions below `axes` are indices of axes, and sizes are never negative.
static bool isNonNegative(AffineExpr expr, unsigned axes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() < axes;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || expr.getKind() == AffineExprKind::Mod ||
         (isNonNegative(binary.getLHS(), axes) && isNonNegative(binary.getRHS(), axes));
}

Value Emitter::emitModulo(Value lhs, Value rhs, bool nonNegative) {
  if (nonNegative)
    return arith::RemUIOp::create(b, loc, lhs, rhs);
  Value rest = arith::RemSIOp::create(b, loc, lhs, rhs);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, rest, constant(0));
  return arith::SelectOp::create(b, loc, negative, add(rest, rhs), rest);
}

Value Emitter::emitExpr(AffineExpr expr, ValueRange dims, unsigned axes) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols.lookup(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = emitExpr(binary.getLHS(), dims, axes), rhs = emitExpr(binary.getRHS(), dims, axes);
  bool nonNegative = isNonNegative(binary.getLHS(), axes);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(lhs, rhs);
  case AffineExprKind::Mul:
    return multiply(lhs, rhs);
  case AffineExprKind::Mod:
    return emitModulo(lhs, rhs, nonNegative);
  case AffineExprKind::CeilDiv:
    lhs = add(lhs, add(rhs, constant(-1)));
    [[fallthrough]];
  case AffineExprKind::FloorDiv:
    if (nonNegative)
      return arith::DivUIOp::create(b, loc, lhs, rhs);
    lhs = arith::SubIOp::create(b, loc, lhs, emitModulo(lhs, rhs, false));
    return arith::DivSIOp::create(b, loc, lhs, rhs);
  default:
    llvm_unreachable("not a binary expression");
  }
}

SmallVector<Value> Emitter::emitPosition(AffineMap map, Axes axes, OperandRange indices) {
  SmallVector<Value> dims = llvm::map_to_vector(axes, [&](StringAttr axis) { return indexOf(axis); });
  for (Value index : indices)
    dims.push_back(convert(emit(index), b.getI64Type()));
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) { return emitExpr(expr, dims, axes.size()); });
}

Value Emitter::emitOffset(Value tensor, ArrayRef<Value> position) {
  auto argument = cast<BlockArgument>(tensor);
  LayoutAttr layout = kernel.getLayout(argument.getArgNumber());
  SmallVector<AffineExpr> strides =
      layout ? llvm::to_vector(layout.getStrides())
             : getContiguousStrides(getSizes(cast<RankedTensorType>(tensor.getType())), kernel.getContext());
  Value offset = constant(0);
  for (auto [index, stride] : llvm::zip(position, strides))
    offset = add(offset, multiply(index, emitExpr(stride, {}, 0)));
  return offset;
}

Value Emitter::emitInBounds(Value tensor, AffineMap map, Axes axes, ArrayRef<Value> position) {
  Value inside;
  auto both = [&](Value condition) {
    inside = inside ? arith::AndIOp::create(b, loc, inside, condition).getResult() : condition;
  };
  for (auto [expr, index, size] : llvm::zip(map.getResults(), position, getSizes(cast<RankedTensorType>(tensor.getType())))) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && dim.getPosition() < axes.size() && kernel.getAxis(axes[dim.getPosition()]).getSize() == size)
      continue;
    Value limit = emitExpr(size, {}, 0);
    both(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index, constant(0)));
    both(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, limit));
  }
  return inside;
}

Value Emitter::emitIndexCheck(Value tensor, AffineMap map, Axes axes, ArrayRef<Value> position) {
  Value all;
  for (auto [expr, index, size] : llvm::zip(map.getResults(), position, getSizes(cast<RankedTensorType>(tensor.getType())))) {
    bool isIndirect = false;
    expr.walk([&](AffineExpr part) {
      auto dim = dyn_cast<AffineDimExpr>(part);
      isIndirect |= dim && dim.getPosition() >= axes.size();
    });
    if (!isIndirect)
      continue;
    // As unsigned numbers, negative ones are larger than any size.
    Value limit = emitExpr(size, {}, 0), inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, limit);
    Value isOutside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, index, limit);
    auto branch = scf::IfOp::create(b, loc, isOutside);
    b.setInsertionPointToStart(branch.thenBlock());
    reportIndex(b, loc, index, limit);
    b.setInsertionPointAfter(branch);
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside;
  }
  return all;
}

Value Emitter::emitLoad(LoadOp load) {
  ArrayRef<StringAttr> axes = load.getType().getAxes();
  Type type = load.getType().getElementType();
  SmallVector<Value> position = emitPosition(load.getMap(), axes, load.getIndices());
  Value pointer = pointers[cast<BlockArgument>(load.getSource()).getArgNumber()];
  auto read = [&]() { return loadElement(b, loc, pointer, emitOffset(load.getSource(), position), type); };
  Value inside = load.getGuarded() ? emitInBounds(load.getSource(), load.getMap(), axes, position)
                                   : emitIndexCheck(load.getSource(), load.getMap(), axes, position);
  if (!inside)
    return read();
  auto branch = scf::IfOp::create(b, loc, TypeRange(type), inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, read());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, arith::ConstantOp::create(b, loc, b.getZeroAttr(type)).getResult());
  return branch.getResult(0);
}

void Emitter::emitStore(StoreOp store) {
  Value value = emit(store.getValue());
  SmallVector<StringAttr> axes = llvm::to_vector(store.getOver().getAsRange<StringAttr>());
  SmallVector<Value> position = emitPosition(store.getMap(), axes, store.getIndices());
  Value pointer = pointers[cast<BlockArgument>(store.getTarget()).getArgNumber()];
  Value inside = store.getGuarded() ? emitInBounds(store.getTarget(), store.getMap(), axes, position)
                                    : emitIndexCheck(store.getTarget(), store.getMap(), axes, position);
  OpBuilder::InsertionGuard guard(b);
  if (inside)
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, inside).thenBlock());
  storeElement(b, loc, value, pointer, emitOffset(store.getTarget(), position));
}

Value Emitter::convert(Value scalar, Type type) {
  Type from = scalar.getType();
  if (from == type)
    return scalar;
  if (isa<FloatType>(type) && isa<FloatType>(from))
    return arith::ExtFOp::create(b, loc, type, scalar);
  if (isa<FloatType>(type))
    return from.isInteger(1) ? arith::UIToFPOp::create(b, loc, type, scalar).getResult()
                             : arith::SIToFPOp::create(b, loc, type, scalar).getResult();
  if (from.isIndex() || type.isIndex())
    return arith::IndexCastOp::create(b, loc, type, scalar);
  return from.isInteger(1) ? arith::ExtUIOp::create(b, loc, type, scalar).getResult()
                           : arith::ExtSIOp::create(b, loc, type, scalar).getResult();
}

} // namespace emmy::fuse
