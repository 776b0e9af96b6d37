// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_SCHED_PASSES_TD
#define EMMY_SCHED_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifySchedFormPass : Pass<"emmy-verify-sched-form", "::mlir::ModuleOp"> {
  let summary = "Check that a module holds nothing above the level of emmy_sched";
  let description = [{
    Rules: (sched_f1) no `emmy_fuse.kernel` remains; (sched_f2) a program holds ops of emmy_sched and, in the regions of
    maps, of arith and math; (sched_f3) a program has a schedule.
    A violation is an error that names the rule and the pass that should have removed the op.
  }];
}

#endif // EMMY_SCHED_PASSES_TD
