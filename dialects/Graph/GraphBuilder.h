// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Building primitives: result types follow from the operands, and scalar code from its operands' types.
#ifndef EMMY_DIALECTS_GRAPH_GRAPHBUILDER_H
#define EMMY_DIALECTS_GRAPH_GRAPHBUILDER_H

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace emmy::graph {

using Sizes = llvm::SmallVector<mlir::AffineExpr>;

/// The type in which PyTorch computes on elements of `type`: f32 for the narrower floats.
mlir::Type getComputeType(mlir::Type type);
/// The type in which sums of `type` accumulate: f32 (f64 for f64), i64 for integers.
mlir::Type getAccumulatorType(mlir::Type type);
/// The value of a constant whose elements are all equal.
mlir::Attribute getSplat(mlir::Value value);
bool isSize(mlir::AffineExpr expr, int64_t value);
/// Whether two size expressions are equal for all values of their symbols, as far as affine simplification shows.
bool isSameSize(mlir::AffineExpr a, mlir::AffineExpr b);
/// Whether `from` broadcasts to `to` as in PyTorch; only a static size of 1 repeats.
bool broadcasts(mlir::RankedTensorType from, mlir::RankedTensorType to);
/// Fails with a diagnostic of `op` unless `result` has the sizes `expected`.
mlir::LogicalResult verifySizes(mlir::Operation *op, llvm::ArrayRef<mlir::AffineExpr> expected, mlir::Value result);
mlir::Type getElementType(mlir::Value value);
Sizes sizesOf(mlir::Value value);

/// Code on scalars inside a `map`. Operands of one operation have one type.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  template <typename OpTy, typename... Args> mlir::Value make(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value integer(mlir::Type type, int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b); ///< towards zero on integers
  mlir::Value max(mlir::Value a, mlir::Value b); ///< NaN if one is NaN
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value negate(mlir::Value a);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// An ordered comparison of floats (`ne`: true for NaN), a signed one of integers.
  mlir::Value compare(Function function, mlir::Value a, mlir::Value b);
  mlir::Value isNan(mlir::Value a);
  mlir::Value logicalAnd(mlir::Value a, mlir::Value b) { return make<mlir::arith::AndIOp>(a, b); }
  mlir::Value logicalOr(mlir::Value a, mlir::Value b) { return make<mlir::arith::OrIOp>(a, b); }
  mlir::Value logicalNot(mlir::Value a) { return make<mlir::arith::XOrIOp>(a, integer(a.getType(), 1)); }
  mlir::Value exp(mlir::Value a);
  mlir::Value log(mlir::Value a);
  mlir::Value sqrt(mlir::Value a);
  mlir::Value rsqrt(mlir::Value a);
  /// PyTorch's cast: floats to integers towards zero, anything to i1 by comparison with zero.
  mlir::Value convert(mlir::Value value, mlir::Type type);
  /// `function` of `arguments`, which have its compute type (predicates yield i1).
  mlir::Value apply(Function function, llvm::ArrayRef<mlir::Value> arguments);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// Code on tensors at one location.
class GraphBuilder {
public:
  using Body = llvm::function_ref<mlir::Value(ScalarBuilder &, llvm::ArrayRef<mlir::Value>)>;

  GraphBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }
  mlir::AffineExpr sizeOf(int64_t size) { return mlir::getAffineConstantExpr(size, builder.getContext()); }

  /// A `map` whose operands broadcast; constants of no dimensions become constants in the region.
  mlir::Value map(mlir::Type element, mlir::ValueRange inputs, Body body);
  mlir::Value map(mlir::RankedTensorType type, mlir::ValueRange inputs, Body body);
  /// `value` with this element type.
  mlir::Value convert(mlir::Value value, mlir::Type element);
  mlir::Value reduce(Combiner kind, mlir::Value value, llvm::ArrayRef<int64_t> dims, mlir::Type element, bool keepDims);
  mlir::Value contract(mlir::Value lhs, mlir::Value rhs, llvm::ArrayRef<int64_t> batch, llvm::ArrayRef<int64_t> over);

  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> sizes);
  mlir::Value permute(mlir::Value value, llvm::ArrayRef<int64_t> dims);
  mlir::Value transpose(mlir::Value value, int64_t a, int64_t b);
  mlir::Value unsqueeze(mlir::Value value, int64_t dim);
  mlir::Value squeeze(mlir::Value value, int64_t dim);
  mlir::Value expand(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> sizes);
  mlir::Value slice(mlir::Value value, int64_t dim, mlir::AffineExpr start, mlir::AffineExpr size, int64_t step = 1);
  mlir::Value concat(mlir::ValueRange values, int64_t dim);
  mlir::Value take(mlir::Value value, mlir::Value indices, int64_t dim);

  /// Tensors of no dimensions.
  mlir::Value constant(mlir::Type element, double value);
  mlir::Value integer(mlir::Type element, int64_t value);
  mlir::Value size(mlir::AffineExpr expr); ///< i64
  /// The index along `dim` with all other sizes 1, in a tensor of `rank` dimensions; i64.
  mlir::Value indexAlong(int64_t dim, int64_t rank, mlir::AffineExpr size);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace emmy::graph

#endif // EMMY_DIALECTS_GRAPH_GRAPHBUILDER_H
