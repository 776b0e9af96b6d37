// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_CONVERSION_PASSES_TD
#define EMMY_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertEmmyFuseToLlvmPass : Pass<"convert-emmy-fuse-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower emmy_fuse kernels to functions of loops for the CPU";
  let description = [{
    Every `emmy_fuse.kernel` becomes `llvm.func @kernel(%parameters: !llvm.ptr)` whose body is scf loops on arith scalars.
    `%parameters` points to one pointer for each parameter, as cuLaunchKernel's does: first those of the kernel's tensors,
    inputs then outputs, then an i64 for each symbol that the kernel uses, ascending. Stores give the outer loops; reductions,
    contractions and folds are computed once for each element, in the outermost loop that allows it. Host functions are erased:
    `--emmy-emit-plan` has printed them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"numKernels", "num-kernels", "Number of kernels lowered">];
}

def ConvertEmmyTileToNvvmPass : Pass<"convert-emmy-tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Lower hardware programs to NVVM";
  let description = [{
    Each `emmy_tile.kernel` becomes a `gpu.module` of its name with one `llvm.func` of the same name and argument order; in names,
    characters other than letters, digits and `_` become `_`. Fragments become one value for each register of a thread, shared
    buffers offsets into dynamic shared memory (`planShared`), roles branches on the warp's number. arith and math operations on
    scalars stay; the pipeline `--emmy-tile-to-nvvm` lowers them behind this pass.

    ```mlir
    emmy_tile.kernel @f(%x: !emmy_tile.ptr<f32>) grid [1, 1, 1] warps 4 {…}
    // becomes
    gpu.module @f {
      llvm.func @f(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.minctasm = 1 : i32} {…}
    }
    ```
  }];
  let statistics = [Statistic<"numKernels", "num-kernels", "Number of kernels lowered">];
}

