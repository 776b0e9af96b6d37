// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Index expressions as polynomials over atoms, so that equal ones look equal and divisions by sizes cancel.
#include "IndexMath.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;

namespace emmy {

/// What an atom is ordered by first: its outermost axis, so that sums read in the order of axes; symbols come last.
static unsigned leadingDim(AffineExpr atom) {
  unsigned leading = ~0u;
  atom.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      leading = std::min(leading, dim.getPosition());
  });
  return leading;
}

/// A total order that does not depend on addresses.
static int compareAtoms(AffineExpr a, AffineExpr b) {
  if (a == b)
    return 0;
  if (unsigned x = leadingDim(a), y = leadingDim(b); x != y)
    return x < y ? -1 : 1;
  if (a.getKind() != b.getKind())
    return int(a.getKind()) - int(b.getKind());
  if (auto dim = dyn_cast<AffineDimExpr>(a))
    return int(dim.getPosition()) - int(cast<AffineDimExpr>(b).getPosition());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(a))
    return int(symbol.getPosition()) - int(cast<AffineSymbolExpr>(b).getPosition());
  if (auto constant = dyn_cast<AffineConstantExpr>(a))
    return constant.getValue() < cast<AffineConstantExpr>(b).getValue() ? -1 : 1;
  auto left = cast<AffineBinaryOpExpr>(a), right = cast<AffineBinaryOpExpr>(b);
  int order = compareAtoms(left.getLHS(), right.getLHS());
  return order ? order : compareAtoms(left.getRHS(), right.getRHS());
}

static bool lessAtom(AffineExpr a, AffineExpr b) { return compareAtoms(a, b) < 0; }

bool MonomialLess::operator()(const Monomial &a, const Monomial &b) const {
  for (auto [x, y] : llvm::zip(a, b))
    if (int order = compareAtoms(x, y))
      return order < 0;
  return a.size() > b.size(); // the constant term comes last
}

static void addTerm(Poly &poly, const Monomial &monomial, int64_t coefficient) {
  auto it = poly.try_emplace(monomial, 0).first;
  it->second += coefficient;
  if (it->second == 0)
    poly.erase(it);
}

static Poly add(Poly a, const Poly &b, int64_t factor = 1) {
  for (const auto &[monomial, coefficient] : b)
    addTerm(a, monomial, coefficient * factor);
  return a;
}

static Poly multiply(const Poly &a, const Poly &b) {
  Poly out;
  for (const auto &[m, c] : a)
    for (const auto &[n, d] : b) {
      Monomial product(m);
      product.append(n.begin(), n.end());
      llvm::sort(product, lessAtom);
      addTerm(out, product, c * d);
    }
  return out;
}

static Poly constantPoly(int64_t value) { return value ? Poly{{Monomial(), value}} : Poly(); }

static std::optional<int64_t> getConstantValue(const Poly &poly) {
  if (poly.empty())
    return 0;
  if (poly.size() == 1 && poly.begin()->first.empty())
    return poly.begin()->second;
  return std::nullopt;
}

/// m / d where d's atoms are all among m's.
static std::optional<Monomial> divideMonomial(const Monomial &m, const Monomial &d) {
  Monomial rest(m);
  for (AffineExpr atom : d) {
    auto it = llvm::find(rest, atom);
    if (it == rest.end())
      return std::nullopt;
    rest.erase(it);
  }
  return rest;
}

/// The terms of `a` that `d`, one term, divides, divided; and the other terms.
static std::pair<Poly, Poly> split(const Poly &a, const Poly &d) {
  Poly quotient, rest;
  if (d.size() != 1)
    return {quotient, a};
  const auto &[monomial, coefficient] = *d.begin();
  for (const auto &[m, c] : a) {
    std::optional<Monomial> divided = divideMonomial(m, monomial);
    if (divided && c % coefficient == 0)
      addTerm(quotient, *divided, c / coefficient);
    else
      addTerm(rest, m, c);
  }
  return {quotient, rest};
}

