// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Evaluates values of a program on one fragment: a rectangle of rows and columns, each along an axis of the program, in the layout
// of the unit that computes it. What every lowering needs for its pointwise parts.
#ifndef EMMY_LIB_CONVERSION_SCHEDTOTILE_FRAGMENTBUILDER_H
#define EMMY_LIB_CONVERSION_SCHEDTOTILE_FRAGMENTBUILDER_H

#include "KernelBuilder.h"

namespace emmy {

/// The rectangle at hand. `starts` has the first row and column in it, and the block's start for all other axes.
struct FragmentPlace {
  mlir::StringAttr row, column;
  int64_t rows, columns;
  tile::LayoutAttr layout; // of both dimensions
  AxisStarts starts;
};

class FragmentBuilder {
public:
  FragmentBuilder(KernelBuilder &b, FragmentPlace place) : b(b), place(std::move(place)) {}

  /// Makes `fragment` the value of a tile.
  void set(mlir::Value tile, mlir::Value fragment) { values[tile] = fragment; }
  /// The fragment of a register tile, or the scalar of a tile without axes; emitted at its first use.
  mlir::Value eval(mlir::Value tile);
  /// Writes a tile from registers.
  void write(sched::WriteOp op);
  /// The type of a fragment over the axes of `tile`.
  mlir::Type typeOf(sched::TileType tile);
  /// `value`, a fragment over some axes or a scalar, over all axes of `tile`.
  mlir::Value spread(mlir::Value value, sched::TileType from, sched::TileType tile);
  /// Elements that one access of `op` moves on this fragment.
  int64_t vectorOf(sched::ReadOp op);
  /// `fragment` with zeros, or with `number`, past the end of `axis`.
  mlir::Value clear(mlir::Value fragment, sched::TileType tile, mlir::StringAttr axis, mlir::TypedAttr number = {});
  /// Takes conditions that hold in the plain range of a pipeline as true.
  void assumePlain() { isPlain = true; }

private:
  /// How an access reaches the rectangle.
  struct Strided {
    mlir::Value offset;
    llvm::SmallVector<mlir::Value> strides, limits;
    int64_t vector = 1;
  };
  struct Gathered {
    mlir::Value offsets, mask;
  };
  using Body = llvm::function_ref<mlir::Value(mlir::ValueRange)>;

  llvm::SmallVector<mlir::StringAttr> axesOf(sched::TileType tile);
  int64_t extent(mlir::StringAttr axis) { return axis == place.row ? place.rows : place.columns; }
  template <typename Op> bool isStrided(Op op, sched::TileType tile);
  template <typename Op> int64_t vectorWidth(Op op, sched::TileType tile, unsigned tensor);
  template <typename Op> Strided strided(Op op, sched::TileType tile, unsigned tensor);
  template <typename Op> Gathered gathered(Op op, sched::TileType tile);
  mlir::Value mapOp(mlir::ValueRange inputs, mlir::Type result, Body body);
  /// Coordinates, one operand for each name in `over`.
  llvm::SmallVector<mlir::Value> coordinates(mlir::ArrayAttr over, sched::TileType tile);
  mlir::Value evalRead(sched::ReadOp op);
  /// Elements as memory holds them, of type `type`.
  mlir::Value readElements(sched::ReadOp op, mlir::Type type);
  mlir::Value evalMap(sched::MapOp op);
  mlir::Value evalIndex(sched::IndexOp op);

  KernelBuilder &b;
  FragmentPlace place;
  bool isPlain = false;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
};

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_SCHEDTOTILE_FRAGMENTBUILDER_H
