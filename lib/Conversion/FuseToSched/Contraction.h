// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The class of kernels around one contraction: pointwise work before it, on its operands, and after it, on its result.
#ifndef EMMY_LIB_CONVERSION_FUSETOSCHED_CONTRACTION_H
#define EMMY_LIB_CONVERSION_FUSETOSCHED_CONTRACTION_H

#include "KernelClass.h"

namespace emmy::contraction {

/// A kernel's contraction with its axes sorted by the operands that have them.
struct Contraction {
  mutable fuse::ContractOp op; // a handle: a const description may ask it
  llvm::SmallVector<unsigned> batch, lhs, rhs, over; // in both and kept; in one; contracted
  fuse::LoadOp lhsLoad, rhsLoad;                     // null where an operand is computed
  llvm::SmallVector<fuse::StoreOp> stores;
};

/// The contraction of a kernel of this class; nothing if it is of another.
std::optional<Contraction> analyze(const KernelView &view);

/// A contraction with the roles that a schedule gives: `row` and `column` are the axes of its tile, `a` and `b` the operands over them.
struct Roles {
  unsigned row, column;
  mlir::Value a, b;
  fuse::LoadOp aLoad, bLoad;
  llvm::SmallVector<int64_t> blocks; // of every axis of the view
};

/// The roles under `schedule`; nothing if its tile does not name an axis of each operand.
std::optional<Roles> assignRoles(const Contraction &contraction, const KernelView &view, sched::ContractionAttr schedule);

/// Whether a result leaves through the copy engine: its address allows it and its columns are contiguous.
bool storesByTma(const KernelView &view, fuse::StoreOp store, sched::ContractionAttr schedule, const Roles &roles);

/// Bytes of shared memory a program of this schedule takes.
int64_t sharedBytes(const Contraction &contraction, const KernelView &view, sched::ContractionAttr schedule, const Roles &roles);

std::optional<std::string> violation(mlir::Attribute schedule, const KernelView &view, TargetAttr target);
Candidate rate(mlir::Attribute schedule, const KernelView &view, TargetAttr target);
llvm::SmallVector<Candidate> enumerate(const KernelView &view, TargetAttr target);
sched::ProgramOp apply(const KernelView &view, mlir::Attribute schedule, TargetAttr target);
KernelClass getClass();

} // namespace emmy::contraction

#endif // EMMY_LIB_CONVERSION_FUSETOSCHED_CONTRACTION_H
