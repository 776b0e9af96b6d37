// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers streaming programs: every tile is a register fragment of all threads of the CTA, one CTA for each block of the grid axes.
//
// In: a program with a streaming schedule. Out: a kernel of loads, maps, reductions and stores; serial axes are loops. Assumes what the
// schedule's legality check demands. Numerics: reductions combine registers, then lanes, then warps.
#include "ProgramClass.h"
#include "RegisterTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace emmy {

/// Dimensions of the layout: axes with more than one element in a tile, the vector axis last.
static SmallVector<RegisterDim> planDims(sched::ProgramOp program, sched::StreamingAttr schedule) {
  SmallVector<RegisterDim> dims;
  std::optional<RegisterDim> last;
  for (auto axis : program.getAxes().getAsRange<sched::AxisAttr>()) {
    if (axis.getBlock() == 1)
      continue;
    bool isVector = axis.getName() == schedule.getVectorAxis();
    RegisterDim dim{axis.getName(), axis.getBlock(), schedule.getThreads(axis.getName()), isVector ? schedule.getVector() : 1};
    if (isVector)
      last = dim;
    else
      dims.push_back(dim);
  }
  if (last)
    dims.push_back(*last);
  bool hasScalar = dims.empty();
  program.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tile = dyn_cast<sched::TileType>(type))
        hasScalar |= tile.getAxes().empty();
  });
  if (hasScalar)
    dims.insert(dims.begin(), RegisterDim{StringAttr(), 1, 1, 1});
  return dims;
}

/// Blocks of the grid axes, and the start of each axis for this CTA: the last axis varies fastest.
static AffineExpr countBlocks(sched::AxisAttr axis) { return axis.getSize().ceilDiv(axis.getBlock()); }

static AxisStarts decodeGrid(KernelBuilder &b) {
  AxisStarts starts(b.program.getAxes().size());
  SmallVector<unsigned> grid;
  for (unsigned i = 0; i < starts.size(); ++i) {
    starts[i] = b.i32(0);
    auto constant = dyn_cast<AffineConstantExpr>(countBlocks(b.axis(i)));
    if (b.axis(i).getKind() == sched::AxisKind::grid && !(constant && constant.getValue() == 1))
      grid.push_back(i);
  }
  if (grid.empty())
    return starts;
  Value rest = tile::ReadOp::create(b, b.loc, tile::SpecialRegister::cta_x);
  while (!grid.empty()) {
    unsigned i = grid.pop_back_val();
    Value block = rest;
    if (!grid.empty()) {
      Value count = b.size(countBlocks(b.axis(i)), b.getI32Type());
      block = arith::RemUIOp::create(b, b.loc, rest, count);
      rest = arith::DivUIOp::create(b, b.loc, rest, count);
    }
    starts[i] = b.mul(block, b.i32(b.axis(i).getBlock()));
  }
  return starts;
}

LogicalResult lowerStreaming(sched::ProgramOp program, TargetAttr target) {
  auto schedule = cast<sched::StreamingAttr>(*program.getSchedule());
  AffineExpr blocks = getAffineConstantExpr(1, program.getContext());
  for (auto axis : program.getAxes().getAsRange<sched::AxisAttr>())
    if (axis.getKind() == sched::AxisKind::grid)
      blocks = blocks * countBlocks(axis);
  int64_t warps = llvm::divideCeil(schedule.getNumThreads(), 32);
  AffineExpr one = getAffineConstantExpr(1, program.getContext());
  KernelBuilder b(program, {blocks, one, one}, /*cluster=*/1, warps);
  RegisterTiles tiles(b, planDims(program, schedule), warps);
  AxisStarts starts = decodeGrid(b);
  for (Operation &op : program.getBody().front())
    if (failed(tiles.emit(&op, starts))) {
      b.finish().erase();
      return failure();
    }
  b.finish();
  return success();
}

} // namespace emmy
