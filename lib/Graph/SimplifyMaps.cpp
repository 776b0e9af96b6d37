// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Patterns on maps. Arithmetic becomes cheaper only where the result stays the same bit for bit.
#include "SimplifyPatterns.h"
#include "dialects/Graph/GraphBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

namespace {
struct CountingMapPattern : OpRewritePattern<MapOp> {
  CountingMapPattern(MLIRContext *context, SimplifyCounts &counts) : OpRewritePattern(context), counts(counts) {}
  SimplifyCounts &counts;
};

/// An operand that is one known number becomes a constant in the region.
struct InlineConstants : CountingMapPattern {
  using CountingMapPattern::CountingMapPattern;
  static Attribute findConstant(Value operand) {
    if (auto expand = operand.getDefiningOp<ExpandOp>())
      operand = expand.getInput();
    return getSplat(operand);
  }
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Block &block = op.getBody().front();
    for (unsigned i = op.getInputs().size(); i-- > 0;) {
      auto constant = dyn_cast_or_null<TypedAttr>(findConstant(op.getInputs()[i]));
      if (!constant)
        continue;
      rewriter.setInsertionPointToStart(&block);
      Value inlined = arith::ConstantOp::create(rewriter, op.getLoc(), constant);
      rewriter.replaceAllUsesWith(block.getArgument(i), inlined);
      rewriter.modifyOpInPlace(op, [&] {
        block.eraseArgument(i);
        op.getInputsMutable().erase(i);
      });
      ++counts.maps;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is a known number");
  }
};

/// An operand that the region does not read, or that is there twice, goes.
struct DropOperands : CountingMapPattern {
  using CountingMapPattern::CountingMapPattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Block &block = op.getBody().front();
    for (unsigned i = op.getInputs().size(); i-- > 0;) {
      unsigned first = llvm::find(op.getInputs(), op.getInputs()[i]) - op.getInputs().begin();
      if (!block.getArgument(i).use_empty() && first == i)
        continue;
      if (first != i)
        rewriter.replaceAllUsesWith(block.getArgument(i), block.getArgument(first));
      rewriter.modifyOpInPlace(op, [&] {
        block.eraseArgument(i);
        op.getInputsMutable().erase(i);
      });
      ++counts.maps;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "every operand is read once");
  }
};

/// A map that yields its operand or a constant is a view.
struct MapToView : CountingMapPattern {
  using CountingMapPattern::CountingMapPattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Value yielded = cast<YieldOp>(op.getBody().front().getTerminator()).getValue();
    Value source;
    Attribute constant;
    if (auto argument = dyn_cast<BlockArgument>(yielded)) {
      source = op.getInputs()[argument.getArgNumber()];
    } else if (matchPattern(yielded, m_Constant(&constant))) {
      auto type = RankedTensorType::get({}, yielded.getType());
      source = arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, constant));
    } else {
      return rewriter.notifyMatchFailure(op, "computes");
    }
    if (source.getType() == op.getType())
      rewriter.replaceOp(op, source);
    else
      rewriter.replaceOpWithNewOp<ExpandOp>(op, op.getType(), source);
    ++counts.maps;
    return success();
  }
};

/// x / 2^n is x · 2^-n.
struct DivideByPowerOfTwo : OpRewritePattern<arith::DivFOp> {
  DivideByPowerOfTwo(MLIRContext *context, SimplifyCounts &counts) : OpRewritePattern(context), counts(counts) {}
  SimplifyCounts &counts;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    APFloat divisor(0.0), inverse(0.0);
    if (!op->getParentOfType<MapOp>() || !matchPattern(op.getRhs(), m_ConstantFloat(&divisor)))
      return rewriter.notifyMatchFailure(op, "divisor is not a known number");
    inverse = divisor;
    if (!divisor.getExactInverse(&inverse))
      return rewriter.notifyMatchFailure(op, "divisor has no exact inverse");
    Value factor = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getFloatAttr(op.getType(), inverse));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), factor);
    ++counts.maps;
    return success();
  }
};
} // namespace

void graph::populateMapPatterns(RewritePatternSet &patterns, SimplifyCounts &counts) {
  patterns.add<InlineConstants, DropOperands, MapToView, DivideByPowerOfTwo>(patterns.getContext(), counts);
}
