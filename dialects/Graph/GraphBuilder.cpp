// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Building primitives on tensors.
#include "dialects/Graph/GraphBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

Type graph::getComputeType(Type type) {
  auto isNarrow = [](Type t) { return isa<FloatType>(t) && t.getIntOrFloatBitWidth() < 32; };
  return isNarrow(type) ? Float32Type::get(type.getContext()) : type;
}

Type graph::getAccumulatorType(Type type) {
  return isa<IntegerType>(type) ? IntegerType::get(type.getContext(), 64) : getComputeType(type);
}

Attribute graph::getSplat(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return elements.getSplatValue<Attribute>();
}

bool graph::isSize(AffineExpr expr, int64_t value) {
  auto constant = dyn_cast_or_null<AffineConstantExpr>(expr);
  return constant && constant.getValue() == value;
}

bool graph::isSameSize(AffineExpr a, AffineExpr b) {
  if (!a || !b || a == b)
    return a == b;
  if (isa<AffineConstantExpr>(a) && isa<AffineConstantExpr>(b))
    return false;
  unsigned numSymbols = 0;
  auto count = [&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      numSymbols = std::max(numSymbols, symbol.getPosition() + 1);
  };
  a.walk(count);
  b.walk(count);
  return isSize(simplifyAffineExpr(a - b, /*numDims=*/0, numSymbols), 0);
}

bool graph::broadcasts(RankedTensorType from, RankedTensorType to) {
  Sizes a = emmy::getSizes(from), b = emmy::getSizes(to);
  if (a.size() > b.size())
    return false;
  for (auto [x, y] : llvm::zip(llvm::reverse(a), llvm::reverse(b)))
    if (!isSize(x, 1) && !isSameSize(x, y))
      return false;
  return true;
}

LogicalResult graph::verifySizes(Operation *op, ArrayRef<AffineExpr> expected, Value result) {
  auto type = mlir::cast<RankedTensorType>(result.getType());
  Sizes sizes = emmy::getSizes(type);
  if (llvm::is_contained(expected, AffineExpr())) // an operand's size has no expression; nothing to compare
    return success();
  if (sizes.size() == expected.size() && llvm::all_of_zip(sizes, expected, isSameSize))
    return success();
  return op->emitOpError("expects a result of type ") << emmy::getTensorType(expected, type.getElementType()) << ", but got " << type;
}

Type graph::getElementType(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }
Sizes graph::sizesOf(Value value) { return emmy::getSizes(cast<RankedTensorType>(value.getType())); }

/// The sizes that all operands broadcast to.
static Sizes broadcastSizes(ValueRange inputs) {
  Sizes result;
  for (Value input : inputs) {
    Sizes sizes = sizesOf(input);
    if (sizes.size() > result.size())
      result.insert(result.begin(), sizes.begin(), sizes.begin() + (sizes.size() - result.size()));
    for (auto [mine, other] : llvm::zip(llvm::reverse(result), llvm::reverse(sizes)))
      if (isSize(mine, 1))
        mine = other;
  }
  return result;
}

Value GraphBuilder::map(Type element, ValueRange inputs, Body body) {
  return map(emmy::getTensorType(broadcastSizes(inputs), element), inputs, body);
}

Value GraphBuilder::map(RankedTensorType type, ValueRange inputs, Body body) {
  auto isInlined = [](Value v) { return cast<RankedTensorType>(v.getType()).getRank() == 0 && getSplat(v); };
  auto operands = llvm::filter_to_vector(inputs, [&](Value v) { return !isInlined(v); });
  auto op = MapOp::create(builder, loc, type, operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  ScalarBuilder scalars(builder, loc);
  SmallVector<Value> arguments;
  for (Value input : inputs) {
    if (!isInlined(input))
      arguments.push_back(block->addArgument(getElementType(input), loc));
    else
      arguments.push_back(scalars.make<arith::ConstantOp>(cast<TypedAttr>(getSplat(input))));
  }
  Value result = body(scalars, arguments);
  YieldOp::create(builder, loc, result);
  for (Operation &constant : llvm::make_early_inc_range(*block)) // literals whose conversion replaced them
    if (isa<arith::ConstantOp>(constant) && constant.use_empty())
      constant.erase();
  return op;
}

Value GraphBuilder::convert(Value value, Type element) {
  if (getElementType(value) == element)
    return value;
  return map(element, value, [&](ScalarBuilder &s, ArrayRef<Value> args) { return s.convert(args[0], element); });
}

Value GraphBuilder::reduce(Combiner kind, Value value, ArrayRef<int64_t> dims, Type element, bool keepDims) {
  Sizes sizes = sizesOf(value), reduced, kept;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    bool gone = llvm::is_contained(dims, static_cast<int64_t>(i));
    kept.push_back(gone ? sizeOf(1) : size);
    if (!gone)
      reduced.push_back(size);
  }
  auto sorted = llvm::to_vector(dims);
  llvm::sort(sorted);
  Value result = ReduceOp::create(builder, loc, emmy::getTensorType(reduced, element), kind, value, sorted);
  return keepDims ? reshape(result, kept) : result;
}

