// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// --emmy-schedule: a schedule for every kernel, from whatever level the file is at. --emmy-fuse-to-sched: programs from kernels.
#include "dialects/Fuse/Fuse.h"
#include "emmy/Conversion/Passes.h"
#include "emmy/Pipelines.h"
#include "emmy/Sched/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace {
struct ScheduleOptions : PassPipelineOptions<ScheduleOptions> {
  Option<unsigned> candidates{*this, "candidates", llvm::cl::desc("Number of ranked schedules to list on each kernel"),
                              llvm::cl::init(0)};
};
} // namespace

static void pickSchedules(OpPassManager &pm, unsigned candidates) {
  emmy::PickSchedulePassOptions options;
  options.candidates = candidates;
  pm.addNestedPass<emmy::fuse::KernelOp>(emmy::createPickSchedulePass(options));
}

static void buildSchedule(OpPassManager &pm, const ScheduleOptions &options) {
  // Files of emmy_fuse kernels pass through the pipeline above unchanged.
  if (const PassPipelineInfo *fuse = PassPipelineInfo::lookup("emmy-fuse"))
    (void)fuse->addToPipeline(pm, "", [](const Twine &) { return failure(); });
  pm.addPass(emmy::createSplitReductionsPass());
  pickSchedules(pm, options.candidates);
}

static void buildFuseToSched(OpPassManager &pm) {
  pm.addPass(emmy::createSplitReductionsPass());
  pickSchedules(pm, 0);
  pm.addPass(emmy::createApplySchedulePass());
  pm.addPass(emmy::sched::createVerifySchedFormPass());
}

void emmy::registerFuseToSchedPipeline() {
  PassPipelineRegistration<ScheduleOptions>("emmy-schedule", "Choose a schedule for every kernel", buildSchedule);
  PassPipelineRegistration<>("emmy-fuse-to-sched", "Schedule emmy_fuse kernels and make tile programs of them", buildFuseToSched);
}
