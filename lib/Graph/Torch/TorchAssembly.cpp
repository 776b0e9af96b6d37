// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that put tensors together: concatenation, padding, rotation, triangles, writes into slices.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

/// Operands of other element types are converted; empty vectors count as nothing, as in PyTorch.
static LogicalResult importCat(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  FailureOr<int64_t> dim = call.dim(1, type->getRank());
  if (failed(dim))
    return failure();
  SmallVector<Value> parts;
  for (Value part : call.tensors(0)) {
    Sizes sizes = sizesOf(part);
    if (sizes.size() == 1 && isSize(sizes[0], 0))
      continue;
    if (static_cast<int64_t>(sizes.size()) != type->getRank())
      return call.fail("joins tensors of different ranks");
    parts.push_back(call.b.convert(part, type->getElementType()));
  }
  return call.done(parts.empty() ? call.tensors(0).front() : call.b.concat(parts, *dim));
}

static LogicalResult importStack(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  FailureOr<int64_t> dim = call.dim(1, type->getRank());
  if (failed(dim))
    return failure();
  SmallVector<Value> parts;
  for (Value part : call.tensors(0)) {
    if (static_cast<int64_t>(sizesOf(part).size()) + 1 != type->getRank())
      return call.fail("stacks tensors of different ranks");
    parts.push_back(call.b.unsqueeze(call.b.convert(part, type->getElementType()), *dim));
  }
  return call.done(call.b.concat(parts, *dim));
}

/// Pairs (before, after) from the last dimension on.
static LogicalResult buildPad(Call &call, Value value) {
  FailureOr<RankedTensorType> type = call.type();
  FailureOr<SmallVector<int64_t>> pairs = call.integers(1);
  if (failed(type) || failed(pairs))
    return failure();
  int64_t rank = call.rank(0);
  if (pairs->size() % 2 || static_cast<int64_t>(pairs->size()) > 2 * rank || type->getRank() != rank)
    return call.fail("expects pairs of numbers for at most " + Twine(rank) + " dimensions");
  SmallVector<int64_t> low(rank, 0);
  for (size_t i = 0; i < pairs->size(); i += 2)
    low[rank - 1 - i / 2] = (*pairs)[i];
  Type element = type->getElementType();
  Value constant = isa<FloatType>(element) ? call.b.constant(element, call.number(call.operands.size() - 1))
                                           : call.b.integer(element, static_cast<int64_t>(call.number(call.operands.size() - 1)));
  return call.done(PadOp::create(call.b.getBuilder(), call.b.getLoc(), *type, call.tensor(0), value ? value : constant, low));
}

static LogicalResult importConstantPad(Call &call) { return buildPad(call, {}); }

static LogicalResult importPad(Call &call) {
  return call.text(2) != "constant" ? call.fail("has mode '" + call.text(2) + "', but only 'constant' is supported") : buildPad(call, {});
}

/// The last `shift` elements come first.
static LogicalResult importRoll(Call &call) {
  FailureOr<SmallVector<int64_t>> shifts = call.integers(1), dims = call.integers(2);
  FailureOr<RankedTensorType> type = call.type();
  if (failed(shifts) || failed(dims) || failed(type))
    return failure();
  GraphBuilder &b = call.b;
  Value value = call.tensor(0);
  bool isFlat = dims->empty();
  if (isFlat) {
    AffineExpr count = b.sizeOf(1);
    for (AffineExpr size : sizesOf(value))
      count = count * size;
    value = b.reshape(value, count);
    dims->push_back(0);
  }
  if (shifts->size() != dims->size())
    return call.fail("expects a shift for each dimension");
  for (auto [shift, dim] : llvm::zip(*shifts, *dims)) {
    Sizes sizes = sizesOf(value);
    FailureOr<int64_t> at = normalizeDim(call.op, dim, sizes.size());
    if (failed(at))
      return failure();
    AffineExpr size = sizes[*at], first = b.sizeOf(shift) % size;
    if (auto known = dyn_cast<AffineConstantExpr>(size)) {
      int64_t count = known.getValue();
      first = b.sizeOf(count ? ((shift % count) + count) % count : 0);
    }
    if (isSize(first, 0))
      continue;
    value = b.concat({b.slice(value, *at, size - first, first), b.slice(value, *at, b.sizeOf(0), size - first)}, *at);
  }
  return call.done(b.reshape(value, emmy::getSizes(*type)));
}

/// Elements with column - row in the kept range, zero elsewhere.
static LogicalResult buildTriangle(Call &call, bool isUpper) {
  Sizes sizes = sizesOf(call.tensor(0));
  int64_t rank = sizes.size(), diagonal = call.integer(1);
  if (rank < 2)
    return call.fail("expects a matrix");
  Type element = getElementType(call.tensor(0));
  Value row = call.b.indexAlong(rank - 2, rank, sizes[rank - 2]), column = call.b.indexAlong(rank - 1, rank, sizes[rank - 1]);
  return call.done(call.b.map(element, {call.tensor(0), row, column}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value offset = s.sub(x[2], x[1]);
    Value isKept = s.compare(isUpper ? Function::ge : Function::le, offset, s.integer(offset.getType(), diagonal));
    return s.select(isKept, x[0], s.integer(element, 0));
  }));
}

