// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arithmetic on index expressions: dimensions are axes whose sizes are known, symbols are sizes of tensors.
// Views become addressing only because what they do to an index simplifies: (h * 128 + d) floordiv 128 is h.
#ifndef EMMY_LIB_CONVERSION_GRAPHTOFUSE_INDEXMATH_H
#define EMMY_LIB_CONVERSION_GRAPHTOFUSE_INDEXMATH_H

#include "mlir/IR/AffineExpr.h"
#include <map>
#include <optional>

namespace emmy {

/// A product of atoms, in the order of `compareAtoms`.
using Monomial = llvm::SmallVector<mlir::AffineExpr, 2>;
struct MonomialLess {
  bool operator()(const Monomial &a, const Monomial &b) const;
};
/// A sum of monomials with their coefficients, none of them 0. Atoms are dimensions, symbols and irreducible quotients.
using Poly = std::map<Monomial, int64_t, MonomialLess>;

class IndexMath {
public:
  explicit IndexMath(mlir::MLIRContext *context) : context(context) {}

  /// Declares dimension `axisSizes.size()`; a null size is an index without known bounds.
  void addDim(mlir::AffineExpr size) { dimSizes.push_back(size); }
  /// Smallest value of symbol `position`; 1 where nothing was said.
  void setSymbolRange(unsigned position, int64_t low, int64_t high) { symbolRanges[position] = {low, high}; }

  /// `expr` in the one order that equal expressions share, without quotients and remainders that bounds decide.
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const;
  /// Whether 0 <= expr < size for all values of dimensions and symbols, as far as can be told.
  bool isWithin(mlir::AffineExpr expr, mlir::AffineExpr size) const;
  bool areEqual(mlir::AffineExpr a, mlir::AffineExpr b) const { return simplify(a - b) == getConstant(0); }
  /// a / b where b divides every term of a.
  std::optional<mlir::AffineExpr> divide(mlir::AffineExpr a, mlir::AffineExpr b) const;
  /// A number to weigh costs with: each symbol stands for a middling value of its range.
  double estimate(mlir::AffineExpr expr) const;

  /// The index into a tensor of sizes `to` of the element that `index` names in a tensor of sizes `from`, same order of elements.
  llvm::SmallVector<mlir::AffineExpr> reshape(llvm::ArrayRef<mlir::AffineExpr> index, llvm::ArrayRef<mlir::AffineExpr> from,
                                              llvm::ArrayRef<mlir::AffineExpr> to) const;
  /// Sizes into which dimension `dim` of `sizes` splits so that a reshape to or from `other` only joins and cuts whole pieces,
  /// outermost first; one size where it need not or cannot split.
  llvm::SmallVector<mlir::AffineExpr> refine(llvm::ArrayRef<mlir::AffineExpr> sizes, unsigned dim,
                                             llvm::ArrayRef<mlir::AffineExpr> other) const;
  mlir::AffineExpr getConstant(int64_t value) const { return mlir::getAffineConstantExpr(value, context); }
  mlir::MLIRContext *getContext() const { return context; }

private:
  Poly toPoly(mlir::AffineExpr expr) const;
  mlir::AffineExpr toExpr(const Poly &poly) const;
  Poly floorDiv(const Poly &a, const Poly &d) const;
  Poly mod(const Poly &a, const Poly &d) const;
  Poly recombine(Poly poly) const;
  /// Bounds of an atom as polynomials over symbols.
  std::optional<Poly> bound(mlir::AffineExpr atom, bool upper) const;
  std::optional<Poly> bound(const Poly &poly, bool upper) const;
  bool isNonNegative(const Poly &poly) const;
  bool isWithin(const Poly &poly, const Poly &size) const;

  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::AffineExpr> dimSizes;
  std::map<unsigned, std::pair<int64_t, int64_t>> symbolRanges;
};

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_GRAPHTOFUSE_INDEXMATH_H
