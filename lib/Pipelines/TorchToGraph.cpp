// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// --emmy-torch-to-graph: raw torch ops, or linalg on tensors, to primitives of emmy_graph.
#include "emmy/Graph/Passes.h"
#include "emmy/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void buildTorchToGraph(OpPassManager &pm) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(emmy::graph::createImportTorchPass());
  functions.addPass(emmy::graph::createImportLinalgPass());
  functions.addPass(emmy::graph::createDecomposePass());
  functions.addPass(createCSEPass());
  functions.addPass(emmy::graph::createSimplifyPass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(emmy::graph::createReinplacePass());
  functions.addPass(emmy::graph::createVerifyGraphFormPass());
}

void emmy::registerTorchToGraphPipeline() {
  PassPipelineRegistration<>("emmy-torch-to-graph", "Import ops of the torch dialect or of linalg and reduce them to primitives of emmy_graph",
                             buildTorchToGraph);
}
