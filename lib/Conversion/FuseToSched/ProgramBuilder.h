// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Turns ops of a kernel into ops of a program, one block of each axis at a time. What every kernel class needs.
#ifndef EMMY_LIB_CONVERSION_FUSETOSCHED_PROGRAMBUILDER_H
#define EMMY_LIB_CONVERSION_FUSETOSCHED_PROGRAMBUILDER_H

#include "KernelView.h"
#include "dialects/Sched/Sched.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace emmy {

/// How a program cuts one axis of the view.
struct AxisCut {
  int64_t block = 1;
  sched::AxisKind kind = sched::AxisKind::grid;
};

class ProgramBuilder {
public:
  /// An empty program before the kernel; `cuts` has an entry for each axis of the view, dead ones included.
  ProgramBuilder(const KernelView &view, llvm::ArrayRef<AxisCut> cuts, mlir::Attribute schedule);

  sched::ProgramOp getProgram() { return program; }
  mlir::OpBuilder &getBuilder() { return builder; }

  /// The register tile of a kernel value. Loads, indices, maps and reductions are emitted here at their first use.
  mlir::Value tileOf(mlir::Value value);
  /// Makes `tile` the tile of `value`.
  void set(mlir::Value value, mlir::Value tile) { tiles[value] = tile; }
  /// A shared tile of a plain load.
  mlir::Value stage(fuse::LoadOp load, sched::Via via, bool multicast);
  /// A shared tile of any value, through registers.
  mlir::Value share(mlir::Value value);
  mlir::Value fill(mlir::TypedAttr number, llvm::ArrayRef<unsigned> axes);
  void write(fuse::StoreOp store, sched::Via via);
  /// The tile over axes of the view.
  sched::TileType tileType(llvm::ArrayRef<unsigned> axes, mlir::Type element, sched::Level level = sched::Level::reg);
  /// A pipeline over an axis that carries `inits`; `body` is called inside with the carried tiles and gives the next ones. Tiles that
  /// it emits are forgotten afterwards.
  sched::PipelineOp pipeline(unsigned axis, mlir::ValueRange inits,
                             llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body, sched::RangeAttr range = {});

private:
  struct Access {
    llvm::SmallVector<mlir::Value> indices;
    mlir::ArrayAttr over;
    mlir::AffineMapAttr map, guard;
    DimsAttr limits;
  };
  Access access(mlir::Operation *op, llvm::ArrayRef<unsigned> axes, mlir::ValueRange indices);
  mlir::Value emit(mlir::Operation *op);

  const KernelView &view;
  mlir::OpBuilder builder;
  sched::ProgramOp program;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, mlir::Value> tiles;
};

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_FUSETOSCHED_PROGRAMBUILDER_H
