// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_SIMULATOR_PASSES_TD
#define EMMY_SIMULATOR_PASSES_TD

include "mlir/Pass/PassBase.td"

def SimulatePass : Pass<"emmy-simulate", "::mlir::ModuleOp"> {
  let summary = "Run the kernels that describe a simulation of themselves";
  let description = [{
    A kernel (or the module, which then lists launches) carries `emmy.simulate`: values of the symbols, and buffers in the
    order of the launch's operands. A buffer has a `type`; a `fill` ("zero", "iota", "random SEED"; without one it is an
    output that nothing has written); optionally `expect` ("same A", "transpose A", "add A B", "matmul_nt A B",
    "softmax A", "row_sum A", "attention Q K V", "constant V") and `dump`. An argument that no buffer or symbol gives is bound
    to a number (`emmy.bind = 0.5 : f32`). Each simulation runs under several schedules; the first broken rule
    or wrong element is an error at the op that broke it.

    ```mlir
    emmy_tile.kernel @copy(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                           %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 4
        attributes {emmy.simulate = {buffers = [{type = tensor<128xf32>, fill = "iota"},
                                                {type = tensor<128xf32>, expect = "same 0"} ] }} {
      …
    }
    ```
  }];
  let options = [
    Option<"schedules", "schedules", "unsigned", "20", "Number of schedules to draw">,
    Option<"seed", "seed", "uint64_t", "0", "Seed of the first schedule">,
    Option<"schedule", "schedule", "std::string", "\"random\"",
           "'random', or 'delay=ROLE' to starve a role ('async': copies and tensor cores)">,
  ];
  let statistics = [Statistic<"numRuns", "runs", "Schedules that ran without a finding">];
  let dependentDialects = [];
}

#endif // EMMY_SIMULATOR_PASSES_TD
