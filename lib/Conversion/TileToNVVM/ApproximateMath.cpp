// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: arith and math operations on scalars. Out: the same without the math functions that NVPTX has no instruction for; they become
// polynomials in f32 (upstream's, a few units in the last place). Refuses functions of f64 that have none, by name: LLVM would call
// a library that a kernel does not have.
#include "emmy/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "emmy-approximate-math"

namespace emmy {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "emmy/Conversion/Passes.h.inc"

using namespace mlir;

/// True if LLVM's NVPTX back end has instructions for `op`.
static bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::IsNormalOp,
             math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::TruncOp>(op);
}

static bool isForeign(Operation *op) { return isa_and_nonnull<mlir::math::MathDialect>(op->getDialect()) && !isNative(op); }

namespace {
struct ApproximateMathPass : impl::ApproximateMathPassBase<ApproximateMathPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) { numApproximated += isForeign(op); });
    if (numApproximated == 0)
      return;
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(patterns, {"acosh", "asinh", "atanh", "cosh", "fpowi", "powf", "rsqrt", "sinh", "tan"});
    populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef) { return true; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    bool refused = false;
    getOperation()->walk([&](Operation *op) {
      if (!isForeign(op))
        return;
      op->emitOpError("has no expansion for ") << op->getResult(0).getType() << " on a GPU";
      refused = true;
    });
    if (refused)
      signalPassFailure();
  }
};
} // namespace
} // namespace emmy
