// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trigonometric functions and their inverses.
#include "Scalar.h"

using namespace mlir;

namespace emmy {

static constexpr float kHalfPi = 0x1.921fb6p+0f, kHalfPiLow = -0x1.777a5cp-25f, kHalfPiLast = -0x1.ee59dap-50f;

namespace {
/// x = quadrant·π/2 + rest, the quadrant modulo 4.
struct Reduced {
  Value quadrant, rest;
};
} // namespace

/// Cody and Waite's reduction, good up to about 7e4.
static Reduced reduceSmall(Scalar &s, Value x) {
  constexpr float kRounder = 0x1.8p23f;
  Value shifted = s.fma(x, 0x1.45f306p-1f, s.num(kRounder)); // 2/π
  Value n = s.sub(shifted, s.num(kRounder));
  Value rest = s.fma(n, -kHalfPiLast, s.fma(n, -kHalfPiLow, s.fma(n, -kHalfPi, x)));
  return {s.bits(shifted), rest};
}

/// Bits of 2/π from 32·word + shift on, counted from the binary point; three words of them.
static SmallVector<Value, 3> getTwoOverPi(Scalar &s, Value word, Value shift) {
  static constexpr int64_t kDigits[] = {0, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410, 0};
  SmallVector<Value, 4> digits;
  for (int64_t i = 0; i < 4; ++i) {
    Value digit = s.intNum(int32_t(kDigits[i]));
    for (int64_t at = 1; at < 5; ++at)
      digit = s.select(s.testI(Scalar::IntegerTest::eq, word, s.intNum(at)), s.intNum(int32_t(kDigits[at + i])), digit);
    digits.push_back(digit);
  }
  SmallVector<Value, 3> result;
  Value back = s.subI(s.intNum(31), shift);
  for (int64_t i = 0; i < 3; ++i) {
    Value upper = arith::ShLIOp::create(s.b, digits[i], shift);
    Value lower = arith::ShRUIOp::create(s.b, arith::ShRUIOp::create(s.b, digits[i + 1], s.intNum(1)), back);
    result.push_back(s.either(upper, lower));
  }
  return result;
}

/// Payne and Hanek's reduction, for any finite x of at least 1: the product with 2/π in fixed point with 62 fraction bits.
static Reduced reduceLarge(Scalar &s, Value x) {
  ImplicitLocOpBuilder &b = s.b;
  Value magnitude = s.andI(s.bits(x), 0x7fffffff);
  Value exponent = s.addI(s.right(magnitude, 23), -126);
  Value mantissa = s.left(s.either(s.andI(magnitude, 0x7fffff), s.intNum(0x800000)), 8);
  SmallVector<Value, 3> digits = getTwoOverPi(s, s.right(exponent, 5), s.andI(exponent, 31));
  auto wide = [&](Value x) -> Value { return arith::ExtUIOp::create(b, b.getI64Type(), x); };
  auto number = [&](int64_t x) -> Value { return arith::ConstantIntOp::create(b, x, 64); };
  auto times = [&](Value digit) -> Value { return arith::MulIOp::create(b, wide(mantissa), wide(digit)); };
  Value product = arith::ShRUIOp::create(b, times(digits[2]), number(32));
  product = arith::AddIOp::create(b, times(digits[1]), product);
  product = arith::AddIOp::create(b, arith::ShLIOp::create(b, times(digits[0]), number(32)), product);
  // Round to the nearest quadrant: what remains is the signed fraction.
  Value rounded = arith::AddIOp::create(b, product, number(int64_t(1) << 61));
  Value quadrant = arith::TruncIOp::create(b, b.getI32Type(), arith::ShRUIOp::create(b, rounded, number(62)));
  Value fraction = arith::SubIOp::create(b, arith::AndIOp::create(b, rounded, number((int64_t(1) << 62) - 1)), number(int64_t(1) << 61));
  Value rest = s.mul(arith::SIToFPOp::create(b, b.getF32Type(), fraction), s.num(kHalfPi * 0x1p-62f));
  Value negative = s.isNegative(x);
  return {s.select(negative, s.subI(s.intNum(0), quadrant), quadrant), s.select(negative, s.neg(rest), rest)};
}

static Reduced reduce(Scalar &s, Value x) {
  Reduced small = reduceSmall(s, x), large = reduceLarge(s, x);
  Value isSmall = s.less(s.abs(x), 65536);
  Value rest = s.select(isSmall, small.rest, large.rest);
  rest = s.select(s.less(s.abs(x), Scalar::kInf), rest, Scalar::kNan);
  return {s.select(isSmall, small.quadrant, large.quadrant), rest};
}

static Value sinOf(Scalar &s, Value r) {
  Value square = s.mul(r, r);
  return s.fma(s.mul(square, r), s.polynomial(square, {-0.16666667f, 0.008333329f, -0.00019839327f, 2.7182373e-06f}), r);
}

static Value cosOf(Scalar &s, Value r) {
  Value square = s.mul(r, r);
  Value p = s.polynomial(square, {0.041666668f, -0.0013888883f, 2.4799452e-05f, -2.7205044e-07f});
  return s.fma(square, s.fma(square, p, -0.5f), 1);
}

/// 3 ulp.
Value expandSin(Scalar &s, Value x) {
  Reduced reduced = reduce(s, x);
  Value result = s.select(s.isSet(reduced.quadrant, 1), cosOf(s, reduced.rest), sinOf(s, reduced.rest));
  result = s.select(s.isSet(reduced.quadrant, 2), s.neg(result), result);
  return s.select(s.equal(x, 0), x, result);
}

/// 3 ulp.
Value expandCos(Scalar &s, Value x) {
  Reduced reduced = reduce(s, x);
  Value result = s.select(s.isSet(reduced.quadrant, 1), sinOf(s, reduced.rest), cosOf(s, reduced.rest));
  return s.select(s.isSet(s.addI(reduced.quadrant, 1), 2), s.neg(result), result);
}

/// 4 ulp.
Value expandTan(Scalar &s, Value x) {
  Reduced reduced = reduce(s, x);
  Value sine = sinOf(s, reduced.rest), cosine = cosOf(s, reduced.rest), odd = s.isSet(reduced.quadrant, 1);
  Value result = s.div(s.select(odd, s.neg(cosine), sine), s.select(odd, sine, cosine));
  return s.select(s.equal(x, 0), x, result);
}

/// arcsin of t² = square in [0, ¼].
static Value asinOf(Scalar &s, Value t, Value square) {
  Value p = s.polynomial(square, {0.1666666f, 0.07500511f, 0.04451572f, 0.031817608f, 0.014402615f, 0.037565187f});
  return s.fma(s.mul(t, square), p, t);
}

/// 2 ulp.
Value expandAsin(Scalar &s, Value x) {
  Value a = s.abs(x), isLarge = s.greater(a, 0.5f);
  Value square = s.select(isLarge, s.mul(s.sub(s.num(1), a), s.num(0.5f)), s.mul(a, a));
  Value p = asinOf(s, s.select(isLarge, s.sqrt(square), a), square);
  Value large = s.add(s.fma(p, -2.0f, s.num(kHalfPi)), s.num(kHalfPiLow));
  return s.copySign(s.select(isLarge, large, p), x);
}

/// 2 ulp.
Value expandAcos(Scalar &s, Value x) {
  Value a = s.abs(x), isLarge = s.greater(a, 0.5f);
  Value square = s.select(isLarge, s.mul(s.sub(s.num(1), a), s.num(0.5f)), s.mul(a, a));
  Value p = asinOf(s, s.select(isLarge, s.sqrt(square), x), square);
  Value twice = s.add(p, p);
  Value far = s.add(s.sub(s.num(2 * kHalfPi), twice), s.num(2 * kHalfPiLow));
  Value large = s.select(s.isNegative(x), far, twice);
  return s.select(isLarge, large, s.add(s.sub(s.num(kHalfPi), p), s.num(kHalfPiLow)));
}

/// arctan of t in [0, 1].
static Value atanOf(Scalar &s, Value t) {
  Value square = s.mul(t, t);
  Value p = s.polynomial(square, {-0.33333153f, 0.19993773f, -0.14211053f, 0.10665993f, -0.075521894f, 0.043211564f, -0.016367743f,
                                  0.0029206460f});
  return s.fma(s.mul(t, square), p, t);
}

/// 2 ulp.
Value expandAtan(Scalar &s, Value x) {
  Value a = s.abs(x), isLarge = s.greater(a, 1);
  Value p = atanOf(s, s.select(isLarge, s.div(s.num(1), a), a));
  Value large = s.add(s.sub(s.num(kHalfPi), p), s.num(kHalfPiLow));
  return s.copySign(s.select(isLarge, large, p), x);
}

/// 3 ulp. Zeros and infinities as in C.
Value expandAtan2(Scalar &s, Value y, Value x) {
  Value ax = s.abs(x), ay = s.abs(y), isSteep = s.less(ax, ay);
  Value small = s.select(isSteep, ax, ay), large = s.select(isSteep, ay, ax);
  Value equal = s.select(s.equal(large, 0), 0.0f, 1.0f); // also of two infinities, whose quotient is NaN
  Value p = atanOf(s, s.select(s.equal(small, large), equal, s.div(small, large)));
  p = s.select(isSteep, s.add(s.sub(s.num(kHalfPi), p), s.num(kHalfPiLow)), p);
  p = s.select(s.isNegative(x), s.add(s.sub(s.num(2 * kHalfPi), p), s.num(2 * kHalfPiLow)), p);
  p = s.select(s.either(s.isNan(x), s.isNan(y)), Scalar::kNan, p);
  return s.copySign(p, y);
}

} // namespace emmy
