// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The class of kernels that stream their tensors through registers: element-wise work and reductions. Any kernel can run so.
#ifndef EMMY_LIB_CONVERSION_FUSETOSCHED_STREAMING_H
#define EMMY_LIB_CONVERSION_FUSETOSCHED_STREAMING_H

#include "KernelClass.h"

namespace emmy::streaming {

inline llvm::SmallVector<mlir::StringAttr> toAxes(mlir::ArrayAttr attr) { return llvm::to_vector(attr.getAsRange<mlir::StringAttr>()); }
inline mlir::ArrayAttr toArray(mlir::MLIRContext *context, llvm::ArrayRef<mlir::StringAttr> axes) {
  return mlir::ArrayAttr::get(context, llvm::SmallVector<mlir::Attribute>(axes.begin(), axes.end()));
}

/// Bytes of a tensor, with so many elements along each symbolic axis.
double tensorBytes(mlir::Type tensor, double unknown);

/// Axes that a kernel reduces, contracts or folds over, in its order.
llvm::SmallVector<mlir::StringAttr> reducedAxes(fuse::KernelOp kernel);

/// Offset of an access' element from the tensor's first, over the dimensions of `map`.
mlir::AffineExpr flatOffset(fuse::KernelOp kernel, mlir::Value tensor, mlir::AffineMap map);

/// The rule of the class that `schedule` violates; nothing if it is legal.
std::optional<std::string> checkSchedule(sched::StreamingAttr schedule, fuse::KernelOp kernel, TargetAttr target);

/// A legal schedule for any kernel, from the sizes of its axes and the layouts of its tensors.
sched::StreamingAttr pickSchedule(fuse::KernelOp kernel, TargetAttr target);

/// The tile program of `kernel` under a legal schedule, placed before it; the kernel stays.
mlir::FailureOr<sched::ProgramOp> applySchedule(fuse::KernelOp kernel, sched::StreamingAttr schedule);

KernelClass getClass();

} // namespace emmy::streaming

#endif // EMMY_LIB_CONVERSION_FUSETOSCHED_STREAMING_H
