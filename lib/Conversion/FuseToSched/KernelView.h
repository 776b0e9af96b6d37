// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An emmy_fuse kernel as scheduling sees it: every access is one sum over the axes, and axes that all accesses walk as one are one.
#ifndef EMMY_LIB_CONVERSION_FUSETOSCHED_KERNELVIEW_H
#define EMMY_LIB_CONVERSION_FUSETOSCHED_KERNELVIEW_H

#include "dialects/Fuse/Fuse.h"
#include "emmy/Sched/Addressing.h"
#include "llvm/ADT/MapVector.h"

namespace emmy {

/// Where a load or store finds its element. Expressions are over all axes of the view, by position, then over the op's index values.
struct Address {
  mlir::AffineExpr offset; // in elements from the tensor's first
  llvm::SmallVector<mlir::AffineExpr> guards, limits; // inside where 0 <= guard < limit
  unsigned argument;       // of the kernel
  int64_t align;           // bytes of the tensor's base
};

/// An axis of the view. A merged axis keeps its place but is dead; `into` is the axis that took it over.
struct ViewAxis {
  mlir::StringAttr name;
  mlir::AffineExpr size;
  std::optional<unsigned> into;

  /// Its size; `unknown` for a symbolic one.
  int64_t getSize(int64_t unknown) const;
};

struct KernelView {
  mutable fuse::KernelOp kernel; // a handle: a const view may ask it
  llvm::SmallVector<ViewAxis> axes;
  llvm::MapVector<mlir::Operation *, Address> addresses; // of loads and stores

  /// Position of the axis that `name` is part of now.
  unsigned find(mlir::StringAttr name) const;
  /// Positions of the axes that a value varies over, ascending.
  llvm::SmallVector<unsigned> axesOf(mlir::Value value) const;
  llvm::SmallVector<unsigned> axesOf(llvm::ArrayRef<mlir::StringAttr> names) const;
  const Address &addressOf(mlir::Operation *op) const { return addresses.find(op)->second; }
  /// The copy engine's plan for an access whose tile has block `blocks[i]` of axis i.
  sched::TmaPlan planTma(mlir::Operation *access, llvm::ArrayRef<int64_t> blocks) const;
};

/// The view of `kernel`; nothing if an access has no address of this form (its tensor has a size that is not known), or elements are
/// neither integers nor floats.
std::optional<KernelView> viewKernel(fuse::KernelOp kernel);

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_FUSETOSCHED_KERNELVIEW_H
