// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// --emmy-graph-to-fuse: primitives to kernels. --emmy-fuse: the same for a file of any earlier level.
#include "emmy/Conversion/Passes.h"
#include "emmy/Fuse/Passes.h"
#include "emmy/Graph/Passes.h"
#include "emmy/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void buildGraphToFuse(OpPassManager &pm) {
  pm.addPass(createCSEPass());
  pm.addPass(emmy::createFuseKernelsPass());
  OpPassManager &kernels = pm.nest<emmy::fuse::KernelOp>();
  kernels.addPass(emmy::fuse::createSimplifyKernelsPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(emmy::fuse::createOnlineReducePass());
  kernels.addPass(createCSEPass());
  pm.addPass(emmy::fuse::createVerifyFuseFormPass());
}

/// Passes for ops of an earlier level do nothing to a file that has none.
static void buildFuse(OpPassManager &pm) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(emmy::graph::createImportTorchPass());
  functions.addPass(emmy::graph::createImportLinalgPass());
  functions.addPass(emmy::graph::createDecomposePass());
  functions.addPass(createCSEPass());
  functions.addPass(emmy::graph::createSimplifyPass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(emmy::graph::createReinplacePass());
  buildGraphToFuse(pm);
}

void emmy::registerGraphToFusePipeline() {
  PassPipelineRegistration<>("emmy-graph-to-fuse", "Group the primitives of host functions into kernels", buildGraphToFuse);
  PassPipelineRegistration<>("emmy-fuse", "Bring a file of any earlier level to kernels", buildFuse);
}
