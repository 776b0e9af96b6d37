// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Surgery on kernels for --emmy-split-reductions: a kernel of some of its reductions alone, that kernel with the reduced axes cut
// into parts, and what is left of the first one.
#ifndef EMMY_LIB_CONVERSION_FUSETOSCHED_REDUCTIONPARTS_H
#define EMMY_LIB_CONVERSION_FUSETOSCHED_REDUCTIONPARTS_H

#include "dialects/Sched/Sched.h"
#include "dialects/Fuse/Fuse.h"

namespace emmy::streaming {

/// How a reduced axis is cut. Its index is ((turn·parts + part)·items + item)·lanes + lane: turns come one after the other, parts go
/// to different CTAs, items to different registers and lanes to different threads or elements of a vector. Where these are more than
/// the axis has, the rest does not count.
struct AxisParts {
  mlir::StringAttr axis;
  mlir::AffineExpr size, turns;
  int64_t parts = 1, items = 1, lanes = 1;

  bool isExact() const { return turns * (parts * items * lanes) == size; }
};

/// A kernel of the reductions alone, placed before theirs; its outputs are their results.
struct Isolated {
  fuse::KernelOp kernel;
  llvm::SmallVector<unsigned> inputs; // of the kernel that they were taken from
};
Isolated isolate(fuse::KernelOp kernel, llvm::ArrayRef<fuse::ReduceOp> reductions, const llvm::Twine &name);

/// `isolated`, with a schedule of unsplit axes, as a kernel of partial results placed before it, which has its own schedule. Outputs
/// gain one leading dimension for each axis with more than one part.
fuse::KernelOp cutIntoParts(fuse::KernelOp isolated, const llvm::Twine &name, llvm::ArrayRef<AxisParts> cuts, sched::StreamingAttr schedule);

/// Makes the reductions combinations of partial results, which become new inputs of `kernel`; drops what nothing needs then. Gives the
/// old inputs that are left.
llvm::SmallVector<unsigned> combineParts(fuse::KernelOp kernel, llvm::ArrayRef<fuse::ReduceOp> reductions,
                                         llvm::ArrayRef<AxisParts> cuts, bool keepInputs);

} // namespace emmy::streaming

#endif // EMMY_LIB_CONVERSION_FUSETOSCHED_REDUCTIONPARTS_H
