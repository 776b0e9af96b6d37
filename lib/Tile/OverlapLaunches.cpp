// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lets a kernel be launched while the one before it drains (programmatic dependent launch).
//
// In: kernels for a chip with dependent launches. Out: each waits, in every thread, before it first touches global memory, then lets
// its own dependents in. A kernel that has its wait already is left as written.
// The order keeps the chain safe: a kernel cannot end before the one ahead of it has ended, and dependents come in only when all that
// an earlier launch wrote is visible.
#include "dialects/Tile/Tile.h"
#include "emmy/Tile/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "emmy-overlap-launches"

using namespace mlir;

namespace emmy::tile {
#define GEN_PASS_DEF_OVERLAPLAUNCHESPASS
#include "emmy/Tile/Passes.h.inc"

static bool touchesGlobal(Operation *op) {
  return isa<LoadOp, StoreOp, GatherOp, ScatterOp, LoadScalarOp, AtomicAddOp, CpAsyncOp, TmaLoadOp, TmaStoreOp>(op);
}

/// The first op of the kernel that touches global memory, or holds one that does; null if none does.
static Operation *firstTouch(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (op.walk([](Operation *inner) { return touchesGlobal(inner) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted())
      return &op;
  return nullptr;
}

static void overlap(KernelOp kernel) {
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  if (Operation *first = firstTouch(kernel))
    builder.setInsertionPoint(first);
  PdlWaitOp::create(builder, kernel.getLoc());
  PdlLaunchOp::create(builder, kernel.getLoc());
  kernel.setPdl(true);
}

namespace {
struct OverlapLaunchesPass : impl::OverlapLaunchesPassBase<OverlapLaunchesPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!TargetAttr::of(getOperation()).hasDependentLaunch())
      return markAllAnalysesPreserved();
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      auto options = [&](StringRef decision) {
        return remark::RemarkOpts::name(decision).category(DEBUG_TYPE).function(kernel.getSymName());
      };
      if (kernel.getPdl()) {
        remark::missed(kernel.getLoc(), options("no dependent launch")) << remark::reason("the kernel has its own order of launches");
        continue;
      }
      overlap(kernel);
      ++numOverlapped;
      remark::passed(kernel.getLoc(), options("dependent launch")) << remark::reason("its launch overlaps the end of the kernel before it");
    }
  }
};
} // namespace
} // namespace emmy::tile
