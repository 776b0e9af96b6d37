// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads and writes of register tiles. Where the address is a plain sum over the tile's axes, one strided move, as wide as strides and
// alignment allow; otherwise an offset of its own for every element.
#include "RegisterTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace emmy {

/// The index of a dimension's first element at the block at hand, plus where each element lies in it.
Value RegisterTiles::coordinate(unsigned dim, ArrayRef<unsigned> kept, const AxisStarts &starts) {
  size_t position = llvm::find(kept, dim) - kept.begin();
  return tile::CoordOp::create(b, b.loc, fragType(kept, b.getI32Type()), position, starts[b.axisPosition(dims[dim].axis)]);
}

//===----------------------------------------------------------------------===//
// Strided moves
//===----------------------------------------------------------------------===//

/// Whether 0 <= guard < limit for all indices below `sizes`.
static bool staysInside(AffineExpr guard, AffineExpr limit, ArrayRef<AffineExpr> sizes) {
  if (auto dim = dyn_cast<AffineDimExpr>(guard); dim && dim.getPosition() < sizes.size() && sizes[dim.getPosition()] == limit)
    return true;
  std::optional<sched::AddressSum> sum = sched::splitAddress(guard);
  auto start = sum ? dyn_cast<AffineConstantExpr>(sum->constant) : AffineConstantExpr();
  auto end = dyn_cast<AffineConstantExpr>(limit);
  if (!start || !end || start.getValue() < 0)
    return false;
  int64_t largest = start.getValue();
  for (const sched::AddressSum::Term &term : sum->terms) {
    auto dim = dyn_cast<AffineDimExpr>(term.atom);
    auto coefficient = dyn_cast<AffineConstantExpr>(term.coefficient);
    auto size = dim && dim.getPosition() < sizes.size() ? dyn_cast<AffineConstantExpr>(sizes[dim.getPosition()]) : AffineConstantExpr();
    if (!size || !coefficient || coefficient.getValue() < 0)
      return false;
    largest += coefficient.getValue() * (size.getValue() - 1);
  }
  return largest < end.getValue();
}

/// Whether groups of `vector` neighbours along dimension `dim` of an access are all on one side of the guard.
static bool cutsBetweenVectors(AffineExpr guard, AffineExpr limit, std::optional<unsigned> dim, int64_t vector) {
  if (!dim || !guard.isFunctionOfDim(*dim))
    return true;
  std::optional<sched::AddressSum> sum = sched::splitAddress(guard);
  if (!sum || sum->isNested(*dim) || sum->coefficientOf(*dim) != 1 || !sum->constant.isMultipleOf(vector) || !limit.isMultipleOf(vector))
    return false;
  return llvm::all_of(sum->terms, [&](const sched::AddressSum::Term &term) {
    return term.atom.isFunctionOfDim(*dim) || term.coefficient.isMultipleOf(vector);
  });
}

/// Elements that can move at once along the last dimension.
static int64_t widestVector(const sched::AddressSum &sum, std::optional<unsigned> lastDim, AffineExpr lastSize, int64_t most,
                            int64_t align, int64_t elementBytes) {
  AffineExpr unit = lastDim ? sum.coefficientOf(*lastDim) : AffineExpr();
  auto constant = dyn_cast_or_null<AffineConstantExpr>(unit);
  if (!constant || constant.getValue() != 1)
    return 1;
  int64_t vector = std::min(most, 16 / elementBytes);
  auto fits = [&](int64_t v) {
    if (align % (v * elementBytes) || !sum.constant.isMultipleOf(v) || !lastSize.isMultipleOf(v))
      return false;
    return llvm::all_of(sum.terms, [&](const sched::AddressSum::Term &term) {
      return term.coefficient == unit || term.coefficient.isMultipleOf(v);
    });
  };
  while (vector > 1 && !fits(vector))
    vector /= 2;
  return std::max<int64_t>(vector, 1);
}

