// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scaled dot-product attention: its constraints, and its decomposition into products, a maximum and a sum.
#include "dialects/Graph/GraphBuilder.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

static bool isMultiple(AffineExpr whole, AffineExpr part) {
  auto a = dyn_cast_or_null<AffineConstantExpr>(whole), b = dyn_cast_or_null<AffineConstantExpr>(part);
  return isSameSize(whole, part) || (a && b && b.getValue() > 0 && a.getValue() % b.getValue() == 0);
}

LogicalResult AttentionOp::verify() {
  Sizes query = sizesOf(getQuery()), key = sizesOf(getKey()), value = sizesOf(getValue());
  size_t rank = query.size();
  if (rank < 2 || key.size() != rank || value.size() != rank) // attention_c1
    return emitOpError("expects operands of one rank above 1, but got ") << getQuery().getType() << ", " << getKey().getType() << " and "
                                                                         << getValue().getType();
  if (!isSameSize(query[rank - 1], key[rank - 1]) || !isSameSize(key[rank - 2], value[rank - 2])) // attention_c2
    return emitOpError("expects query and key of one width, and key and value of as many rows, but got ")
           << getQuery().getType() << ", " << getKey().getType() << " and " << getValue().getType();
  for (size_t i = 0; i + 2 < rank; ++i) { // attention_c3
    bool fits = i + 3 == rank ? isMultiple(query[i], key[i]) : isSameSize(query[i], key[i]);
    if (!fits || !isSameSize(key[i], value[i]))
      return emitOpError("expects operands that agree in dimension ") << i << ", but got " << getQuery().getType() << ", "
                                                                      << getKey().getType() << " and " << getValue().getType();
  }
  Sizes products = query;
  products[rank - 1] = key[rank - 2];
  if (Value mask = getMask()) { // attention_c4
    RankedTensorType type = emmy::getTensorType(products, getElementType(mask));
    if (!broadcasts(cast<RankedTensorType>(mask.getType()), type))
      return emitOpError("expects a mask that broadcasts to ") << type << ", but got " << mask.getType();
  }
  query[rank - 1] = value[rank - 1];
  return verifySizes(*this, query, getResult()); // attention_c5
}

namespace {
/// The operands with heads split into those of the keys and the query heads that share them, where these numbers differ.
struct Heads {
  Value query, mask;
  bool isSplit = false;
};
} // namespace

static Heads splitHeads(GraphBuilder &b, AttentionOp op) {
  Sizes query = sizesOf(op.getQuery()), key = sizesOf(op.getKey());
  size_t rank = query.size();
  Heads heads{op.getQuery(), op.getMask()};
  if (rank < 3 || isSameSize(query[rank - 3], key[rank - 3]))
    return heads;
  heads.isSplit = true;
  AffineExpr shared = key[rank - 3], perKey = query[rank - 3].floorDiv(shared);
  auto split = [&](Value value) {
    Sizes sizes = sizesOf(value);
    if (sizes.size() < 3)
      return value;
    size_t at = sizes.size() - 3;
    bool repeats = isSize(sizes[at], 1);
    sizes[at] = repeats ? b.sizeOf(1) : shared;
    sizes.insert(sizes.begin() + at + 1, repeats ? b.sizeOf(1) : perKey);
    return b.reshape(value, sizes);
  };
  heads.query = split(heads.query);
  if (heads.mask)
    heads.mask = split(heads.mask);
  return heads;
}

/// scale·product with masked-out elements at -inf.
static Value buildScores(GraphBuilder &b, AttentionOp op, Value products, Value mask) {
  Sizes sizes = sizesOf(products);
  int64_t rank = sizes.size();
  SmallVector<Value> operands{products};
  if (op.getCausal()) {
    operands.push_back(b.indexAlong(rank - 2, rank, sizes[rank - 2]));
    operands.push_back(b.indexAlong(rank - 1, rank, sizes[rank - 1]));
  }
  if (mask)
    operands.push_back(mask);
  Type compute = getElementType(products);
  return b.map(compute, operands, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value score = s.mul(x[0], s.constant(compute, op.getScale().convertToDouble()));
    Value nothing = s.constant(compute, -std::numeric_limits<double>::infinity());
    if (mask && x.back().getType().isInteger(1))
      score = s.select(x.back(), score, nothing);
    else if (mask)
      score = s.add(score, s.convert(x.back(), compute));
    return op.getCausal() ? s.select(s.compare(Function::ge, x[1], x[2]), score, nothing) : score;
  });
}

/// Division by the sum of exponentials comes after the second product, so that one pass over the keys suffices. A row is hidden by a
/// mask or for want of keys: its maximum is then -inf, and its result zero whatever its weights (exp(-inf - -inf)) came to.
Value AttentionOp::decompose(GraphBuilder &b) {
  Heads heads = splitHeads(b, *this);
  int64_t rank = sizesOf(getQuery()).size(), numBatch = rank - 2, queryRank = sizesOf(heads.query).size();
  SmallVector<int64_t> batch;
  for (int64_t i = 0; i < numBatch; ++i)
    batch.append({i, i});
  Value products = b.contract(heads.query, getKey(), batch, {queryRank - 1, rank - 1});
  Value scores = buildScores(b, *this, products, heads.mask);
  Type compute = getElementType(scores), element = getElementType(getValue());

  Value most = b.reduce(Combiner::max, scores, queryRank - 1, compute, /*keepDims=*/true);
  auto keys = dyn_cast<AffineConstantExpr>(sizesOf(getKey())[rank - 2]);
  bool mayHideRows = getMask() || !keys || keys.getValue() == 0;
  auto isHidden = [&](ScalarBuilder &s, Value maximum) {
    return s.compare(Function::eq, maximum, s.constant(compute, -std::numeric_limits<double>::infinity()));
  };
  Value weights = b.map(compute, {scores, most}, [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.exp(s.sub(x[0], x[1])); });
  Value sum = b.reduce(Combiner::add, weights, queryRank - 1, compute, /*keepDims=*/true);
  Value weighted = b.contract(b.convert(weights, element), getValue(), batch, {queryRank - 1, rank - 2});
  Type resultElement = getElementType(getResult());
  SmallVector<Value> operands{weighted, sum};
  if (mayHideRows)
    operands.push_back(most);
  Value result = b.map(resultElement, operands, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value quotient = s.div(x[0], x[1]);
    if (mayHideRows)
      quotient = s.select(isHidden(s, x[2]), s.constant(compute, 0), quotient);
    return s.convert(quotient, resultElement);
  });
  return b.reshape(result, sizesOf(getResult()));
}
