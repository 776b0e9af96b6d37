// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a value costs and how its reads move through memory: the two facts that placement weighs.
#include "Placement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace emmy::fuse {

/// The factor of dimension `dim` in `expr` if `expr` is linear in it with a constant factor; nothing otherwise.
static std::optional<int64_t> getFactor(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> lhs = getFactor(binary.getLHS(), dim), rhs = getFactor(binary.getRHS(), dim);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul && constant)
    return *lhs * constant.getValue();
  return std::nullopt;
}

static Stride getLoadStride(KernelOp kernel, LoadOp load, StringAttr axis) {
  for (Value index : load.getIndices())
    if (cast<ValueType>(index.getType()).hasAxis(axis))
      return Stride::Other;
  auto type = cast<RankedTensorType>(load.getSource().getType());
  auto argument = cast<BlockArgument>(load.getSource());
  LayoutAttr layout = kernel.getLayout(argument.getArgNumber());
  SmallVector<AffineExpr> strides = layout ? llvm::to_vector(layout.getStrides())
                                           : getContiguousStrides(getSizes(type), kernel.getContext());
  unsigned dim = llvm::find(load.getType().getAxes(), axis) - load.getType().getAxes().begin();
  int64_t total = 0;
  for (auto [index, stride] : llvm::zip(load.getMap().getResults(), strides)) {
    std::optional<int64_t> factor = getFactor(index, dim);
    auto constant = dyn_cast<AffineConstantExpr>(stride);
    if (!factor || (*factor != 0 && !constant))
      return Stride::Other;
    total += *factor * (constant ? constant.getValue() : 0);
  }
  return total == 0 ? Stride::Zero : total == 1 ? Stride::Unit : Stride::Other;
}

Stride getStride(KernelOp kernel, Value value, StringAttr axis) {
  auto type = cast<ValueType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type.hasAxis(axis) || isa_and_nonnull<IndexOp>(op))
    return Stride::Zero;
  if (auto load = dyn_cast_or_null<LoadOp>(op))
    return getLoadStride(kernel, load, axis);
  if (auto map = dyn_cast_or_null<MapOp>(op)) {
    Stride worst = Stride::Zero;
    for (Value input : map.getInputs())
      worst = std::max(worst, getStride(kernel, input, axis));
    return worst;
  }
  return type.getAxes().back() == axis ? Stride::Unit : Stride::Other; // a buffer
}

static unsigned getRegionCost(MapOp map) {
  unsigned cost = 0;
  for (Operation &op : map.getBody().front().without_terminator()) {
    if (isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::SelectOp>(op))
      continue;
    bool cheapMath = isa<math::SqrtOp, math::AbsFOp, math::FmaOp, math::CopySignOp, math::FloorOp>(op);
    cost += isa<math::MathDialect>(op.getDialect()) && !cheapMath ? 8 : 1;
  }
  return cost;
}

unsigned getCost(Value value) {
  Operation *op = value.getDefiningOp();
  auto map = dyn_cast_or_null<MapOp>(op);
  if (!map)
    return 0;
  unsigned cost = getRegionCost(map);
  for (Value input : map.getInputs())
    cost += getCost(input);
  return std::min(cost, 1000u);
}

} // namespace emmy::fuse
