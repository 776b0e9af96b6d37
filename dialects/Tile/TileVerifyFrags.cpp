// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of the ops on fragments.
#include "dialects/Tile/Tile.h"

using namespace mlir;
using namespace emmy::tile;

/// Modes of `modes` with the stride of `dim` dropped; register modes that then stand still are dropped altogether.
static SmallVector<int64_t> dropDim(ArrayRef<int64_t> modes, int64_t rank, int64_t dim, bool dropStill) {
  SmallVector<int64_t> out;
  for (size_t i = 0; i < modes.size(); i += rank + 1) {
    SmallVector<int64_t> mode(modes.slice(i, rank + 1));
    mode.erase(mode.begin() + 1 + dim);
    if (dropStill && llvm::all_of(ArrayRef<int64_t>(mode).drop_front(), [](int64_t s) { return s == 0; }))
      continue;
    llvm::append_range(out, mode);
  }
  return out;
}

/// The type of `type` without dimension `dim`, as `reduce` and `broadcast` relate them.
static FragType dropDim(FragType type, int64_t dim) {
  LayoutAttr layout = type.getLayout();
  int64_t rank = layout.getRank();
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  auto dropped = LayoutAttr::get(type.getContext(), rank - 1, dropDim(layout.getReg(), rank, dim, true),
                                 dropDim(layout.getLane(), rank, dim, false), dropDim(layout.getWarp(), rank, dim, false));
  return FragType::get(type.getContext(), shape, type.getElementType(), dropped);
}

static LogicalResult verifyDropped(Operation *op, FragType whole, int64_t dim, FragType dropped) {
  int64_t rank = whole.getShape().size();
  if (rank < 2 || dim < 0 || dim >= rank)
    return op->emitOpError("expects a dimension of at least two of ") << whole << ", but got " << dim;
  if (dropDim(whole, dim) != dropped)
    return op->emitOpError("expects ") << dropDim(whole, dim) << ", but got " << dropped;
  return success();
}

LogicalResult SplatOp::verify() {
  if (getValue().getType() != getType().getElementType())
    return emitOpError("expects a scalar of type ") << getType().getElementType() << ", but got " << getValue().getType();
  return success();
}

LogicalResult CoordOp::verify() {
  if (getDim() >= getType().getShape().size())
    return emitOpError("expects a dimension below ") << getType().getShape().size() << ", but got " << getDim();
  if (!getType().getElementType().isInteger(32))
    return emitOpError("expects i32 elements, but got ") << getType().getElementType();
  return success();
}

