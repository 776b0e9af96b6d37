// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers; each branch names the constraint of FuseOps.td that it enforces.
#include "dialects/Fuse/Fuse.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace emmy::fuse;

static std::string text(ArrayRef<StringAttr> axes) {
  std::string out = "[";
  for (auto [i, axis] : llvm::enumerate(axes))
    out += (i ? ", " : "") + axis.getValue().str();
  return out + "]";
}

/// kernel_c3 for one value.
static LogicalResult verifyAxes(Operation *op, ValueType type) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (!kernel)
    return success();
  SmallVector<StringAttr> ordered = kernel.orderAxes(type.getAxes());
  if (ArrayRef<StringAttr>(ordered) != type.getAxes())
    return op->emitOpError("expects axes of the kernel in its order, but got ") << text(type.getAxes());
  return success();
}

static LogicalResult verifyAccess(Operation *op, RankedTensorType tensor, AffineMap map, ArrayRef<StringAttr> axes,
                                  OperandRange indices) {
  if (map.getNumResults() != tensor.getRank()) // load_c1, store_c1
    return op->emitOpError("expects ") << tensor.getRank() << " indices into " << tensor << ", but got " << map.getNumResults();
  if (map.getNumDims() != axes.size() + indices.size()) // load_c2, store_c1
    return op->emitOpError("expects a map over ") << axes.size() + indices.size() << " dimensions, but got " << map.getNumDims();
  for (auto [i, index] : llvm::enumerate(indices)) { // load_c3
    auto type = cast<ValueType>(index.getType());
    if (!type.getElementType().isIntOrIndex())
      return op->emitOpError("expects integers in index #") << i << ", but got " << type.getElementType();
    for (StringAttr axis : type.getAxes())
      if (!llvm::is_contained(axes, axis))
        return op->emitOpError("expects index #") << i << " to vary over " << text(axes) << " only, but it varies over " << axis;
  }
  return success();
}

LogicalResult KernelOp::verify() {
  llvm::SmallSet<StringRef, 8> names;
  for (Attribute attr : getAxes()) {
    auto axis = dyn_cast<AxisAttr>(attr);
    if (!axis)
      return emitOpError("expects '#emmy_fuse.axis' attributes in 'axes', but got ") << attr;
    if (!names.insert(axis.getName().getValue()).second) // kernel_c1
      return emitOpError("declares axis '") << axis.getName().getValue() << "' twice";
  }
  if (getNumInputs() > getBody().getNumArguments())
    return emitOpError("expects at least ") << getNumInputs() << " arguments, but got " << getBody().getNumArguments();
  for (BlockArgument argument : getBody().getArguments())
    if (!isa<RankedTensorType>(argument.getType()))
      return emitOpError("expects tensors, but argument #") << argument.getArgNumber() << " is " << argument.getType();
  for (BlockArgument input : getInputs()) // kernel_c2
    for (Operation *user : input.getUsers())
      if (isa<StoreOp>(user))
        return user->emitOpError("stores to an input of the kernel");
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAxes(*this, getType())))
    return failure();
  RankedTensorType tensor = cast<RankedTensorType>(getSource().getType());
  if (tensor.getElementType() != getType().getElementType())
    return emitOpError("expects element type ") << tensor.getElementType() << ", but got " << getType().getElementType();
  return verifyAccess(*this, tensor, getMap(), getType().getAxes(), getIndices());
}

LogicalResult StoreOp::verify() {
  SmallVector<StringAttr> over = llvm::to_vector(getOver().getAsRange<StringAttr>());
  auto tensor = cast<RankedTensorType>(getTarget().getType());
  auto value = cast<ValueType>(getValue().getType());
  if (failed(verifyAccess(*this, tensor, getMap(), over, getIndices())))
    return failure();
  for (StringAttr axis : value.getAxes()) // store_c2
    if (!llvm::is_contained(over, axis))
      return emitOpError("expects a value over ") << text(over) << " only, but it varies over " << axis;
  if (tensor.getElementType() != value.getElementType()) // store_c3
    return emitOpError("expects element type ") << tensor.getElementType() << ", but got " << value.getElementType();
  return success();
}

