// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Registers of a thread: how elements are packed into them, and the regions of `map` and `reduce` applied to them.
#ifndef EMMY_LIB_CONVERSION_TILETONVVM_REGISTERS_H
#define EMMY_LIB_CONVERSION_TILETONVVM_REGISTERS_H

#include "KernelEmitter.h"
#include "emmy/Support/Math/Layout.h"

namespace emmy::tile {

/// The layout as the pure functions take it.
math::Layout toMath(LayoutAttr layout);

/// True if two neighbouring elements of `frag` share a register: 16-bit floats, where their number is even. The tensor cores,
/// stmatrix and packed conversions want them so, and LLVM does not find the pairs by itself.
bool isPacked(FragType frag);
/// The elements of a fragment, in order of the layout's register digits.
llvm::SmallVector<mlir::Value> unpack(KernelEmitter &e, FragType type, llvm::ArrayRef<mlir::Value> registers);
llvm::SmallVector<mlir::Value> pack(KernelEmitter &e, FragType type, llvm::ArrayRef<mlir::Value> elements);

/// The type and number of machine words that hold `count` elements of `element` side by side in memory.
struct Words {
  mlir::Type type;
  int64_t count;
};
Words wordsOf(KernelEmitter &e, mlir::Type element, int64_t count);
/// Elements (or packed pairs, if `packed`) that consecutive words hold, and back.
llvm::SmallVector<mlir::Value> fromWords(KernelEmitter &e, llvm::ArrayRef<mlir::Value> words, mlir::Type element, int64_t count,
                                         bool packed);
llvm::SmallVector<mlir::Value> toWords(KernelEmitter &e, llvm::ArrayRef<mlir::Value> registers, mlir::Type element, bool packed);

/// Evaluates a region of arith and math ops once, on `arguments`; gives what it yields.
llvm::SmallVector<mlir::Value> evaluate(KernelEmitter &e, mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments);

/// An element-wise op of a region on converted operands: approximations where they are within tolerance, else a copy of the op
/// that lets multiplications and additions contract.
mlir::Value emitElementwise(KernelEmitter &e, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);

/// f32 of one half of a packed register, or of a lone 16-bit float.
mlir::Value extendHalf(KernelEmitter &e, mlir::Value pair, int64_t half);

} // namespace emmy::tile

#endif // EMMY_LIB_CONVERSION_TILETONVVM_REGISTERS_H