LogicalResult MapOp::verify() {
  FragType like;
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("expects ") << getInputs().size() << " block arguments, but got " << block.getNumArguments();
  auto checkLike = [&](FragType frag) {
    like = like ? like : frag;
    return frag.getShape() == like.getShape() && frag.getLayout() == like.getLayout();
  };
  for (auto [i, input, argument] : llvm::enumerate(getInputs(), block.getArguments())) {
    auto frag = dyn_cast<FragType>(input.getType());
    if (frag && !checkLike(frag))
      return emitOpError("expects fragments of one shape and layout, but operand #") << i << " is " << frag;
    Type element = frag ? frag.getElementType() : input.getType();
    if (argument.getType() != element)
      return emitOpError("expects block argument #") << i << " of type " << element << ", but got " << argument.getType();
  }
  auto yield = getYield<YieldOp>(block);
  if (!yield || yield.getValues().size() != getNumResults())
    return emitOpError("expects its region to yield ") << getNumResults() << " elements";
  for (auto [i, type, value] : llvm::enumerate(getResultTypes(), yield.getValues())) {
    auto frag = cast<FragType>(type);
    if (!checkLike(frag) || frag.getElementType() != value.getType())
      return emitOpError("expects result #") << i << " to be of elements " << value.getType() << " in the operands' layout, but got "
                                             << frag;
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  Type element = getInput().getType().getElementType();
  Block &block = getBody().front();
  auto yield = getYield<YieldOp>(block);
  if (block.getNumArguments() != 2 || block.getArgument(0).getType() != element || block.getArgument(1).getType() != element ||
      !yield || yield.getValues().size() != 1 || yield.getValues()[0].getType() != element)
    return emitOpError("expects a region of two ") << element << " that yields one";
  LayoutAttr layout = getInput().getType().getLayout();
  int64_t rank = layout.getRank();
  if (failed(verifyDropped(*this, getInput().getType(), getDim(), getType())))
    return failure();
  for (size_t i = 0; i < layout.getWarp().size(); i += rank + 1)
    if (layout.getWarp()[i] > 1 && layout.getWarp()[i + 1 + getDim()] && !getScratch())
      return emitOpError("spans warps along dimension ") << getDim() << ", so it expects scratch memory";
  return success();
}

LogicalResult AnyOp::verify() {
  if (!getInput().getType().getElementType().isInteger(1))
    return emitOpError("expects i1 elements, but got ") << getInput().getType().getElementType();
  return success();
}

LogicalResult ExtractOp::verify() {
  FragType from = getInput().getType(), to = getType();
  LayoutAttr a = from.getLayout(), b = to.getLayout();
  if (getOffsets().size() != from.getShape().size() || to.getShape().size() != from.getShape().size())
    return emitOpError("expects ") << from.getShape().size() << " offsets, but got " << getOffsets().size();
  if (from.getElementType() != to.getElementType() || a.getLane() != b.getLane() || a.getWarp() != b.getWarp()) // extract_c1
    return emitOpError("expects elements, lanes and warps of ") << from << ", but got " << to;
  for (auto [i, offset, size, whole] : llvm::enumerate(getOffsets(), to.getShape(), from.getShape()))
    if (offset < 0 || size > whole || offset > whole - size)
      return emitOpError("expects ") << size << " elements from " << offset << " on in dimension " << i << " of " << whole;
  return success();
}

LogicalResult BroadcastOp::verify() { return verifyDropped(*this, getType(), getDim(), getInput().getType()); }

static LogicalResult verifyStrided(Operation *op, FragType frag, PtrType pointer, size_t strides, size_t limits, int64_t vector) {
  size_t rank = frag.getShape().size();
  if (strides != rank || (limits && limits != rank))
    return op->emitOpError("expects ") << rank << " strides and limits, but got " << strides << " and " << limits;
  if (frag.getElementType() != pointer.getElementType())
    return op->emitOpError("expects elements of type ") << pointer.getElementType() << ", but got " << frag.getElementType();
  if (vector < 1 || vector > 16 || (vector & (vector - 1)) || vector * frag.getElementType().getIntOrFloatBitWidth() > 128)
    return op->emitOpError("expects a vector of at most 16 bytes, a power of two, but got ") << vector << " elements";
  ArrayRef<int64_t> reg = frag.getLayout().getReg();
  if (vector > 1 && (reg.empty() || reg[0] % vector || reg[rank] != 1))
    return op->emitOpError("expects registers contiguous along the innermost dimension for a vector of ") << vector << " elements";
  return success();
}

LogicalResult LoadOp::verify() {
  if (Value mask = getMask()) {
    auto frag = cast<FragType>(mask.getType());
    if (frag.getShape() != getType().getShape() || frag.getLayout() != getType().getLayout() || !frag.getElementType().isInteger(1))
      return emitOpError("expects an i1 mask in the layout of ") << getType() << ", but got " << frag;
  }
  return verifyStrided(*this, getType(), getSource().getType(), getStrides().size(), getLimits().size(), getVector());
}

/// What the memory system can add.
static LogicalResult verifyAdd(Operation *op, FragType frag) { // store_c1
  Type element = frag.getElementType();
  if (element.isF32() || element.isF64() || element.isInteger(32) || element.isInteger(64))
    return success();
  return op->emitOpError("expects elements of 32 or 64 bits to add, but got ") << element;
}

LogicalResult StoreOp::verify() {
  if (getAdd() && failed(verifyAdd(*this, getValue().getType())))
    return failure();
  return verifyStrided(*this, getValue().getType(), getTarget().getType(), getStrides().size(), getLimits().size(), getVector());
}

static LogicalResult verifyGather(Operation *op, FragType value, PtrType pointer, FragType offsets, Value mask) {
  auto alike = [&](FragType frag) { return frag.getShape() == value.getShape() && frag.getLayout() == value.getLayout(); };
  if (value.getElementType() != pointer.getElementType())
    return op->emitOpError("expects elements of type ") << pointer.getElementType() << ", but got " << value.getElementType();
  if (!alike(offsets) || !offsets.getElementType().isInteger(64))
    return op->emitOpError("expects i64 offsets in the layout of ") << value << ", but got " << offsets;
  if (mask && (!alike(cast<FragType>(mask.getType())) || !cast<FragType>(mask.getType()).getElementType().isInteger(1)))
    return op->emitOpError("expects an i1 mask in the layout of ") << value << ", but got " << mask.getType();
  return success();
}

LogicalResult GatherOp::verify() {
  return verifyGather(*this, getType(), getSource().getType(), getOffsets().getType(), getMask());
}
LogicalResult ScatterOp::verify() {
  if (getAdd() && failed(verifyAdd(*this, getValue().getType())))
    return failure();
  return verifyGather(*this, getValue().getType(), getTarget().getType(), getOffsets().getType(), getMask());
}

static LogicalResult verifyStaged(Operation *op, FragType frag, SharedType buffer, bool transpose, bool matrix, bool remote) {
  SmallVector<int64_t> shape(buffer.getShape());
  if (transpose)
    std::reverse(shape.begin(), shape.end());
  if (ArrayRef<int64_t>(shape) != frag.getShape() || frag.getElementType() != buffer.getElementType())
    return op->emitOpError("expects a buffer of the shape and type of ") << frag << ", but got " << buffer;
  if (matrix && frag.getElementType().getIntOrFloatBitWidth() != 16)
    return op->emitOpError("expects 16-bit elements for a matrix move, but got ") << frag.getElementType();
  if (matrix && remote) // load_shared_c1
    return op->emitOpError("expects no matrix move from or to another CTA");
  return success();
}

LogicalResult LoadSharedOp::verify() {
  return verifyStaged(*this, getType(), getSource().getType(), getTranspose(), getMatrix(), !!getRank());
}
LogicalResult StoreSharedOp::verify() {
  return verifyStaged(*this, getValue().getType(), getTarget().getType(), getTranspose(), getMatrix(), !!getRank());
}
