// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which values of a host function live in memory, and which kernels make them.
#ifndef EMMY_LIB_CONVERSION_GRAPHTOFUSE_PLAN_H
#define EMMY_LIB_CONVERSION_GRAPHTOFUSE_PLAN_H

#include "Legality.h"
#include "Pull.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace emmy {

struct PlannedKernel {
  llvm::SmallVector<mlir::Value, 2> outputs;
  KernelDag dag;
  KernelClass kind;
};

/// Kernels in an order in which each finds its inputs made.
struct FusionPlan {
  std::vector<PlannedKernel> kernels;
  unsigned numMerged = 0; // producers that moved into a consumer's kernel
  unsigned numKept = 0;   // producers that could have moved and did not
};

/// Decides; changes nothing. Every decision leaves a remark. With `separate`, no kernels merge.
FusionPlan planFusion(mlir::func::FuncOp func, bool separate);

/// Forward from a contraction or reduction through the element-wise work that only it feeds: the last value of that.
mlir::Value extendEpilogue(const IndexMath &math, mlir::Value anchor, const llvm::SetVector<mlir::Value> &materialised,
                           const llvm::DenseSet<mlir::Operation *> &taken);

/// Forward from a value through the views that only it feeds, while the addresses of its elements stay plain.
mlir::Value extendViews(const IndexMath &math, mlir::Value value);

/// The ranges of a function's symbols.
IndexMath getIndexMath(mlir::func::FuncOp func);

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_GRAPHTOFUSE_PLAN_H