LogicalResult IndexOp::verify() {
  if (getMap().getNumResults() != 1 || getMap().getNumDims() != getType().getAxes().size())
    return emitOpError("expects one expression over ") << text(getType().getAxes());
  return verifyAxes(*this, getType());
}

LogicalResult MapOp::verify() {
  llvm::SetVector<StringAttr> all;
  for (Value input : getInputs())
    for (StringAttr axis : cast<ValueType>(input.getType()).getAxes())
      all.insert(axis);
  if (auto kernel = (*this)->getParentOfType<KernelOp>()) { // map_c1
    SmallVector<StringAttr> ordered = kernel.orderAxes(all.getArrayRef());
    if (ArrayRef<StringAttr>(ordered) != getType().getAxes())
      return emitOpError("expects a result over ") << text(ordered) << ", but got " << text(getType().getAxes());
  }
  Block &block = getBody().front(); // map_c2
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("expects ") << getInputs().size() << " block arguments, but got " << block.getNumArguments();
  for (auto [i, argument, input] : llvm::enumerate(block.getArguments(), getInputs()))
    if (argument.getType() != cast<ValueType>(input.getType()).getElementType())
      return emitOpError("expects block argument #") << i << " of type " << cast<ValueType>(input.getType()).getElementType()
                                                     << ", but got " << argument.getType();
  auto yield = getYield<YieldOp>(block);
  if (!yield || yield.getValues().size() != 1 || yield.getValues()[0].getType() != getType().getElementType())
    return emitOpError("expects its region to yield one ") << getType().getElementType();
  return success();
}

LogicalResult ReduceOp::verify() {
  auto input = cast<ValueType>(getInput().getType());
  SmallVector<StringAttr> kept;
  SmallVector<StringAttr> over = llvm::to_vector(getOver().getAsRange<StringAttr>());
  for (StringAttr axis : over) // reduce_c1
    if (!input.hasAxis(axis))
      return emitOpError("expects its operand to vary over ") << axis;
  for (StringAttr axis : input.getAxes())
    if (!llvm::is_contained(over, axis))
      kept.push_back(axis);
  if (ArrayRef<StringAttr>(kept) != getType().getAxes())
    return emitOpError("expects a result over ") << text(kept) << ", but got " << text(getType().getAxes());
  return success();
}

LogicalResult ContractOp::verify() {
  auto lhs = cast<ValueType>(getLhs().getType()), rhs = cast<ValueType>(getRhs().getType());
  SmallVector<StringAttr> over = llvm::to_vector(getOver().getAsRange<StringAttr>());
  for (StringAttr axis : over) // contract_c1
    if (!lhs.hasAxis(axis) || !rhs.hasAxis(axis))
      return emitOpError("expects both operands to vary over ") << axis;
  llvm::SetVector<StringAttr> kept;
  for (ValueType type : {lhs, rhs})
    for (StringAttr axis : type.getAxes())
      if (!llvm::is_contained(over, axis))
        kept.insert(axis);
  auto kernel = (*this)->getParentOfType<KernelOp>(); // contract_c2
  if (!kernel)
    return success();
  SmallVector<StringAttr> ordered = kernel.orderAxes(kept.getArrayRef());
  if (ArrayRef<StringAttr>(ordered) != getType().getAxes())
    return emitOpError("expects a result over ") << text(ordered) << ", but got " << text(getType().getAxes());
  return success();
}

LogicalResult FoldOp::verify() {
  Block &block = getBody().front();
  auto yield = getYield<YieldOp>(block);
  if (!yield)
    return emitOpError("expects its region to end in 'emmy_fuse.yield'");
  auto same = [&](TypeRange types) { return llvm::equal(types, getInits().getTypes()); };
  if (!same(block.getArgumentTypes()) || !same(yield.getValues().getTypes()) || !same(getResultTypes())) // fold_c1
    return emitOpError("expects initial values, block arguments, yielded values and results of the same types");
  for (Type type : getResultTypes())
    if (cast<ValueType>(type).hasAxis(getAxisAttr()))
      return emitOpError("carries a value over its own axis '") << getAxis() << "'";
  return success();
}
