// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All passes and pipelines, and the upstream ones that our pipelines are made of.
#include "emmy/Conversion/Passes.h"
#include "emmy/Fuse/Passes.h"
#include "emmy/Graph/Passes.h"
#include "emmy/InitAll.h"
#include "emmy/Pipelines.h"
#include "emmy/Plan/Passes.h"
#include "emmy/Sched/Passes.h"
#include "emmy/Simulator/Passes.h"
#include "emmy/Tile/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

void emmy::registerAllPasses() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerPass([] { return mlir::createArithToLLVMConversionPass(); });
  mlir::registerPass([] { return mlir::createConvertMathToLLVMPass(); });
  mlir::registerPass([] { return mlir::createConvertNVVMToLLVMPass(); });
  mlir::registerGpuModuleToBinaryPass();
  graph::registerEmmyGraphPasses();
  fuse::registerEmmyFusePasses();
  sched::registerEmmySchedPasses();
  tile::registerEmmyTilePasses();
  simulator::registerEmmySimulatorPasses();
  registerEmmyConversionPasses();
  registerTorchToGraphPipeline();
  registerEmmyPlanPasses();
  registerFuseToCpuPipeline();
  registerGraphToFusePipeline();
  registerTileToNvvmPipeline();
  registerFuseToSchedPipeline();
  registerSchedToTilePipeline();
  registerTorchToNvvmPipeline();
}
