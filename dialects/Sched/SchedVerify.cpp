// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers; each branch names the constraint of SchedOps.td that it enforces.
#include "dialects/Sched/Sched.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace emmy::sched;

static SmallVector<StringAttr> toAxes(ArrayAttr attr) { return llvm::to_vector(attr.getAsRange<StringAttr>()); }

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// program_c4
static LogicalResult verifyTiles(ProgramOp program) {
  WalkResult walk = program.getBody().walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<TileType>(type);
      if (!tile)
        continue;
      for (StringAttr axis : tile.getAxes())
        if (!program.getAxis(axis))
          return op->emitOpError("spans axis '") << axis.getValue() << "', which the program does not declare";
      TileType expected = program.getTile(tile.getAxes(), tile.getElementType(), tile.getLevel());
      if (tile != expected)
        return op->emitOpError("expects a tile of the program's blocks, ") << expected << ", but got " << tile;
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult ProgramOp::verify() {
  llvm::SmallSet<StringRef, 8> names;
  for (Attribute attr : getAxes()) {
    auto axis = dyn_cast<AxisAttr>(attr);
    if (!axis)
      return emitOpError("expects '#emmy_sched.axis' attributes in 'axes', but got ") << attr;
    if (!names.insert(axis.getName().getValue()).second) // program_c1
      return emitOpError("declares axis '") << axis.getName().getValue() << "' twice";
    if (axis.getBlock() < 1) // program_c2
      return emitOpError("expects a positive block of axis '") << axis.getName().getValue() << "', but got " << axis.getBlock();
  }
  if (getNumInputs() > getBody().getNumArguments())
    return emitOpError("expects at least ") << getNumInputs() << " arguments, but got " << getBody().getNumArguments();
  for (BlockArgument argument : getBody().getArguments()) // program_c3
    if (!isa<RankedTensorType>(argument.getType()))
      return emitOpError("expects tensors, but argument #") << argument.getArgNumber() << " is " << argument.getType();
  return verifyTiles(*this);
}

LogicalResult PipelineOp::verify() {
  Block &block = getBody().front();
  auto yield = getYield<YieldOp>(block);
  if (!yield)
    return emitOpError("expects its region to end in 'emmy_sched.yield'");
  auto same = [&](TypeRange types) { return llvm::equal(types, getInits().getTypes()); };
  if (!same(block.getArgumentTypes()) || !same(yield.getValues().getTypes()) || !same(getResultTypes())) // pipeline_c1
    return emitOpError("expects initial tiles, block arguments, yielded tiles and results of the same types");
  for (Type type : getResultTypes()) // pipeline_c2
    if (cast<TileType>(type).hasAxis(getAxisAttr()))
      return emitOpError("carries a tile over its own axis '") << getAxis() << "'";
  auto program = (*this)->getParentOfType<ProgramOp>();
  AxisAttr axis = program ? program.getAxis(getAxisAttr()) : AxisAttr();
  if (program && (!axis || axis.getKind() != AxisKind::serial)) // pipeline_c2
    return emitOpError("expects a serial axis of the program, but got '") << getAxis() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The part of an access that all ops share.
template <typename Op> static LogicalResult verifyAccess(Op op, TileType tile, Level level) {
  unsigned dims = op.getOver().size() + op.getIndices().size();
  if (op.getMap().getNumResults() != 1 || op.getMap().getNumDims() != dims) // access_c1
    return op.emitOpError("expects one offset over ") << dims << " axes and indices";
  SmallVector<StringAttr> over = toAxes(op.getOver());
  for (StringAttr axis : tile.getAxes()) // access_c2
    if (!llvm::is_contained(over, axis))
      return op.emitOpError("expects a tile over the axes of the access only, but it spans '") << axis.getValue() << "'";
  std::optional<AffineMap> guard = op.getGuard();
  size_t limits = op.getLimits() ? op.getLimits()->getSizes().size() : 0;
  if ((guard ? guard->getNumResults() : 0) != limits || (guard && guard->getNumDims() != dims)) // access_c3
    return op.emitOpError("expects as many limits as guards over ") << dims << " axes and indices, but got " << limits;
  auto tensor = cast<RankedTensorType>(op.getTensor().getType());
  if (tensor.getElementType() != tile.getElementType()) // access_c4
    return op.emitOpError("expects element type ") << tensor.getElementType() << ", but got " << tile.getElementType();
  if (tile.getLevel() != level) // access_c5
    return op.emitOpError("expects a tile in ") << (level == Level::shared ? "shared memory" : "registers") << ", but got " << tile;
  return success();
}

LogicalResult ReadOp::verify() { return verifyAccess(*this, getType(), Level::reg); }
LogicalResult StageOp::verify() { return verifyAccess(*this, getType(), Level::shared); }
LogicalResult WriteOp::verify() { return verifyAccess(*this, getValue().getType(), Level::reg); }

LogicalResult ShareOp::verify() {
  TileType from = getValue().getType(), to = getType(); // share_c1
  if (from.getAxes() != to.getAxes() || from.getSizes() != to.getSizes() || from.getElementType() != to.getElementType() ||
      from.getLevel() != Level::reg || to.getLevel() != Level::shared)
    return emitOpError("expects a register tile and the same tile in shared memory, but got ") << from << " and " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

LogicalResult FillOp::verify() {
  if (getValue().getType() != getType().getElementType()) // fill_c1
    return emitOpError("expects a number of type ") << getType().getElementType() << ", but got " << getValue().getType();
  return success();
}

LogicalResult IndexOp::verify() {
  if (getMap().getNumResults() != 1 || getMap().getNumDims() != getOver().size()) // index_c1
    return emitOpError("expects one expression over ") << getOver().size() << " axes";
  SmallVector<StringAttr> over = toAxes(getOver());
  for (StringAttr axis : getType().getAxes()) // index_c1
    if (!llvm::is_contained(over, axis))
      return emitOpError("expects a tile over the axes of the expression only, but it spans '") << axis.getValue() << "'";
  return success();
}

static SmallVector<StringAttr> sorted(ArrayRef<StringAttr> axes) {
  SmallVector<StringAttr> out(axes);
  llvm::sort(out, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  return out;
}

static bool sameAxes(ArrayRef<StringAttr> a, ArrayRef<StringAttr> b) { return sorted(a) == sorted(b); }

LogicalResult MapOp::verify() {
  llvm::SetVector<StringAttr> all;
  for (Value input : getInputs())
    all.insert_range(cast<TileType>(input.getType()).getAxes());
  if (!sameAxes(all.getArrayRef(), getType().getAxes())) // map_c1
    return emitOpError("expects a result over the union of its operands' axes, but got ") << getType();
  Block &block = getBody().front(); // map_c2
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("expects ") << getInputs().size() << " block arguments, but got " << block.getNumArguments();
  for (auto [i, argument, input] : llvm::enumerate(block.getArguments(), getInputs()))
    if (argument.getType() != cast<TileType>(input.getType()).getElementType())
      return emitOpError("expects block argument #") << i << " of type " << cast<TileType>(input.getType()).getElementType()
                                                     << ", but got " << argument.getType();
  auto yield = getYield<YieldOp>(block);
  if (!yield || yield.getValues().size() != 1 || yield.getValues()[0].getType() != getType().getElementType())
    return emitOpError("expects its region to yield one ") << getType().getElementType();
  return success();
}

LogicalResult ReduceOp::verify() {
  TileType input = getInput().getType();
  SmallVector<StringAttr> over = toAxes(getOver()), kept;
  for (StringAttr axis : over) // reduce_c1
    if (!input.hasAxis(axis))
      return emitOpError("expects its operand to span '") << axis.getValue() << "'";
  for (StringAttr axis : input.getAxes())
    if (!llvm::is_contained(over, axis))
      kept.push_back(axis);
  if (!sameAxes(kept, getType().getAxes())) // reduce_c1
    return emitOpError("expects a result over the axes that are not reduced, but got ") << getType();
  return success();
}

LogicalResult MmaOp::verify() {
  TileType a = getA().getType(), b = getB().getType(), acc = getAcc().getType();
  llvm::SetVector<StringAttr> kept;
  bool contracts = false;
  for (TileType side : {a, b})
    for (StringAttr axis : side.getAxes()) {
      bool contracted = a.hasAxis(axis) && b.hasAxis(axis) && !acc.hasAxis(axis);
      contracts |= contracted;
      if (!contracted)
        kept.insert(axis);
    }
  if (!sameAxes(kept.getArrayRef(), acc.getAxes())) // mma_c1
    return emitOpError("expects an accumulator over the axes that are not contracted, but got ") << acc;
  if (!contracts) // mma_c2
    return emitOpError("expects an axis that both operands span and the accumulator does not");
  if (a.getElementType() != b.getElementType()) // mma_c3
    return emitOpError("expects operands of one element type, but got ") << a.getElementType() << " and " << b.getElementType();
  return success();
}
