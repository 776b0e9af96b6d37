// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers emmy_fuse kernels to functions for the CPU: loops over elements, one function for each kernel.
//
// In:  emmy_fuse.kernel symbols; the host program around them, if any, already printed as a plan.
// Out: `llvm.func @kernel(%parameters: !llvm.ptr)` with scf and arith inside. `parameters` points to one pointer for each
//      parameter: those of the kernel's tensors, inputs first, then an i64 for each of getUsedSymbols. Host functions go away.
// Numerics: reductions are reassociated; everything else is computed as written.
#include "Emitter.h"
#include "Memory.h"
#include "emmy/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#define DEBUG_TYPE "convert-emmy-fuse-to-llvm"

using namespace mlir;
using namespace emmy::fuse;

namespace emmy {
#define GEN_PASS_DEF_CONVERTEMMYFUSETOLLVMPASS
#include "emmy/Conversion/Passes.h.inc"
} // namespace emmy

/// Fails with a diagnostic if a kernel holds what the CPU's loops cannot express.
static LogicalResult verifySupported(KernelOp kernel) {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    if (!type.getElementType().isIntOrFloat() || llvm::is_contained(emmy::getSizes(type), AffineExpr()))
      return kernel.emitOpError("expects tensors of integers or floats with known sizes, but argument #")
             << argument.getArgNumber() << " is " << type;
  }
  return success();
}

namespace {
struct ConvertEmmyFuseToLlvmPass : emmy::impl::ConvertEmmyFuseToLlvmPassBase<ConvertEmmyFuseToLlvmPass> {
  using Base::Base;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    for (auto host : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      host.erase();
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      if (failed(verifySupported(kernel)))
        return signalPassFailure();
      Placement placement(kernel);
      createFunction(builder, kernel, kernel.getSymName());
      Emitter(kernel, placement, builder).emitKernel();
      kernel.erase();
      ++numKernels;
    }
  }
};
} // namespace