template <typename Op>
std::optional<RegisterTiles::Strided> RegisterTiles::planStrided(Op op, const Guards &guards, ArrayRef<unsigned> kept,
                                                                 const AxisStarts &starts) {
  AffineMap map = op.getMap();
  ArrayAttr over = op.getOver();
  unsigned tensor = cast<BlockArgument>(op.getTensor()).getArgNumber();
  std::optional<sched::AddressSum> sum = op.getIndices().empty() ? sched::splitAddress(map.getResult(0)) : std::nullopt;
  if (!sum)
    return std::nullopt;
  SmallVector<StringAttr> axes = llvm::to_vector(over.getAsRange<StringAttr>());
  auto positionOf = [&](unsigned dim) -> std::optional<unsigned> {
    auto *at = llvm::find(axes, dims[dim].axis);
    return dims[dim].axis && at != axes.end() ? std::optional<unsigned>(at - axes.begin()) : std::nullopt;
  };
  for (unsigned dim : kept)
    if (std::optional<unsigned> position = positionOf(dim); position && sum->isNested(*position))
      return std::nullopt;
  // Two terms may share the unit coefficient; then a step along the vector is not one element.
  Strided access;
  access.offset = b.compute(map.getResult(0), b.startsOf(over, starts), b.getI64Type());
  bool ragged = llvm::any_of(kept, [&](unsigned dim) { return isRagged(dim); });
  for (unsigned dim : kept) {
    std::optional<unsigned> position = positionOf(dim);
    AffineExpr coefficient = position ? sum->coefficientOf(*position) : AffineExpr();
    access.strides.push_back(coefficient ? b.size(coefficient, b.getI64Type()) : b.i64(0));
    if (!ragged)
      continue;
    if (!dims[dim].axis) {
      access.limits.push_back(b.i32(1));
      continue;
    }
    unsigned axis = b.axisPosition(dims[dim].axis);
    Value size = b.size(b.axis(axis).getSize(), b.getI32Type());
    access.limits.push_back(matchPattern(starts[axis], m_Zero()) ? size : arith::SubIOp::create(b, b.loc, size, starts[axis]).getResult());
  }
  unsigned last = kept.back();
  std::optional<unsigned> lastPosition = last == dims.size() - 1 ? positionOf(last) : std::nullopt;
  AffineExpr lastSize = lastPosition ? b.axis(b.axisPosition(dims[last].axis)).getSize() : getAffineConstantExpr(1, b.getContext());
  access.vector = widestVector(*sum, lastPosition, lastSize, dims[last].vector, b.alignOf(tensor), b.elementBytes(tensor));
  for (auto [guard, limit] : llvm::zip(guards.exprs, guards.limits))
    while (access.vector > 1 && !cutsBetweenVectors(guard, limit, lastPosition, access.vector))
      access.vector /= 2;
  return access;
}

//===----------------------------------------------------------------------===//
// Moves element by element
//===----------------------------------------------------------------------===//

/// An affine expression over i64 values, inside a region.
static Value evaluate(OpBuilder &b, Location loc, AffineExpr expr, ValueRange dims, const DenseMap<unsigned, Value> &symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIntOp::create(b, loc, constant.getValue(), 64);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols.lookup(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = evaluate(b, loc, binary.getLHS(), dims, symbols), rhs = evaluate(b, loc, binary.getRHS(), dims, symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
  default: { // a mod that is never negative, as affine's
    Value quotient = arith::FloorDivSIOp::create(b, loc, lhs, rhs);
    return arith::SubIOp::create(b, loc, lhs, arith::MulIOp::create(b, loc, quotient, rhs));
  }
  }
}

static void collectSymbols(AffineExpr expr, llvm::SetVector<unsigned> &symbols) {
  expr.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      symbols.insert(symbol.getPosition());
  });
}

/// Operands of a region that computes with an access' dimensions, and what stands for them inside.
struct RegisterTiles::IndexOperands {
  SmallVector<Value> operands;     // i32 or i64 scalars and fragments, one for each dimension, then symbols
  llvm::SetVector<unsigned> symbols;
  size_t dims = 0;

  void addSymbols(KernelBuilder &b, ArrayRef<AffineExpr> exprs) {
    for (AffineExpr expr : exprs)
      collectSymbols(expr, symbols);
    for (unsigned symbol : symbols)
      operands.push_back(b.size(getAffineSymbolExpr(symbol, b.getContext()), b.getI64Type()));
  }

