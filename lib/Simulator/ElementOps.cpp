// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scalar arithmetic of arith and math, for uniform scalars and for the elements of fragments alike.
#include "Interpreter.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace emmy::simulator;

using Real1 = double (*)(double);
using Real2 = double (*)(double, double);
using Integer2 = int64_t (*)(int64_t, int64_t, unsigned width);

static uint64_t asUnsigned(int64_t value, unsigned width) {
  return width == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}

/// NaN wins, as arith.maximumf says.
static double maximum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }
static double minimum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }

static const llvm::StringMap<Real1> &unaryReals() {
  static const llvm::StringMap<Real1> table = {
      {"arith.negf", [](double x) { return -x; }},
      {"math.absf", [](double x) { return std::fabs(x); }},
      {"math.exp", [](double x) { return std::exp(x); }},
      {"math.exp2", [](double x) { return std::exp2(x); }},
      {"math.expm1", [](double x) { return std::expm1(x); }},
      {"math.log", [](double x) { return std::log(x); }},
      {"math.log2", [](double x) { return std::log2(x); }},
      {"math.log10", [](double x) { return std::log10(x); }},
      {"math.log1p", [](double x) { return std::log1p(x); }},
      {"math.sqrt", [](double x) { return std::sqrt(x); }},
      {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"math.tanh", [](double x) { return std::tanh(x); }},
      {"math.sin", [](double x) { return std::sin(x); }},
      {"math.cos", [](double x) { return std::cos(x); }},
      {"math.tan", [](double x) { return std::tan(x); }},
      {"math.atan", [](double x) { return std::atan(x); }},
      {"math.erf", [](double x) { return std::erf(x); }},
      {"math.floor", [](double x) { return std::floor(x); }},
      {"math.ceil", [](double x) { return std::ceil(x); }},
      {"math.trunc", [](double x) { return std::trunc(x); }},
      {"math.round", [](double x) { return std::round(x); }},
      {"math.roundeven", [](double x) { return std::nearbyint(x); }},
  };
  return table;
}

static const llvm::StringMap<Real2> &binaryReals() {
  static const llvm::StringMap<Real2> table = {
      {"arith.addf", [](double a, double b) { return a + b; }},
      {"arith.subf", [](double a, double b) { return a - b; }},
      {"arith.mulf", [](double a, double b) { return a * b; }},
      {"arith.divf", [](double a, double b) { return a / b; }},
      {"arith.remf", [](double a, double b) { return std::fmod(a, b); }},
      {"arith.maximumf", maximum},
      {"arith.minimumf", minimum},
      {"arith.maxnumf", [](double a, double b) { return std::fmax(a, b); }},
      {"arith.minnumf", [](double a, double b) { return std::fmin(a, b); }},
      {"math.powf", [](double a, double b) { return std::pow(a, b); }},
      {"math.atan2", [](double a, double b) { return std::atan2(a, b); }},
      {"math.copysign", [](double a, double b) { return std::copysign(a, b); }},
  };
  return table;
}

static const llvm::StringMap<Integer2> &binaryIntegers() {
  using I = int64_t;
  using U = unsigned;
  static const llvm::StringMap<Integer2> table = {
      {"arith.addi", [](I a, I b, U) -> I { return static_cast<I>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }},
      {"arith.subi", [](I a, I b, U) -> I { return static_cast<I>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }},
      {"arith.muli", [](I a, I b, U) -> I { return static_cast<I>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }},
      {"arith.divsi", [](I a, I b, U) -> I { return a / b; }},
      {"arith.divui", [](I a, I b, U w) -> I { return asUnsigned(a, w) / asUnsigned(b, w); }},
      {"arith.remsi", [](I a, I b, U) -> I { return a % b; }},
      {"arith.remui", [](I a, I b, U w) -> I { return asUnsigned(a, w) % asUnsigned(b, w); }},
      {"arith.floordivsi", [](I a, I b, U) -> I { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }},
      {"arith.ceildivsi", [](I a, I b, U) -> I { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }},
      {"arith.ceildivui",
       [](I a, I b, U w) -> I { return asUnsigned(a, w) / asUnsigned(b, w) + (asUnsigned(a, w) % asUnsigned(b, w) != 0); }},
      {"arith.andi", [](I a, I b, U) -> I { return a & b; }},
      {"arith.ori", [](I a, I b, U) -> I { return a | b; }},
      {"arith.xori", [](I a, I b, U) -> I { return a ^ b; }},
      {"arith.shli", [](I a, I b, U) -> I { return static_cast<I>(static_cast<uint64_t>(a) << b); }},
      {"arith.shrsi", [](I a, I b, U) -> I { return a >> b; }},
      {"arith.shrui", [](I a, I b, U w) -> I { return asUnsigned(a, w) >> b; }},
      {"arith.maxsi", [](I a, I b, U) -> I { return std::max(a, b); }},
      {"arith.minsi", [](I a, I b, U) -> I { return std::min(a, b); }},
      {"arith.maxui", [](I a, I b, U w) -> I { return asUnsigned(a, w) > asUnsigned(b, w) ? a : b; }},
      {"arith.minui", [](I a, I b, U w) -> I { return asUnsigned(a, w) < asUnsigned(b, w) ? a : b; }},
  };
  return table;
}

