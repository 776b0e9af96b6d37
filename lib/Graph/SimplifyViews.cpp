// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Patterns on views: two in a row become one, and a map reads through what its broadcasting does anyway. No element changes.
#include "SimplifyPatterns.h"
#include "dialects/Graph/GraphBuilder.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

namespace {
template <typename OpTy> struct CountingPattern : OpRewritePattern<OpTy> {
  CountingPattern(MLIRContext *context, SimplifyCounts &counts) : OpRewritePattern<OpTy>(context), counts(counts) {}
  SimplifyCounts &counts;
};

/// reshape(reshape(x)) and expand(expand(x)).
template <typename OpTy> struct ComposeSame : CountingPattern<OpTy> {
  using CountingPattern<OpTy>::CountingPattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().template getDefiningOp<OpTy>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no view of this kind");
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(inner.getInput()); });
    ++this->counts.views;
    return success();
  }
};

struct ComposePermutes : CountingPattern<PermuteOp> {
  using CountingPattern::CountingPattern;
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<PermuteOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no permutation");
    SmallVector<int64_t> dims;
    for (int64_t dim : op.getDims())
      dims.push_back(inner.getDims()[dim]);
    rewriter.replaceOpWithNewOp<PermuteOp>(op, op.getType(), inner.getInput(), dims);
    ++counts.views;
    return success();
  }
};

struct ComposeSlices : CountingPattern<SliceOp> {
  using CountingPattern::CountingPattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no slice");
    Sizes starts;
    SmallVector<int64_t> steps;
    for (auto [outerStart, outerStep, innerStart, innerStep] :
         llvm::zip(op.getStarts().getSizes(), op.getSteps(), inner.getStarts().getSizes(), inner.getSteps())) {
      starts.push_back(innerStart + outerStart * innerStep);
      steps.push_back(outerStep * innerStep);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getInput(), DimsAttr::get(op.getContext(), starts), steps);
    ++counts.views;
    return success();
  }
};

/// A permutation that leaves the order of all dimensions but those of size 1.
struct PermuteOfOnes : CountingPattern<PermuteOp> {
  using CountingPattern::CountingPattern;
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    Sizes sizes = sizesOf(op.getInput());
    int64_t last = -1;
    for (int64_t dim : op.getDims()) {
      if (isSize(sizes[dim], 1))
        continue;
      if (dim < last)
        return rewriter.notifyMatchFailure(op, "reorders dimensions");
      last = dim;
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    ++counts.views;
    return success();
  }
};

/// A view of one repeated element repeats it in the view's shape.
template <typename OpTy> struct ViewOfRepeated : CountingPattern<OpTy> {
  using CountingPattern<OpTy>::CountingPattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto expand = op.getInput().template getDefiningOp<ExpandOp>();
    if (!expand || !sizesOf(expand.getInput()).empty())
      return rewriter.notifyMatchFailure(op, "operand does not repeat one element");
    rewriter.replaceOpWithNewOp<ExpandOp>(op, op.getType(), expand.getInput());
    ++this->counts.views;
    return success();
  }
};

/// Operands of a map that are repeated by `expand`, or have leading sizes of 1 from `reshape`, do so by broadcasting.
struct ReadThroughViews : CountingPattern<MapOp> {
  using CountingPattern::CountingPattern;
  static Value findSource(Value operand, RankedTensorType result) {
    if (auto expand = operand.getDefiningOp<ExpandOp>(); expand && broadcasts(cast<RankedTensorType>(expand.getInput().getType()), result))
      return expand.getInput();
    auto reshape = operand.getDefiningOp<ReshapeOp>();
    if (!reshape)
      return {};
    auto dropOnes = [](Sizes sizes) {
      sizes.erase(sizes.begin(), llvm::find_if(sizes, [](AffineExpr size) { return !isSize(size, 1); }));
      return sizes;
    };
    Sizes from = sizesOf(reshape.getInput()), to = sizesOf(operand);
    return from.size() < to.size() && dropOnes(from) == dropOnes(to) ? reshape.getInput() : Value();
  }
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    int64_t found = 0;
    for (OpOperand &operand : op->getOpOperands())
      if (Value source = findSource(operand.get(), cast<RankedTensorType>(op.getType()))) {
        rewriter.modifyOpInPlace(op, [&] { operand.set(source); });
        ++found;
      }
    counts.views += found;
    return success(found > 0);
  }
};
} // namespace

void graph::populateViewPatterns(RewritePatternSet &patterns, SimplifyCounts &counts) {
  patterns.add<ComposeSame<ReshapeOp>, ComposeSame<ExpandOp>, ComposePermutes, ComposeSlices, PermuteOfOnes, ViewOfRepeated<ReshapeOp>,
               ViewOfRepeated<PermuteOp>, ViewOfRepeated<SliceOp>, ReadThroughViews>(patterns.getContext(), counts);
}
