// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_GRAPH_INTERFACES_TD
#define EMMY_GRAPH_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Graph_DecomposableOp : OpInterface<"DecomposableOp"> {
  let cppNamespace = "::emmy::graph";
  let description = [{
    A composite op that primitives can replace. Rounding is part of the decomposition: sums accumulate in the type that
    `getAccumulatorType` names, and the result is rounded once.
  }];
  let methods = [
    InterfaceMethod<"Builds the primitives and returns the value that replaces the op's result, of the same type.",
                    "::mlir::Value", "decompose", (ins "::emmy::graph::GraphBuilder &":$builder)>
  ];
}

#endif // EMMY_GRAPH_INTERFACES_TD
