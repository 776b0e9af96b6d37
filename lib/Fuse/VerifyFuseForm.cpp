// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks what may be in a module of kernels; changes nothing.
#include "dialects/Fuse/Fuse.h"
#include "emmy/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

#define DEBUG_TYPE "emmy-verify-fuse-form"

using namespace mlir;

namespace emmy::fuse {
#define GEN_PASS_DEF_VERIFYFUSEFORMPASS
#include "emmy/Fuse/Passes.h.inc"

static LogicalResult violates(Operation *op, StringRef rule, const Twine &what, StringRef pass) {
  InFlightDiagnostic diagnostic = op->emitError("violates fuse form: ") << rule << ": " << what;
  diagnostic.attachNote() << pass << " should have removed it";
  return diagnostic;
}

/// (fuse_form_1) a kernel holds ops of emmy_fuse, (fuse_form_2) a map's region arith and math.
static LogicalResult verifyKernel(KernelOp kernel) {
  WalkResult result = kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    bool inMap = isa<MapOp>(op->getParentOp());
    if (inMap && !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<YieldOp>(op))
      return violates(op, "fuse_form_2", "'" + op->getName().getStringRef() + "' in the region of a map", "--emmy-decompose");
    if (!inMap && !isa<FuseDialect>(op->getDialect()))
      return violates(op, "fuse_form_1", "'" + op->getName().getStringRef() + "' in a kernel", "--emmy-fuse-kernels");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// (fuse_form_3) a host function launches kernels and returns.
static LogicalResult verifyHost(func::FuncOp func) {
  WalkResult result = func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (isa<LaunchOp, func::ReturnOp, arith::ConstantOp>(op))
      return WalkResult::advance();
    return violates(op, "fuse_form_3", "'" + op->getName().getStringRef() + "' in a host function", "--emmy-fuse-kernels");
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyFuseFormPass : impl::VerifyFuseFormPassBase<VerifyFuseFormPass> {
  using Base::Base;
  void runOnOperation() override {
    for (Operation &op : getOperation().getBodyRegion().front()) {
      auto kernel = dyn_cast<KernelOp>(op);
      auto func = dyn_cast<func::FuncOp>(op);
      if ((kernel && failed(verifyKernel(kernel))) || (func && failed(verifyHost(func))))
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace emmy::fuse
