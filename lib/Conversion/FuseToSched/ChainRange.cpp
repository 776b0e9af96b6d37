// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loop bounds from conditions on indices: a comparison of affine expressions of the axes is true for whole blocks, false for whole
// blocks, or mixed. Blocks for which it is false are left out where that changes nothing.
#include "Chain.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace emmy::chain {

static std::optional<AffineExpr> toAffine(Value scalar, fuse::MapOp map, const KernelView &view);

/// The element of a kernel value as an affine expression of the view's axes.
static std::optional<AffineExpr> affineOf(Value value, const KernelView &view) {
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast_or_null<fuse::IndexOp>(op)) {
    SmallVector<AffineExpr> dims;
    for (StringAttr name : index.getType().getAxes())
      dims.push_back(getAffineDimExpr(view.find(name), value.getContext()));
    return index.getMap().getResult(0).replaceDims(dims);
  }
  auto map = dyn_cast_or_null<fuse::MapOp>(op);
  return map ? toAffine(map.getBody().front().getTerminator()->getOperand(0), map, view) : std::nullopt;
}

/// A scalar in the region of `map` likewise.
static std::optional<AffineExpr> toAffine(Value scalar, fuse::MapOp map, const KernelView &view) {
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return affineOf(map.getInputs()[argument.getArgNumber()], view);
  Operation *op = scalar.getDefiningOp();
  IntegerAttr number;
  if (matchPattern(scalar, m_Constant(&number)))
    return getAffineConstantExpr(number.getInt(), scalar.getContext());
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return toAffine(op->getOperand(0), map, view);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<AffineExpr> lhs = toAffine(op->getOperand(0), map, view), rhs = toAffine(op->getOperand(1), map, view);
  if (!lhs || !rhs)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *lhs + *rhs;
  if (isa<arith::SubIOp>(op))
    return *lhs - *rhs;
  if (!lhs->isSymbolicOrConstant() && !rhs->isSymbolicOrConstant())
    return std::nullopt;
  return *lhs * *rhs;
}

/// The expression that is at least zero where `compare` holds.
static std::optional<AffineExpr> constraintOf(arith::CmpIOp compare, fuse::MapOp map, const KernelView &view) {
  std::optional<AffineExpr> lhs = toAffine(compare.getLhs(), map, view), rhs = toAffine(compare.getRhs(), map, view);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sge:
    return *lhs - *rhs;
  case arith::CmpIPredicate::sgt:
    return *lhs - *rhs - 1;
  case arith::CmpIPredicate::sle:
    return *rhs - *lhs;
  case arith::CmpIPredicate::slt:
    return *rhs - *lhs - 1;
  default:
    return std::nullopt;
  }
}

namespace {
/// Where in the fold's axis a condition holds: for some row of a block, and for all. Null where that side has no end.
struct Interval {
  AffineExpr someFrom, someTo, allFrom, allTo;
};

struct RangeBuilder {
  const Chain &chain;
  const KernelView &view;
  int64_t rows;
  SmallVector<unsigned> axes; // in the expressions, by position
  SmallVector<AffineExpr> from, to, plainFrom, plainTo;

  std::optional<Interval> intervalOf(AffineExpr constraint) const;
  AffineExpr localise(AffineExpr expr);
};
} // namespace

std::optional<Interval> RangeBuilder::intervalOf(AffineExpr constraint) const {
  std::optional<sched::AddressSum> sum = sched::splitAddress(constraint);
  if (!sum || sum->isNested(chain.over) || sum->isNested(chain.row))
    return std::nullopt;
  auto slope = dyn_cast_or_null<AffineConstantExpr>(sum->coefficientOf(chain.over));
  if (!slope || std::abs(slope.getValue()) != 1)
    return std::nullopt;
  AffineExpr rowSlope = sum->coefficientOf(chain.row);
  if (rowSlope && !isa<AffineConstantExpr>(rowSlope))
    return std::nullopt;
  MLIRContext *context = constraint.getContext();
  AffineExpr rest = sum->toExpr().replace(getAffineDimExpr(chain.over, context), getAffineConstantExpr(0, context));
  int64_t drift = rowSlope ? cast<AffineConstantExpr>(rowSlope).getValue() * (rows - 1) : 0;
  AffineExpr most = rest + std::max<int64_t>(drift, 0), least = rest + std::min<int64_t>(drift, 0);
  if (slope.getValue() < 0) // n <= rest
    return Interval{{}, most + 1, {}, least + 1};
  return Interval{-most, {}, -least, {}}; // n >= -rest
}

/// Positions in the view become positions in `axes`.
AffineExpr RangeBuilder::localise(AffineExpr expr) {
  DenseMap<AffineExpr, AffineExpr> replaced;
  expr.walk([&](AffineExpr e) {
    auto dim = dyn_cast<AffineDimExpr>(e);
    if (!dim)
      return;
    auto *known = llvm::find(axes, dim.getPosition());
    unsigned at = known - axes.begin();
    if (known == axes.end())
      axes.push_back(dim.getPosition());
    replaced[e] = getAffineDimExpr(at, e.getContext());
  });
  return expr.replace(replaced);
}

static bool isCheckable(Operation *op, const Chain &chain) {
  auto map = op->getParentOfType<fuse::MapOp>();
  return map && (map->getBlock() == &chain.fold.getBody().front() || map->getBlock() == chain.fold->getBlock());
}

sched::RangeAttr rangeOf(const Chain &chain, const KernelView &view, sched::ChainAttr schedule, bool marks) {
  Builder builder(view.kernel.getContext());
  RangeBuilder range{chain, view, schedule.getRows(), {}, {}, {}, {}, {}};
  AffineExpr zero = builder.getAffineConstantExpr(0), size = view.axes[chain.over].size;
  range.from = {zero}, range.to = {size}, range.plainFrom = {zero}, range.plainTo = {size};
  view.kernel.getBody().walk([&](arith::CmpIOp compare) {
    if (!isCheckable(compare, chain))
      return;
    std::optional<AffineExpr> constraint = constraintOf(compare, compare->getParentOfType<fuse::MapOp>(), view);
    std::optional<Interval> interval = constraint ? range.intervalOf(*constraint) : std::nullopt;
    if (!interval)
      return;
    auto add = [&](SmallVector<AffineExpr> &exprs, AffineExpr expr) {
      if (expr)
        exprs.push_back(range.localise(expr));
    };
    add(range.plainFrom, interval->allFrom), add(range.plainTo, interval->allTo);
    if (isNeutralWithout(chain, compare))
      add(range.from, interval->someFrom), add(range.to, interval->someTo);
    if (marks)
      compare->setAttr(sched::kPlainAttr, builder.getUnitAttr());
  });
  SmallVector<Attribute> over;
  for (unsigned axis : range.axes)
    over.push_back(view.axes[axis].name);
  return sched::RangeAttr::get(builder.getContext(), builder.getArrayAttr(over), range.from, range.to, range.plainFrom, range.plainTo);
}

} // namespace emmy::chain
