// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_GRAPH_DIALECT_TD
#define EMMY_GRAPH_DIALECT_TD

include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "emmy_graph";
  let cppNamespace = "::emmy::graph";
  let summary = "What is computed: framework operations on tensors, and the primitives they decompose into";
  let description = [{
    Operations in the framework's words on builtin tensors with static or symbolic sizes (`#emmy.dims`). Composite ops decompose
    into primitives: `map`, `reduce`, `contract`, `iota`, `gather`, `scatter` and views. Numerics are explicit: `reduce` and
    `contract` accumulate in their result's element type, casts stand in `map` regions. Values are immutable.

    The level holds ops of this dialect, `func.func`, `func.return`, constants of arith, and in regions arith and math.
  }];
  let dependentDialects = ["::emmy::BaseDialect"];
}

#endif // EMMY_GRAPH_DIALECT_TD
