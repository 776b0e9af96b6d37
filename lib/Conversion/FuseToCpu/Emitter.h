// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Writes a kernel as loops, values at the places that Placement chose. Everything is i64 scalars, scf loops and elements.
#ifndef EMMY_LIB_CONVERSION_FUSETOCPU_EMITTER_H
#define EMMY_LIB_CONVERSION_FUSETOCPU_EMITTER_H

#include "Placement.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace emmy::fuse {

/// A temporary over some axes, row-major.
struct Buffer {
  mlir::Value pointer;
  llvm::SmallVector<mlir::StringAttr> axes;
  llvm::SmallVector<mlir::Value> strides; // elements
  llvm::SmallVector<mlir::Value> bases;   // first index of each axis; null: 0
};

/// A loop that is being written, or the function's body, and what has been computed in it.
struct Scope {
  mlir::StringAttr axis;            // null for the function's body
  mlir::Value index;                // where the loop binds the axis
  mlir::Value low, high;            // where a fold's loop binds a block of it
  FoldOp block;
  mlir::Operation *inner = nullptr; // the op in this loop's body that holds the deeper scopes; hoisted code goes before it
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
};

class Emitter {
public:
  Emitter(KernelOp kernel, const Placement &placement, mlir::OpBuilder &builder)
      : kernel(kernel), placement(placement), b(builder), loc(kernel.getLoc()) {}
  void emitKernel();

private:
  using Body = llvm::function_ref<void()>;
  using CarryBody = llvm::function_ref<mlir::Value(mlir::Value)>;
  using Axes = llvm::ArrayRef<mlir::StringAttr>;

  // Values (EmitValues.cpp)
  /// The element of `value` at the current indices, computed in the outermost loop that allows it.
  mlir::Value emit(mlir::Value value);
  mlir::Value emitHere(mlir::Value value);
  /// Runs `body` as if the loops deeper than `depth` had not been opened.
  void at(size_t depth, Body body);
  mlir::Value emitLoad(LoadOp load);
  mlir::Value emitMap(MapOp map);
  /// `expr` over `dims`, of which the first `axes` are indices of axes and so not negative.
  mlir::Value emitExpr(mlir::AffineExpr expr, mlir::ValueRange dims, unsigned axes);
  mlir::Value emitModulo(mlir::Value lhs, mlir::Value rhs, bool nonNegative);
  /// Offset in elements of tensor argument `tensor` at the indices that `map` gives.
  mlir::Value emitOffset(mlir::Value tensor, llvm::ArrayRef<mlir::Value> position);
  /// The tensor indices that `map` gives at the current indices of `axes` and the values of `indices`.
  llvm::SmallVector<mlir::Value> emitPosition(mlir::AffineMap map, Axes axes, mlir::OperandRange indices);
  /// Whether `position` is inside `tensor`; null if the map alone says so.
  mlir::Value emitInBounds(mlir::Value tensor, mlir::AffineMap map, Axes axes, llvm::ArrayRef<mlir::Value> position);
  /// Whether the indices among `position` that are values lie in `tensor`; reports one that does not. Null if there are none.
  mlir::Value emitIndexCheck(mlir::Value tensor, mlir::AffineMap map, Axes axes, llvm::ArrayRef<mlir::Value> position);
  void emitStore(StoreOp store);
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value multiply(mlir::Value lhs, mlir::Value rhs);
  mlir::Value convert(mlir::Value scalar, mlir::Type type);

  // Loops (EmitLoops.cpp)
  void emitStores(const StoreNode &node);
  /// Computes the results of a placed op at its place.
  void emitPlaced(mlir::Operation *op);
  void emitAccumulation(mlir::Operation *op, const Place &place);
  void emitVectorAccumulation(mlir::Operation *op, const Place &place, const Buffer &buffer);
  void emitFold(FoldOp fold, const Place &place);
  mlir::Value emitReduced(mlir::Operation *op, Axes order, mlir::Value start);
  mlir::Value emitStep(mlir::Operation *op, mlir::Value accumulator);
  mlir::Value emitStart(mlir::Operation *op);
  void loop(mlir::StringAttr axis, Body body);
  void loops(Axes axes, Body body);
  mlir::Value loopCarry(mlir::StringAttr axis, mlir::Value start, CarryBody body);
  void loopBlocks(FoldOp fold, Body body);
  /// Runs `body` in a scope inside the body of `op`, a loop just created.
  void nest(mlir::Operation *op, mlir::Block *block, Scope scope, Body body);
  const Scope *findBlock(mlir::StringAttr axis);
  mlir::Value indexOf(mlir::StringAttr axis);

  Buffer allocateBuffer(Axes axes, mlir::Type type);
  mlir::Value emitBufferOffset(const Buffer &buffer);
  mlir::Value loadBuffer(const Buffer &buffer, mlir::Type type);
  void storeBuffer(const Buffer &buffer, mlir::Value value);
  /// Number of loops that `value` must be inside.
  size_t getDepth(mlir::Value value);

  KernelOp kernel;
  const Placement &placement;
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::SmallVector<Scope, 8> scopes;
  llvm::SmallVector<mlir::Value> pointers;            // of the kernel's arguments
  llvm::DenseMap<unsigned, mlir::Value> symbols;      // by number
  llvm::DenseMap<mlir::StringAttr, mlir::Value> sizes; // of the axes
  std::map<int64_t, mlir::Value> constants;           // at the start of the function; any number is a key
  llvm::SmallVector<mlir::Value> allocated;           // temporaries to free at the end
  mlir::Operation *prologue = nullptr;                // last op of what every loop may use
  mlir::Operation *end = nullptr;                     // the return
};

} // namespace emmy::fuse

#endif // EMMY_LIB_CONVERSION_FUSETOCPU_EMITTER_H
