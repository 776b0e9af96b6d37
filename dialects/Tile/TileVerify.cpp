// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of structure, shared memory, copies and tensor-core ops; each branch names its constraint in TileOps.td.
#include "dialects/Tile/Tile.h"

using namespace mlir;
using namespace emmy::tile;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// As `emitOpError`, but without printing the op, which holds a whole program.
static InFlightDiagnostic emitHeaderError(Operation *op, const Twine &text) {
  return emitError(op->getLoc()) << "'" << op->getName() << "' op " << text;
}

LogicalResult KernelOp::verify() {
  if (getWarps() < 1 || getWarps() > 32) // kernel_c1
    return emitHeaderError(*this, "expects 1 to 32 warps, but got ") << getWarps();
  if (getCluster() < 1 || getCluster() > 16) // kernel_c2
    return emitHeaderError(*this, "expects a cluster of 1 to 16 CTAs, but got ") << getCluster();
  if (getGrid().getSizes().size() != 3) // kernel_c3
    return emitHeaderError(*this, "expects three grid sizes, but got ") << getGrid().getSizes().size();
  for (auto [i, size] : llvm::enumerate(getGrid().getSizes())) // kernel_c3
    if (auto constant = dyn_cast<AffineConstantExpr>(size))
      if (constant.getValue() < 0 || constant.getValue() > maxGridSize(i))
        return emitHeaderError(*this, "expects grid size #") << i << " from 0 to " << maxGridSize(i) << ", but got " << constant.getValue();
  TargetAttr target = TargetAttr::of(*this);
  int64_t shared = planShared(*this).bytes;
  if (target.getShared() && shared > target.getShared()) // kernel_c4
    return emitHeaderError(*this, "uses ") << shared << " bytes of shared memory, but " << target.getChip() << " has "
                                           << target.getShared();
  for (auto specialize : getBody().getOps<WarpSpecializeOp>()) {
    RolePlan plan = planRoles(specialize);
    if (plan.warps != static_cast<int64_t>(getWarps())) // kernel_c1
      return emitHeaderError(specialize, "has roles for ") << plan.warps << " warps, but the kernel has " << getWarps();
    int64_t registers = 0;
    for (RolePlan::Entry &entry : plan.roles)
      registers += static_cast<int64_t>(entry.role.getRegisters().value_or(0)) * entry.occupied * 32;
    if (registers > target.getRegisters()) // kernel_c5
      return emitHeaderError(specialize, "has roles with ") << registers << " registers in all, but " << target.getChip() << " has "
                                                            << target.getRegisters();
  }
  return success();
}

LogicalResult WarpSpecializeOp::verify() {
  for (Operation &op : getBody().front())
    if (!isa<RoleOp>(op))
      return op.emitOpError("stands where only roles may");
  return success();
}

LogicalResult RoleOp::verify() {
  std::optional<uint64_t> registers = getRegisters();
  if (registers && (*registers % 8 || *registers < 24 || *registers > 256)) // role_c1
    return emitHeaderError(*this, "expects registers in multiples of 8 from 24 to 256, but got ") << *registers;
  Block &block = getBody().front();
  if (block.getNumArguments() > 1 || (block.getNumArguments() == 1 && !block.getArgument(0).getType().isInteger(32)))
    return emitHeaderError(*this, "expects at most one block argument, the i32 number of the unit");
  return success();
}

