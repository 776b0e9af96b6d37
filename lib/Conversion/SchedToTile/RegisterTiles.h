// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles in registers as fragments of one layout: a tile over fewer axes is a slice of it, replicated over the threads of the others.
#ifndef EMMY_LIB_CONVERSION_SCHEDTOTILE_REGISTERTILES_H
#define EMMY_LIB_CONVERSION_SCHEDTOTILE_REGISTERTILES_H

#include "KernelBuilder.h"

namespace emmy {

/// One dimension of the layout: an axis of the program, its elements in a tile, its threads, and registers contiguous along it.
struct RegisterDim {
  mlir::StringAttr axis; // null for a dimension of size 1 that is part of every tile, for programs with tiles of one element
  int64_t block, threads, vector;
};

class RegisterTiles {
public:
  /// `dims` outermost first; the last is the one that vectors run along. Threads beyond the dims' replicate, up to `warps`.
  RegisterTiles(KernelBuilder &builder, llvm::ArrayRef<RegisterDim> dims, int64_t warps);

  /// Emits the op of a program at blocks `starts`; gives an error for one that has no register form.
  mlir::LogicalResult emit(mlir::Operation *op, const AxisStarts &starts);

  mlir::Value fragOf(mlir::Value tile) { return frags.lookup(tile); }
  void set(mlir::Value tile, mlir::Value frag) { frags[tile] = frag; }

private:
  // Types.
  llvm::SmallVector<unsigned> dimsOf(llvm::ArrayRef<mlir::StringAttr> axes);
  tile::FragType fragType(llvm::ArrayRef<unsigned> dims, mlir::Type element);
  tile::FragType fragType(sched::TileType type) { return fragType(dimsOf(type.getAxes()), type.getElementType()); }
  mlir::Value widen(mlir::Value frag, llvm::ArrayRef<unsigned> from, llvm::ArrayRef<unsigned> to);

  // Ops.
  mlir::LogicalResult emitRead(sched::ReadOp op, const AxisStarts &starts);
  mlir::LogicalResult emitWrite(sched::WriteOp op, const AxisStarts &starts);
  void emitMap(sched::MapOp op);
  void emitReduce(sched::ReduceOp op, const AxisStarts &starts);
  void emitIndex(sched::IndexOp op, const AxisStarts &starts);
  mlir::LogicalResult emitPipeline(sched::PipelineOp op, const AxisStarts &starts);

  // Addresses.
  struct Strided {
    mlir::Value offset;
    llvm::SmallVector<mlir::Value> strides, limits;
    int64_t vector;
  };
  /// Inside where 0 <= expr < limit for all.
  struct Guards {
    llvm::SmallVector<mlir::AffineExpr> exprs, limits;
  };
  struct Scattered {
    mlir::Value offsets, mask;
  };
  struct IndexOperands;
  template <typename Op> Guards collectGuards(Op op);
  template <typename Op>
  std::optional<Strided> planStrided(Op op, const Guards &guards, llvm::ArrayRef<unsigned> dims, const AxisStarts &starts);
  template <typename Op> Scattered planScattered(Op op, llvm::ArrayRef<unsigned> dims, const AxisStarts &starts);
  IndexOperands planIndices(mlir::ArrayAttr over, mlir::ValueRange indices, llvm::ArrayRef<unsigned> dims, const AxisStarts &starts);
  mlir::Value planMask(IndexOperands index, const Guards &guards, llvm::ArrayRef<unsigned> dims);
  bool isRagged(unsigned dim);
  mlir::Value mapFrags(mlir::ValueRange inputs, llvm::ArrayRef<unsigned> dims, mlir::Type element,
                       llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> body);
  mlir::Value coordinate(unsigned dim, llvm::ArrayRef<unsigned> dims, const AxisStarts &starts);

  KernelBuilder &b;
  llvm::SmallVector<RegisterDim> dims;
  int64_t warps;
  llvm::DenseMap<mlir::Value, mlir::Value> frags;
};

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_SCHEDTOTILE_REGISTERTILES_H
