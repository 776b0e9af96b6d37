// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Views: the declared type of the result says its sizes.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

/// Everything that only regroups dimensions.
static LogicalResult importReshape(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  return failed(type) ? failure() : call.done(call.b.reshape(call.tensor(0), emmy::getSizes(*type)));
}

static LogicalResult importTranspose(Call &call) {
  int64_t rank = call.rank(0);
  if (rank == 0)
    return call.done(call.tensor(0));
  FailureOr<int64_t> a = call.dim(1, rank), b = call.dim(2, rank);
  return failed(a) || failed(b) ? failure() : call.done(call.b.transpose(call.tensor(0), *a, *b));
}

static LogicalResult importT(Call &call) {
  int64_t rank = call.rank(0);
  if (rank > 2)
    return call.fail("expects at most 2 dimensions, but got " + Twine(rank));
  return call.done(rank < 2 ? call.tensor(0) : call.b.transpose(call.tensor(0), 0, 1));
}

static LogicalResult importPermute(Call &call) {
  int64_t rank = call.rank(0);
  FailureOr<SmallVector<int64_t>> listed = call.integers(1);
  if (failed(listed))
    return failure();
  SmallVector<int64_t> dims;
  for (int64_t dim : *listed) {
    FailureOr<int64_t> normal = normalizeDim(call.op, dim, rank);
    if (failed(normal) || llvm::is_contained(dims, *normal))
      return failed(normal) ? failure() : call.fail("names a dimension twice");
    dims.push_back(*normal);
  }
  return static_cast<int64_t>(dims.size()) != rank ? call.fail("does not name every dimension") : call.done(call.b.permute(call.tensor(0), dims));
}

static LogicalResult importMoveDim(Call &call) {
  int64_t rank = call.rank(0);
  FailureOr<int64_t> from = call.dim(1, rank), to = call.dim(2, rank);
  if (failed(from) || failed(to))
    return failure();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  dims.erase(dims.begin() + *from);
  dims.insert(dims.begin() + *to, *from);
  return call.done(call.b.permute(call.tensor(0), dims));
}

static LogicalResult importExpand(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  if (!broadcasts(cast<RankedTensorType>(call.tensor(0).getType()), *type))
    return call.fail("has an operand that does not broadcast to its result");
  return call.done(call.b.expand(call.tensor(0), emmy::getSizes(*type)));
}

/// A start counted from the end is moved; one past the end leaves no elements, so it needs no clamping.
static AffineExpr normalizeStart(Call &call, AffineExpr start, AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(start);
  if (!constant)
    return start;
  auto known = dyn_cast<AffineConstantExpr>(size);
  if (constant.getValue() >= 0)
    return known ? call.b.sizeOf(std::min(constant.getValue(), known.getValue())) : start;
  return known ? call.b.sizeOf(std::max<int64_t>(0, known.getValue() + constant.getValue())) : size + start;
}

static LogicalResult importSlice(Call &call) {
  int64_t rank = call.rank(0);
  FailureOr<int64_t> dim = call.dim(1, rank);
  FailureOr<RankedTensorType> type = call.type();
  if (failed(dim) || failed(type))
    return failure();
  int64_t step = call.integer(4, 1);
  if (step <= 0 || type->getRank() != rank)
    return call.fail("expects a positive step and a result of " + Twine(rank) + " dimensions");
  AffineExpr start = call.has(2) ? call.size(2) : call.b.sizeOf(0);
  start = normalizeStart(call, start, sizesOf(call.tensor(0))[*dim]);
  return call.done(call.b.slice(call.tensor(0), *dim, start, emmy::getSizes(*type)[*dim], step));
}

static LogicalResult importSelect(Call &call) {
  FailureOr<int64_t> dim = call.dim(1, call.rank(0));
  if (failed(dim))
    return failure();
  AffineExpr index = normalizeStart(call, call.size(2), sizesOf(call.tensor(0))[*dim]);
  return call.done(call.b.squeeze(call.b.slice(call.tensor(0), *dim, index, call.b.sizeOf(1)), *dim));
}

static LogicalResult importNarrow(Call &call) {
  FailureOr<int64_t> dim = call.dim(1, call.rank(0));
  if (failed(dim))
    return failure();
  AffineExpr start = normalizeStart(call, call.size(2), sizesOf(call.tensor(0))[*dim]);
  return call.done(call.b.slice(call.tensor(0), *dim, start, call.size(3)));
}

/// Each listed dimension from its end to its start.
static LogicalResult importFlip(Call &call) {
  FailureOr<SmallVector<int64_t>> dims = call.integers(1);
  if (failed(dims))
    return failure();
  Value value = call.tensor(0);
  Sizes sizes = sizesOf(value);
  for (int64_t dim : *dims) {
    FailureOr<int64_t> normal = normalizeDim(call.op, dim, sizes.size());
    if (failed(normal))
      return failure();
    value = call.b.slice(value, *normal, sizes[*normal] - 1, sizes[*normal], -1);
  }
  return call.done(value);
}

