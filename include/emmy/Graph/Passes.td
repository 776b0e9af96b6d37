// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_GRAPH_PASSES_TD
#define EMMY_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def ImportTorchPass : Pass<"emmy-import-torch", "mlir::func::FuncOp"> {
  let summary = "Import ops of the raw torch dialect";
  let description = [{
    Reads torch-mlir's raw torch dialect in generic form and rebuilds the function from emmy_graph ops on builtin tensors. Sizes of
    dynamic dimensions come from `emmy.dims` (on arguments one, on ops a list with one entry for each result) or from
    torch.symbolic_int and torch.bind_symbolic_shape. An op that Emmy does not have is an error that names it.

    Before:
    ```mlir
    func.func @main(%x: !torch.vtensor<[4,8],bf16>) -> !torch.vtensor<[4,8],bf16> {
      %y = "torch.aten.silu"(%x) : (!torch.vtensor<[4,8],bf16>) -> !torch.vtensor<[4,8],bf16>
      return %y : !torch.vtensor<[4,8],bf16>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
      %y = emmy_graph.pointwise silu(%x) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
      return %y : tensor<4x8xbf16>
    }
    ```
  }];
  let dependentDialects = ["::emmy::graph::GraphDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
  let statistics = [Statistic<"numImported", "imported", "ops of the torch dialect that were imported">];
}

def DecomposePass : Pass<"emmy-decompose", "mlir::func::FuncOp"> {
  let summary = "Replace composite ops by primitives";
  let description = [{
    Every op with the interface `DecomposableOp` becomes maps, reductions, contractions, views and indexing. Casts stand in map
    regions, sums accumulate in f32 (f64 for f64), every result is rounded once.

    Before:
    ```mlir
    func.func @main(%x: tensor<4x8xbf16>, %w: tensor<16x8xbf16>) -> tensor<4x16xbf16> {
      %y = emmy_graph.linear %x, %w : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
      return %y : tensor<4x16xbf16>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<4x8xbf16>, %w: tensor<16x8xbf16>) -> tensor<4x16xbf16> {
      %0 = emmy_graph.contract %x, %w batch [] over [1, 1] : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xf32>
      %1 = emmy_graph.map(%0) : (tensor<4x16xf32>) -> tensor<4x16xbf16> {
      ^bb0(%a: f32):
        %b = arith.truncf %a : f32 to bf16
        emmy_graph.yield %b : bf16
      }
      return %1 : tensor<4x16xbf16>
    }
    ```
  }];
  let dependentDialects = ["::emmy::graph::GraphDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
  let statistics = [Statistic<"numDecomposed", "decomposed", "composite ops that were replaced">];
}

#endif // EMMY_GRAPH_PASSES_TD
