// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Element offsets as sums over axes, and what the copy engine makes of them. Legality looks at a kernel's offsets before a program
// exists, and the lowering at a program's; both ask here.
#ifndef EMMY_SCHED_ADDRESSING_H
#define EMMY_SCHED_ADDRESSING_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace emmy::sched {

/// `constant` plus every atom times its coefficient. An atom is one dimension, or a floordiv or mod of dimensions; coefficients and
/// the constant hold symbols only. Atoms are distinct.
struct AddressSum {
  struct Term {
    mlir::AffineExpr atom, coefficient;
  };
  llvm::SmallVector<Term> terms;
  mlir::AffineExpr constant;

  /// The coefficient of a dimension that stands alone; null if it does not occur so.
  mlir::AffineExpr coefficientOf(unsigned dim) const;
  /// True if dimension `dim` occurs inside a floordiv or mod.
  bool isNested(unsigned dim) const;
  mlir::AffineExpr toExpr() const;
};

/// `expr` as a sum; nothing if it multiplies dimensions with each other.
std::optional<AddressSum> splitAddress(mlir::AffineExpr expr);

/// A dimension of an address: how far it goes, and how much of it one tile takes.
struct AddressDim {
  mlir::AffineExpr size;
  int64_t block;
};

/// One dimension of a TMA descriptor. The coordinate is an expression over the address' dimensions, for their first element.
struct TmaDim {
  mlir::AffineExpr coordinate, size, strideBytes;
  int64_t block;
  std::optional<unsigned> dim; // of the address, where the coordinate is one
};

/// A descriptor of everything an address can reach, outermost dimension first; the last has a stride of one element.
struct TmaPlan {
  llvm::SmallVector<TmaDim> dims;
  mlir::AffineExpr offsetBytes;
  std::string whyNot; // empty if the plan is good

  explicit operator bool() const { return whyNot.empty(); }
};

/// How the copy engine reads or writes tiles at `offset` (in elements) of a tensor aligned to `align` bytes. Dimensions with a block
/// above 1 are those of the tile.
TmaPlan planTma(mlir::AffineExpr offset, llvm::ArrayRef<AddressDim> dims, int64_t elementBytes, int64_t align);

/// Columns of the panels through which a tile of `columns` leaves, the widest result having elements of `bytes`: 64, 32 or 16, one
/// swizzle span at most.
int64_t panelColumns(int64_t columns, int64_t bytes);

} // namespace emmy::sched

#endif // EMMY_SCHED_ADDRESSING_H
