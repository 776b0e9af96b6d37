// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// --emmy-tile-to-nvvm: hardware programs to gpu.modules that translate to LLVM's IR as they are, and the plan that launches them.
#include "emmy/Conversion/Passes.h"
#include "emmy/Pipelines.h"
#include "emmy/Plan/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void buildTileToNvvm(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(emmy::createPlanMemoryPass());
  pm.addPass(emmy::createEmitPlanPass());
  emmy::ExpandMathPassOptions math;
  math.approx = true;
  pm.addPass(emmy::createExpandMathPass(math)); // once for each region, before it is repeated for each register
  pm.addPass(emmy::createConvertEmmyTileToNvvmPass());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(emmy::createApproximateMathPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createConvertMathToLLVMPass());
  kernels.addPass(createArithToLLVMConversionPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createConvertNVVMToLLVMPass()); // ops that are inline PTX
}

void emmy::registerTileToNvvmPipeline() {
  PassPipelineRegistration<>("emmy-tile-to-nvvm", "Lower hardware programs to the nvvm and llvm dialects", buildTileToNvvm);
}
