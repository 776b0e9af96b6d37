// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The LLVM side of the lowering: the kernel's function, its parameters, element loads and stores, temporary memory.
#ifndef EMMY_LIB_CONVERSION_FUSETOCPU_MEMORY_H
#define EMMY_LIB_CONVERSION_FUSETOCPU_MEMORY_H

#include "mlir/IR/Builders.h"

namespace emmy::fuse {

/// Creates `void name(void **parameters, i64 *fault)` before `anchor` and leaves `builder` in its body, before the return.
mlir::Operation *createFunction(mlir::OpBuilder &builder, mlir::Operation *anchor, llvm::StringRef name);
/// The pointer or i64 that parameter `index` of the function `builder` is in points to.
mlir::Value loadPointerParameter(mlir::OpBuilder &builder, mlir::Location loc, unsigned index);
mlir::Value loadSizeParameter(mlir::OpBuilder &builder, mlir::Location loc, unsigned index);

/// Notes for the caller of the function that `index` is outside a dimension of `size`.
void reportIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value index, mlir::Value size);

/// The element at `index` (i64, in elements) after `pointer`. An i1 is a byte in memory.
mlir::Value loadElement(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer, mlir::Value index, mlir::Type type);
void storeElement(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value pointer, mlir::Value index);

/// Memory for some elements: on the stack where it is small and constant, else from malloc.
struct Allocation {
  mlir::Value pointer;
  bool needsFree;
};
Allocation allocate(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value count, mlir::Type type);
void deallocate(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer);

} // namespace emmy::fuse

#endif // EMMY_LIB_CONVERSION_FUSETOCPU_MEMORY_H
