// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks the contract at the border between emmy_sched and emmy_tile. Changes nothing. Refuses what an earlier pass should have removed,
// with the rule and the name of that pass.
#include "dialects/Sched/Sched.h"
#include "emmy/Sched/Passes.h"

#define DEBUG_TYPE "emmy-verify-sched-form"

using namespace mlir;

namespace emmy::sched {
#define GEN_PASS_DEF_VERIFYSCHEDFORMPASS
#include "emmy/Sched/Passes.h.inc"

static LogicalResult violates(Operation *op, StringRef rule, StringRef pass) {
  InFlightDiagnostic diagnostic = op->emitOpError("violates sched form: ") << rule;
  diagnostic.attachNote() << pass << " should have removed it";
  return diagnostic;
}

static LogicalResult checkProgram(ProgramOp program) {
  if (!program.getSchedule())
    return program.emitOpError("violates sched form: sched_f3, it has no schedule");
  WalkResult walk = program.getBody().walk([&](Operation *op) -> WalkResult {
    StringRef dialect = op->getName().getDialectNamespace();
    bool isScalar = isa<MapOp>(op->getParentOp()) && (dialect == "arith" || dialect == "math");
    if (dialect != "emmy_sched" && !isScalar)
      return violates(op, "sched_f2", "--emmy-apply-schedule");
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

namespace {
struct VerifySchedFormPass : impl::VerifySchedFormPassBase<VerifySchedFormPass> {
  using Base::Base;

  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody()) {
      StringRef dialect = op.getName().getDialectNamespace();
      if (dialect == "emmy_fuse" && failed(violates(&op, "sched_f1", "--emmy-apply-schedule")))
        return signalPassFailure();
      if (auto program = dyn_cast<ProgramOp>(op); program && failed(checkProgram(program)))
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace emmy::sched
