// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rewrites every kernel that has a schedule into the tile program which that schedule describes, under the same name. Refuses an
// illegal schedule with the violated rule. A kernel without a schedule stays.
#include "KernelClass.h"
#include "emmy/Conversion/Passes.h"

#define DEBUG_TYPE "emmy-apply-schedule"

using namespace mlir;

namespace emmy {
#define GEN_PASS_DEF_APPLYSCHEDULEPASS
#include "emmy/Conversion/Passes.h.inc"

static LogicalResult applySchedule(fuse::KernelOp kernel) {
  Attribute schedule = kernel->getAttr(sched::kScheduleAttr);
  TargetAttr target = TargetAttr::of(kernel);
  std::optional<KernelView> view = viewKernel(kernel);
  if (!view)
    return kernel.emitOpError("accesses a tensor whose sizes or strides are not known");
  if (std::optional<std::string> rule = violatedRule(schedule, *view, target))
    return kernel.emitOpError("has an illegal schedule: ") << *rule;
  sched::ProgramOp program = findClass(schedule)->apply(*view, schedule, target);
  if (!program) // the class has said why
    return failure();
  for (NamedAttribute attr : kernel->getDiscardableAttrs())
    if (attr.getName() != sched::kScheduleAttr && attr.getName() != sched::kCandidatesAttr)
      program->setDiscardableAttr(attr.getName(), attr.getValue());
  kernel.erase();
  return success();
}

namespace {
struct ApplySchedulePass : impl::ApplySchedulePassBase<ApplySchedulePass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<fuse::KernelOp>())) {
      if (!kernel->hasAttr(sched::kScheduleAttr))
        continue;
      if (failed(applySchedule(kernel)))
        return signalPassFailure();
      ++numApplied;
    }
  }
};
} // namespace
} // namespace emmy
