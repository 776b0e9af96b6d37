// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Hyperbolic functions and their inverses, error functions, reciprocal root, rounding.
#include "Scalar.h"

using namespace mlir;

namespace emmy {

/// 2 ulp.
Value expandTanh(Scalar &s, Value x) {
  Value a = s.abs(x), square = s.mul(x, x);
  Value p = s.polynomial(square, {-0.333333f, 0.13331959f, -0.05378668f, 0.020805378f, -0.0059058706f});
  Value small = s.fma(s.mul(a, square), p, a);
  Value e = expandExpCore(s, s.clamp(s.add(a, a), 0, 80), {}, 0);
  Value large = s.sub(s.num(1), s.div(s.num(2), s.add(e, s.num(1))));
  return s.copySign(s.select(s.less(a, 0.6f), small, large), x);
}

/// e^|x|/2, which overflows later than e^|x| does.
static Value halfExp(Scalar &s, Value a) { return expandExpCore(s, s.clamp(a, 0, 90), {}, -1); }

/// 3 ulp.
Value expandSinh(Scalar &s, Value x) {
  Value a = s.abs(x), square = s.mul(x, x), e = halfExp(s, a);
  Value p = s.polynomial(square, {0.16666667f, 0.008333333f, 0.00019841296f, 2.7552064e-06f, 2.5529816e-08f});
  Value large = s.sub(e, s.div(s.num(0.25f), e));
  return s.copySign(s.select(s.less(a, 1), s.fma(s.mul(a, square), p, a), large), x);
}

/// 2 ulp.
Value expandCosh(Scalar &s, Value x) {
  Value e = halfExp(s, s.abs(x));
  return s.add(e, s.div(s.num(0.25f), e));
}

/// 4 ulp.
Value expandAsinh(Scalar &s, Value x) {
  Value a = s.abs(x), square = s.mul(a, a);
  Value near = expandLog1p(s, s.add(a, s.div(square, s.add(s.num(1), s.sqrt(s.add(square, s.num(1)))))));
  Value far = s.add(expandLog(s, a), s.num(0x1.62e43p-1f));
  return s.copySign(s.select(s.greater(a, 0x1p12f), far, near), x);
}

/// 4 ulp.
Value expandAcosh(Scalar &s, Value x) {
  Value t = s.sub(x, s.num(1));
  Value near = expandLog1p(s, s.add(t, s.sqrt(s.fma(t, t, s.add(t, t)))));
  Value far = s.add(expandLog(s, x), s.num(0x1.62e43p-1f));
  return s.select(s.less(x, 1.0f), Scalar::kNan, s.select(s.greater(x, 0x1p12f), far, near));
}

/// 4 ulp.
Value expandAtanh(Scalar &s, Value x) {
  Value a = s.abs(x), square = s.mul(a, a);
  Value p = s.polynomial(square, {0.333333f, 0.20002587f, 0.14221488f, 0.11833958f, 0.050985619f, 0.17719632f});
  Value small = s.fma(s.mul(a, square), p, a);
  Value large = s.mul(s.num(0.5f), expandLog1p(s, s.div(s.add(a, a), s.sub(s.num(1), a))));
  return s.copySign(s.select(s.less(a, 0.5f), small, large), x);
}

/// 2 ulp. 1 - e^p(|x|) away from zero.
Value expandErf(Scalar &s, Value x) {
  Value t = s.abs(x), square = s.mul(x, x);
  Value upper = s.fma(t, -1.72853470e-5f, s.num(3.83197126e-4f)), lower = s.fma(t, -3.88396438e-3f, s.num(2.42546219e-2f));
  Value r = s.fma(upper, square, lower);
  r = s.fma(r, t, -1.06777877e-1f);
  r = s.fma(r, t, -6.34846687e-1f);
  r = s.fma(r, t, -1.28717512e-1f);
  r = s.fma(r, t, s.neg(t));
  Value large = s.copySign(s.sub(s.num(1), expandExp(s, r)), x);
  Value p = s.polynomial(square, {1.28379166e-1f, -3.76125336e-1f, 1.12819925e-1f, -2.67681349e-2f, 4.99119423e-3f, -5.96761703e-4f});
  return s.select(s.greater(t, 0.927734375f), large, s.fma(p, x, x));
}

/// 6 ulp, 4e-7 of 1. A quotient of polynomials in x², which the end of the range makes exactly 1: half the work of expandErf where a
/// reciprocal is one instruction.
Value approximateErf(Scalar &s, Value x) {
  constexpr float end = 3.84f * 3.84f;
  Value square = arith::MinimumFOp::create(s.b, s.mul(x, x), s.num(end));
  Value p = s.polynomial(square, {1.12837911f, 0.18756023f, 5.24446145e-2f, 3.66179575e-3f, 2.85826129e-4f, 2.11674637e-6f});
  Value q = s.polynomial(square, {1, 0.499553829f, 0.112998091f, 1.47605902e-2f, 1.14332326e-3f, 3.8826689e-5f});
  Value quotient = arith::DivFOp::create(s.b, s.mul(x, p), q, arith::FastMathFlags::arcp);
  Value below = arith::MinimumFOp::create(s.b, quotient, s.num(1));
  return arith::MaximumFOp::create(s.b, below, s.num(-1));
}

/// 16 ulp down to the smallest normal number. e^(-x²)·p(1/(1+|x|/2)), the square in two parts.
Value expandErfc(Scalar &s, Value x) {
  Value a = s.clamp(s.abs(x), 0, 11);
  Value t = s.div(s.num(1), s.fma(a, 0.5f, s.num(1)));
  Value p = s.polynomial(t, {-1.26551223f, 1.00002368f, 0.37409196f, 0.09678418f, -0.18628806f, 0.27886807f, -1.13520398f, 1.48851587f,
                             -0.82215223f, 0.17087277f});
  Value square = s.mul(a, a), squareLow = s.fma(a, a, s.neg(square));
  Value sum = s.sub(p, square);
  Value back = s.add(sum, square);
  Value error = s.add(s.sub(p, back), s.sub(s.sub(back, sum), square));
  Value tail = s.mul(t, expandExpCore(s, s.clamp(sum, -104, 0), s.sub(error, squareLow), 0));
  Value near = s.sub(s.num(1), expandErf(s, x));
  Value far = s.select(s.isNegative(x), s.sub(s.num(2), tail), tail);
  return s.select(s.less(s.abs(x), 0.5f), near, far);
}

/// 2 ulp.
Value expandRsqrt(Scalar &s, Value x) { return s.div(s.num(1), s.sqrt(x)); }

/// Exact; halves away from zero.
Value expandRound(Scalar &s, Value x) {
  Value rounded = s.trunc(s.add(x, s.copySign(s.num(0x1.fffffep-2f), x)));
  return s.select(s.less(s.abs(x), 0x1p23f), rounded, x);
}

} // namespace emmy