/// Why a division has no value.
static std::optional<std::string> undefinedDivision(int64_t a, int64_t b, unsigned) {
  if (b == 0)
    return "divides " + std::to_string(a) + " by 0";
  return std::nullopt;
}

static std::optional<std::string> undefinedSignedDivision(int64_t a, int64_t b, unsigned width) {
  if (b == -1 && a == std::numeric_limits<int64_t>::min() >> (64 - width))
    return "divides " + std::to_string(a) + " by -1, which does not fit " + std::to_string(width) + " bits";
  return undefinedDivision(a, b, width);
}

static std::optional<std::string> undefinedShift(int64_t, int64_t b, unsigned width) {
  if (asUnsigned(b, width) >= width)
    return "shifts " + std::to_string(width) + " bits by " + std::to_string(b);
  return std::nullopt;
}

using Undefined = decltype(ElementOp::undefined);
static Undefined whenUndefined(Operation *op) {
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
    return undefinedDivision;
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op))
    return undefinedSignedDivision;
  return isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) ? undefinedShift : nullptr;
}

static unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

static bool compareIntegers(arith::CmpIPredicate predicate, int64_t a, int64_t b, unsigned width) {
  const uint64_t ua = asUnsigned(a, width), ub = asUnsigned(b, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  return false;
}

/// True for a predicate that holds for unordered operands.
static bool holdsForNan(arith::CmpFPredicate predicate) { return predicate > arith::CmpFPredicate::ORD; }

static bool compareReals(arith::CmpFPredicate predicate, double a, double b) {
  // Truth tables over (unordered, less, greater, equal) from the highest bit down. Predicates up to `ord` are their own; those that
  // hold for NaN follow in the same order without the empty one, which comes after them.
  unsigned table = static_cast<unsigned>(predicate);
  if (holdsForNan(predicate) && predicate != arith::CmpFPredicate::AlwaysTrue)
    table = predicate == arith::CmpFPredicate::UNO ? 8 : table + 1;
  const unsigned outcome = std::isnan(a) || std::isnan(b) ? 8 : a < b ? 4 : a > b ? 2 : 1;
  return table & outcome;
}

/// Bits of `value` in one format read in another of the same width.
static Number reinterpret(Number value, Format from, Format to) {
  uint8_t bytes[8];
  store(from, value, bytes);
  return load(to, bytes);
}

static double toReal(int64_t value, bool isUnsigned, unsigned width) {
  return isUnsigned ? static_cast<double>(asUnsigned(value, width)) : static_cast<double>(value);
}

/// Towards zero and, as PTX converts, to the nearest number that fits; NaN gives 0.
static int64_t toInteger(double value, bool isUnsigned, unsigned width) {
  if (std::isnan(value))
    return 0;
  const double end = std::ldexp(1.0, isUnsigned ? width : width - 1), least = isUnsigned ? 0 : -end;
  const uint64_t most = (isUnsigned ? uint64_t(2) << (width - 1) : uint64_t(1) << (width - 1)) - 1;
  if (value >= end)
    return static_cast<int64_t>(most);
  if (value <= least)
    return isUnsigned ? 0 : -static_cast<int64_t>(most) - 1;
  return isUnsigned ? static_cast<int64_t>(static_cast<uint64_t>(value)) : static_cast<int64_t>(value);
}

/// Conversions and everything whose meaning depends on types.
static std::shared_ptr<ElementOp> compileConversion(Operation *op, Format from, Format to) {
  const auto make = [](auto f) { return std::make_shared<ElementOp>(ElementOp{f}); };
  const unsigned width = widthOf(op->getOperand(0).getType());
  const StringRef name = op->getName().getStringRef();
  if (name == "arith.extf" || name == "arith.truncf")
    return make([to](const Number *x) { return ofReal(roundTo(to, x[0].real)); });
  if (name == "arith.extsi" || name == "arith.trunci" || name == "arith.index_cast") {
    // i1 is held as 0 or 1, its sign extension is 0 or -1.
    const bool isBit = from == Format::I1 && name != "arith.trunci";
    return make([to, isBit](const Number *x) { return ofInteger(wrapTo(to, isBit ? -x[0].integer : x[0].integer)); });
  }
  if (name == "arith.extui" || name == "arith.index_castui")
    return make([to, width](const Number *x) { return ofInteger(wrapTo(to, asUnsigned(x[0].integer, width))); });
  if (name == "arith.sitofp" || name == "arith.uitofp") {
    const bool isUnsigned = name == "arith.uitofp";
    return make([=](const Number *x) { return ofReal(roundTo(to, toReal(x[0].integer, isUnsigned, width))); });
  }
  if (name == "arith.fptosi" || name == "arith.fptoui")
    return make([to, isUnsigned = name == "arith.fptoui", bits = widthOf(op->getResult(0).getType())](const Number *x) {
      return ofInteger(wrapTo(to, toInteger(x[0].real, isUnsigned, bits)));
    });
  if (name == "arith.bitcast")
    return make([from, to](const Number *x) { return reinterpret(x[0], from, to); });
  return nullptr;
}

static std::shared_ptr<ElementOp> compileConstant(arith::ConstantOp op) {
  Number value;
  if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    value = ofReal(roundTo(*formatOf(real.getType()), real.getValueAsDouble()));
  else if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    value = ofInteger(integer.getType().isInteger(1) ? integer.getValue().getZExtValue() : integer.getValue().getSExtValue());
  else
    return nullptr;
  return std::make_shared<ElementOp>(ElementOp{[value](const Number *) { return value; }});
}

std::shared_ptr<ElementOp> emmy::simulator::compileElementOp(Operation *op) {
  const auto make = [](auto f) { return std::make_shared<ElementOp>(ElementOp{f}); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return compileConstant(constant);
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return nullptr;
  const std::optional<Format> to = formatOf(op->getResult(0).getType());
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return make([](const Number *x) { return x[0].integer ? x[1] : x[2]; });
  const std::optional<Format> from = formatOf(op->getOperand(0).getType());
  if (!to || !from)
    return nullptr;
  const unsigned width = widthOf(op->getOperand(0).getType());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return make([predicate = compare.getPredicate(), width](const Number *x) {
      return ofInteger(compareIntegers(predicate, x[0].integer, x[1].integer, width));
    });
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return make([predicate = compare.getPredicate()](const Number *x) {
      return ofInteger(compareReals(predicate, x[0].real, x[1].real));
    });
  if (isa<mlir::math::FmaOp>(op))
    return make([format = *to](const Number *x) {
      // f32 rounds once, which double arithmetic alone could not promise.
      return ofReal(format == Format::F32 ? std::fmaf(x[0].real, x[1].real, x[2].real)
                                          : roundTo(format, std::fma(x[0].real, x[1].real, x[2].real)));
    });
  if (isa<mlir::math::AbsIOp>(op))
    return make([format = *to](const Number *x) {
      const auto bits = static_cast<uint64_t>(x[0].integer); // the least number is its own absolute value
      return ofInteger(wrapTo(format, static_cast<int64_t>(x[0].integer < 0 ? 0 - bits : bits)));
    });
  const StringRef name = op->getName().getStringRef();
  if (Real1 f = unaryReals().lookup(name))
    return make([f, format = *to](const Number *x) { return ofReal(roundTo(format, f(x[0].real))); });
  if (Real2 f = binaryReals().lookup(name))
    return make([f, format = *to](const Number *x) { return ofReal(roundTo(format, f(x[0].real, x[1].real))); });
  if (Integer2 f = binaryIntegers().lookup(name)) {
    const auto compute = [f, format = *to, width](const Number *x) {
      return ofInteger(wrapTo(format, f(x[0].integer, x[1].integer, width)));
    };
    return std::make_shared<ElementOp>(ElementOp{compute, whenUndefined(op), width});
  }
  return compileConversion(op, *from, *to);
}
