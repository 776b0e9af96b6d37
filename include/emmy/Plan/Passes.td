// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_PLAN_PASSES_TD
#define EMMY_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanMemoryPass : Pass<"emmy-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "Give every temporary of the host program an offset in one arena";
  let description = [{
    A result of a launch that the function does not return and no argument is tied to is a temporary. Temporaries whose
    lifetimes do not overlap share memory: those of constant size by first fit, those of symbolic size with others of the same
    size. Offsets are multiples of 256 bytes; `emmy.offsets` holds -1 for results that are not in the arena.

    ```mlir
    %t = emmy.launch @a(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %y = emmy.launch @b(%t) : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes, with `emmy.arena = #emmy.dims<[256]>` on the function,
    ```mlir
    %t = emmy.launch @a(%x) {emmy.offsets = #emmy.dims<[0]>} : (tensor<8xf32>) -> tensor<8xf32>
    %y = emmy.launch @b(%t) {emmy.offsets = #emmy.dims<[-1]>} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::emmy::BaseDialect"];
  let statistics = [Statistic<"numTemporaries", "num-temporaries", "Number of temporaries placed">,
                    Statistic<"numShared", "num-shared", "Number of temporaries that use memory of earlier ones">];
}

def EmitPlanPass : Pass<"emmy-emit-plan", "::mlir::ModuleOp"> {
  let summary = "Print the host program as the JSON plan that the runtime interprets";
  let description = [{
    The plan is the string attribute `emmy.plan` of the module: how symbols are read off the arguments, arguments and what they
    must look like, buffers, outputs, and one step for each launch with its grid and parameters. Kernels are `emmy_fuse.kernel`
    for the CPU, whose parameters are tensors and then symbols, or `emmy_tile.kernel`, whose `emmy.bind` attributes say what
    the parameters are. It runs after `--emmy-plan-memory` and before the kernels are lowered further.
  }];
  let options = [Option<"output", "output", "std::string", "\"\"", "File to write the plan to as well; - for standard output">];
  let dependentDialects = ["::emmy::BaseDialect"];
  let statistics = [Statistic<"numSteps", "num-steps", "Number of steps in plans">];
}

#endif // EMMY_PLAN_PASSES_TD
