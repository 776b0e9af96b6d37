// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// --emmy-sched-to-tile: hardware programs from tile programs.
#include "emmy/Conversion/Passes.h"
#include "emmy/Pipelines.h"
#include "emmy/Sched/Passes.h"
#include "emmy/Tile/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void buildSchedToTile(OpPassManager &pm) {
  pm.addPass(emmy::sched::createVerifySchedFormPass());
  pm.addPass(emmy::createLowerToTilePass());
  pm.addPass(createCSEPass());
  pm.addPass(emmy::tile::createOverlapLaunchesPass());
  pm.addPass(emmy::tile::createVerifyTileFormPass());
}

void emmy::registerSchedToTilePipeline() {
  PassPipelineRegistration<>("emmy-sched-to-tile", "Lower tile programs to hardware programs", buildSchedToTile);
}
