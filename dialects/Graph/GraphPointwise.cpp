// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The named functions of elements as scalar code. NaN, infinities, signed zeros and integer division behave as PyTorch's.
#include "dialects/Graph/GraphBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

/// Functions that are one operation of the math dialect; null for others.
static Value applyMath(ScalarBuilder &s, Function function, Value x) {
  switch (function) {
  case Function::sqrt: return s.make<math::SqrtOp>(x);
  case Function::rsqrt: return s.make<math::RsqrtOp>(x);
  case Function::exp: return s.make<math::ExpOp>(x);
  case Function::exp2: return s.make<math::Exp2Op>(x);
  case Function::expm1: return s.make<math::ExpM1Op>(x);
  case Function::log: return s.make<math::LogOp>(x);
  case Function::log2: return s.make<math::Log2Op>(x);
  case Function::log10: return s.make<math::Log10Op>(x);
  case Function::log1p: return s.make<math::Log1pOp>(x);
  case Function::sin: return s.make<math::SinOp>(x);
  case Function::cos: return s.make<math::CosOp>(x);
  case Function::tan: return s.make<math::TanOp>(x);
  case Function::asin: return s.make<math::AsinOp>(x);
  case Function::acos: return s.make<math::AcosOp>(x);
  case Function::atan: return s.make<math::AtanOp>(x);
  case Function::sinh: return s.make<math::SinhOp>(x);
  case Function::cosh: return s.make<math::CoshOp>(x);
  case Function::tanh: return s.make<math::TanhOp>(x);
  case Function::asinh: return s.make<math::AsinhOp>(x);
  case Function::acosh: return s.make<math::AcoshOp>(x);
  case Function::atanh: return s.make<math::AtanhOp>(x);
  case Function::erf: return s.make<math::ErfOp>(x);
  case Function::erfc: return s.make<math::ErfcOp>(x);
  case Function::floor: return s.make<math::FloorOp>(x);
  case Function::ceil: return s.make<math::CeilOp>(x);
  case Function::round: return s.make<math::RoundEvenOp>(x);
  case Function::trunc: return s.make<math::TruncOp>(x);
  case Function::abs: return s.make<math::AbsFOp>(x);
  default: return {};
  }
}

static Value applySigmoid(ScalarBuilder &s, Value x) {
  Value one = s.constant(x.getType(), 1);
  return s.div(one, s.add(one, s.exp(s.negate(x))));
}

/// min(max(x + 3, 0), 6) / 6
static Value applyHardSigmoid(ScalarBuilder &s, Value x) {
  auto number = [&](double value) { return s.constant(x.getType(), value); };
  return s.div(s.min(s.max(s.add(x, number(3)), number(0)), number(6)), number(6));
}

static Value applyGelu(ScalarBuilder &s, Value x, bool tanh) {
  auto number = [&](double value) { return s.constant(x.getType(), value); };
  Value curve;
  if (tanh) {
    Value cubic = s.mul(s.mul(s.mul(x, x), x), number(0.044715));
    curve = s.make<math::TanhOp>(s.mul(s.add(x, cubic), number(0.7978845608028654)));
  } else {
    curve = s.make<math::ErfOp>(s.mul(x, number(0.7071067811865476)));
  }
  return s.mul(s.mul(x, number(0.5)), s.add(curve, number(1)));
}

/// Activations of one argument; null for others.
static Value applyActivation(ScalarBuilder &s, Function function, Value x) {
  switch (function) {
  case Function::sigmoid: return applySigmoid(s, x);
  case Function::silu: {
    Value one = s.constant(x.getType(), 1);
    return s.div(x, s.add(one, s.exp(s.negate(x))));
  }
  case Function::relu: return s.max(x, s.constant(x.getType(), 0));
  case Function::gelu: return applyGelu(s, x, /*tanh=*/false);
  case Function::gelu_tanh: return applyGelu(s, x, /*tanh=*/true);
  case Function::mish: return s.mul(x, s.make<math::TanhOp>(s.make<math::Log1pOp>(s.exp(x))));
  case Function::hardsigmoid: return applyHardSigmoid(s, x);
  case Function::hardswish: return s.mul(x, applyHardSigmoid(s, x));
  default: return {};
  }
}

