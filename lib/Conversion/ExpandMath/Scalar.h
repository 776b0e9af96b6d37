// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The elementary functions on f32 as arithmetic: what the expansions are written in, and their names.
//
// Every function is straight-line code with selects: no call, no table in memory, no branch. Error bounds are in units in the
// last place (ulp) of the exact result, measured over every bf16 and f16 value and samples of f32 (test/python/test_math.py).
#ifndef EMMY_LIB_CONVERSION_EXPANDMATH_SCALAR_H
#define EMMY_LIB_CONVERSION_EXPANDMATH_SCALAR_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

namespace emmy {

/// f32 and i32 operations, so that formulas read as formulas.
struct Scalar {
  using Value = mlir::Value;
  using FloatTest = mlir::arith::CmpFPredicate;
  using IntegerTest = mlir::arith::CmpIPredicate;
  mlir::ImplicitLocOpBuilder &b;

  static constexpr float kInf = std::numeric_limits<float>::infinity();
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

  Value num(float value) { return mlir::arith::ConstantFloatOp::create(b, b.getF32Type(), llvm::APFloat(value)); }
  Value add(Value x, Value y) { return mlir::arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return mlir::arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return mlir::arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return mlir::arith::DivFOp::create(b, x, y); }
  Value neg(Value x) { return mlir::arith::NegFOp::create(b, x); }
  Value fma(Value x, Value y, Value z) { return mlir::math::FmaOp::create(b, x, y, z); }
  Value fma(Value x, float y, Value z) { return fma(x, num(y), z); }
  Value fma(Value x, Value y, float z) { return fma(x, y, num(z)); }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, x); }
  Value sqrt(Value x) { return mlir::math::SqrtOp::create(b, x); }
  Value trunc(Value x) { return mlir::math::TruncOp::create(b, x); }
  Value copySign(Value x, Value sign) { return mlir::math::CopySignOp::create(b, x, sign); }

  Value test(FloatTest predicate, Value x, Value y) { return mlir::arith::CmpFOp::create(b, predicate, x, y); }
  Value less(Value x, Value y) { return test(FloatTest::OLT, x, y); }
  Value less(Value x, float y) { return less(x, num(y)); }
  Value greater(Value x, float y) { return test(FloatTest::OGT, x, num(y)); }
  Value equal(Value x, Value y) { return test(FloatTest::OEQ, x, y); }
  Value equal(Value x, float y) { return equal(x, num(y)); }
  Value isNan(Value x) { return test(FloatTest::UNO, x, x); }
  Value isNegative(Value x) { return testI(IntegerTest::slt, bits(x), intNum(0)); }
  Value select(Value condition, Value x, Value y) { return mlir::arith::SelectOp::create(b, condition, x, y); }
  Value select(Value condition, Value x, float y) { return select(condition, x, num(y)); }
  Value select(Value condition, float x, Value y) { return select(condition, num(x), y); }
  Value select(Value condition, float x, float y) { return select(condition, num(x), num(y)); }
  /// `x` between the bounds; NaN stays.
  Value clamp(Value x, float low, float high) {
    x = select(less(x, low), low, x);
    return select(greater(x, high), high, x);
  }

  Value intNum(int64_t value) { return mlir::arith::ConstantIntOp::create(b, value, 32); }
  Value bits(Value x) { return mlir::arith::BitcastOp::create(b, b.getI32Type(), x); }
  Value fromBits(Value x) { return mlir::arith::BitcastOp::create(b, b.getF32Type(), x); }
  Value addI(Value x, Value y) { return mlir::arith::AddIOp::create(b, x, y); }
  Value addI(Value x, int64_t y) { return addI(x, intNum(y)); }
  Value subI(Value x, Value y) { return mlir::arith::SubIOp::create(b, x, y); }
  Value andI(Value x, int64_t mask) { return mlir::arith::AndIOp::create(b, x, intNum(mask)); }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(b, x, y); }
  Value either(Value x, Value y) { return mlir::arith::OrIOp::create(b, x, y); }
  Value differ(Value x, Value y) { return mlir::arith::XOrIOp::create(b, x, y); }
  Value left(Value x, int64_t by) { return mlir::arith::ShLIOp::create(b, x, intNum(by)); }
  Value right(Value x, int64_t by) { return mlir::arith::ShRSIOp::create(b, x, intNum(by)); }
  Value testI(IntegerTest predicate, Value x, Value y) { return mlir::arith::CmpIOp::create(b, predicate, x, y); }
  Value isSet(Value x, int64_t bit) { return testI(IntegerTest::ne, andI(x, bit), intNum(0)); }
  Value toFloat(Value x) { return mlir::arith::SIToFPOp::create(b, b.getF32Type(), x); }

  /// c0 + c1·x + c2·x² + …
  Value polynomial(Value x, llvm::ArrayRef<float> coefficients) {
    Value sum = num(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, coefficient);
    return sum;
  }
};

using UnaryExpansion = mlir::Value (*)(Scalar &, mlir::Value);
using BinaryExpansion = mlir::Value (*)(Scalar &, mlir::Value, mlir::Value);

// Exponentials and logarithms.
mlir::Value expandExp(Scalar &s, mlir::Value x);
mlir::Value expandExp2(Scalar &s, mlir::Value x);
mlir::Value expandExpm1(Scalar &s, mlir::Value x);
mlir::Value expandLog(Scalar &s, mlir::Value x);
mlir::Value expandLog2(Scalar &s, mlir::Value x);
mlir::Value expandLog10(Scalar &s, mlir::Value x);
mlir::Value expandLog1p(Scalar &s, mlir::Value x);
mlir::Value expandPow(Scalar &s, mlir::Value x, mlir::Value y);
/// e^(x + low)·2^shift for x in [-104, 89] and small `low`, which may be null.
mlir::Value expandExpCore(Scalar &s, mlir::Value x, mlir::Value low, int64_t shift);

// Trigonometry.
mlir::Value expandSin(Scalar &s, mlir::Value x);
mlir::Value expandCos(Scalar &s, mlir::Value x);
mlir::Value expandTan(Scalar &s, mlir::Value x);
mlir::Value expandAsin(Scalar &s, mlir::Value x);
mlir::Value expandAcos(Scalar &s, mlir::Value x);
mlir::Value expandAtan(Scalar &s, mlir::Value x);
mlir::Value expandAtan2(Scalar &s, mlir::Value y, mlir::Value x);

// Hyperbolic and error functions, roots, rounding.
mlir::Value expandSinh(Scalar &s, mlir::Value x);
mlir::Value expandCosh(Scalar &s, mlir::Value x);
mlir::Value expandTanh(Scalar &s, mlir::Value x);
mlir::Value expandAsinh(Scalar &s, mlir::Value x);
mlir::Value expandAcosh(Scalar &s, mlir::Value x);
mlir::Value expandAtanh(Scalar &s, mlir::Value x);
mlir::Value expandErf(Scalar &s, mlir::Value x);
mlir::Value approximateErf(Scalar &s, mlir::Value x);
mlir::Value expandErfc(Scalar &s, mlir::Value x);
mlir::Value expandRsqrt(Scalar &s, mlir::Value x);
mlir::Value expandRound(Scalar &s, mlir::Value x);

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_EXPANDMATH_SCALAR_H
