// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which tensors of a host program share memory, and what that memory is.
#ifndef EMMY_LIB_PLAN_HOSTBUFFERS_H
#define EMMY_LIB_PLAN_HOSTBUFFERS_H

#include "dialects/Base/Base.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace emmy {

constexpr llvm::StringLiteral kOffsetsAttr = "emmy.offsets"; // of a launch's results, in the arena; -1: elsewhere
constexpr llvm::StringLiteral kArenaAttr = "emmy.arena";     // bytes, on the host function

/// A piece of memory: an argument's, an output's, or a temporary.
struct HostBuffer {
  enum Kind { Argument, Output, Temporary } kind;
  mlir::Value root; // the argument, or the result of the launch that first writes it
  bool written = false;
};

struct HostBuffers {
  explicit HostBuffers(mlir::func::FuncOp host);
  /// Number of the buffer that holds `value`, a tensor.
  unsigned lookup(mlir::Value value) const { return numbers.lookup(value); }

  llvm::SmallVector<HostBuffer> buffers;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
};

/// Bytes of a tensor of these sizes.
mlir::AffineExpr getBytes(mlir::RankedTensorType type);

} // namespace emmy

#endif // EMMY_LIB_PLAN_HOSTBUFFERS_H
