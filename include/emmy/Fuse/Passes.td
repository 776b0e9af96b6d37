// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_FUSE_PASSES_TD
#define EMMY_FUSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SimplifyKernelsPass : Pass<"emmy-simplify-kernels", "::emmy::fuse::KernelOp"> {
  let summary = "Write kernels in fewer and plainer ops";
  let description = [{
    Arithmetic on indices becomes affine in `emmy_fuse.index`, comparisons of indices become one affine expression against a
    constant (scheduling derives loop bounds from those), a map moves into its only user over the same axes, and constants, repeated
    operands, unused operands and dead values go.

    ```mlir
    emmy_fuse.kernel @causal(%x: tensor<8x8xf32>) outs(%y: tensor<8x8xf32>) axes(m = 8, n = 8) {
      %0 = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x8xf32>
      %1 = emmy_fuse.index over [m] at m
      %2 = emmy_fuse.index over [n] at n
      %3 = emmy_fuse.map(%0, %1, %2) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x i64>, !emmy_fuse.value<[n] x i64>)
          -> !emmy_fuse.value<[m, n] x f32> {
      ^bb0(%a: f32, %i: i64, %j: i64):
        %c = arith.cmpi sge, %i, %j : i64
        %low = arith.constant 0xFF800000 : f32
        %r = arith.select %c, %a, %low : f32
        emmy_fuse.yield %r : f32
      }
      emmy_fuse.store %3 to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<8x8xf32>
    }
    ```
    becomes the same with `%1 = emmy_fuse.index over [m, n] at m - n` alone and `arith.cmpi sge, %i, %zero` in the region.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numMerged", "merged-maps", "maps that moved into their user">,
    Statistic<"numIndices", "folded-indices", "index computations that became affine">,
    Statistic<"numDead", "dead", "unused ops erased">
  ];
}

def OnlineReducePass : Pass<"emmy-online-reduce", "::emmy::fuse::KernelOp"> {
  let summary = "Run reductions that depend on each other in one pass over their axis";
  let description = [{
    Reductions along one axis whose summands depend on reductions before them by factors, exponents or a mean become one
    `emmy_fuse.fold`. It carries every sum relative to the running values in its exponents and rescales it when those move; factors
    that do not vary along the axis are applied after the fold. Softmax statistics, softmax times one or more values, log-sum-exp and
    Welford's variance all come out of this rule. A chain with a contraction always becomes a fold; rows alone only where they are
    longer than `min-row-elements`.

    ```mlir
    emmy_fuse.kernel @denominator(%x: tensor<8x65536xf32>) outs(%y: tensor<8xf32>) axes(m = 8, n = 65536) {
      %0 = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x65536xf32>
      %1 = emmy_fuse.reduce max %0 over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
      %2 = emmy_fuse.map(%0, %1) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
      ^bb0(%a: f32, %t: f32):
        %d = arith.subf %a, %t : f32
        %e = math.exp %d : f32
        emmy_fuse.yield %e : f32
      }
      %3 = emmy_fuse.reduce add %2 over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
      emmy_fuse.store %3 to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8xf32>
    }
    ```
    becomes a fold over n that carries the maximum and the sum, with `sum * exp(old maximum - new maximum) + block sum` in its body.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [
    Option<"minRowElements", "min-row-elements", "int64_t", "16384",
           "elements of a static row beyond which a chain without contractions becomes a fold">
  ];
  let statistics = [
    Statistic<"numFolds", "folds", "folds made">,
    Statistic<"numReductions", "reductions", "reductions that moved into folds">
  ];
}

def CommuteScalePass : Pass<"emmy-commute-scale", "::emmy::fuse::KernelOp"> {
  let summary = "Move factors past contractions that they do not vary along";
  let description = [{
    `contract(x * r, w)` over k, r not varying over k, is `contract(x, w) * r`: an operand that was computed becomes one in memory,
    and the factor joins the work on the result. One rounding moves past the factor; an f16 operand is left alone.

    ```mlir
    emmy_fuse.kernel @scaled(%x: tensor<4x8xf32>, %r: tensor<4xf32>, %w: tensor<2x8xf32>) outs(%y: tensor<4x2xf32>)
        axes(m = 4, n = 2, k = 8) {
      %0 = emmy_fuse.load %x over [m, k] at [m, k] : tensor<4x8xf32>
      %1 = emmy_fuse.load %r over [m] at [m] : tensor<4xf32>
      %2 = emmy_fuse.map(%0, %1) : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, k] x f32> {
      ^bb0(%a: f32, %s: f32):
        %p = arith.mulf %a, %s : f32
        emmy_fuse.yield %p : f32
      }
      %3 = emmy_fuse.load %w over [n, k] at [n, k] : tensor<2x8xf32>
      %4 = emmy_fuse.contract %2, %3 over [k] : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f32>) -> !emmy_fuse.value<[m, n] x f32>
      emmy_fuse.store %4 to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<4x2xf32>
    }
    ```
    becomes a contraction of %0 and %3 whose result a map multiplies by %1.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numMoved", "moved", "factors moved past a contraction">];
}

def VerifyFuseFormPass : Pass<"emmy-verify-fuse-form", "::mlir::ModuleOp"> {
  let summary = "Check that a module holds kernels and launches only";
  let description = [{
    (fuse_form_1) a kernel holds ops of emmy_fuse; (fuse_form_2) the region of a map holds ops of arith and math; (fuse_form_3) a
    host function launches kernels and returns.

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
    ```
    is left as it is. Changes nothing, so it counts nothing.
  }];
}

#endif // EMMY_FUSE_PASSES_TD
