// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From the number of a block to where it starts: the order in which CTAs visit the blocks of the grid axes.
#ifndef EMMY_LIB_CONVERSION_SCHEDTOTILE_TILEORDER_H
#define EMMY_LIB_CONVERSION_SCHEDTOTILE_TILEORDER_H

#include "KernelBuilder.h"

namespace emmy {

/// Blocks of two grid axes in groups of rows, one group after the other, columns within a group; all other grid axes outside. CTAs of a
/// cluster are stacked along the rows or the columns.
struct TileOrder {
  mlir::StringAttr row, column;
  int64_t cluster = 1;
  bool stackRows = true;
  int64_t group = 1;

  /// Cluster-sized blocks along the rows and the columns, and of the whole grid.
  mlir::AffineExpr rowTiles(sched::ProgramOp program) const;
  mlir::AffineExpr columnTiles(sched::ProgramOp program) const;
  mlir::AffineExpr tiles(sched::ProgramOp program) const;
  /// Starts of every axis for cluster-sized block `number` in CTA `rank` of its cluster; serial and whole axes start at 0.
  AxisStarts starts(KernelBuilder &b, mlir::Value number, mlir::Value rank) const;
};

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_SCHEDTOTILE_TILEORDER_H
