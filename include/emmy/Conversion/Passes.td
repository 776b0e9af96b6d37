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

#endif // EMMY_CONVERSION_PASSES_TD
