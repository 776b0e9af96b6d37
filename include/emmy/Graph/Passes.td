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

def ImportLinalgPass : Pass<"emmy-import-linalg", "mlir::func::FuncOp"> {
  let summary = "Import linalg on static tensors";
  let description = [{
    Structured ops of linalg, named or generic, whose indexing maps are projected permutations become maps, reductions and
    contractions; fills, reshapes, slices, pads and element-wise arith and math on tensors become primitives too. Sums of bf16 and f16
    accumulate in f32. A function without such ops is left alone.

    Before:
    ```mlir
    func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<4x16xf32>
      %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
      %y = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
      %y = emmy_graph.contract %a, %b batch [] over [1, 0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
  }];
  let dependentDialects = ["::emmy::graph::GraphDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
  let statistics = [Statistic<"numImported", "imported", "ops that were imported">];
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

def SimplifyPass : Pass<"emmy-simplify", "mlir::func::FuncOp"> {
  let summary = "Compose views, shrink maps and drop needless roundings";
  let description = [{
    Two views of a kind in a row become one; operands of maps that broadcasting repeats anyway are read from their source; known
    numbers move into map regions and fold; maps that compute nothing vanish; division by a power of two becomes multiplication.

    A rounding to bf16 or f16 between a map and its only reader goes where the reader extends the value at once and is continuous in
    it; before a comparison, a conversion to an integer, floor, round or remainder it stays, and so does that of a value with several
    readers, which may be stored.

    Before:
    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<4x8xf32> {
      %two = arith.constant dense<2.0> : tensor<f32>
      %r = emmy_graph.reshape %x : tensor<8xf32> -> tensor<1x8xf32>
      %e = emmy_graph.expand %r : tensor<1x8xf32> -> tensor<4x8xf32>
      %y = emmy_graph.map(%e, %two) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> {
      ^bb0(%a: f32, %b: f32):
        %c = arith.divf %a, %b : f32
        emmy_graph.yield %c : f32
      }
      return %y : tensor<4x8xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<4x8xf32> {
      %y = emmy_graph.map(%x) : (tensor<8xf32>) -> tensor<4x8xf32> {
      ^bb0(%a: f32):
        %half = arith.constant 5.000000e-01 : f32
        %c = arith.mulf %a, %half : f32
        emmy_graph.yield %c : f32
      }
      return %y : tensor<4x8xf32>
    }
    ```
  }];
  let options = [Option<"preciseCasts", "precise-casts", "bool", "false", "keep every rounding of the framework">];
  let dependentDialects = ["::emmy::graph::GraphDialect", "mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numViews", "views", "views that were composed or read through">,
                    Statistic<"numMaps", "maps", "simplifications of maps">,
                    Statistic<"numRoundings", "roundings", "roundings that were dropped">];
}

def ReinplacePass : Pass<"emmy-reinplace", "mlir::func::FuncOp"> {
  let summary = "Mark arguments whose new value may be written over the old one";
  let description = [{
    An argument with `emmy.aliases = j` is one that the framework changes in place; result j is its new value. Where scatters alone make
    that value and nothing else reads what they overwrite, the argument gets `emmy.mutable`, and --emmy-fuse-kernels ties the scatter's
    result to its buffer: writing a token into a cache is then a write of that token. Otherwise a remark says why not.

    Before:
    ```mlir
    func.func @main(%cache: tensor<64x8xf32> {emmy.aliases = 0 : i64}, %at: tensor<1xi64>, %row: tensor<1x8xf32>) -> tensor<64x8xf32> {
      %new = emmy_graph.scatter %cache, %at, %row dim 0 : (tensor<64x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<64x8xf32>
      return %new : tensor<64x8xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(%cache: tensor<64x8xf32> {emmy.aliases = 0 : i64, emmy.mutable}, %at: tensor<1xi64>, %row: tensor<1x8xf32>)
        -> tensor<64x8xf32> {
      %new = emmy_graph.scatter %cache, %at, %row dim 0 : (tensor<64x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<64x8xf32>
      return %new : tensor<64x8xf32>
    }
    ```
  }];
  let statistics = [Statistic<"numTied", "tied", "arguments that may be written in place">];
}

def VerifyGraphFormPass : Pass<"emmy-verify-graph-form", "mlir::func::FuncOp"> {
  let summary = "Check that a function holds primitives only";
  let description = [{
    An op that the level of primitives may not hold is an error with the broken rule, and a note names the pass that should have
    removed it. Rules: `no_torch_op`, `no_linalg_op`, `no_composite_op`, `no_foreign_op` (only emmy_graph, func, arith.constant, and
    arith and math in map regions), `sizes_have_expressions`. Nothing is changed, so there is nothing to count.

    Before and after:
    ```mlir
    func.func @main(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
      %y = emmy_graph.permute %x dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
      return %y : tensor<8x4xf32>
    }
    ```
  }];
}

#endif // EMMY_GRAPH_PASSES_TD
