// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Builds the elements of a kernel backwards from the values that it must make: views only change index expressions.
#ifndef EMMY_LIB_CONVERSION_GRAPHTOFUSE_PULL_H
#define EMMY_LIB_CONVERSION_GRAPHTOFUSE_PULL_H

#include "KernelDag.h"
#include "dialects/Graph/Graph.h"
#include "llvm/ADT/SetVector.h"

namespace emmy {

using ValueSet = llvm::DenseSet<mlir::Value>;

/// The kernel that makes `outputs`, reading the values in `materialised` (and block arguments) from memory. A scatter among
/// the outputs is stored at indirect indices, over its updates.
KernelDag pullKernel(const IndexMath &math, llvm::ArrayRef<mlir::Value> outputs, const ValueSet &materialised);

/// The value before the views that end in `value`: reshapes and permutes, with `expands` also expands and slices.
mlir::Value stripViews(mlir::Value value, bool expands);

/// The index into `view`'s result for an index into its operand, for a reshape or a permute.
llvm::SmallVector<mlir::AffineExpr> pushIndex(const IndexMath &math, mlir::Operation *view, llvm::ArrayRef<mlir::AffineExpr> index);

/// Sizes of a tensor as expressions.
llvm::SmallVector<mlir::AffineExpr> sizesOf(mlir::Value value);
/// Number of elements as an expression.
mlir::AffineExpr countElements(mlir::Value value);

/// Whether no quotient or remainder is in `exprs`.
bool isPlain(llvm::ArrayRef<mlir::AffineExpr> exprs);

/// A contraction over dimensions of size 1 only: an element-wise product.
bool isProduct(graph::ContractOp op);

/// A constant that kernels can hold: a splat, or one of a few elements.
bool isKernelConstant(mlir::Operation *op);

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_GRAPHTOFUSE_PULL_H
