// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks the contract at the border between emmy_tile and the llvm dialect. Changes nothing. Refuses what an earlier pass should have
// removed, with the rule and the name of that pass.
#include "dialects/Tile/Tile.h"
#include "emmy/Tile/Passes.h"

#define DEBUG_TYPE "emmy-verify-tile-form"

using namespace mlir;

namespace emmy::tile {
#define GEN_PASS_DEF_VERIFYTILEFORMPASS
#include "emmy/Tile/Passes.h.inc"

static LogicalResult violates(Operation *op, StringRef rule, StringRef pass) {
  InFlightDiagnostic diagnostic = op->emitOpError("violates tile form: ") << rule;
  diagnostic.attachNote() << pass << " should have removed it";
  return diagnostic;
}

static LogicalResult checkKernel(KernelOp kernel) {
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (!kernel.getBinding(argument.getArgNumber()))
      return kernel.emitOpError("violates tile form: tile_f3, argument #") << argument.getArgNumber() << " has no binding";
  WalkResult walk = kernel.getBody().walk([&](Operation *op) -> WalkResult {
    StringRef dialect = op->getName().getDialectNamespace();
    bool isScalar = dialect == "math" && isa<MapOp, ReduceOp>(op->getParentOp());
    if (dialect != "emmy_tile" && dialect != "scf" && dialect != "arith" && !isScalar)
      return violates(op, "tile_f2", "--emmy-lower-to-tile");
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

namespace {
struct VerifyTileFormPass : impl::VerifyTileFormPassBase<VerifyTileFormPass> {
  using Base::Base;

  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody()) {
      StringRef dialect = op.getName().getDialectNamespace();
      if ((dialect == "emmy_fuse" || dialect == "emmy_sched") && failed(violates(&op, "tile_f1", "--emmy-lower-to-tile")))
        return signalPassFailure();
      if (auto kernel = dyn_cast<KernelOp>(op); kernel && failed(checkKernel(kernel)))
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace emmy::tile