static LogicalResult importTriu(Call &call) { return buildTriangle(call, true); }
static LogicalResult importTril(Call &call) { return buildTriangle(call, false); }

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

static Value scatter(Call &call, Value indices, Value updates, int64_t dim) {
  return ScatterOp::create(call.b.getBuilder(), call.b.getLoc(), call.tensor(0).getType(), call.tensor(0), indices, updates, dim);
}

/// The indices start, start + step, … as many as the updates have along `dim`.
static LogicalResult writeSlices(Call &call, Value updates, int64_t dim, AffineExpr start, int64_t step) {
  GraphBuilder &b = call.b;
  Value index = b.indexAlong(0, 1, sizesOf(updates)[dim]);
  Type i64 = getElementType(index);
  Value indices = b.map(i64, {index, b.size(start)}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    return s.add(s.mul(x[0], s.integer(i64, step)), x[1]);
  });
  return call.done(scatter(call, indices, b.convert(updates, getElementType(call.tensor(0))), dim));
}

static LogicalResult importSliceScatter(Call &call) {
  FailureOr<int64_t> dim = call.has(2) ? call.dim(2, call.rank(0)) : normalizeDim(call.op, 0, call.rank(0));
  if (failed(dim) || call.rank(1) != call.rank(0))
    return failed(dim) ? failure() : call.fail("expects updates of the operand's rank");
  int64_t step = call.integer(5, 1);
  if (step <= 0)
    return call.fail("expects a positive step");
  AffineExpr start = call.has(3) ? call.size(3) : call.b.sizeOf(0);
  if (auto constant = dyn_cast<AffineConstantExpr>(start); constant && constant.getValue() < 0)
    start = sizesOf(call.tensor(0))[*dim] + start;
  return writeSlices(call, call.tensor(1), *dim, start, step);
}

static LogicalResult importSelectScatter(Call &call) {
  FailureOr<int64_t> dim = call.dim(2, call.rank(0));
  if (failed(dim) || call.rank(1) + 1 != call.rank(0))
    return failed(dim) ? failure() : call.fail("expects updates of one dimension less");
  AffineExpr index = call.size(3);
  if (auto constant = dyn_cast<AffineConstantExpr>(index); constant && constant.getValue() < 0)
    index = sizesOf(call.tensor(0))[*dim] + index;
  return writeSlices(call, call.b.unsqueeze(call.tensor(1), *dim), *dim, index, 1);
}

static LogicalResult importIndexCopy(Call &call) {
  FailureOr<int64_t> dim = call.dim(1, call.rank(0));
  if (failed(dim) || call.rank(2) != 1)
    return failed(dim) ? failure() : call.fail("expects indices of one dimension");
  return call.done(scatter(call, call.tensor(2), call.tensor(3), *dim));
}

/// index_put with one vector of indices and without accumulation replaces slices along that dimension.
static LogicalResult importIndexPut(Call &call) {
  SmallVector<Value> indices = call.tensors(1);
  int64_t dim = -1;
  for (auto [i, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    if (dim >= 0 || sizesOf(index).size() != 1 || getElementType(index).isInteger(1))
      return call.fail("is supported with one vector of integer indices only");
    dim = i;
  }
  if (dim < 0 || dim >= call.rank(0) || call.flag(3))
    return call.fail("is supported with one vector of indices and without accumulation only");
  Sizes sizes = sizesOf(call.tensor(0));
  sizes[dim] = sizesOf(indices[dim])[0];
  Value updates = call.b.expand(call.b.convert(call.tensor(2), getElementType(call.tensor(0))), sizes);
  return call.done(scatter(call, indices[dim], updates, dim));
}

/// The second operand in the first one's shape and type.
static LogicalResult importCopy(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  return failed(type) ? failure()
                      : call.done(call.b.expand(call.b.convert(call.tensor(1), type->getElementType()), emmy::getSizes(*type)));
}

void torch::addAssembly(Table &table) {
  table["aten.cat"] = {"V/i", importCat};
  table["aten.stack"] = {"V/i", importStack};
  table["aten.constant_pad_nd"] = {"Tln", importConstantPad};
  table["aten.pad"] = {"TlSN", importPad};
  table["aten.roll"] = {"Tl/L", importRoll};
  table["aten.triu"] = {"T/i", importTriu};
  table["aten.tril"] = {"T/i", importTril};
  table["aten.slice_scatter"] = {"TT/izzi", importSliceScatter};
  table["aten.select_scatter"] = {"TTis", importSelectScatter};
  table["aten.index_copy"] = {"TiTT", importIndexCopy};
  table["aten.index_put"] = {"TvT/b", importIndexPut};
  table["aten.copy"] = {"TT/x", importCopy};
}
