// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The class of kernels that fold over an axis with products on both sides of it: products along other axes make values over the
// fold's axis, pointwise work and reductions of these follow, and products along the fold's axis add to what the fold carries.
#ifndef EMMY_LIB_CONVERSION_FUSETOSCHED_CHAIN_H
#define EMMY_LIB_CONVERSION_FUSETOSCHED_CHAIN_H

#include "KernelClass.h"

namespace emmy::chain {

/// A product along an axis of its own, over the row axis and the fold's.
struct ScoreProduct {
  mutable fuse::ContractOp op;
  fuse::LoadOp rows, streamed; // over the row axis, over the fold's
  unsigned depth;              // the contracted axis
};

/// A product along the fold's axis: carried value `carried` is `base` of what was carried, plus the product.
struct ValueProduct {
  mutable fuse::ContractOp op;
  mlir::Value weights;
  fuse::LoadOp streamed;
  unsigned column; // the axis that only `streamed` has
  fuse::MapOp merge;
  mlir::Value base; // in the region of `merge`
  unsigned carried;
};

struct Chain {
  mutable fuse::FoldOp fold;
  unsigned row, over;
  llvm::SmallVector<ScoreProduct> scores;
  llvm::SmallVector<ValueProduct> values;
  llvm::SmallVector<fuse::StoreOp> stores;
};

/// The chain of a kernel of this class; nothing if it is of another.
std::optional<Chain> analyze(const KernelView &view);

/// Block sizes of every axis of the view.
llvm::SmallVector<int64_t> blocksOf(const Chain &chain, const KernelView &view, sched::ChainAttr schedule);
/// Elements of a whole axis in panels of one swizzle span; 0 for an axis of unknown size.
int64_t paddedSize(const KernelView &view, unsigned axis);
/// Whether a result leaves through the copy engine.
bool storesByTma(const Chain &chain, const KernelView &view, fuse::StoreOp store, sched::ChainAttr schedule);
/// Bytes of shared memory a program of this schedule takes.
int64_t sharedBytes(const Chain &chain, const KernelView &view, sched::ChainAttr schedule);
/// Registers of a consumer's thread that tiles take at least.
int64_t tileRegisters(const Chain &chain, const KernelView &view, int64_t step);

/// What blocks of the fold's axis a block of rows needs. With `marks`, conditions that hold in the plain range get `emmy_sched.plain`.
sched::RangeAttr rangeOf(const Chain &chain, const KernelView &view, sched::ChainAttr schedule, bool marks);
/// Whether a block of the fold changes nothing that it carries when `condition` is false for all of it, by evaluating the body on
/// samples.
bool isNeutralWithout(const Chain &chain, mlir::Operation *condition);
/// Rewrites maps of `program`: positive factors move past maxima into what follows, exponentials become powers of two, roundings of
/// products' operands stand alone. Exact but for the last place of exponents.
void simplifyMaps(sched::ProgramOp program);

std::optional<std::string> violation(mlir::Attribute schedule, const KernelView &view, TargetAttr target);
Candidate rate(mlir::Attribute schedule, const KernelView &view, TargetAttr target);
llvm::SmallVector<Candidate> enumerate(const KernelView &view, TargetAttr target);
sched::ProgramOp apply(const KernelView &view, mlir::Attribute schedule, TargetAttr target);
KernelClass getClass();

} // namespace emmy::chain

#endif // EMMY_LIB_CONVERSION_FUSETOSCHED_CHAIN_H
