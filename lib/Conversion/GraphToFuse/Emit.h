// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From a planned kernel to `emmy_fuse.kernel` and the launch that calls it.
#ifndef EMMY_LIB_CONVERSION_GRAPHTOFUSE_EMIT_H
#define EMMY_LIB_CONVERSION_GRAPHTOFUSE_EMIT_H

#include "Plan.h"
#include "dialects/Fuse/Fuse.h"
#include "llvm/ADT/StringSet.h"

namespace emmy {

/// A readable name for each axis; empty for those that the kernel does not use.
llvm::SmallVector<std::string> nameAxes(const PlannedKernel &kernel);
/// A name that tells what the kernel does, from the ops that it came from.
std::string nameKernel(const PlannedKernel &kernel);

/// Replaces the primitives of `func` by launches of kernels, which go before it.
void emitKernels(mlir::func::FuncOp func, const FusionPlan &plan);

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_GRAPHTOFUSE_EMIT_H