  /// Dimensions as i64 and symbols, from the region's arguments.
  std::pair<SmallVector<Value>, DenseMap<unsigned, Value>> inside(OpBuilder &b, Location loc, ValueRange arguments) const {
    SmallVector<Value> values;
    for (Value argument : arguments.take_front(dims))
      values.push_back(argument.getType().isInteger(64) ? argument
                                                        : arith::ExtSIOp::create(b, loc, b.getI64Type(), argument).getResult());
    DenseMap<unsigned, Value> named;
    for (auto [symbol, argument] : llvm::zip(symbols, arguments.drop_front(dims)))
      named[symbol] = argument;
    return {values, named};
  }
};

/// The dimensions of an access that `over` and `indices` are.
RegisterTiles::IndexOperands RegisterTiles::planIndices(ArrayAttr over, ValueRange indices, ArrayRef<unsigned> kept,
                                                        const AxisStarts &starts) {
  IndexOperands index;
  for (auto axis : over.getAsRange<StringAttr>()) {
    auto *dim = llvm::find_if(dims, [&](const RegisterDim &d) { return d.axis == axis; });
    index.operands.push_back(dim == dims.end() ? starts[b.axisPosition(axis)] : coordinate(dim - dims.begin(), kept, starts));
  }
  for (Value tile : indices)
    index.operands.push_back(widen(fragOf(tile), dimsOf(cast<sched::TileType>(tile.getType()).getAxes()), kept));
  index.dims = index.operands.size();
  return index;
}

/// The guards of an access that some element on the blocks of its axes can break.
template <typename Op> RegisterTiles::Guards RegisterTiles::collectGuards(Op op) {
  Guards guards;
  std::optional<AffineMap> map = op.getGuard();
  if (!map)
    return guards;
  SmallVector<AffineExpr> sizes;
  for (auto axis : op.getOver().template getAsRange<StringAttr>())
    sizes.push_back(b.axis(b.axisPosition(axis)).getSize());
  for (auto [guard, limit] : llvm::zip(map->getResults(), op.getLimits()->getSizes()))
    if (!staysInside(guard, limit, sizes)) {
      guards.exprs.push_back(guard);
      guards.limits.push_back(limit);
    }
  return guards;
}

/// Where all guards hold; null without one.
Value RegisterTiles::planMask(IndexOperands index, const Guards &guards, ArrayRef<unsigned> kept) {
  if (guards.exprs.empty())
    return {};
  SmallVector<AffineExpr> all(guards.exprs);
  llvm::append_range(all, guards.limits);
  index.addSymbols(b, all);
  return mapFrags(index.operands, kept, b.getI1Type(), [&](OpBuilder &i, ValueRange e) {
    auto [values, symbols] = index.inside(i, b.loc, e);
    Value zero = arith::ConstantIntOp::create(i, b.loc, 0, 64), all;
    for (auto [guard, limit] : llvm::zip(guards.exprs, guards.limits)) {
      Value at = evaluate(i, b.loc, guard, values, symbols), end = evaluate(i, b.loc, limit, values, symbols);
      Value low = arith::CmpIOp::create(i, b.loc, arith::CmpIPredicate::sge, at, zero);
      Value high = arith::CmpIOp::create(i, b.loc, arith::CmpIPredicate::slt, at, end);
      Value both = arith::AndIOp::create(i, b.loc, low, high);
      all = all ? arith::AndIOp::create(i, b.loc, all, both).getResult() : both;
    }
    return all;
  });
}

template <typename Op>
RegisterTiles::Scattered RegisterTiles::planScattered(Op op, ArrayRef<unsigned> kept, const AxisStarts &starts) {
  // Axes of the tile are checked against their ends, like a guard of their own.
  Guards guards = collectGuards(op);
  for (auto [i, axis] : llvm::enumerate(op.getOver().template getAsRange<StringAttr>())) {
    auto *dim = llvm::find_if(dims, [&](const RegisterDim &d) { return d.axis == axis; });
    if (dim != dims.end() && isRagged(dim - dims.begin())) {
      guards.exprs.push_back(getAffineDimExpr(i, b.getContext()));
      guards.limits.push_back(b.axis(b.axisPosition(axis)).getSize());
    }
  }
  IndexOperands dimensions = planIndices(op.getOver(), op.getIndices(), kept, starts), index = dimensions;
  AffineExpr offset = op.getMap().getResult(0);
  index.addSymbols(b, offset);
  Scattered access;
  access.offsets = mapFrags(index.operands, kept, b.getI64Type(), [&](OpBuilder &i, ValueRange e) {
    auto [values, symbols] = index.inside(i, b.loc, e);
    return evaluate(i, b.loc, offset, values, symbols);
  });
  access.mask = planMask(dimensions, guards, kept);
  return access;
}