/// Functions of one number that integers have too; null for others.
static Value applyUnary(ScalarBuilder &s, Function function, Value x) {
  Type type = x.getType();
  bool isFloatingPoint = isFloat(x);
  auto zero = [&] { return s.constant(type, 0); };
  switch (function) {
  case Function::cast: return x;
  case Function::abs: return isFloatingPoint ? Value() : s.max(x, s.negate(x));
  case Function::neg: return s.negate(x);
  case Function::square: return s.mul(x, x);
  case Function::reciprocal: return s.div(s.constant(type, 1), x);
  case Function::sign: { // 0 for NaN
    Value negative = s.select(s.compare(Function::lt, x, zero()), s.constant(type, -1), zero());
    return s.select(s.compare(Function::gt, x, zero()), s.constant(type, 1), negative);
  }
  case Function::floor:
  case Function::ceil:
  case Function::round:
  case Function::trunc: return isFloatingPoint ? Value() : x;
  case Function::isnan: return s.isNan(x);
  case Function::isinf:
  case Function::isfinite: {
    if (!isFloatingPoint)
      return s.integer(IntegerType::get(type.getContext(), 1), function == Function::isfinite);
    Value infinity = s.constant(type, std::numeric_limits<double>::infinity());
    return s.compare(function == Function::isinf ? Function::eq : Function::lt, s.make<math::AbsFOp>(x), infinity);
  }
  case Function::logical_not: return s.compare(Function::eq, x, zero());
  case Function::bitwise_not: return s.make<arith::XOrIOp>(x, s.integer(type, -1));
  default: return {};
  }
}

/// Remainder with the sign of the dividend (fmod), or of the divisor.
static Value applyRemainder(ScalarBuilder &s, Value a, Value b, bool signOfDivisor) {
  Value zero = s.constant(a.getType(), 0);
  Value rest = isFloat(a) ? s.make<arith::RemFOp>(a, b) : s.sub(a, s.mul(s.div(a, b), b));
  if (!signOfDivisor)
    return rest;
  Value differ = s.compare(Function::ne, s.compare(Function::lt, rest, zero), s.compare(Function::lt, b, zero));
  return s.select(s.logicalAnd(s.compare(Function::ne, rest, zero), differ), s.add(rest, b), rest);
}

/// PyTorch's floor division: exact quotients stay exact, and x / 0 is an infinity or NaN.
static Value applyDivFloor(ScalarBuilder &s, Value a, Value b) {
  Value zero = s.constant(a.getType(), 0), one = s.constant(a.getType(), 1);
  if (!isFloat(a)) {
    Value quotient = s.div(a, b), rest = s.sub(a, s.mul(quotient, b));
    Value differ = s.compare(Function::ne, s.compare(Function::lt, rest, zero), s.compare(Function::lt, b, zero));
    Value inexact = s.logicalAnd(s.compare(Function::ne, rest, zero), differ);
    return s.select(inexact, s.sub(quotient, one), quotient);
  }
  Value rest = s.make<arith::RemFOp>(a, b), plain = s.div(a, b);
  Value differ = s.compare(Function::ne, s.compare(Function::lt, b, zero), s.compare(Function::lt, rest, zero));
  Value quotient = s.div(s.sub(a, rest), b);
  quotient = s.select(s.logicalAnd(s.compare(Function::ne, rest, zero), differ), s.sub(quotient, one), quotient);
  Value floor = s.make<math::FloorOp>(quotient);
  Value isShort = s.compare(Function::gt, s.sub(quotient, floor), s.constant(a.getType(), 0.5));
  Value result = s.select(isShort, s.add(floor, one), floor);
  result = s.select(s.compare(Function::eq, quotient, zero), s.make<math::CopySignOp>(zero, plain), result);
  return s.select(s.compare(Function::eq, b, zero), plain, result);
}

