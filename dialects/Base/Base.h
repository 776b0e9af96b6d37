// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The base dialect `emmy`: sizes, layouts, targets, launch bindings, the host program.
#ifndef EMMY_DIALECTS_BASE_BASE_H
#define EMMY_DIALECTS_BASE_BASE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace emmy {

/// Names that affine expressions may use: dimension names in order; symbols are always `s0`, `s1`, ….
using ExprNames = llvm::ArrayRef<llvm::StringRef>;

/// Parses one affine expression over `dims` and symbols.
mlir::FailureOr<mlir::AffineExpr> parseExpr(mlir::AsmParser &parser, ExprNames dims = {});
/// Parses `[e, e, …]`.
mlir::FailureOr<llvm::SmallVector<mlir::AffineExpr>> parseExprs(mlir::AsmParser &parser, ExprNames dims = {});
/// Prints `expr` with `dims` for its dimensions, such as `m * 4 + s0`.
void printExpr(llvm::raw_ostream &os, mlir::AffineExpr expr, ExprNames dims = {});
void printExpr(mlir::AsmPrinter &printer, mlir::AffineExpr expr, ExprNames dims = {});
void printExprs(mlir::AsmPrinter &printer, llvm::ArrayRef<mlir::AffineExpr> exprs, ExprNames dims = {});

/// Sizes of `type` as expressions: its `#emmy.dims` encoding, else its static shape.
/// A dynamic dimension without an encoding has no expression, which is a null entry.
llvm::SmallVector<mlir::AffineExpr> getSizes(mlir::RankedTensorType type);
/// The tensor type with these sizes; it carries `#emmy.dims` exactly where a size is not constant. A null entry is a dynamic dimension
/// without an expression, and then the type has no encoding.
mlir::RankedTensorType getTensorType(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element);
/// Row-major strides, in elements, of a tensor with these sizes.
llvm::SmallVector<mlir::AffineExpr> getContiguousStrides(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::MLIRContext *context);

/// The `Yield` that ends `block`; null if the block, as text may have it, ends in anything else or is empty.
template <typename Yield> Yield getYield(mlir::Block &block) {
  return block.empty() ? Yield() : llvm::dyn_cast<Yield>(block.back());
}

/// Discardable attributes of the dialect, spelled once.
constexpr llvm::StringLiteral kSymbolsAttr = "emmy.symbols";
constexpr llvm::StringLiteral kParamAttr = "emmy.param";
constexpr llvm::StringLiteral kLayoutAttr = "emmy.layout";
constexpr llvm::StringLiteral kBindAttr = "emmy.bind";
constexpr llvm::StringLiteral kTargetAttr = "emmy.target";
constexpr llvm::StringLiteral kPlanAttr = "emmy.plan";

} // namespace emmy

#include "dialects/Base/BaseDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Base/BaseAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Base/BaseOps.h.inc"

#endif // EMMY_DIALECTS_BASE_BASE_H
