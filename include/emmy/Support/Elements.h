// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scalar arithmetic on the elements of reductions. The dialects have a Combiner each, with the same cases; these serve all of them.
#ifndef EMMY_SUPPORT_ELEMENTS_H
#define EMMY_SUPPORT_ELEMENTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace emmy {

/// The element that changes nothing.
template <typename Combiner> mlir::TypedAttr identityElement(Combiner kind, mlir::Type type) {
  mlir::Builder builder(type.getContext());
  if (auto real = mlir::dyn_cast<mlir::FloatType>(type)) {
    if (kind == Combiner::max || kind == Combiner::min)
      return builder.getFloatAttr(real, llvm::APFloat::getInf(real.getFloatSemantics(), /*Negative=*/kind == Combiner::max));
    return builder.getFloatAttr(real, kind == Combiner::mul ? 1.0 : 0.0);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (kind == Combiner::all || (kind == Combiner::min && width == 1))
    return builder.getIntegerAttr(type, llvm::APInt::getAllOnes(width));
  if (kind == Combiner::min)
    return builder.getIntegerAttr(type, llvm::APInt::getSignedMaxValue(width));
  if (kind == Combiner::max && width > 1)
    return builder.getIntegerAttr(type, llvm::APInt::getSignedMinValue(width));
  return builder.getIntegerAttr(type, kind == Combiner::mul ? 1 : 0);
}

/// Integers have signs, but for i1: its maximum is one of them being true.
template <typename Combiner>
mlir::Value combineElements(mlir::OpBuilder &b, mlir::Location loc, Combiner kind, mlir::Value x, mlir::Value y) {
  using namespace mlir::arith;
  bool isFloat = mlir::isa<mlir::FloatType>(x.getType()), isBool = x.getType().isInteger(1);
  switch (kind) {
  case Combiner::add:
    return isFloat ? AddFOp::create(b, loc, x, y).getResult() : AddIOp::create(b, loc, x, y).getResult();
  case Combiner::mul:
    return isFloat ? MulFOp::create(b, loc, x, y).getResult() : MulIOp::create(b, loc, x, y).getResult();
  case Combiner::max:
    if (isBool)
      return OrIOp::create(b, loc, x, y);
    return isFloat ? MaximumFOp::create(b, loc, x, y).getResult() : MaxSIOp::create(b, loc, x, y).getResult();
  case Combiner::min:
    if (isBool)
      return AndIOp::create(b, loc, x, y);
    return isFloat ? MinimumFOp::create(b, loc, x, y).getResult() : MinSIOp::create(b, loc, x, y).getResult();
  case Combiner::any:
    return OrIOp::create(b, loc, x, y);
  case Combiner::all:
    return AndIOp::create(b, loc, x, y);
  }
  llvm_unreachable("all combiners are handled");
}

/// `value` in a type of the same kind that is as wide or wider; i1 becomes 0 or 1.
inline mlir::Value extendElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Type type) {
  mlir::Type from = value.getType();
  if (from == type)
    return value;
  if (mlir::isa<mlir::FloatType>(from) && mlir::isa<mlir::FloatType>(type))
    return mlir::arith::ExtFOp::create(b, loc, type, value);
  if (from.isInteger(1))
    return mlir::arith::ExtUIOp::create(b, loc, type, value);
  return mlir::arith::ExtSIOp::create(b, loc, type, value);
}

} // namespace emmy

#endif // EMMY_SUPPORT_ELEMENTS_H
