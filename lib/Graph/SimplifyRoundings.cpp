// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Roundings between two ops that will share a kernel: a value that is rounded to bf16 or f16 and extended again by its only reader need
// not be rounded if the reader is continuous in it. Roundings before comparisons, integers, floor, round and remainders stay, and so do
// those of values with several readers, which may be stored, unless one of them is a maximum as in a softmax.
#include "SimplifyPatterns.h"
#include "dialects/Graph/GraphBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

static bool isContinuous(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, arith::ExtFOp,
             arith::TruncFOp, math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log1pOp, math::SqrtOp, math::RsqrtOp,
             math::TanhOp, math::ErfOp, math::SinOp, math::CosOp, math::AbsFOp, YieldOp>(op);
}

/// Whether everything that the region computes from `value` is continuous in it.
static bool isReadContinuously(Value value) {
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    for (OpOperand &use : next.getUses()) {
      auto select = dyn_cast<arith::SelectOp>(use.getOwner());
      bool isChosen = select && use.getOperandNumber() > 0; // a value chosen by a condition on something else
      if (!isChosen && !isContinuous(use.getOwner()))
        return false;
      llvm::append_range(pending, use.getOwner()->getResults());
    }
  }
  return true;
}

namespace {
struct DropRounding : OpRewritePattern<MapOp> {
  DropRounding(MLIRContext *context, SimplifyCounts &counts) : OpRewritePattern(context), counts(counts) {}
  SimplifyCounts &counts;

  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    auto yield = cast<YieldOp>(op.getBody().front().getTerminator());
    auto rounding = yield.getValue().getDefiningOp<arith::TruncFOp>();
    if (!rounding || !rounding.getIn().getType().isF32()) // 1. rounds from f32
      return rewriter.notifyMatchFailure(op, "does not round");
    if (!op->hasOneUse() && !isReducedByMaximum(op)) // 2. it will not be stored for somebody else
      return rewriter.notifyMatchFailure(op, "has several readers");
    SmallVector<BlockArgument> arguments;
    for (OpOperand &use : op->getUses()) {
      auto reader = dyn_cast<MapOp>(use.getOwner());
      auto reduce = dyn_cast<ReduceOp>(use.getOwner());
      if (!reader && !(reduce && getElementType(reduce.getResult()).isF32())) // 3. read element by element
        return rewriter.notifyMatchFailure(op, "is not read by a map or a sum in f32");
      if (!reader)
        continue;
      if (sizesOf(reader.getResult()) != sizesOf(op.getResult()))
        return rewriter.notifyMatchFailure(op, "is repeated by its reader");
      arguments.push_back(reader.getBody().getArgument(use.getOperandNumber()));
      if (!canWiden(arguments.back())) // 4. extended at once, and read continuously
        return rewriter.notifyMatchFailure(op, "reader needs the rounded value");
    }

    rewriter.modifyOpInPlace(yield, [&] { yield.getValueMutable().assign(rounding.getIn()); });
    rewriter.modifyOpInPlace(op, [&] {
      op.getResult().setType(emmy::getTensorType(sizesOf(op.getResult()), rewriter.getF32Type()));
    });
    for (BlockArgument argument : arguments) {
      rewriter.modifyOpInPlace(argument.getOwner()->getParentOp(), [&] { argument.setType(rewriter.getF32Type()); });
      for (Operation *extension : llvm::make_early_inc_range(argument.getUsers()))
        rewriter.replaceOp(extension, argument);
    }
    ++counts.roundings;
    return success();
  }

  /// Scores: a value whose maximum is subtracted from it streams through one kernel with that maximum.
  static bool isReducedByMaximum(MapOp op) {
    return llvm::any_of(op->getUsers(), [](Operation *user) {
      auto reduce = dyn_cast<ReduceOp>(user);
      return reduce && reduce.getKind() == Combiner::max;
    });
  }

  static bool canWiden(BlockArgument argument) {
    return llvm::all_of(argument.getUsers(), [](Operation *user) {
      return isa<arith::ExtFOp>(user) && user->getResult(0).getType().isF32() && isReadContinuously(user->getResult(0));
    });
  }
};
} // namespace

void graph::populateRoundingPatterns(RewritePatternSet &patterns, SimplifyCounts &counts) {
  patterns.add<DropRounding>(patterns.getContext(), counts);
}