/// The exponents that PyTorch treats apart become products and roots; null for others.
static Value applyKnownPower(ScalarBuilder &s, Value a, double exponent) {
  Type type = a.getType();
  if (exponent == 0)
    return s.constant(type, 1);
  if (exponent == 1)
    return a;
  if (exponent == 2)
    return s.mul(a, a);
  if (exponent == 3)
    return s.mul(s.mul(a, a), a);
  if (!isFloat(a))
    return {};
  if (exponent == 0.5)
    return s.sqrt(a);
  if (exponent == -0.5)
    return s.rsqrt(a);
  if (exponent == -1)
    return s.div(s.constant(type, 1), a);
  if (exponent == -2)
    return s.div(s.constant(type, 1), s.mul(a, a));
  return {};
}

static Value applyPower(ScalarBuilder &s, Value a, Value b) {
  Attribute known;
  if (matchPattern(b, m_Constant(&known))) {
    auto number = dyn_cast<FloatAttr>(known);
    double exponent = number ? number.getValueAsDouble() : static_cast<double>(cast<IntegerAttr>(known).getValue().getSExtValue());
    if (Value power = applyKnownPower(s, a, exponent))
      return power;
  }
  return isFloat(a) ? s.make<math::PowFOp>(a, b) : s.make<math::IPowIOp>(a, b);
}

/// Functions of two numbers; null for others.
static Value applyBinary(ScalarBuilder &s, Function function, Value a, Value b) {
  Value zero = s.constant(a.getType(), 0);
  auto isTrue = [&](Value v) { return s.compare(Function::ne, v, zero); };
  switch (function) {
  case Function::mul: return s.mul(a, b);
  case Function::div: return s.div(a, b);
  case Function::div_floor: return applyDivFloor(s, a, b);
  case Function::div_trunc: return isFloat(a) ? s.make<math::TruncOp>(s.div(a, b)) : s.div(a, b);
  case Function::remainder: return applyRemainder(s, a, b, /*signOfDivisor=*/true);
  case Function::fmod: return applyRemainder(s, a, b, /*signOfDivisor=*/false);
  case Function::pow: return applyPower(s, a, b);
  case Function::atan2: return s.make<math::Atan2Op>(a, b);
  case Function::maximum: return s.max(a, b);
  case Function::minimum: return s.min(a, b);
  case Function::logical_and: return s.logicalAnd(isTrue(a), isTrue(b));
  case Function::logical_or: return s.logicalOr(isTrue(a), isTrue(b));
  case Function::logical_xor: return s.make<arith::XOrIOp>(isTrue(a), isTrue(b));
  case Function::bitwise_and: return s.logicalAnd(a, b);
  case Function::bitwise_or: return s.logicalOr(a, b);
  case Function::bitwise_xor: return s.make<arith::XOrIOp>(a, b);
  case Function::leaky_relu: return s.select(s.compare(Function::gt, a, zero), a, s.mul(a, b));
  default: return s.compare(function, a, b);
  }
}

static Value applyParametrized(ScalarBuilder &s, Function function, ArrayRef<Value> x) {
  Type type = x[0].getType();
  Value zero = s.constant(type, 0);
  if (function == Function::clamp)
    return s.min(s.max(x[0], x[1]), x[2]);
  if (function == Function::elu) {
    Value negative = s.mul(s.make<math::ExpM1Op>(s.mul(x[0], x[3])), s.mul(x[1], x[2]));
    return s.select(s.compare(Function::le, x[0], zero), negative, s.mul(x[0], x[2]));
  }
  if (function == Function::softplus) {
    Value scaled = s.mul(x[0], x[1]);
    return s.select(s.compare(Function::gt, scaled, x[2]), x[0], s.div(s.make<math::Log1pOp>(s.exp(scaled)), x[1]));
  }
  if (!isFloat(x[0]))
    return x[0];
  Value infinity = s.constant(type, std::numeric_limits<double>::infinity()); // nan_to_num
  Value finite = s.select(s.compare(Function::eq, x[0], s.negate(infinity)), x[3], x[0]);
  finite = s.select(s.compare(Function::eq, x[0], infinity), x[2], finite);
  return s.select(s.isNan(x[0]), x[1], finite);
}

