// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: kernels of --emmy-fuse-kernels. Out: reductions that depend on each other along one axis run as one emmy_fuse.fold over it.
// Every carried sum is relative to the running values in its exponents (a maximum, usually) and is scaled when those move; factors
// that do not vary along the axis are applied after the fold; a sum of squared distances from a mean is merged by Welford's rule.
// Refuses chains whose dependence is neither of these. Reassociates sums, moves roundings past factors; a row of only -inf gives
// what eager gives: exponentials of -inf - -inf are zero inside the stream and 0/0 after it.
#include "StreamAnalysis.h"
#include "emmy/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "emmy-online-reduce"

using namespace mlir;

namespace emmy::fuse {
#define GEN_PASS_DEF_ONLINEREDUCEPASS
#include "emmy/Fuse/Passes.h.inc"

void emitOnlineFold(KernelOp kernel, const Stream &stream); // OnlineFold.cpp

namespace {
struct OnlineReducePass : impl::OnlineReducePassBase<OnlineReducePass> {
  using Base::Base;

  /// Why a chain that can run in one pass should not; empty if it should.
  std::string whyNotWorth(KernelOp kernel, const Stream &stream) const {
    if (stream.hasContraction())
      return "";
    auto size = dyn_cast<AffineConstantExpr>(kernel.getAxis(stream.axis).getSize());
    if (size && size.getValue() > minRowElements)
      return "";
    return "a row fits in registers: it is read once without a running correction";
  }

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    auto options = [&](StringRef decision) {
      return remark::RemarkOpts::name(decision).category(DEBUG_TYPE).function(kernel.getSymName());
    };
    for (auto axis : kernel.getAxes().getAsRange<AxisAttr>()) {
      Stream stream = analyseStream(kernel, axis.getName());
      if (stream.reductions.empty() || !stream.isChain)
        continue;
      std::string why = stream.whyNot.empty() ? whyNotWorth(kernel, stream) : stream.whyNot;
      if (!why.empty()) {
        remark::missed(kernel.getLoc(), options("no online reduction")) << remark::reason("{0}", why);
        continue;
      }
      numReductions += stream.reductions.size();
      ++numFolds;
      remark::passed(kernel.getLoc(), options("online reduction"))
          << remark::reason("{0} reductions over {1} run in one pass", stream.reductions.size(), axis.getName().getValue().str());
      emitOnlineFold(kernel, stream);
    }
  }
};
} // namespace
} // namespace emmy::fuse