/// The tensor side by side with itself: new dimensions of the counts, before each one.
static LogicalResult importRepeat(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  Sizes counts = call.sizes(1), sizes = sizesOf(call.tensor(0)), apart, together;
  if (counts.size() < sizes.size())
    return call.fail("expects a count for each dimension");
  sizes.insert(sizes.begin(), counts.size() - sizes.size(), call.b.sizeOf(1));
  for (auto [count, size] : llvm::zip(counts, sizes)) {
    apart.append({call.b.sizeOf(1), size});
    together.append({count, size});
  }
  Value value = call.b.expand(call.b.reshape(call.tensor(0), apart), together);
  return call.done(call.b.reshape(value, emmy::getSizes(*type)));
}

/// Every element several times in a row along a dimension.
static LogicalResult importRepeatInterleave(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  Value value = call.tensor(0);
  int64_t dim = 0;
  if (!call.has(2)) {
    AffineExpr count = call.b.sizeOf(1);
    for (AffineExpr size : sizesOf(value))
      count = count * size;
    value = call.b.reshape(value, count);
  } else {
    FailureOr<int64_t> named = call.dim(2, call.rank(0));
    if (failed(named))
      return failure();
    dim = *named;
  }
  value = call.b.unsqueeze(value, dim + 1);
  Sizes sizes = sizesOf(value);
  sizes[dim + 1] = call.size(1);
  return call.done(call.b.reshape(call.b.expand(value, sizes), emmy::getSizes(*type)));
}

//===----------------------------------------------------------------------===//
// Lists of slices
//===----------------------------------------------------------------------===//

/// Consecutive slices along operand `dimAt` (0 if missing) with the declared sizes; `isUnbind` drops the dimension.
static LogicalResult buildParts(Call &call, size_t dimAt, bool isUnbind) {
  int64_t rank = call.rank(0);
  FailureOr<int64_t> dim = call.has(dimAt) ? call.dim(dimAt, rank) : normalizeDim(call.op, 0, rank);
  FailureOr<SmallVector<RankedTensorType>> types = call.listTypes();
  if (failed(dim) || failed(types))
    return failure();
  Item list;
  list.kind = Item::Kind::List;
  AffineExpr start = call.b.sizeOf(0);
  for (RankedTensorType type : *types) {
    if (type.getRank() != rank - isUnbind)
      return call.fail("is unpacked to tensors of another rank");
    AffineExpr size = isUnbind ? call.b.sizeOf(1) : emmy::getSizes(type)[*dim];
    Value part = call.b.slice(call.tensor(0), *dim, start, size);
    list.items.push_back(Item::of(isUnbind ? call.b.squeeze(part, *dim) : part));
    start = start + size;
  }
  return call.done(list);
}

static LogicalResult importParts(Call &call) { return buildParts(call, 2, false); }
static LogicalResult importUnbind(Call &call) { return buildParts(call, 1, true); }

void torch::addViews(Table &table) {
  for (StringRef name : {"view", "_unsafe_view", "reshape"})
    table[("aten." + name).str()] = {"Tl", importReshape};
  table["aten.view_as"] = {"TT", importReshape};
  table["aten.flatten.using_ints"] = {"T/ii", importReshape};
  table["aten.unflatten.int"] = {"Til", importReshape};
  table["aten.squeeze"] = {"T", importReshape};
  table["aten.squeeze.dim"] = {"Ti", importReshape};
  table["prims.squeeze"] = {"Tl", importReshape};
  table["aten.squeeze.dims"] = {"Tl", importReshape};
  table["aten.unsqueeze"] = {"Ti", importReshape};
  table["aten.transpose.int"] = {"Tii", importTranspose};
  table["aten.t"] = {"T", importT};
  table["aten.numpy_T"] = {"T", importT};
  table["aten.permute"] = {"Tl", importPermute};
  table["aten.movedim.int"] = {"Tii", importMoveDim};
  table["aten.expand"] = {"Tl/b", importExpand};
  table["aten.broadcast_to"] = {"Tl", importExpand};
  table["aten.expand_as"] = {"TT", importExpand};
  table["aten.slice.Tensor"] = {"Ti/zzi", importSlice};
  table["aten.select.int"] = {"Tis", importSelect};
  table["aten.narrow"] = {"Tiss", importNarrow};
  table["aten.flip"] = {"Tl", importFlip};
  table["aten.repeat"] = {"Tl", importRepeat};
  table["aten.repeat_interleave.self_int"] = {"Ts/Ix", importRepeatInterleave};
  table["aten.chunk"] = {"Ts/i", importParts};
  table["aten.split.Tensor"] = {"Ts/i", importParts};
  table["aten.split_with_sizes"] = {"Tl/i", importParts};
  table["aten.unbind.int"] = {"T/i", importUnbind};
}
