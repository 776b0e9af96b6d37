// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Exponentials, logarithms, powers.
#include "Scalar.h"

using namespace mlir;

namespace emmy {

static constexpr float kLog2e = 0x1.715476p+0f, kLog2eLow = 0x1.4ae0cp-26f;
static constexpr float kLn2 = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;
/// Adding it leaves a number of at most 22 bits in the low bits of the sum, rounded to nearest.
static constexpr float kRounder = 0x1.8p23f;

/// p·2^k for k in [-300, 250], rounded once.
static Value scale(Scalar &s, Value p, Value k) {
  Value half = s.right(k, 1);
  Value first = s.fromBits(s.left(s.addI(half, 127), 23)), second = s.fromBits(s.left(s.addI(s.subI(k, half), 127), 23));
  return s.mul(s.mul(p, first), second);
}

namespace {
/// x = k·ln 2 + rest.
struct Reduced {
  Value k, rest;
};
} // namespace

static Reduced reduceByLn2(Scalar &s, Value x) {
  Value shifted = s.fma(x, kLog2e, s.num(kRounder));
  Value n = s.sub(shifted, s.num(kRounder));
  Value rest = s.fma(n, -kLn2Low, s.fma(n, -kLn2, x));
  return {s.subI(s.bits(shifted), s.bits(s.num(kRounder))), rest};
}

Value expandExpCore(Scalar &s, Value x, Value low, int64_t shift) {
  auto [k, r] = reduceByLn2(s, x);
  if (low)
    r = s.add(r, low);
  Value q = s.polynomial(r, {0.49999994f, 0.1666652f, 0.041668393f, 0.008368781f, 0.0013814465f});
  Value p = s.add(s.fma(s.mul(r, r), q, r), s.num(1));
  return scale(s, p, shift ? s.addI(k, shift) : k);
}

/// 1 ulp.
Value expandExp(Scalar &s, Value x) { return expandExpCore(s, s.clamp(x, -104, 89), {}, 0); }

/// 1 ulp.
Value expandExp2(Scalar &s, Value x) {
  x = s.clamp(x, -151, 129);
  Value shifted = s.add(x, s.num(kRounder));
  Value r = s.sub(x, s.sub(shifted, s.num(kRounder)));
  Value q = s.polynomial(r, {0.6931472f, 0.24022648f, 0.055503324f, 0.009618437f, 0.0013398875f, 0.0001535336f});
  return scale(s, s.fma(r, q, 1), s.subI(s.bits(shifted), s.bits(s.num(kRounder))));
}

/// 2 ulp.
Value expandExpm1(Scalar &s, Value x) {
  auto [k, r] = reduceByLn2(s, s.clamp(x, -20, 89));
  Value q = s.polynomial(r, {0.49999997f, 0.16666543f, 0.0416672f, 0.00836658f, 0.0013882507f});
  Value p = s.fma(s.mul(r, r), q, r); // e^r - 1
  Value half = s.fromBits(s.left(s.addI(k, 126), 23)); // 2^(k-1), as 2^128 is no number
  Value result = s.fma(half, p, s.sub(half, s.num(0.5f)));
  return s.select(s.equal(x, 0), x, s.add(result, result));
}

namespace {
/// log x = e·ln 2 + f + w for positive finite x, where f is exact and w is small beside it.
struct LogParts {
  Value e, f, w;
};
} // namespace

static LogParts splitLog(Scalar &s, Value x) {
  Value tiny = s.less(x, 0x1p-126f);
  x = s.select(tiny, s.mul(x, s.num(0x1p23f)), x);
  Value fromRoot = s.subI(s.bits(x), s.bits(s.num(0x1.6a09e6p-1f))); // √½, so that the mantissa lies in [√½, √2)
  Value exponent = s.right(fromRoot, 23);
  Value f = s.sub(s.fromBits(s.subI(s.bits(x), s.left(exponent, 23))), s.num(1));
  Value p = s.polynomial(f, {0.33333313f, -0.2500001f, 0.20002119f, -0.16667996f, 0.14219551f, -0.12405591f, 0.11888175f,
                             -0.11675641f, 0.06746601f});
  Value w = s.mul(s.mul(f, f), s.fma(f, p, -0.5f));
  return {s.add(s.toFloat(exponent), s.select(tiny, -23.0f, 0.0f)), f, w};
}

/// e·(high + low) + f + w with a short `high`, so that its product is exact.
static Value joinLog(Scalar &s, const LogParts &parts, float high, float low) {
  return s.fma(parts.e, high, s.add(parts.f, s.fma(parts.e, low, parts.w)));
}

/// `result` for positive finite x; the limits, and NaN below zero, elsewhere.
static Value finishLog(Scalar &s, Value x, Value result) {
  Value inside = s.both(s.greater(x, 0), s.less(x, Scalar::kInf));
  Value limit = s.select(s.equal(x, 0), -Scalar::kInf, s.select(s.greater(x, 0), x, Scalar::kNan));
  return s.select(inside, result, limit);
}

static constexpr float kLn2Short = 0.693359375f, kLn2Rest = -2.12194440e-4f;

/// 1 ulp.
Value expandLog(Scalar &s, Value x) { return finishLog(s, x, joinLog(s, splitLog(s, x), kLn2Short, kLn2Rest)); }

/// (f + w)·(high + low) in the places of f and w.
static LogParts scaleLog(Scalar &s, LogParts parts, float high, float low) {
  Value product = s.mul(parts.f, s.num(high));
  Value error = s.fma(parts.f, high, s.neg(product));
  Value w = s.fma(parts.w, high, s.fma(parts.f, low, error));
  return {parts.e, product, w};
}

/// 2 ulp.
Value expandLog2(Scalar &s, Value x) {
  LogParts parts = scaleLog(s, splitLog(s, x), kLog2e, kLog2eLow);
  return finishLog(s, x, s.add(parts.e, s.add(parts.f, parts.w)));
}

/// 2 ulp.
Value expandLog10(Scalar &s, Value x) {
  LogParts parts = scaleLog(s, splitLog(s, x), 0x1.bcb7b2p-2f, -0x1.5b235ep-27f);
  return finishLog(s, x, joinLog(s, parts, 0.30102539f, 4.6050390e-6f));
}

/// 2 ulp. What 1 + x rounds away comes back as a quotient.
Value expandLog1p(Scalar &s, Value x) {
  Value u = s.add(x, s.num(1));
  LogParts parts = splitLog(s, u);
  Value lost = s.div(s.sub(x, s.sub(u, s.num(1))), u);
  parts.w = s.add(parts.w, s.select(s.less(s.abs(x), 0x1p24f), lost, 0.0f));
  return s.select(s.equal(x, 0), x, finishLog(s, u, joinLog(s, parts, kLn2Short, kLn2Rest)));
}

namespace {
struct Pair {
  Value high, low;
};
} // namespace

/// log x to about 2^-40 for positive finite x: 2·artanh((m-1)/(m+1)) of the mantissa m, plus the exponent's part.
static Pair logPair(Scalar &s, Value x) {
  Value tiny = s.less(x, 0x1p-126f);
  x = s.select(tiny, s.mul(x, s.num(0x1p23f)), x);
  Value exponent = s.right(s.subI(s.bits(x), s.bits(s.num(0x1.6a09e6p-1f))), 23);
  Value m = s.fromBits(s.subI(s.bits(x), s.left(exponent, 23)));
  Value e = s.add(s.toFloat(exponent), s.select(tiny, -23.0f, 0.0f));
  Value above = s.sub(m, s.num(1)), below = s.add(m, s.num(1));
  Value belowLow = s.sub(m, s.sub(below, s.num(1)));
  Value q = s.div(above, below);
  Value qLow = s.div(s.fma(s.neg(q), belowLow, s.fma(s.neg(q), below, above)), below);
  Value square = s.mul(q, q);
  Value p = s.polynomial(square, {0.6666667f, 0.39999995f, 0.2857213f, 0.22175238f, 0.19598785f});
  // The cube's part needs no more than f32, except for its own first term's error.
  Value high = s.add(q, q);
  Value low = s.fma(s.mul(square, q), p, s.add(qLow, qLow));
  Value exact = s.mul(e, s.num(kLn2Short)); // e has 8 bits, the factor 9
  Value sum = s.add(exact, high);
  Value rest = s.sub(sum, exact);
  Value error = s.add(s.sub(exact, s.sub(sum, rest)), s.sub(high, rest));
  Value small = s.add(s.fma(e, kLn2Rest, low), error);
  Value result = s.add(sum, small);
  return {result, s.add(s.sub(sum, result), small)};
}

/// 3 ulp. Special cases as in C: pow(x, 0) = pow(1, y) = 1, signs by odd y, NaN for negative x and fractional y.
Value expandPow(Scalar &s, Value x, Value y) {
  Value a = s.abs(x);
  Pair log = logPair(s, a);
  Value high = s.mul(log.high, y);
  Value low = s.fma(log.low, y, s.fma(log.high, y, s.neg(high)));
  Value inRange = s.less(s.abs(high), 120);
  Value r = expandExpCore(s, s.clamp(high, -104, 89), s.select(inRange, low, 0.0f), 0);

  Value limit = s.select(s.differ(s.greater(a, 1), s.less(y, 0.0f)), Scalar::kInf, 0.0f);
  Value extreme = s.either(s.either(s.equal(a, 0), s.equal(a, Scalar::kInf)), s.equal(s.abs(y), Scalar::kInf));
  r = s.select(extreme, limit, r);
  Value isInteger = s.equal(s.trunc(y), y);
  Value halved = s.mul(y, s.num(0.5f));
  Value isOdd = s.both(isInteger, s.test(Scalar::FloatTest::ONE, s.trunc(halved), halved));
  Value negated = s.select(isOdd, s.neg(r), r);
  Value fractional = s.select(s.either(isInteger, s.either(s.equal(a, 0), s.equal(a, Scalar::kInf))), negated, Scalar::kNan);
  r = s.select(s.isNegative(x), fractional, r);
  r = s.select(s.both(s.equal(a, 1), s.equal(s.abs(y), Scalar::kInf)), 1.0f, r);
  r = s.select(s.either(s.isNan(x), s.isNan(y)), Scalar::kNan, r);
  return s.select(s.either(s.equal(x, 1), s.equal(y, 0)), 1.0f, r);
}

} // namespace emmy
