// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits LLVM-dialect and arith operations without their users having to include the LLVM dialect, whose header is slow.
#ifndef EMMY_LIB_CONVERSION_TILETONVVM_LLVMBUILDER_H
#define EMMY_LIB_CONVERSION_TILETONVVM_LLVMBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace emmy::tile {

/// Address spaces of NVPTX.
enum AddressSpace { kGeneric = 0, kGlobal = 1, kShared = 3, kSharedCluster = 7 };

/// Inline PTX with its operands; results are given in the order of `outputs`.
struct InlineAsm {
  std::string text;
  std::string constraints;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::Type> outputs;
};

/// One argument of an LLVM function.
struct Parameter {
  mlir::Type type;
  bool isTmap = false; // 128 bytes by value, constant over the grid
};

/// A builder at the location `loc`. Integer arithmetic is on values of one type; constants take the type of the other operand.
class LlvmBuilder : public mlir::OpBuilder {
public:
  explicit LlvmBuilder(mlir::MLIRContext *context) : mlir::OpBuilder(context), loc(getUnknownLoc()) {}
  mlir::Location loc;

  mlir::Type pointerType(AddressSpace space);
  mlir::Type structType(llvm::ArrayRef<mlir::Type> types);

  // Scalars.
  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value i32(int64_t value) { return constant(getI32Type(), value); }
  mlir::Value i64(int64_t value) { return constant(getI64Type(), value); }
  mlir::Value f32(double value);
  mlir::Value zero(mlir::Type type);
  mlir::Value add(mlir::Value a, mlir::Value b) { return createOrFold<mlir::arith::AddIOp>(loc, a, b); }
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, constant(a.getType(), b)); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return createOrFold<mlir::arith::MulIOp>(loc, a, b); }
  mlir::Value mul(mlir::Value a, int64_t b) { return mul(a, constant(a.getType(), b)); }
  /// Unsigned quotient and remainder; shifts and masks where `b` is a power of two.
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value rem(mlir::Value a, int64_t b);
  mlir::Value bitAnd(mlir::Value a, int64_t b);
  mlir::Value bitXor(mlir::Value a, mlir::Value b) { return createOrFold<mlir::arith::XOrIOp>(loc, a, b); }
  mlir::Value shiftLeft(mlir::Value a, int64_t bits);
  mlir::Value shiftRight(mlir::Value a, int64_t bits);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return createOrFold<mlir::arith::CmpIOp>(loc, predicate, a, b);
  }
  mlir::Value equal(mlir::Value a, int64_t b) { return compare(mlir::arith::CmpIPredicate::eq, a, constant(a.getType(), b)); }
  mlir::Value below(mlir::Value a, int64_t b) { return compare(mlir::arith::CmpIPredicate::ult, a, constant(a.getType(), b)); }
  mlir::Value signExtend(mlir::Value a, mlir::Type type);
  mlir::Value zeroExtend(mlir::Value a, mlir::Type type);
  mlir::Value truncate(mlir::Value a, mlir::Type type);

  // Values of other shapes.
  mlir::Value poison(mlir::Type type);
  mlir::Value bitcast(mlir::Value a, mlir::Type type);
  mlir::Value extractElement(mlir::Value vector, int64_t index);
  mlir::Value buildVector(llvm::ArrayRef<mlir::Value> elements);
  mlir::Value buildStruct(llvm::ArrayRef<mlir::Value> fields);
  llvm::SmallVector<mlir::Value> splitStruct(mlir::Value aggregate);

  // Memory.
  mlir::Value gep(mlir::Value base, mlir::Value bytes);
  mlir::Value gep(mlir::Value base, int64_t bytes);
  mlir::Value castPointer(mlir::Value pointer, AddressSpace space);
  mlir::Value pointerToInt(mlir::Value pointer, mlir::Type type);
  mlir::Value load(mlir::Value pointer, mlir::Type type, int64_t align);
  void store(mlir::Value value, mlir::Value pointer, int64_t align);
  /// Relaxed, or publishing and learning at the scope of the device.
  mlir::Value atomicAdd(mlir::Value pointer, mlir::Value value, bool acquireRelease);

  // Calls.
  llvm::SmallVector<mlir::Value> inlineAsm(const InlineAsm &code);
  mlir::Value callIntrinsic(llvm::StringRef name, mlir::Type result, llvm::ArrayRef<mlir::Value> operands);

  // Control flow.
  void branch(mlir::Block *target, mlir::ValueRange operands = {});
  /// A branch back to a loop's header that LLVM must not unroll.
  void branchBack(mlir::Block *header, mlir::ValueRange operands);
  void branch(mlir::Value condition, mlir::Block *yes, mlir::ValueRange yesOperands, mlir::Block *no, mlir::ValueRange noOperands);
  void functionReturn();

  // Symbols.
  /// The CTA's dynamic shared memory, declared in the module at the insertion point.
  void declareDynamicShared(llvm::StringRef name);
  mlir::Value addressOfShared(llvm::StringRef name);
  /// A kernel with an empty entry block, which becomes the insertion point. `attributes` are discardable ones of the function.
  mlir::Region *beginFunction(llvm::StringRef name, llvm::ArrayRef<Parameter> parameters,
                              llvm::ArrayRef<mlir::NamedAttribute> attributes);
};

} // namespace emmy::tile

#endif // EMMY_LIB_CONVERSION_TILETONVVM_LLVMBUILDER_H
