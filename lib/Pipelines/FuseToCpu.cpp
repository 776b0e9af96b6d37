// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// --emmy-fuse-to-cpu: kernels over named axes to functions in the llvm dialect, and the plan that calls them.
#include "emmy/Conversion/Passes.h"
#include "emmy/Pipelines.h"
#include "emmy/Plan/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void buildFuseToCpu(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(emmy::createPlanMemoryPass());
  pm.addPass(emmy::createEmitPlanPass());
  pm.addPass(emmy::createExpandMathPass());
  pm.addPass(emmy::createConvertEmmyFuseToLlvmPass());
  pm.addPass(emmy::createExpandSmallFloatsPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass()); // f64
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void emmy::registerFuseToCpuPipeline() {
  PassPipelineRegistration<>("emmy-fuse-to-cpu", "Compile emmy_fuse kernels to functions of the llvm dialect and print the plan",
                             buildFuseToCpu);
}
