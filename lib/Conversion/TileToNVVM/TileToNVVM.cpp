// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: emmy_tile kernels. Out: a gpu.module for each, with one llvm.func of the kernel's (mangled) name and argument order; nvvm and
// llvm operations, and arith and math on scalars, which the passes of the pipeline behind lower further. Assumes verified kernels;
// refuses, naming the op, what the hardware cannot do in the unit it stands in.
#include "KernelEmitter.h"
#include "emmy/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#define DEBUG_TYPE "convert-emmy-tile-to-nvvm"

namespace emmy {
#define GEN_PASS_DEF_CONVERTEMMYTILETONVVMPASS
#include "emmy/Conversion/Passes.h.inc"

namespace {
struct ConvertEmmyTileToNvvmPass : impl::ConvertEmmyTileToNvvmPassBase<ConvertEmmyTileToNvvmPass> {
  using Base::Base;

  void getDependentDialects(mlir::DialectRegistry &registry) const override { tile::registerEmittedDialects(registry); }

  void runOnOperation() override {
    auto kernels = llvm::to_vector(getOperation().getOps<tile::KernelOp>());
    for (tile::KernelOp kernel : kernels) {
      if (failed(tile::KernelEmitter(kernel).run()))
        return signalPassFailure();
      ++numKernels;
    }
    // Quotients that round up or down, which arith's conversion to LLVM does not take.
    mlir::RewritePatternSet patterns(&getContext());
    mlir::arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    mlir::walkAndApplyPatterns(getOperation(), std::move(patterns));
    if (!kernels.empty())
      getOperation()->setAttr(mlir::gpu::GPUDialect::getContainerModuleAttrName(), mlir::UnitAttr::get(&getContext()));
  }
};
} // namespace
} // namespace emmy