Poly IndexMath::toPoly(AffineExpr expr) const {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return constantPoly(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
  case AffineExprKind::SymbolId:
    return Poly{{Monomial{expr}, 1}};
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Poly lhs = toPoly(binary.getLHS()), rhs = toPoly(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(lhs, rhs);
  case AffineExprKind::Mul:
    return multiply(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return floorDiv(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return floorDiv(add(add(lhs, rhs), constantPoly(-1)), rhs);
  default:
    return mod(lhs, rhs);
  }
}

AffineExpr IndexMath::toExpr(const Poly &poly) const {
  AffineExpr sum = getConstant(0);
  for (const auto &[monomial, coefficient] : poly) {
    AffineExpr product = getConstant(1);
    for (AffineExpr atom : monomial)
      product = product * atom;
    sum = sum + product * coefficient;
  }
  return sum;
}

AffineExpr IndexMath::simplify(AffineExpr expr) const { return toExpr(recombine(toPoly(expr))); }

std::optional<AffineExpr> IndexMath::divide(AffineExpr a, AffineExpr b) const {
  auto [quotient, rest] = split(toPoly(a), toPoly(b));
  if (!rest.empty())
    return std::nullopt;
  return toExpr(quotient);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

std::optional<Poly> IndexMath::bound(AffineExpr atom, bool upper) const {
  if (isa<AffineSymbolExpr>(atom))
    return Poly{{Monomial{atom}, 1}};
  if (auto dim = dyn_cast<AffineDimExpr>(atom)) {
    if (dim.getPosition() >= dimSizes.size() || !dimSizes[dim.getPosition()])
      return std::nullopt;
    return upper ? add(toPoly(dimSizes[dim.getPosition()]), constantPoly(-1)) : Poly();
  }
  auto binary = cast<AffineBinaryOpExpr>(atom);
  if (atom.getKind() == AffineExprKind::Mod)
    return upper ? add(toPoly(binary.getRHS()), constantPoly(-1)) : Poly();
  std::optional<Poly> low = bound(toPoly(binary.getLHS()), /*upper=*/false);
  if (!low || !isNonNegative(*low))
    return std::nullopt;
  if (!upper)
    return Poly();
  std::optional<Poly> high = bound(toPoly(binary.getLHS()), /*upper=*/true);
  if (!high)
    return std::nullopt;
  std::optional<int64_t> a = getConstantValue(*high), d = getConstantValue(toPoly(binary.getRHS()));
  if (a && d && *d > 0)
    return constantPoly(*a / *d);
  return high; // a quotient by at least 1 is no larger
}

std::optional<Poly> IndexMath::bound(const Poly &poly, bool upper) const {
  Poly sum;
  for (const auto &[monomial, coefficient] : poly) {
    Poly product = constantPoly(coefficient);
    for (AffineExpr atom : monomial) {
      std::optional<Poly> limit = bound(atom, (coefficient > 0) == upper);
      if (!limit)
        return std::nullopt;
      product = multiply(product, *limit);
    }
    sum = add(sum, product);
  }
  return sum;
}

/// Enough, not necessary: with each symbol written as its least value plus something, no coefficient is negative.
bool IndexMath::isNonNegative(const Poly &poly) const {
  Poly shifted;
  for (const auto &[monomial, coefficient] : poly) {
    Poly product = constantPoly(coefficient);
    for (AffineExpr atom : monomial) {
      Poly factor{{Monomial{atom}, 1}};
      if (auto symbol = dyn_cast<AffineSymbolExpr>(atom)) {
        auto it = symbolRanges.find(symbol.getPosition());
        factor = add(factor, constantPoly(it == symbolRanges.end() ? 1 : it->second.first));
      }
      product = multiply(product, factor);
    }
    shifted = add(shifted, product);
  }
  return llvm::all_of(shifted, [](const auto &term) { return term.second > 0; });
}

bool IndexMath::isWithin(const Poly &poly, const Poly &size) const {
  std::optional<Poly> low = bound(poly, false), high = bound(poly, true);
  return low && high && isNonNegative(*low) && isNonNegative(add(add(size, constantPoly(-1)), *high, -1));
}

bool IndexMath::isWithin(AffineExpr expr, AffineExpr size) const { return isWithin(toPoly(expr), toPoly(size)); }

double IndexMath::estimate(AffineExpr expr) const {
  double sum = 0;
  for (const auto &[monomial, coefficient] : toPoly(expr)) {
    double product = coefficient;
    for (AffineExpr atom : monomial) {
      double value = 1024;
      if (auto symbol = dyn_cast<AffineSymbolExpr>(atom))
        if (auto it = symbolRanges.find(symbol.getPosition()); it != symbolRanges.end())
          value = std::max<double>(it->second.first, std::min<double>(value, it->second.second)); // text may hold an empty range
      product *= value;
    }
    sum += product;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Quotients and remainders
//===----------------------------------------------------------------------===//

/// What divides both one term of `rest` and `d`, if it is neither 1 nor `d`.
static std::optional<Poly> commonFactor(const Monomial &monomial, int64_t coefficient, const Poly &d) {
  if (d.size() != 1)
    return std::nullopt;
  Monomial common, left(d.begin()->first);
  for (AffineExpr atom : monomial)
    if (auto it = llvm::find(left, atom); it != left.end()) {
      common.push_back(atom);
      left.erase(it);
    }
  int64_t divisor = std::gcd(coefficient, d.begin()->second);
  if ((common.empty() && divisor == 1) || (left.empty() && divisor == d.begin()->second))
    return std::nullopt;
  return Poly{{common, divisor}};
}

Poly IndexMath::floorDiv(const Poly &a, const Poly &d) const {
  std::optional<int64_t> constantD = getConstantValue(d), constantA = getConstantValue(a);
  if (constantD && *constantD <= 0) // an empty tensor: no such index is ever computed
    return Poly();
  if (constantD == 1)
    return a;
  if (constantA && constantD)
    return constantPoly(*constantA >= 0 ? *constantA / *constantD : -((-*constantA + *constantD - 1) / *constantD));
  if (a == d)
    return constantPoly(1);
  auto [quotient, rest] = split(a, d);
  if (isWithin(rest, d))
    return quotient;
  for (const auto &[monomial, coefficient] : rest)
    if (std::optional<Poly> common = commonFactor(monomial, coefficient, d)) {
      auto [high, low] = split(rest, *common);
      if (!high.empty() && isWithin(low, *common))
        return add(quotient, floorDiv(high, split(d, *common).first));
    }
  if (rest.size() == 1 && rest.begin()->second == 1 && rest.begin()->first.size() == 1)
    if (AffineExpr atom = rest.begin()->first[0]; atom.getKind() == AffineExprKind::FloorDiv) {
      auto inner = cast<AffineBinaryOpExpr>(atom);
      return add(quotient, floorDiv(toPoly(inner.getLHS()), multiply(toPoly(inner.getRHS()), d)));
    }
  AffineExpr atom = getAffineBinaryOpExpr(AffineExprKind::FloorDiv, toExpr(rest), toExpr(d));
  return add(quotient, Poly{{Monomial{atom}, 1}});
}

Poly IndexMath::mod(const Poly &a, const Poly &d) const {
  std::optional<int64_t> constantD = getConstantValue(d), constantA = getConstantValue(a);
  if (constantD && *constantD <= 1)
    return Poly();
  if (constantA && constantD)
    return constantPoly(((*constantA % *constantD) + *constantD) % *constantD);
  if (a == d)
    return Poly();
  Poly rest = split(a, d).second;
  if (isWithin(rest, d))
    return rest;
  for (const auto &[monomial, coefficient] : rest)
    if (std::optional<Poly> common = commonFactor(monomial, coefficient, d)) {
      auto [high, low] = split(rest, *common);
      if (!high.empty() && isWithin(low, *common))
        return add(multiply(*common, mod(high, split(d, *common).first)), low);
    }
  AffineExpr atom = getAffineBinaryOpExpr(AffineExprKind::Mod, toExpr(rest), toExpr(d));
  return Poly{{Monomial{atom}, 1}};
}

/// (x floordiv c) * c + x mod c is x, times any common factor.
Poly IndexMath::recombine(Poly poly) const {
  for (const auto &[monomial, coefficient] : poly)
    for (AffineExpr atom : monomial) {
      if (atom.getKind() != AffineExprKind::Mod)
        continue;
      auto remainder = cast<AffineBinaryOpExpr>(atom);
      Poly factor{{*divideMonomial(monomial, {atom}), coefficient}};
      Poly quotient = floorDiv(toPoly(remainder.getLHS()), toPoly(remainder.getRHS()));
      Poly wanted = multiply(factor, multiply(quotient, toPoly(remainder.getRHS())));
      bool present = llvm::all_of(wanted, [&](const auto &term) {
        auto it = poly.find(term.first);
        return it != poly.end() && it->second == term.second;
      });
      if (!present || wanted.empty())
        continue;
      Poly reduced = add(add(poly, wanted, -1), Poly{{monomial, coefficient}}, -1);
      return recombine(add(reduced, multiply(factor, toPoly(remainder.getLHS()))));
    }
  return poly;
}

} // namespace emmy