def FuseKernelsPass : Pass<"emmy-fuse-kernels", "mlir::ModuleOp"> {
  let summary = "Group the primitives of host functions into kernels";
  let description = [{
    Decides which values live in memory, then makes one `emmy_fuse.kernel` for each group of them, pulled from what is stored back
    to what is loaded: views only change index expressions. Element-wise work moves into its readers; reductions along the same
    rows share a kernel; a contraction takes the element-wise work on its result and reads its operands from memory; contractions
    whose operand is made from reductions and other contractions along the axis they sum over (attention is one case) become one
    streaming kernel. A merge happens when the kernel that it would make is legal and reads less. Each decision leaves a remark
    (`--remarks-filter=emmy-fuse-kernels`).

    ```mlir
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %s = emmy_graph.reduce add %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
      return %s : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    emmy_fuse.kernel @reduce(%x: tensor<4x8xf32>) outs(%y: tensor<4xf32>) axes(n = 4, k = 8) {
      %0 = emmy_fuse.load %x over [n, k] at [n, k] : tensor<4x8xf32>
      %1 = emmy_fuse.reduce add %0 over [k] : !emmy_fuse.value<[n, k] x f32> -> !emmy_fuse.value<[n] x f32>
      emmy_fuse.store %1 to %y over [n] at [n] : !emmy_fuse.value<[n] x f32>, tensor<4xf32>
    }
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %0 = emmy.launch @reduce(%x) : (tensor<4x8xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::emmy::BaseDialect", "::emmy::fuse::FuseDialect", "::mlir::arith::ArithDialect"];
  let options = [
    Option<"separate", "separate", "bool", "false", "leave every reduction and contraction a kernel of its own, to compare with">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "kernels made">,
    Statistic<"numMerged", "merged", "producers that moved into the kernel of their reader">,
    Statistic<"numKept", "kept-apart", "producers that stayed kernels of their own">
  ];
}

def ExpandMathPass : Pass<"emmy-expand-math"> {
  let summary = "Expand elementary functions into arithmetic";
  let description = [{
    exp, log, sin, tanh, erf, pow and the like on f32, bf16 and f16 scalars become straight-line arith with selects: no call, no
    table, no branch. The error bounds are stated beside the functions in lib/Conversion/ExpandMath. Ops on f64 stay.

    With `approx`, exp becomes math.exp2 of a product, erf a quotient that may use a reciprocal (`arcp`), and math.exp2 and math.rsqrt
    stay for the target's instructions.
  }];
  let options = [Option<"approx", "approx", "bool", "false", "Leave exp2 and rsqrt to instructions of the target">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ExpandSmallFloatsPass : Pass<"emmy-expand-small-floats"> {
  let summary = "Carry out arithmetic on bf16 and f16 in f32 and integers";
  let description = [{
    Conversions between bf16 or f16 and f32 become integer operations (round to nearest even, NaN kept), other arithmetic on
    these types is done in f32 and rounded. Without it LLVM calls a library for them on machines without such instructions.

    ```mlir
    %1 = arith.extf %0 : bf16 to f32
    ```
    becomes a zero extension of the bits to i32 and a shift by 16.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ApproximateMathPass : Pass<"emmy-approximate-math"> {
  let summary = "Expand the math functions that a GPU has no instruction for";
  let description = [{
    Functions such as `math.erf`, `math.tanh` and `math.log` become arithmetic in f32, with errors of a few units in the last
    place; those of bf16 and f16 are computed in f32. A function of f64 without an expansion is an error.

    ```mlir
    %1 = math.tanh %0 : f32
    ```
    becomes a clamp and a rational function.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numApproximated", "num-approximated", "Number of functions expanded">];
}

//===----------------------------------------------------------------------===//
// emmy_fuse to emmy_sched
//===----------------------------------------------------------------------===//

def SplitReductionsPass : Pass<"emmy-split-reductions", "::mlir::ModuleOp"> {
  let summary = "Cut reductions that would occupy a small part of the machine into parts for different CTAs";
  let description = [{
    A kernel without a tensor-core product whose kept axes give few CTAs, each with a long reduction, becomes a kernel of partial results
    (with its schedule) and one that combines them in a fixed order, so that every run gives the same bits. Reductions over the same axes
    share the parts; what depends on their results follows in a kernel of its own, and is looked at again. Only kernels that a host
    function launches are split: partial results are tensors between launches.

    ```mlir
    emmy_fuse.kernel @sum(%x: tensor<4096x4096xbf16>) outs(%y: tensor<4096xf32>) axes(n = 4096, k = 4096) {…}
    // becomes
    emmy_fuse.kernel @sum_parts(%x: tensor<4096x4096xbf16>) outs(%p: tensor<32x4096xf32>)
        axes(k_turn = 4, k_part = 32, k_item = 4, k_lane = 8, n = 4096) attributes {emmy_sched.schedule = …} {…}
    emmy_fuse.kernel @sum(%p: tensor<32x4096xf32>) outs(%y: tensor<4096xf32>) axes(k_part = 32, n = 4096) {…}
    ```
  }];
  let statistics = [Statistic<"numSplit", "split", "Groups of reductions cut into parts">];
  let dependentDialects = ["::emmy::BaseDialect", "::emmy::fuse::FuseDialect", "::emmy::sched::SchedDialect",
                           "::mlir::arith::ArithDialect"];
}

def PickSchedulePass : Pass<"emmy-pick-schedule", "::emmy::fuse::KernelOp"> {
  let summary = "Choose a schedule for a kernel by the cost model";
  let description = [{
    Sets `emmy_sched.schedule` to the legal schedule that the model expects to be fastest, and `emmy_sched.predicted` to the time it
    expects and the resource that limits it. A kernel that has a schedule keeps it and gets the prediction of that one; an illegal one
    is an error that names the rule.

    ```mlir
    emmy_fuse.kernel @linear(…) attributes {
      emmy_sched.predicted = "131.9 us, tensor cores 97 %",
      emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 4, …>} { … }
    ```
  }];
  let options = [Option<"candidates", "candidates", "unsigned", "0", "Number of ranked schedules to list in emmy_sched.candidates">];
  let statistics = [Statistic<"numPicked", "picked", "Kernels given a schedule">,
                    Statistic<"numGiven", "given", "Kernels that had one">];
  let dependentDialects = ["::emmy::sched::SchedDialect"];
}

def ApplySchedulePass : Pass<"emmy-apply-schedule", "::mlir::ModuleOp"> {
  let summary = "Rewrite scheduled kernels into tile programs";
  let description = [{
    Each `emmy_fuse.kernel` with an `emmy_sched.schedule` becomes an `emmy_sched.program` of the same name: axes cut into blocks, loads
    into tiles in registers or shared memory, contracted axes into pipelines.

    ```mlir
    emmy_sched.program @linear(…) axes(m = s0 by 128 grid, n = 6144 by 256 grid, k = 4096 by 64 serial) schedule #emmy_sched.contraction<…> {
      %zero = emmy_sched.fill 0.0 : f32 -> …
      %c = emmy_sched.pipeline over k init(%zero : …) { … }
      emmy_sched.write %c to %y over [m, n] at m * 6144 + n via tma : …
    }
    ```
  }];
  let statistics = [Statistic<"numApplied", "applied", "Kernels rewritten">];
  let dependentDialects = ["::emmy::sched::SchedDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

//===----------------------------------------------------------------------===//
// emmy_sched to emmy_tile
//===----------------------------------------------------------------------===//

def LowerToTilePass : Pass<"emmy-lower-to-tile", "::mlir::ModuleOp"> {
  let summary = "Lower tile programs to hardware programs";
  let description = [{
    Each `emmy_sched.program` becomes an `emmy_tile.kernel` of the same name. Here appear warp roles, rings of stages with their
    barriers, fragments and their layouts, and for each kernel argument the binding that says how a launch fills it.

    ```mlir
    emmy_tile.kernel @linear(%a: !emmy_tile.tmap<128x64xbf16, swizzle = 128> {emmy.bind = #emmy.bind_tma<…>}, …)
        grid [132, 1, 1] cluster 2 warps 12 {
      emmy_tile.warp_specialize { emmy_tile.role "producer" … emmy_tile.role "consumer" … }
    }
    ```
  }];
  let statistics = [Statistic<"numLowered", "lowered", "Programs lowered">];
  let dependentDialects = ["::emmy::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::math::MathDialect"];
}

#endif // EMMY_CONVERSION_PASSES_TD