void RegisterTiles::emitIndex(sched::IndexOp op, const AxisStarts &starts) {
  SmallVector<unsigned> kept = dimsOf(op.getType().getAxes());
  IndexOperands index = planIndices(op.getOver(), {}, kept, starts);
  AffineExpr expr = op.getMap().getResult(0);
  index.addSymbols(b, expr);
  set(op.getResult(), mapFrags(index.operands, kept, b.getI64Type(), [&](OpBuilder &i, ValueRange e) {
        auto [values, symbols] = index.inside(i, b.loc, e);
        return evaluate(i, b.loc, expr, values, symbols);
      }));
}

//===----------------------------------------------------------------------===//
// Reads and writes
//===----------------------------------------------------------------------===//

LogicalResult RegisterTiles::emitRead(sched::ReadOp op, const AxisStarts &starts) {
  SmallVector<unsigned> kept = dimsOf(op.getType().getAxes());
  unsigned tensor = cast<BlockArgument>(op.getTensor()).getArgNumber();
  Type element = op.getType().getElementType(), stored = storedType(element);
  Value pointer = b.pointer(tensor), frag;
  Guards guards = collectGuards(op);
  if (auto access = planStrided(op, guards, kept, starts)) {
    Value mask = planMask(planIndices(op.getOver(), {}, kept, starts), guards, kept);
    frag = tile::LoadOp::create(b, b.loc, fragType(kept, stored), pointer, access->offset, access->strides, access->limits, mask,
                                access->vector, /*evict_first=*/false);
  } else {
    Scattered scattered = planScattered(op, kept, starts);
    frag = tile::GatherOp::create(b, b.loc, fragType(kept, stored), pointer, scattered.offsets, scattered.mask);
  }
  if (stored != element)
    frag = mapFrags({frag}, kept, element, [&](OpBuilder &i, ValueRange e) -> Value {
      Value zero = arith::ConstantIntOp::create(i, b.loc, 0, 8);
      return arith::CmpIOp::create(i, b.loc, arith::CmpIPredicate::ne, e[0], zero);
    });
  set(op.getResult(), frag);
  return success();
}

LogicalResult RegisterTiles::emitWrite(sched::WriteOp op, const AxisStarts &starts) {
  // The tile of all axes of the access: a value over fewer repeats.
  SmallVector<StringAttr> axes = llvm::to_vector(op.getOver().getAsRange<StringAttr>());
  SmallVector<unsigned> kept = dimsOf(axes);
  auto type = cast<sched::TileType>(op.getValue().getType());
  unsigned tensor = cast<BlockArgument>(op.getTensor()).getArgNumber();
  Value frag = widen(fragOf(op.getValue()), dimsOf(type.getAxes()), kept), pointer = b.pointer(tensor);
  if (Type stored = storedType(type.getElementType()); stored != type.getElementType())
    frag = mapFrags({frag}, kept, stored,
                    [&](OpBuilder &i, ValueRange e) -> Value { return arith::ExtUIOp::create(i, b.loc, stored, e[0]); });
  // Of CTAs that make the same values, the first writes them.
  Value isFirst;
  for (StringAttr axis : KernelBuilder::sharedAxes(op)) {
    Value here = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::eq, starts[b.axisPosition(axis)], b.i32(0));
    isFirst = isFirst ? arith::AndIOp::create(b, b.loc, isFirst, here).getResult() : here;
  }
  OpBuilder::InsertionGuard insertion(b);
  if (isFirst)
    b.setInsertionPointToStart(scf::IfOp::create(b, b.loc, isFirst, /*withElseRegion=*/false).thenBlock());
  Guards guards = collectGuards(op);
  if (auto access = guards.exprs.empty() ? planStrided(op, guards, kept, starts) : std::nullopt) {
    tile::StoreOp::create(b, b.loc, frag, pointer, access->offset, access->strides, access->limits, access->vector);
    return success();
  }
  Scattered scattered = planScattered(op, kept, starts);
  tile::ScatterOp::create(b, b.loc, frag, pointer, scattered.offsets, scattered.mask);
  return success();
}

} // namespace emmy
