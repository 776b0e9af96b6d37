// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions. Sums accumulate in f32 (f64 for f64, i64 for integers); max and min propagate NaN.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

using Dims = SmallVector<int64_t>;

static Value reduceAs(Call &call, Combiner kind, Value value, ArrayRef<int64_t> dims, Type element, bool keep) {
  if (isa<IntegerType>(getElementType(value)) && isa<FloatType>(element))
    value = call.b.convert(value, element);
  return dims.empty() ? call.b.convert(value, element) : call.b.reduce(kind, value, dims, element, keep);
}

/// The type to accumulate in, for a result of the declared type.
static Type getAccumulator(Call &call, Type declared) {
  Type input = getElementType(call.tensor(0));
  return isa<FloatType>(declared) && isa<FloatType>(input) && input.getIntOrFloatBitWidth() > declared.getIntOrFloatBitWidth()
             ? getAccumulatorType(input)
             : getAccumulatorType(declared);
}

/// Reduces over operand #1 (all dimensions where the schema has none); operand #2 keeps them.
static LogicalResult reduceOver(Call &call, Combiner kind, bool isMean) {
  bool hasDims = call.entry.schema.size() > 1 && call.entry.schema[1] != '/';
  int64_t rank = call.rank(0);
  FailureOr<Dims> dims = hasDims ? call.dims(1, rank) : FailureOr<Dims>(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  FailureOr<RankedTensorType> type = call.type();
  if (failed(dims) || failed(type))
    return failure();
  Type element = getAccumulator(call, type->getElementType());
  Value result = reduceAs(call, kind, call.tensor(0), *dims, element, hasDims && call.flag(2));
  if (!isMean)
    return call.done(result);
  AffineExpr count = call.b.sizeOf(1);
  Sizes sizes = sizesOf(call.tensor(0));
  for (int64_t dim : *dims)
    count = count * sizes[dim];
  return call.done(call.b.map(type->getElementType(), {result, call.b.size(count)}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    return s.convert(s.div(x[0], s.convert(x[1], element)), type->getElementType());
  }));
}

static LogicalResult importSum(Call &call) { return reduceOver(call, Combiner::add, false); }
static LogicalResult importMean(Call &call) { return reduceOver(call, Combiner::add, true); }
static LogicalResult importProd(Call &call) { return reduceOver(call, Combiner::mul, false); }

/// Maximum or minimum in the operand's compute type, which is exact.
static Value reduceExtreme(Call &call, Combiner kind, Value value, ArrayRef<int64_t> dims, bool keep) {
  Type element = getElementType(value);
  if (element.isInteger(1))
    kind = kind == Combiner::max ? Combiner::any : Combiner::all;
  return reduceAs(call, kind, value, dims, getComputeType(element), keep);
}

static LogicalResult importExtreme(Call &call, Combiner kind) {
  FailureOr<Dims> dims = call.operands.size() > 1 ? call.dims(1, call.rank(0)) : llvm::to_vector(llvm::seq<int64_t>(0, call.rank(0)));
  return failed(dims) ? failure() : call.done(reduceExtreme(call, kind, call.tensor(0), *dims, call.flag(2)));
}

static LogicalResult importMax(Call &call) { return importExtreme(call, Combiner::max); }
static LogicalResult importMin(Call &call) { return importExtreme(call, Combiner::min); }

/// The first index along `dim` whose element is the extreme; NaN counts as one.
static Value buildFirstIndex(Call &call, Value value, Value extreme, int64_t dim, bool keep) {
  Sizes sizes = sizesOf(value);
  Type i64 = call.b.getBuilder().getI64Type();
  Value index = call.b.indexAlong(dim, sizes.size(), sizes[dim]);
  Value candidates = call.b.map(i64, {value, extreme, index}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value wide = s.convert(x[0], x[1].getType());
    Value isExtreme = s.compare(Function::eq, wide, x[1]);
    if (isa<FloatType>(wide.getType()))
      isExtreme = s.logicalOr(isExtreme, s.isNan(wide));
    return s.select(isExtreme, x[2], s.integer(i64, std::numeric_limits<int64_t>::max()));
  });
  return call.b.reduce(Combiner::min, candidates, dim, i64, keep);
}

/// Values and indices along a dimension.
static LogicalResult importExtremeDim(Call &call, Combiner kind) {
  if (call.rank(0) == 0) {
    Value zero = call.b.integer(call.b.getBuilder().getI64Type(), 0);
    return call.done({call.tensor(0), zero});
  }
  FailureOr<int64_t> dim = call.dim(1, call.rank(0));
  if (failed(dim))
    return failure();
  Value kept = reduceExtreme(call, kind, call.tensor(0), *dim, /*keep=*/true);
  bool keep = call.flag(2);
  Value index = buildFirstIndex(call, call.tensor(0), kept, *dim, keep);
  return call.done({keep ? kept : call.b.squeeze(kept, *dim), index});
}