Value ScalarBuilder::apply(Function function, ArrayRef<Value> arguments) {
  if (function == Function::add || function == Function::sub) {
    Value other = arguments.size() == 3 ? mul(arguments[1], arguments[2]) : arguments[1];
    return function == Function::add ? add(arguments[0], other) : sub(arguments[0], other);
  }
  if (arguments.size() == 1) {
    if (Value result = applyUnary(*this, function, arguments[0]))
      return result;
    if (Value result = applyMath(*this, function, arguments[0]))
      return result;
    return applyActivation(*this, function, arguments[0]);
  }
  if (arguments.size() == 2)
    return applyBinary(*this, function, arguments[0], arguments[1]);
  return applyParametrized(*this, function, arguments);
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// Least and greatest number of operands.
static std::pair<size_t, size_t> getArity(Function function) {
  switch (function) {
  case Function::add:
  case Function::sub: return {2, 3};
  case Function::where:
  case Function::clamp:
  case Function::softplus: return {3, 3};
  case Function::elu:
  case Function::nan_to_num: return {4, 4};
  default: return function < Function::add ? std::pair<size_t, size_t>{1, 1} : std::pair<size_t, size_t>{2, 2};
  }
}

static bool isPredicate(Function function) {
  switch (function) {
  case Function::isnan:
  case Function::isinf:
  case Function::isfinite:
  case Function::logical_not:
  case Function::logical_and:
  case Function::logical_or:
  case Function::logical_xor: return true;
  default: return function >= Function::eq && function <= Function::ge;
  }
}

LogicalResult PointwiseOp::verify() {
  auto [least, most] = getArity(getFunction());
  if (getInputs().size() < least || getInputs().size() > most) // pointwise_c1
    return emitOpError("expects ") << least << " operands for " << stringifyFunction(getFunction()) << ", but got " << getInputs().size();
  for (auto [i, input] : llvm::enumerate(getInputs())) // pointwise_c2
    if (!broadcasts(cast<RankedTensorType>(input.getType()), cast<RankedTensorType>(getType())))
      return emitOpError("expects operand #") << i << " to broadcast to " << getType() << ", but got " << input.getType();
  return success();
}

/// PyTorch's promotion: dimensions outrank the lack of them within a category, floats outrank integers, integers outrank i1.
static Type getPromotedType(ValueRange inputs) {
  auto category = [](Type type) { return isa<FloatType>(type) ? 2 : !type.isInteger(1); };
  Type best;
  bool bestHasDims = false;
  for (Value input : inputs) {
    Type type = getElementType(input);
    bool hasDims = !sizesOf(input).empty();
    if (!hasDims && getSplat(input) && isa<FloatType>(type)) // a Python number has the default type
      type = Float32Type::get(type.getContext());
    auto rank = [&](Type t, bool dims) { return std::tuple(category(t), dims, getComputeType(t).getIntOrFloatBitWidth()); };
    if (!best || rank(type, hasDims) > rank(best, bestHasDims))
      std::tie(best, bestHasDims) = std::tuple(type, hasDims);
  }
  return getComputeType(best);
}

Value PointwiseOp::decompose(GraphBuilder &builder) {
  auto type = cast<RankedTensorType>(getType());
  Type element = type.getElementType();
  Type compute = isPredicate(getFunction()) ? getPromotedType(getInputs()) : getComputeType(element);
  return builder.map(type, getInputs(), [&](ScalarBuilder &s, ArrayRef<Value> arguments) {
    if (getFunction() == Function::cast)
      return s.convert(arguments[0], element);
    if (getFunction() == Function::where)
      return s.select(s.convert(arguments[0], builder.getBuilder().getI1Type()), s.convert(arguments[1], element),
                      s.convert(arguments[2], element));
    auto converted = llvm::map_to_vector(arguments, [&](Value argument) { return s.convert(argument, compute); });
    return s.convert(s.apply(getFunction(), converted), element);
  });
}
