// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_TILE_PASSES_TD
#define EMMY_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OverlapLaunchesPass : Pass<"emmy-overlap-launches", "::mlir::ModuleOp"> {
  let summary = "Let each kernel be launched while the one before it drains";
  let description = [{
    Every kernel becomes a programmatic dependent launch (`pdl`): its CTAs start as those of the kernel before it leave, set up their
    barriers, and wait (`pdl_wait`) in every thread before they first touch global memory; then they let the next kernel in
    (`pdl_launch`). Kernels that are `pdl` already, and chips without dependent launches, stay as they are.

    ```mlir
    emmy_tile.kernel @copy(…) grid [64, 1, 1] warps 4 pdl {
      …
      emmy_tile.pdl_wait
      emmy_tile.pdl_launch
      %v = emmy_tile.load %x[%offset] …
    ```
  }];
  let statistics = [Statistic<"numOverlapped", "overlapped", "Kernels whose launch overlaps the one before">];
}

def VerifyTileFormPass : Pass<"emmy-verify-tile-form", "::mlir::ModuleOp"> {
  let summary = "Check that a module holds nothing above the level of emmy_tile";
  let description = [{
    Rules: (tile_f1) no `emmy_fuse.kernel` and no `emmy_sched.program` remains; (tile_f2) a kernel holds ops of
    emmy_tile, scf and arith and, in the regions of maps and reductions, of math; (tile_f3) every argument has a binding.
    A violation is an error that names the rule and the pass that should have removed the op.
  }];
}

#endif // EMMY_TILE_PASSES_TD