static LogicalResult importMaxDim(Call &call) { return importExtremeDim(call, Combiner::max); }
static LogicalResult importMinDim(Call &call) { return importExtremeDim(call, Combiner::min); }

static LogicalResult importArg(Call &call, Combiner kind) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  Value value = call.tensor(0);
  int64_t dim = 0;
  if (!call.has(1) || call.rank(0) == 0) {
    AffineExpr count = call.b.sizeOf(1);
    for (AffineExpr size : sizesOf(value))
      count = count * size;
    value = call.b.reshape(value, count);
  } else {
    FailureOr<int64_t> named = call.dim(1, call.rank(0));
    if (failed(named))
      return failure();
    dim = *named;
  }
  Value extreme = reduceExtreme(call, kind, value, dim, /*keep=*/true);
  return call.done(call.b.reshape(buildFirstIndex(call, value, extreme, dim, /*keep=*/false), emmy::getSizes(*type)));
}

static LogicalResult importArgMax(Call &call) { return importArg(call, Combiner::max); }
static LogicalResult importArgMin(Call &call) { return importArg(call, Combiner::min); }

static LogicalResult reduceTruth(Call &call, Combiner kind) {
  FailureOr<Dims> dims = call.operands.size() > 1 ? call.dims(1, call.rank(0)) : llvm::to_vector(llvm::seq<int64_t>(0, call.rank(0)));
  Type i1 = call.b.getBuilder().getI1Type();
  return failed(dims) ? failure() : call.done(reduceAs(call, kind, call.b.convert(call.tensor(0), i1), *dims, i1, call.flag(2)));
}

static LogicalResult importAny(Call &call) { return reduceTruth(call, Combiner::any); }
static LogicalResult importAll(Call &call) { return reduceTruth(call, Combiner::all); }

//===----------------------------------------------------------------------===//
// Variance, log-sum-exp, cumulative sum
//===----------------------------------------------------------------------===//

namespace {
struct Moments {
  Value mean, variance; ///< in the compute type; the reduced dimensions have size 1
};
} // namespace

/// The sum of squared differences over max(0, count - correction).
static Moments buildMoments(Call &call, ArrayRef<int64_t> dims, double correction) {
  GraphBuilder &b = call.b;
  Value input = call.tensor(0);
  Type compute = getComputeType(getElementType(input));
  AffineExpr count = b.sizeOf(1);
  Sizes sizes = sizesOf(input);
  for (int64_t dim : dims)
    count = count * sizes[dim];
  auto divide = [&](Value sum, double less) {
    return b.map(compute, {sum, b.size(count)}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
      Value divisor = s.convert(x[1], compute);
      if (less != 0)
        divisor = s.max(s.sub(divisor, s.constant(compute, less)), s.constant(compute, 0));
      return s.div(x[0], divisor);
    });
  };
  Moments moments;
  moments.mean = divide(reduceAs(call, Combiner::add, input, dims, compute, true), 0);
  Value squares = b.map(compute, {input, moments.mean}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value difference = s.sub(s.convert(x[0], compute), x[1]);
    return s.mul(difference, difference);
  });
  moments.variance = divide(reduceAs(call, Combiner::add, squares, dims, compute, true), correction);
  return moments;
}

