// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reading by index.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

static LogicalResult importEmbedding(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  return call.done(EmbeddingOp::create(call.b.getBuilder(), call.b.getLoc(), *type, call.tensor(0), call.tensor(1)));
}

static LogicalResult importIndexSelect(Call &call) {
  FailureOr<int64_t> dim = call.dim(1, call.rank(0));
  return failed(dim) ? failure() : call.done(call.b.take(call.tensor(0), call.tensor(2), *dim));
}

static LogicalResult importGather(Call &call) {
  FailureOr<int64_t> dim = call.dim(1, call.rank(0));
  if (failed(dim) || call.rank(2) != call.rank(0))
    return failed(dim) ? failure() : call.fail("expects indices of the operand's rank");
  auto type = emmy::getTensorType(sizesOf(call.tensor(2)), getElementType(call.tensor(0)));
  return call.done(GatherOp::create(call.b.getBuilder(), call.b.getLoc(), type, call.tensor(0), call.tensor(2), *dim));
}

/// The dimensions that have indices; they stand together or become the first.
static LogicalResult importIndex(Call &call) {
  GraphBuilder &b = call.b;
  Value value = call.tensor(0);
  SmallVector<Value> indices = call.tensors(1);
  indices.resize(call.rank(0) < static_cast<int64_t>(indices.size()) ? indices.size() : call.rank(0));
  SmallVector<int64_t> indexed, others;
  for (auto [i, index] : llvm::enumerate(indices)) {
    if (index && getElementType(index).isInteger(1))
      return call.fail("selects by a mask, so the size of its result depends on data");
    (index ? indexed : others).push_back(i);
  }
  if (indexed.empty() || static_cast<int64_t>(indices.size()) > call.rank(0))
    return call.fail("expects indices for 1 to " + Twine(call.rank(0)) + " dimensions");
  int64_t at = indexed.front();
  bool isTogether = indexed.back() - indexed.front() + 1 == static_cast<int64_t>(indexed.size());
  if (!isTogether) {
    SmallVector<int64_t> order = indexed;
    llvm::append_range(order, others);
    value = b.permute(value, order);
    at = 0;
  }
  if (indexed.size() == 1)
    return call.done(b.take(value, indices[indexed[0]], at));

  // One index into the merged dimensions; each is counted from its own end where negative.
  Sizes sizes = sizesOf(value), merged(sizes.begin(), sizes.begin() + at);
  SmallVector<Value> operands;
  for (int64_t dim : indexed)
    operands.push_back(indices[dim]);
  AffineExpr count = b.sizeOf(1);
  for (size_t i = 0; i < indexed.size(); ++i) {
    operands.push_back(b.size(sizes[at + i]));
    count = count * sizes[at + i];
  }
  merged.push_back(count);
  merged.append(sizes.begin() + at + indexed.size(), sizes.end());
  Type i64 = b.getBuilder().getI64Type();
  Value flat = b.map(i64, operands, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value result = s.integer(i64, 0);
    for (size_t i = 0; i < indexed.size(); ++i) {
      Value index = s.convert(x[i], i64), size = x[indexed.size() + i];
      Value isNegative = s.compare(Function::lt, index, s.integer(i64, 0));
      index = s.select(isNegative, s.add(index, size), index);
      result = s.add(s.mul(result, size), index);
    }
    return result;
  });
  return call.done(b.take(b.reshape(value, merged), flat, at));
}

void torch::addIndexing(Table &table) {
  table["aten.embedding"] = {"TT/xxx", importEmbedding};
  table["aten.index_select"] = {"TiT", importIndexSelect};
  table["aten.gather"] = {"TiT/x", importGather};
  table["aten.index.Tensor"] = {"Tv", importIndex};
}
