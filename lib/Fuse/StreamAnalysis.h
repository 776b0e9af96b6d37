// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How reductions along one axis depend on each other: what must be known to run them in one pass over that axis.
#ifndef EMMY_LIB_FUSE_STREAMANALYSIS_H
#define EMMY_LIB_FUSE_STREAMANALYSIS_H

#include "dialects/Fuse/Fuse.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace emmy::fuse {

/// A scalar inside a map's region that does not vary over the axis but depends on reductions along it.
struct Factor {
  mlir::Value scalar; // in the region of `map`
  MapOp map;
  bool divides;
  bool operator==(const Factor &other) const { return scalar == other.scalar && divides == other.divides; }
};

/// exp(… + coefficient * scalar): the only other way in which a summand may depend on a reduction before it.
struct Exponent {
  mlir::Value scalar; // in the region of `map`; does not vary over the axis
  MapOp map;
  double coefficient;
  bool operator==(const Exponent &other) const { return scalar == other.scalar && coefficient == other.coefficient; }
};

/// One reduction: its result is the product of `factors` and a sum of terms that change by exp(Σ coefficient * Δscalar) when the
/// exponents' scalars do.
struct StreamedReduction {
  mlir::Operation *op; // ReduceOp or ContractOp
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<Exponent> exponents;
  /// The reduction whose mean this one's squares are taken around (Welford), and the values being summed there.
  mlir::Operation *meanOf = nullptr;
  mlir::Value samples;
};

struct Stream {
  mlir::StringAttr axis;
  llvm::SmallVector<StreamedReduction> reductions; // operands before users
  /// Values of the kernel that depend on one of the reductions.
  llvm::DenseSet<mlir::Value> dependent;
  /// Multiplications and divisions by a factor, and what stands in for their result inside the stream.
  llvm::DenseMap<mlir::Operation *, mlir::Value> dropped;
  bool isChain = false; // some summand depends on another reduction or contraction
  std::string whyNot;   // empty if the reductions can run in one pass

  bool hasContraction() const;
};

/// Analyses all reductions of `kernel` along `axis` alone.
Stream analyseStream(KernelOp kernel, mlir::StringAttr axis);

/// Numbers of the region arguments of `map` that `scalar` is computed from.
llvm::SetVector<unsigned> collectArguments(mlir::Value scalar);

/// Whether `value` varies over `axis`.
bool variesOver(mlir::Value value, mlir::StringAttr axis);

} // namespace emmy::fuse

#endif // EMMY_LIB_FUSE_STREAMANALYSIS_H
