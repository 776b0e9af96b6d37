// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gives a kernel the schedule that the cost model ranks first among the legal ones, with its prediction. A schedule that is already
// there stays, with the prediction made anew; if it is illegal, the violated rule is the error. Numerics do not depend on the choice
// beyond the order of sums.
#include "KernelClass.h"
#include "emmy/Conversion/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/Format.h"

#define DEBUG_TYPE "emmy-pick-schedule"

using namespace mlir;

namespace emmy {
#define GEN_PASS_DEF_PICKSCHEDULEPASS
#include "emmy/Conversion/Passes.h.inc"

static std::string describe(const Candidate &candidate) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f us, ", candidate.microseconds) << candidate.limit;
  return text;
}

/// Legal schedules, the fastest first.
static SmallVector<Candidate> rank(const KernelView &view, const KernelClass &known, TargetAttr target) {
  SmallVector<Candidate> candidates = known.enumerate(view, target);
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) { return a.microseconds < b.microseconds; });
  return candidates;
}

/// Attaches the first `count` candidates with their predictions.
static void attachRanking(fuse::KernelOp kernel, ArrayRef<Candidate> candidates, unsigned count) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> list;
  for (const Candidate &candidate : candidates.take_front(count))
    list.push_back(builder.getArrayAttr({candidate.schedule, builder.getStringAttr(describe(candidate))}));
  kernel->setAttr(sched::kCandidatesAttr, builder.getArrayAttr(list));
}

/// Attaches what the model expects of the kernel's schedule, and says so.
static void attachPrediction(fuse::KernelOp kernel, const Candidate &candidate, StringRef origin) {
  std::string expected = describe(candidate);
  kernel->setAttr(sched::kPredictedAttr, StringAttr::get(kernel.getContext(), expected));
  auto options = remark::RemarkOpts::name(origin).category(DEBUG_TYPE).function(kernel.getSymName());
  remark::passed(kernel.getLoc(), options) << remark::reason("{0}; expected: {1}", candidate.schedule, expected);
}

static LogicalResult checkGiven(fuse::KernelOp kernel, Attribute schedule, TargetAttr target) {
  std::optional<KernelView> view = viewKernel(kernel);
  if (!view) {
    kernel->removeAttr(sched::kPredictedAttr);
    return success();
  }
  if (std::optional<std::string> rule = violatedRule(schedule, *view, target))
    return kernel.emitOpError("has an illegal schedule: ") << *rule;
  attachPrediction(kernel, findClass(schedule)->rate(schedule, *view, target), "given schedule");
  return success();
}

namespace {
struct PickSchedulePass : impl::PickSchedulePassBase<PickSchedulePass> {
  using Base::Base;

  LogicalResult pick(fuse::KernelOp kernel) {
    TargetAttr target = TargetAttr::of(kernel);
    if (Attribute given = kernel->getAttr(sched::kScheduleAttr)) {
      ++numGiven;
      return checkGiven(kernel, given, target);
    }
    std::optional<KernelView> view = viewKernel(kernel);
    const KernelClass *known = view ? findClass(*view) : nullptr;
    if (!known)
      return kernel.emitOpError("is of no kernel class that can be scheduled");
    SmallVector<Candidate> ranked = rank(*view, *known, target);
    if (ranked.empty())
      return kernel.emitOpError("has no legal schedule of the class '") << known->name << "'";
    kernel->setAttr(sched::kScheduleAttr, ranked.front().schedule);
    attachPrediction(kernel, ranked.front(), "schedule");
    if (candidates)
      attachRanking(kernel, ranked, candidates);
    ++numPicked;
    return success();
  }

  void runOnOperation() override {
    if (failed(pick(getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace emmy
