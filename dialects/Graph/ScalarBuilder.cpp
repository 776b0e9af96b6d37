// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scalar code of map regions, and PyTorch's casts.
#include "dialects/Graph/GraphBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }
static bool isBool(Type type) { return type.isInteger(1); }

Value ScalarBuilder::constant(Type type, double value) {
  if (isa<IntegerType>(type))
    return integer(type, static_cast<int64_t>(value));
  return make<arith::ConstantOp>(builder.getFloatAttr(type, value));
}

Value ScalarBuilder::integer(Type type, int64_t value) {
  if (isa<FloatType>(type))
    return make<arith::ConstantOp>(builder.getFloatAttr(type, static_cast<double>(value)));
  return make<arith::ConstantOp>(builder.getIntegerAttr(type, isBool(type) ? value != 0 : value));
}

Value ScalarBuilder::add(Value a, Value b) {
  if (isBool(a.getType()))
    return logicalOr(a, b);
  return isFloat(a) ? make<arith::AddFOp>(a, b) : make<arith::AddIOp>(a, b);
}

Value ScalarBuilder::sub(Value a, Value b) { return isFloat(a) ? make<arith::SubFOp>(a, b) : make<arith::SubIOp>(a, b); }

Value ScalarBuilder::mul(Value a, Value b) {
  if (isBool(a.getType()))
    return logicalAnd(a, b);
  return isFloat(a) ? make<arith::MulFOp>(a, b) : make<arith::MulIOp>(a, b);
}

Value ScalarBuilder::div(Value a, Value b) {
  if (isFloat(a))
    return make<arith::DivFOp>(a, b);
  APInt known;
  bool isPlain = matchPattern(b, m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes();
  if (isPlain)
    return make<arith::DivSIOp>(a, b);
  // 0 and -1 would trap: a zero divisor gives a number of no meaning, and the smallest number by -1 itself.
  Value zero = integer(b.getType(), 0), one = integer(b.getType(), 1), isMinusOne = compare(Function::eq, b, integer(b.getType(), -1));
  Value divisor = select(logicalOr(compare(Function::eq, b, zero), isMinusOne), one, b);
  return select(isMinusOne, sub(zero, a), make<arith::DivSIOp>(a, divisor));
}

Value ScalarBuilder::max(Value a, Value b) {
  if (isBool(a.getType()))
    return logicalOr(a, b);
  return isFloat(a) ? make<arith::MaximumFOp>(a, b) : make<arith::MaxSIOp>(a, b);
}

Value ScalarBuilder::min(Value a, Value b) {
  if (isBool(a.getType()))
    return logicalAnd(a, b);
  return isFloat(a) ? make<arith::MinimumFOp>(a, b) : make<arith::MinSIOp>(a, b);
}

Value ScalarBuilder::negate(Value a) {
  return isFloat(a) ? make<arith::NegFOp>(a) : make<arith::SubIOp>(integer(a.getType(), 0), a);
}

Value ScalarBuilder::select(Value condition, Value a, Value b) { return make<arith::SelectOp>(condition, a, b); }

Value ScalarBuilder::compare(Function function, Value a, Value b) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  bool isUnsigned = isBool(a.getType()); // true is more than false
  auto make = [&](F floats, I integers, I bits) -> Value {
    return isFloat(a) ? this->make<arith::CmpFOp>(floats, a, b) : this->make<arith::CmpIOp>(isUnsigned ? bits : integers, a, b);
  };
  switch (function) {
  case Function::eq:
    return make(F::OEQ, I::eq, I::eq);
  case Function::ne:
    return make(F::UNE, I::ne, I::ne);
  case Function::lt:
    return make(F::OLT, I::slt, I::ult);
  case Function::le:
    return make(F::OLE, I::sle, I::ule);
  case Function::gt:
    return make(F::OGT, I::sgt, I::ugt);
  default:
    return make(F::OGE, I::sge, I::uge);
  }
}

Value ScalarBuilder::isNan(Value a) {
  return isFloat(a) ? make<arith::CmpFOp>(arith::CmpFPredicate::UNO, a, a) : integer(builder.getI1Type(), 0);
}

Value ScalarBuilder::exp(Value a) { return make<math::ExpOp>(a); }
Value ScalarBuilder::log(Value a) { return make<math::LogOp>(a); }
Value ScalarBuilder::sqrt(Value a) { return make<math::SqrtOp>(a); }
Value ScalarBuilder::rsqrt(Value a) { return make<math::RsqrtOp>(a); }

Value ScalarBuilder::convert(Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  Attribute known;
  if (matchPattern(value, m_Constant(&known))) { // the literal at the precision it has
    if (auto number = dyn_cast<IntegerAttr>(known))
      return integer(type, isBool(from) ? number.getValue().getZExtValue() : number.getInt());
    if (auto number = dyn_cast<FloatAttr>(known); number && !isa<IntegerType>(type))
      return constant(type, number.getValueAsDouble());
  }
  unsigned fromBits = from.getIntOrFloatBitWidth(), bits = type.getIntOrFloatBitWidth();
  if (isBool(type))
    return compare(Function::ne, value, integer(from, 0));
  if (isFloat(value) && isa<FloatType>(type)) {
    Type f32 = builder.getF32Type();
    if (from != f32 && type != f32 && !(fromBits < 32 && bits == 64)) // every narrowing goes through f32, as PyTorch's
      return convert(convert(value, f32), type);
    return fromBits < bits ? make<arith::ExtFOp>(type, value) : make<arith::TruncFOp>(type, value);
  }
  if (isFloat(value))
    return make<arith::FPToSIOp>(type, fromBits < 32 ? convert(value, builder.getF32Type()) : value);
  if (isa<FloatType>(type)) {
    Type wide = getComputeType(type);
    Value number = isBool(from) ? make<arith::UIToFPOp>(wide, value) : make<arith::SIToFPOp>(wide, value);
    return convert(number, type);
  }
  if (fromBits > bits)
    return make<arith::TruncIOp>(type, value);
  return isBool(from) ? make<arith::ExtUIOp>(type, value) : make<arith::ExtSIOp>(type, value);
}
