// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// --emmy-torch-to-nvvm: the way to a GPU in one, border after border, from ops of the torch dialect, linalg or emmy_graph.
#include "emmy/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

static void buildTorchToNvvm(OpPassManager &pm) {
  for (StringRef name : {"emmy-torch-to-graph", "emmy-graph-to-fuse", "emmy-fuse-to-sched", "emmy-sched-to-tile", "emmy-tile-to-nvvm"}) {
    const PassPipelineInfo *border = PassPipelineInfo::lookup(name);
    if (!border || failed(border->addToPipeline(pm, "", [](const Twine &) { return failure(); })))
      llvm::report_fatal_error("the pipelines of the borders are registered before they run");
  }
}

void emmy::registerTorchToNvvmPipeline() {
  PassPipelineRegistration<>("emmy-torch-to-nvvm", "Compile a program of any level before emmy_fuse to kernels in the nvvm and llvm dialects",
                             buildTorchToNvvm);
}
