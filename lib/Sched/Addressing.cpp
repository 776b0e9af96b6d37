// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums over axes and TMA descriptors from them.
#include "emmy/Sched/Addressing.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace emmy::sched {

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

AffineExpr AddressSum::coefficientOf(unsigned dim) const {
  for (const Term &term : terms)
    if (auto atom = dyn_cast<AffineDimExpr>(term.atom); atom && atom.getPosition() == dim)
      return term.coefficient;
  return {};
}

bool AddressSum::isNested(unsigned dim) const {
  return llvm::any_of(terms, [&](const Term &term) { return !isa<AffineDimExpr>(term.atom) && term.atom.isFunctionOfDim(dim); });
}

AffineExpr AddressSum::toExpr() const {
  AffineExpr sum;
  for (const Term &term : terms)
    sum = sum ? sum + term.atom * term.coefficient : term.atom * term.coefficient;
  return sum ? sum + constant : constant;
}

static bool addTerms(AffineExpr expr, AffineExpr coefficient, AddressSum &sum) {
  if (expr.isSymbolicOrConstant()) {
    sum.constant = sum.constant + expr * coefficient;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::Add)
    return addTerms(binary.getLHS(), coefficient, sum) && addTerms(binary.getRHS(), coefficient, sum);
  if (binary && binary.getKind() == AffineExprKind::Mul) {
    AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
    if (lhs.isSymbolicOrConstant())
      std::swap(lhs, rhs);
    return rhs.isSymbolicOrConstant() && addTerms(lhs, rhs * coefficient, sum);
  }
  for (AddressSum::Term &term : sum.terms)
    if (term.atom == expr) {
      term.coefficient = term.coefficient + coefficient;
      return true;
    }
  sum.terms.push_back({expr, coefficient});
  return true;
}

std::optional<AddressSum> splitAddress(AffineExpr expr) {
  AddressSum sum;
  sum.constant = getAffineConstantExpr(0, expr.getContext());
  if (!addTerms(expr, getAffineConstantExpr(1, expr.getContext()), sum))
    return std::nullopt;
  llvm::erase_if(sum.terms, [](const AddressSum::Term &term) { return term.coefficient == 0; });
  return sum;
}

//===----------------------------------------------------------------------===//
// TMA
//===----------------------------------------------------------------------===//

/// Number of values that `atom`, a floordiv or mod of dimensions from 0 on, can take; null if that is not plain.
static AffineExpr extentOf(AffineExpr atom, ArrayRef<AddressDim> dims) {
  auto binary = cast<AffineBinaryOpExpr>(atom);
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!divisor || divisor.getValue() < 1)
    return {};
  if (binary.getKind() == AffineExprKind::Mod)
    return divisor;
  auto inner = dyn_cast<AffineDimExpr>(binary.getLHS());
  if (binary.getKind() != AffineExprKind::FloorDiv || !inner)
    return {};
  return dims[inner.getPosition()].size.ceilDiv(divisor);
}

TmaPlan planTma(AffineExpr offset, ArrayRef<AddressDim> dims, int64_t elementBytes, int64_t align) {
  TmaPlan plan;
  auto refuse = [&](const std::string &why) {
    plan.whyNot = why;
    return plan;
  };
  std::optional<AddressSum> sum = splitAddress(offset);
  if (!sum)
    return refuse("its address is not a sum over axes");
  SmallVector<TmaDim> outer, tile;
  std::optional<TmaDim> innermost;
  for (const AddressSum::Term &term : sum->terms) {
    TmaDim dim{term.atom, {}, term.coefficient * elementBytes, 1, std::nullopt};
    if (auto axis = dyn_cast<AffineDimExpr>(term.atom)) {
      if (axis.getPosition() >= dims.size())
        return refuse("its address uses loaded indices");
      dim.dim = axis.getPosition();
      dim.size = dims[axis.getPosition()].size;
      dim.block = dims[axis.getPosition()].block;
    } else {
      for (auto [i, axis] : llvm::enumerate(dims))
        if (axis.block > 1 && term.atom.isFunctionOfDim(i))
          return refuse("its address divides an axis of the tile");
      dim.size = extentOf(term.atom, dims);
      if (!dim.size)
        return refuse("its address has a term without plain bounds");
    }
    auto constant = dyn_cast<AffineConstantExpr>(term.coefficient);
    if (constant && constant.getValue() < 0)
      return refuse("it runs backwards along an axis");
    if (dim.block > 1 && constant && constant.getValue() == 1 && !innermost) {
      innermost = dim;
      continue;
    }
    if (!dim.strideBytes.isMultipleOf(16))
      return refuse("it has a stride that is not a multiple of 16 bytes");
    (dim.block > 1 ? tile : outer).push_back(dim);
  }
  if (!innermost)
    return refuse("it has no axis of stride 1 in the tile");
  for (auto [i, axis] : llvm::enumerate(dims))
    if (axis.block > 1 && !sum->coefficientOf(i))
      return refuse("it does not vary along an axis of the tile");
  plan.offsetBytes = sum->constant * elementBytes;
  if (align % 16 || !plan.offsetBytes.isMultipleOf(16))
    return refuse("it does not start at a multiple of 16 bytes");
  llvm::append_range(plan.dims, outer);
  llvm::append_range(plan.dims, tile);
  plan.dims.push_back(*innermost);
  if (plan.dims.size() > 5)
    return refuse("it has more than five dimensions");
  return plan;
}

int64_t panelColumns(int64_t columns, int64_t bytes) {
  for (int64_t panel : {64, 32})
    if (panel * bytes <= 128 && columns % panel == 0)
      return panel;
  return 16;
}

} // namespace emmy::sched