/// `correction` is operand #2, or 1 and 0 for a true and false one; forms without dimensions have it as operand #1.
static LogicalResult importVariance(Call &call, bool isRoot, bool withMean) {
  bool hasDims = call.entry.schema[1] == 'L';
  size_t at = hasDims ? 2 : 1;
  int64_t rank = call.rank(0);
  FailureOr<Dims> dims = hasDims ? call.dims(1, rank) : FailureOr<Dims>(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  FailureOr<RankedTensorType> type = call.type();
  if (failed(dims) || failed(type))
    return failure();
  Moments moments = buildMoments(call, *dims, call.number(at, 1));
  Value spread = moments.variance;
  if (isRoot)
    spread = call.b.map(getElementType(spread), spread, [](ScalarBuilder &s, ArrayRef<Value> x) { return s.sqrt(x[0]); });
  Sizes sizes = emmy::getSizes(*type);
  Value result = call.b.reshape(call.b.convert(spread, type->getElementType()), sizes);
  if (!withMean)
    return call.done(result);
  return call.done({result, call.b.reshape(call.b.convert(moments.mean, type->getElementType()), sizes)});
}

static LogicalResult importVar(Call &call) { return importVariance(call, false, false); }
static LogicalResult importStd(Call &call) { return importVariance(call, true, false); }
static LogicalResult importVarMean(Call &call) { return importVariance(call, false, true); }

/// log(Σ exp(x - m)) + m, where an infinite maximum m counts as 0.
static LogicalResult importLogSumExp(Call &call) {
  FailureOr<Dims> dims = call.dims(1, call.rank(0));
  FailureOr<RankedTensorType> type = call.type();
  if (failed(dims) || failed(type))
    return failure();
  GraphBuilder &b = call.b;
  Value input = call.tensor(0);
  Type element = type->getElementType(), compute = getComputeType(element);
  if (isa<IntegerType>(getElementType(input)))
    input = b.convert(input, compute);
  Value most = reduceAs(call, Combiner::max, input, *dims, compute, true);
  Value shift = b.map(compute, most, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value infinity = s.constant(compute, std::numeric_limits<double>::infinity());
    Value isInfinite = s.compare(Function::eq, s.max(x[0], s.negate(x[0])), infinity);
    return s.select(isInfinite, s.constant(compute, 0), x[0]);
  });
  Value exp = b.map(compute, {input, shift},
                    [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.exp(s.sub(s.convert(x[0], compute), x[1])); });
  Value sum = reduceAs(call, Combiner::add, exp, *dims, compute, true);
  Value result = b.map(element, {sum, shift},
                       [&](ScalarBuilder &s, ArrayRef<Value> x) { return s.convert(s.add(s.log(x[0]), x[1]), element); });
  return call.done(b.reshape(result, emmy::getSizes(*type)));
}

/// Each element sums those up to its own place: a masked reduction over a second copy of the dimension.
static LogicalResult importCumSum(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type) || type->getRank() == 0)
    return failed(type) ? failure() : call.done(call.tensor(0));
  int64_t rank = type->getRank();
  FailureOr<int64_t> dim = call.dim(1, rank);
  if (failed(dim))
    return failure();
  GraphBuilder &b = call.b;
  Type accumulator = getAccumulator(call, type->getElementType());
  AffineExpr size = sizesOf(call.tensor(0))[*dim];
  Value terms = b.unsqueeze(call.tensor(0), *dim); // [..., place, term, ...]
  Value place = b.indexAlong(*dim, rank + 1, size), term = b.indexAlong(*dim + 1, rank + 1, size);
  Value masked = b.map(accumulator, {terms, place, term}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    return s.select(s.compare(Function::le, x[2], x[1]), s.convert(x[0], accumulator), s.constant(accumulator, 0));
  });
  return call.done(b.reduce(Combiner::add, masked, *dim + 1, accumulator, /*keepDims=*/false));
}

void torch::addReductions(Table &table) {
  table["aten.sum"] = {"T/I", importSum};
  table["aten.sum.dim_IntList"] = {"TLb/I", importSum};
  table["aten.mean"] = {"T/I", importMean};
  table["aten.mean.dim"] = {"TLb/I", importMean};
  table["aten.prod"] = {"T/I", importProd};
  table["aten.prod.dim_int"] = {"Tib/I", importProd};
  table["aten.amax"] = {"TLb", importMax};
  table["aten.amin"] = {"TLb", importMin};
  table["aten.max"] = {"T", importMax};
  table["aten.min"] = {"T", importMin};
  table["aten.max.dim"] = {"Tib", importMaxDim};
  table["aten.min.dim"] = {"Tib", importMinDim};
  table["aten.argmax"] = {"TI/b", importArgMax};
  table["aten.argmin"] = {"TI/b", importArgMin};
  table["aten.any"] = {"T", importAny};
  table["aten.any.dim"] = {"Tib", importAny};
  table["aten.any.dims"] = {"TLb", importAny};
  table["aten.all"] = {"T", importAll};
  table["aten.all.dim"] = {"Tib", importAll};
  table["aten.all.bool"] = {"T", importAll};
  table["aten.var"] = {"TB", importVar};
  table["aten.var.dim"] = {"TLBb", importVar};
  table["aten.var.correction"] = {"TLNb", importVar};
  table["aten.std"] = {"TB", importStd};
  table["aten.std.dim"] = {"TLBb", importStd};
  table["aten.std.correction"] = {"TLNb", importStd};
  table["aten.var_mean"] = {"TB", importVarMean};
  table["aten.var_mean.dim"] = {"TLBb", importVarMean};
  table["aten.var_mean.correction"] = {"TLNb", importVarMean};
  table["aten.logsumexp"] = {"TLb", importLogSumExp};
  table["aten.cumsum"] = {"Ti/I", importCumSum};
}