LogicalResult OneThreadOp::verify() {
  WalkResult result = getBody().walk([&](Operation *op) -> WalkResult {
    auto isFrag = [](Type type) { return isa<FragType>(type); };
    if (llvm::any_of(op->getResultTypes(), isFrag) || llvm::any_of(op->getOperandTypes(), isFrag) || isa<SyncOp>(op))
      return op->emitOpError("needs the whole unit, but stands in 'emmy_tile.one_thread'");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult RingSlotOp::verify() {
  auto stages = static_cast<int64_t>(getStages());
  if (stages < 1 || stages > std::numeric_limits<int32_t>::max())
    return emitOpError("expects 1 to 2147483647 stages, but got ") << stages;
  return success();
}

//===----------------------------------------------------------------------===//
// Shared memory and copies
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  if (!isa<KernelOp>((*this)->getParentOp()))
    return emitOpError("expects to stand at the top of a kernel");
  auto shared = dyn_cast<SharedType>(getType());
  if (shared && !shared.isContiguous())
    return emitOpError("expects a row-major buffer, but got ") << shared;
  return success();
}

LogicalResult SubviewOp::verify() {
  SharedType from = getSource().getType(), to = getType();
  size_t dropped = from.getShape().size() - to.getShape().size();
  if (getOffsets().size() != from.getShape().size())
    return emitOpError("expects ") << from.getShape().size() << " offsets, but got " << getOffsets().size();
  if (to.getShape().size() > from.getShape().size() || from.getElementType() != to.getElementType() ||
      from.getSwizzle() != to.getSwizzle() || from.getStrides().drop_front(dropped) != to.getStrides())
    return emitOpError("expects element type, swizzle and trailing strides of ") << from << ", but got " << to;
  for (auto [i, size, whole] : llvm::enumerate(to.getShape(), from.getShape().drop_front(dropped)))
    if (size > whole)
      return emitOpError("expects at most ") << whole << " elements in dimension " << i << ", but got " << size;
  return success();
}

static LogicalResult verifyBox(Operation *op, TmapType map, size_t coords, SharedType buffer) {
  if (coords != map.getBox().size()) // tma_c1
    return op->emitOpError("expects ") << map.getBox().size() << " coordinates, but got " << coords;
  auto isOne = [](int64_t size) { return size == 1; };
  SmallVector<int64_t> box = llvm::to_vector(llvm::make_filter_range(map.getBox(), std::not_fn(isOne)));
  SmallVector<int64_t> shape = llvm::to_vector(llvm::make_filter_range(buffer.getShape(), std::not_fn(isOne)));
  if (box != shape || map.getElementType() != buffer.getElementType() || map.getSwizzle() != buffer.getSwizzle() ||
      !buffer.isContiguous()) // tma_c2
    return op->emitOpError("expects a contiguous buffer of the box of ") << map << ", but got " << buffer;
  return success();
}

LogicalResult TmaLoadOp::verify() { return verifyBox(*this, getMap().getType(), getCoords().size(), getTarget().getType()); }
LogicalResult TmaStoreOp::verify() { return verifyBox(*this, getMap().getType(), getCoords().size(), getSource().getType()); }

LogicalResult CpAsyncOp::verify() {
  size_t rank = getTarget().getType().getShape().size();
  if (getStrides().size() != rank || getLimits().size() != rank)
    return emitOpError("expects ") << rank << " strides and limits, but got " << getStrides().size() << " and " << getLimits().size();
  int64_t vector = getVector(), bytes = getTarget().getType().getElementBytes();
  if (vector < 1 || vector > 16 || !llvm::is_contained({4, 8, 16}, vector * bytes))
    return emitOpError("expects to copy 4, 8 or 16 bytes at a time, but got ") << vector << " elements of " << bytes << " bytes";
  if (getTarget().getType().getShape().back() % vector)
    return emitOpError("expects rows of whole vectors of ") << vector << " elements, but got " << getTarget().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

/// The layout of the accumulator of m64nN.
static LayoutAttr accumulatorLayout(MLIRContext *context, int64_t n) {
  return LayoutAttr::get(context, 2, {2, 0, 1, 2, 8, 0, n / 8, 0, 8}, {4, 0, 2, 8, 1, 0}, {4, 16, 0});
}

LogicalResult WgmmaOp::verify() {
  FragType acc = getAcc().getType();
  SharedType b = getB().getType();
  if (acc.getShape().size() != 2 || acc.getShape()[0] != 64)
    return emitOpError("expects an accumulator of 64 rows, but got ") << acc;
  auto isMatrix = [](Value value) {
    auto shared = dyn_cast<SharedType>(value.getType());
    size_t rank = shared ? shared.getShape().size() : cast<FragType>(value.getType()).getShape().size();
    return rank == 2 || (shared && rank == 3);
  };
  for (Value operand : {Value(getA()), Value(getB())})
    if (!isMatrix(operand))
      return emitOpError("expects matrices or panels of matrices, but got ") << operand.getType();
  int64_t n = acc.getShape()[1];
  if (n % 8 || n < 8 || n > 256) // wgmma_c1
    return emitOpError("expects 8 to 256 columns in steps of 8, but got ") << n;
  auto extents = [](ArrayRef<int64_t> shape) { // rows, columns; panels multiply the columns
    return std::make_pair(shape[shape.size() - 2], shape.back() * (shape.size() == 3 ? shape[0] : 1));
  };
  auto [bRows, bColumns] = extents(b.getShape());
  int64_t k = getTransposeB() ? bRows : bColumns, bn = getTransposeB() ? bColumns : bRows, ak;
  if (auto a = dyn_cast<SharedType>(getA().getType())) {
    auto [rows, columns] = extents(a.getShape());
    if (rows != 64)
      return emitOpError("expects 64 rows in its first operand, but got ") << rows;
    if (a.getSwizzle() != 128) // wgmma_c3
      return emitOpError("expects operands in 128-byte swizzle, but got ") << a;
    ak = columns;
  } else {
    ak = cast<FragType>(getA().getType()).getShape()[1];
  }
  if (b.getSwizzle() != 128) // wgmma_c3
    return emitOpError("expects operands in 128-byte swizzle, but got ") << b;
  if (bn != n || k != ak) // wgmma_c2
    return emitOpError("expects a ") << n << " by " << ak << " second operand, but got " << bn << " by " << k;
  if (acc.getLayout() != accumulatorLayout(getContext(), n)) // wgmma_c4
    return emitOpError("expects the accumulator in the layout ") << accumulatorLayout(getContext(), n) << ", but got " << acc.getLayout();
  return success();
}

LogicalResult WgmmaWaitOp::verify() {
  if (!llvm::equal(getFrags().getTypes(), getResultTypes()))
    return emitOpError("expects results of the operands' types");
  return success();
}

LogicalResult MmaOp::verify() {
  FragType a = getA().getType(), b = getB().getType(), acc = getAcc().getType();
  if (a.getShape().size() != 2 || b.getShape().size() != 2 || acc.getShape().size() != 2)
    return emitOpError("expects fragments of two dimensions");
  if (a.getShape()[0] != acc.getShape()[0] || b.getShape()[0] != acc.getShape()[1] || a.getShape()[1] != b.getShape()[1])
    return emitOpError("expects m by k, n by k and m by n, but got ") << a << ", " << b << " and " << acc;
  return success();
}
