// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Decompositions of products, softmax and norms. Sums accumulate in f32 (f64 for f64); each result is rounded once.
#include "dialects/Graph/GraphBuilder.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

Value LinearOp::decompose(GraphBuilder &b) {
  int64_t last = sizesOf(getInput()).size() - 1;
  Value product = b.contract(getInput(), getWeight(), {}, {last, 1});
  Type element = getElementType(getResult());
  if (!getBias())
    return b.convert(product, element);
  return b.map(element, {product, getBias()},
               [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.convert(s.add(x[0], s.convert(x[1], x[0].getType())), element); });
}

namespace {
/// Where a dimension of a matmul's result comes from: -1 where the operand does not have it.
struct ResultDim {
  int64_t lhs, rhs;
};
} // namespace

/// Dimensions that both have become batch dimensions; where one side repeats, the other's dimension is kept free, so nothing is copied.
static SmallVector<ResultDim> planLeadingDims(const Sizes &lhs, const Sizes &rhs, int64_t numLeft, int64_t numRight) {
  SmallVector<ResultDim> dims;
  int64_t count = std::max(numLeft, numRight);
  for (int64_t i = 0; i < count; ++i) {
    int64_t l = i - (count - numLeft), r = i - (count - numRight);
    bool hasLhs = l >= 0 && !isSize(lhs[l], 1), hasRhs = r >= 0 && !isSize(rhs[r], 1);
    dims.push_back({hasLhs ? l : -1, hasRhs ? r : -1});
  }
  return dims;
}

/// `value` without the dimensions of size 1 among its first `count`.
static Value dropOnes(GraphBuilder &b, Value value, int64_t count) {
  Sizes kept;
  for (auto [i, size] : llvm::enumerate(sizesOf(value)))
    if (static_cast<int64_t>(i) >= count || !isSize(size, 1))
      kept.push_back(size);
  return b.reshape(value, kept);
}

Value MatmulOp::decompose(GraphBuilder &b) {
  Sizes lhs = sizesOf(getLhs()), rhs = sizesOf(getRhs());
  bool isRow = lhs.size() == 1, isColumn = rhs.size() == 1;
  int64_t numLeft = lhs.size() - (isRow ? 1 : 2), numRight = rhs.size() - (isColumn ? 1 : 2);
  SmallVector<ResultDim> dims = planLeadingDims(lhs, rhs, numLeft, numRight);
  Value left = dropOnes(b, getLhs(), numLeft), right = dropOnes(b, getRhs(), numRight);

  SmallVector<int64_t> batch, order(dims.size(), -1); // order: the contraction's dimension that is leading dimension i
  int64_t l = 0, r = 0, numBatch = 0;
  for (ResultDim dim : dims) {
    if (dim.lhs >= 0 && dim.rhs >= 0) {
      batch.append({l, r});
      ++numBatch;
    }
    l += dim.lhs >= 0;
    r += dim.rhs >= 0;
  }
  int64_t nextBatch = 0, nextLhs = numBatch, nextRhs = l + !isRow;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim.lhs >= 0 && dim.rhs >= 0)
      order[i] = nextBatch++;
    else if (dim.lhs >= 0)
      order[i] = nextLhs++;
    else if (dim.rhs >= 0)
      order[i] = nextRhs++;
  }
  int64_t summedLhs = l + !isRow, summedRhs = r;
  Value product = b.contract(left, right, batch, {summedLhs, summedRhs});
  SmallVector<int64_t> permutation = llvm::filter_to_vector(order, [](int64_t d) { return d >= 0; });
  if (!isRow)
    permutation.push_back(nextLhs);
  if (!isColumn)
    permutation.push_back(nextRhs);
  Value result = b.convert(b.permute(product, permutation), getElementType(getResult()));
  return b.reshape(result, sizesOf(getResult()));
}

/// exp(x - max) along a dimension in the compute type, with the maximum.
static std::pair<Value, Value> buildShiftedExp(GraphBuilder &b, Value input, int64_t dim) {
  Type compute = getComputeType(getElementType(input));
  Value most = b.reduce(Combiner::max, input, dim, compute, /*keepDims=*/true);
  Value exp = b.map(compute, {input, most},
                    [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.exp(s.sub(s.convert(x[0], compute), x[1])); });
  return {exp, most};
}

Value SoftmaxOp::decompose(GraphBuilder &b) {
  Type element = getElementType(getResult());
  auto [exp, most] = buildShiftedExp(b, getInput(), getDim());
  Value sum = b.reduce(Combiner::add, exp, getDim(), getElementType(exp), /*keepDims=*/true);
  return b.map(element, {exp, sum}, [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.convert(s.div(x[0], x[1]), element); });
}