Value GraphBuilder::contract(Value lhs, Value rhs, ArrayRef<int64_t> batch, ArrayRef<int64_t> over) {
  Sizes left = sizesOf(lhs), right = sizesOf(rhs), sizes;
  auto isPaired = [&](int64_t dim, int64_t side) {
    for (ArrayRef<int64_t> pairs : {batch, over})
      for (size_t i = side; i < pairs.size(); i += 2)
        if (pairs[i] == dim)
          return true;
    return false;
  };
  for (size_t i = 0; i < batch.size(); i += 2)
    sizes.push_back(left[batch[i]]);
  for (auto [i, size] : llvm::enumerate(left))
    if (!isPaired(i, 0))
      sizes.push_back(size);
  for (auto [i, size] : llvm::enumerate(right))
    if (!isPaired(i, 1))
      sizes.push_back(size);
  Type element = getAccumulatorType(getElementType(lhs));
  for (size_t i = 0; i < over.size(); i += 2)
    if (isSize(left[over[i]], 0)) // a sum of nothing, whose operands may have lost the dimension
      return expand(constant(element, 0), sizes);
  return ContractOp::create(builder, loc, emmy::getTensorType(sizes, element), lhs, rhs, batch, over);
}

Value GraphBuilder::reshape(Value value, ArrayRef<AffineExpr> sizes) {
  RankedTensorType type = emmy::getTensorType(sizes, getElementType(value));
  return type == value.getType() ? value : ReshapeOp::create(builder, loc, type, value);
}

Value GraphBuilder::permute(Value value, ArrayRef<int64_t> dims) {
  if (llvm::equal(dims, llvm::seq<int64_t>(0, dims.size())))
    return value;
  Sizes sizes = sizesOf(value), permuted;
  for (int64_t dim : dims)
    permuted.push_back(sizes[dim]);
  return PermuteOp::create(builder, loc, emmy::getTensorType(permuted, getElementType(value)), value, dims);
}

Value GraphBuilder::transpose(Value value, int64_t a, int64_t b) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, sizesOf(value).size()));
  std::swap(dims[a], dims[b]);
  return permute(value, dims);
}

Value GraphBuilder::unsqueeze(Value value, int64_t dim) {
  Sizes sizes = sizesOf(value);
  sizes.insert(sizes.begin() + dim, sizeOf(1));
  return reshape(value, sizes);
}

Value GraphBuilder::squeeze(Value value, int64_t dim) {
  Sizes sizes = sizesOf(value);
  sizes.erase(sizes.begin() + dim);
  return reshape(value, sizes);
}

Value GraphBuilder::expand(Value value, ArrayRef<AffineExpr> sizes) {
  RankedTensorType type = emmy::getTensorType(sizes, getElementType(value));
  return type == value.getType() ? value : ExpandOp::create(builder, loc, type, value);
}

Value GraphBuilder::slice(Value value, int64_t dim, AffineExpr start, AffineExpr size, int64_t step) {
  Sizes sizes = sizesOf(value), starts(sizes.size(), sizeOf(0));
  SmallVector<int64_t> steps(sizes.size(), 1);
  if (isSize(start, 0) && step == 1 && sizes[dim] == size)
    return value;
  starts[dim] = start;
  steps[dim] = step;
  sizes[dim] = size;
  return SliceOp::create(builder, loc, emmy::getTensorType(sizes, getElementType(value)), value,
                         DimsAttr::get(builder.getContext(), starts), steps);
}

Value GraphBuilder::concat(ValueRange values, int64_t dim) {
  if (values.size() == 1)
    return values.front();
  Sizes sizes = sizesOf(values.front());
  for (Value value : values.drop_front())
    sizes[dim] = sizes[dim] + sizesOf(value)[dim];
  return ConcatOp::create(builder, loc, emmy::getTensorType(sizes, getElementType(values.front())), values, dim);
}

Value GraphBuilder::take(Value value, Value indices, int64_t dim) {
  Sizes sizes;
  for (auto [i, size] : llvm::enumerate(sizesOf(value))) {
    if (static_cast<int64_t>(i) == dim)
      llvm::append_range(sizes, sizesOf(indices));
    else
      sizes.push_back(size);
  }
  return TakeOp::create(builder, loc, emmy::getTensorType(sizes, getElementType(value)), value, indices, dim);
}

Value GraphBuilder::constant(Type element, double value) {
  if (isa<IntegerType>(element))
    return integer(element, static_cast<int64_t>(value));
  auto type = RankedTensorType::get({}, element);
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getFloatAttr(element, value)));
}

Value GraphBuilder::integer(Type element, int64_t value) {
  auto type = RankedTensorType::get({}, element);
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getIntegerAttr(element, value)));
}

Value GraphBuilder::size(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return integer(builder.getI64Type(), constant.getValue());
  return SizeOp::create(builder, loc, RankedTensorType::get({}, builder.getI64Type()), DimsAttr::get(builder.getContext(), expr));
}

Value GraphBuilder::indexAlong(int64_t dim, int64_t rank, AffineExpr size) {
  Sizes sizes(rank, sizeOf(1));
  sizes[dim] = size;
  return IotaOp::create(builder, loc, emmy::getTensorType(sizes, builder.getI64Type()), dim);
}
