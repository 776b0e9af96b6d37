// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_TILE_PASSES_TD
#define EMMY_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyTileFormPass : Pass<"emmy-verify-tile-form", "::mlir::ModuleOp"> {
  let summary = "Check that a module holds nothing above the level of emmy_tile";
  let description = [{
    Rules: (tile_f1) no `emmy_fuse.kernel` and no `emmy_sched.program` remains; (tile_f2) a kernel holds ops of
    emmy_tile, scf and arith and, in the regions of maps and reductions, of math; (tile_f3) every argument has a binding.
    A violation is an error that names the rule and the pass that should have removed the op.
  }];
}

#endif // EMMY_TILE_PASSES_TD