Value LogSoftmaxOp::decompose(GraphBuilder &b) {
  Type element = getElementType(getResult());
  auto [exp, most] = buildShiftedExp(b, getInput(), getDim());
  Value sum = b.reduce(Combiner::add, exp, getDim(), getElementType(exp), /*keepDims=*/true);
  return b.map(element, {getInput(), most, sum}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    return s.convert(s.sub(s.sub(s.convert(x[0], x[1].getType()), x[1]), s.log(x[2])), element);
  });
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The mean over `dims`, which stay with size 1.
static Value buildMean(GraphBuilder &b, Value value, ArrayRef<int64_t> dims) {
  Type compute = getComputeType(getElementType(value));
  AffineExpr count = b.sizeOf(1);
  Sizes sizes = sizesOf(value);
  for (int64_t dim : dims)
    count = count * sizes[dim];
  Value sum = b.reduce(Combiner::add, value, dims, compute, /*keepDims=*/true);
  return b.map(compute, {sum, b.size(count)},
               [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.div(x[0], s.convert(x[1], compute)); });
}

static SmallVector<int64_t> getLastDims(Value value, int64_t rank) {
  int64_t all = sizesOf(value).size();
  return llvm::to_vector(llvm::seq(all - rank, all));
}

/// input·rsqrt(variance + eps) times `weight` plus `bias` where there are such; `mean` is subtracted first where there is one.
static Value buildScale(GraphBuilder &b, Value input, Value mean, Value variance, Value weight, Value bias, double eps, Type element) {
  Type compute = getElementType(variance);
  Value scale = b.map(compute, variance, [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.rsqrt(s.add(x[0], s.constant(compute, eps))); });
  SmallVector<Value> operands{input, scale};
  for (Value operand : {mean, weight, bias})
    if (operand)
      operands.push_back(operand);
  return b.map(element, operands, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    size_t next = 2;
    auto take = [&] { return s.convert(x[next++], compute); };
    Value result = s.convert(x[0], compute);
    if (mean)
      result = s.sub(result, take());
    result = s.mul(result, x[1]);
    if (weight)
      result = s.mul(result, take());
    if (bias)
      result = s.add(result, take());
    return s.convert(result, element);
  });
}

static Value buildVariance(GraphBuilder &b, Value input, Value mean, ArrayRef<int64_t> dims) {
  Type compute = getElementType(mean);
  Value squares = b.map(compute, {input, mean}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value difference = s.sub(s.convert(x[0], compute), x[1]);
    return s.mul(difference, difference);
  });
  return buildMean(b, squares, dims);
}

Value RmsNormOp::decompose(GraphBuilder &b) {
  Type compute = getComputeType(getElementType(getInput()));
  Value squares = b.map(compute, getInput(), [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value wide = s.convert(x[0], compute);
    return s.mul(wide, wide);
  });
  Value mean = buildMean(b, squares, getLastDims(getInput(), getRank()));
  return buildScale(b, getInput(), {}, mean, getWeight(), {}, getEps().convertToDouble(), getElementType(getResult()));
}

Value LayerNormOp::decompose(GraphBuilder &b) {
  SmallVector<int64_t> dims = getLastDims(getInput(), getRank());
  Value mean = buildMean(b, getInput(), dims);
  Value variance = buildVariance(b, getInput(), mean, dims);
  return buildScale(b, getInput(), mean, variance, getWeight(), getBias(), getEps().convertToDouble(), getElementType(getResult()));
}

Value GroupNormOp::decompose(GraphBuilder &b) {
  Sizes sizes = sizesOf(getInput()), grouped = sizes;
  int64_t groups = getGroups();
  grouped[1] = sizes[1].floorDiv(groups);
  grouped.insert(grouped.begin() + 1, b.sizeOf(groups));
  Value input = b.reshape(getInput(), grouped);
  SmallVector<int64_t> dims = getLastDims(input, grouped.size() - 2);
  Value mean = buildMean(b, input, dims), variance = buildVariance(b, input, mean, dims);
  auto perChannel = [&](Value factor) {
    Sizes shape(grouped.size(), b.sizeOf(1));
    shape[1] = grouped[1];
    shape[2] = grouped[2];
    return factor ? b.reshape(factor, shape) : Value();
  };
  Value result = buildScale(b, input, mean, variance, perChannel(getWeight()), perChannel(getBias()), getEps().convertToDouble(),
                            getElementType(getResult()));
  return b.reshape(result, sizes);
}

Value EmbeddingOp::decompose(GraphBuilder &b) { return b.take(getTable(), getIndices(), 0); }
