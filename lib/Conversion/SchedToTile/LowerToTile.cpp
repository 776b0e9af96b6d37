// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers every tile program to a hardware program of the same name: roles, rings and barriers appear here. Expects programs as
// --emmy-apply-schedule makes them; edits of blocks, stages or units are taken as they stand.
#include "KernelBuilder.h"
#include "ProgramClass.h"
#include "emmy/Conversion/Passes.h"

#define DEBUG_TYPE "emmy-lower-to-tile"

using namespace mlir;

namespace emmy {
#define GEN_PASS_DEF_LOWERTOTILEPASS
#include "emmy/Conversion/Passes.h.inc"

/// Programs written by hand may have a schedule that their body does not follow.
static LogicalResult checkProducts(sched::ProgramOp program, sched::ContractionAttr contraction) {
  sched::MmaOp mma;
  program.getBody().walk([&](sched::MmaOp op) { mma = op; });
  // 1. Products add up along a pipeline.
  if (!mma || !mma->getParentOfType<sched::PipelineOp>() || program.getBody().getOps<sched::PipelineOp>().empty())
    return program.emitOpError("has a schedule of products, but no pipeline that multiplies tiles");
  if (!contraction || contraction.getMma() != sched::MmaKind::wgmma)
    return success();
  // 2. wgmma reads what the copy engine has staged, over the axes of the schedule's tile.
  for (auto [operand, axis] : {std::pair(mma.getA(), contraction.getRowAxis()), std::pair(mma.getB(), contraction.getColumnAxis())})
    if (!operand.getDefiningOp<sched::StageOp>() || !cast<sched::TileType>(operand.getType()).hasAxis(axis))
      return program.emitOpError("multiplies by wgmma, which takes staged tiles over '")
             << contraction.getRowAxis().getValue() << "' and '" << contraction.getColumnAxis().getValue() << "'";
  return success();
}

/// Tiles of products go to memory once: along every grid axis their CTAs make different ones.
static LogicalResult checkWrites(sched::ProgramOp program) {
  for (auto write : program.getBody().getOps<sched::WriteOp>())
    for (StringAttr axis : KernelBuilder::sharedAxes(write))
      return write.emitOpError("does not run over the grid axis '") << axis.getValue() << "', so that every CTA along it would write the same";
  return success();
}

LogicalResult lowerProgram(sched::ProgramOp program, TargetAttr target) {
  Attribute schedule = program.getSchedule().value_or(Attribute());
  if (isa_and_nonnull<sched::ContractionAttr, sched::ChainAttr>(schedule) && failed(checkWrites(program)))
    return failure();
  if (isa_and_nonnull<sched::ContractionAttr, sched::ChainAttr>(schedule) &&
      failed(checkProducts(program, dyn_cast<sched::ContractionAttr>(schedule))))
    return failure();
  if (auto contraction = dyn_cast_or_null<sched::ContractionAttr>(schedule))
    return contraction.getMma() == sched::MmaKind::wgmma ? lowerWgmmaContraction(program, target)
                                                         : lowerPortableContraction(program, target);
  if (isa_and_nonnull<sched::ChainAttr>(schedule))
    return lowerWgmmaChain(program, target);
  if (isa_and_nonnull<sched::StreamingAttr>(schedule))
    return lowerStreaming(program, target);
  return program.emitOpError("has no schedule that can be lowered");
}

/// What passes do not know goes on to the kernel, which stands before its program.
static void keepAttributes(sched::ProgramOp program) {
  auto kernel = cast<tile::KernelOp>(program->getPrevNode());
  for (NamedAttribute attr : program->getDiscardableAttrs())
    if (attr.getName() != sched::kPredictedAttr)
      kernel->setDiscardableAttr(attr.getName(), attr.getValue());
}

namespace {
struct LowerToTilePass : impl::LowerToTilePassBase<LowerToTilePass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<sched::ProgramOp>())) {
      if (failed(lowerProgram(program, TargetAttr::of(program))))
        return signalPassFailure();
      keepAttributes(program);
      program.erase();
      ++numLowered;
    }
  }
};
} // namespace
} // namespace emmy
