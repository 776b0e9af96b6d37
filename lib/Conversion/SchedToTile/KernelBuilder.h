// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Builds an emmy_tile.kernel from a program: arguments appear as code asks for sizes, pointers and descriptors, each with its binding;
// constants stand at the top and are shared.
#ifndef EMMY_LIB_CONVERSION_SCHEDTOTILE_KERNELBUILDER_H
#define EMMY_LIB_CONVERSION_SCHEDTOTILE_KERNELBUILDER_H

#include "dialects/Sched/Sched.h"
#include "dialects/Tile/Tile.h"
#include "emmy/Sched/Addressing.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace emmy {

/// Values of a program's axes, by their position in the program: where the block at hand starts, as i32.
using AxisStarts = llvm::SmallVector<mlir::Value>;

/// The type of an element in memory, where a bool is a byte.
inline mlir::Type storedType(mlir::Type element) {
  return element.isInteger(1) ? mlir::IntegerType::get(element.getContext(), 8) : element;
}

class KernelBuilder : public mlir::OpBuilder {
public:
  /// An empty kernel before `program`; it inserts at the end of its body.
  KernelBuilder(sched::ProgramOp program, llvm::ArrayRef<mlir::AffineExpr> grid, int64_t cluster, int64_t warps);

  /// Writes the bindings of the arguments into the kernel.
  tile::KernelOp finish();

  tile::KernelOp getKernel() { return kernel; }

  mlir::Location loc;
  sched::ProgramOp program;

  // Scalars.
  mlir::Value i32(int64_t number) { return constant(getI32Type(), number); }
  mlir::Value i64(int64_t number) { return constant(getI64Type(), number); }
  /// An expression over symbols: a constant, or an argument bound to it.
  mlir::Value size(mlir::AffineExpr expr, mlir::Type type);
  /// An expression over dimensions with these values (i32) and symbols, computed in `type`.
  mlir::Value compute(mlir::AffineExpr expr, mlir::ValueRange dims, mlir::Type type);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);

  // Arguments.
  mlir::Value pointer(unsigned tensor);
  mlir::Value descriptor(unsigned tensor, const sched::TmaPlan &plan, llvm::ArrayRef<int64_t> box, int64_t swizzle);

  // Program.
  unsigned axisPosition(mlir::StringAttr name);
  sched::AxisAttr axis(unsigned position) { return llvm::cast<sched::AxisAttr>(program.getAxes()[position]); }
  /// Whether blocks of an axis may reach past its end, or lie past it: a cluster takes a whole group of blocks along the axis its CTAs are
  /// stacked along.
  bool isRagged(mlir::StringAttr name);
  /// Grid axes of more than one block that an access does not run over: the CTAs along them do the same.
  static llvm::SmallVector<mlir::StringAttr> sharedAxes(sched::WriteOp write);
  /// The axis along which the CTAs of a cluster are stacked.
  mlir::StringAttr stacked;
  /// Starts of the axes in an access' `over`.
  llvm::SmallVector<mlir::Value> startsOf(mlir::ArrayAttr over, const AxisStarts &starts);
  /// The copy engine's plan for a tensor's access with the program's blocks for `tileAxes`.
  sched::TmaPlan planTma(unsigned tensor, mlir::ArrayAttr over, mlir::AffineMap map);
  /// Bytes of a tensor's element in memory.
  int64_t elementBytes(unsigned tensor);
  /// Bytes to which a tensor's base is aligned.
  int64_t alignOf(unsigned tensor);
  /// Coordinates of a plan's dimensions for a tile at `starts`.
  llvm::SmallVector<mlir::Value> coordinates(const sched::TmaPlan &plan, mlir::ArrayAttr over, const AxisStarts &starts);

private:
  mlir::Value constant(mlir::Type type, int64_t number);
  mlir::Value argument(mlir::Type type, mlir::Attribute binding);

  tile::KernelOp kernel;
  llvm::DenseMap<std::pair<mlir::Type, int64_t>, mlir::Value> constants;
  llvm::SmallVector<mlir::Attribute> bindings;
};

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_SCHEDTOTILE_KERNELBUILDER_H
