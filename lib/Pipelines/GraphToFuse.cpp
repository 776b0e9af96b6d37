// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// --emmy-graph-to-fuse: primitives to kernels. --emmy-fuse: the same for a file of any earlier level.
#include "emmy/Conversion/Passes.h"
#include "emmy/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void buildGraphToFuse(OpPassManager &pm) {
  pm.addPass(createCSEPass());
  pm.addPass(emmy::createFuseKernelsPass());
}

void emmy::registerGraphToFusePipeline() {
  PassPipelineRegistration<>("emmy-graph-to-fuse", "Group the primitives of host functions into kernels", buildGraphToFuse);
  PassPipelineRegistration<>("emmy-fuse", "Bring a file of any earlier level to kernels", buildGraphToFuse);
}
