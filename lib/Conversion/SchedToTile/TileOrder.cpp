// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Block numbers to coordinates.
#include "TileOrder.h"

using namespace mlir;

namespace emmy {

static AffineExpr blocksOf(sched::ProgramOp program, StringAttr name, int64_t stacked) {
  sched::AxisAttr axis = program.getAxis(name);
  return axis.getSize().ceilDiv(axis.getBlock() * stacked);
}

AffineExpr TileOrder::rowTiles(sched::ProgramOp program) const { return blocksOf(program, row, stackRows ? cluster : 1); }
AffineExpr TileOrder::columnTiles(sched::ProgramOp program) const { return blocksOf(program, column, stackRows ? 1 : cluster); }

/// Grid axes other than the tile's, innermost first.
static SmallVector<sched::AxisAttr> outerAxes(sched::ProgramOp program, const TileOrder &order) {
  SmallVector<sched::AxisAttr> outer;
  for (auto axis : llvm::reverse(llvm::to_vector(program.getAxes().getAsRange<sched::AxisAttr>())))
    if (axis.getKind() == sched::AxisKind::grid && axis.getName() != order.row && axis.getName() != order.column)
      outer.push_back(axis);
  return outer;
}

AffineExpr TileOrder::tiles(sched::ProgramOp program) const {
  AffineExpr count = rowTiles(program) * columnTiles(program);
  for (sched::AxisAttr axis : outerAxes(program, *this))
    count = count * axis.getSize().ceilDiv(axis.getBlock());
  return count;
}

AxisStarts TileOrder::starts(KernelBuilder &b, Value number, Value rank) const {
  Type i32 = b.getI32Type();
  auto div = [&](Value x, Value y) -> Value { return arith::DivUIOp::create(b, b.loc, x, y); };
  auto rem = [&](Value x, Value y) -> Value { return arith::RemUIOp::create(b, b.loc, x, y); };
  AxisStarts starts(b.program.getAxes().size(), b.i32(0));
  Value rows = b.size(rowTiles(b.program), i32), columns = b.size(columnTiles(b.program), i32), inner = number;
  SmallVector<sched::AxisAttr> outer = outerAxes(b.program, *this);
  if (!outer.empty()) {
    Value plane = b.size(rowTiles(b.program) * columnTiles(b.program), i32), rest = div(number, plane);
    inner = rem(number, plane);
    for (auto [i, axis] : llvm::enumerate(outer)) {
      Value blocks = b.size(axis.getSize().ceilDiv(axis.getBlock()), i32);
      Value at = i + 1 < outer.size() ? rem(rest, blocks) : rest;
      starts[b.axisPosition(axis.getName())] = b.mul(at, b.i32(axis.getBlock()));
      rest = i + 1 < outer.size() ? div(rest, blocks) : rest;
    }
  }
  // The last group may have fewer rows.
  Value perGroup = b.mul(columns, b.i32(group)), which = div(inner, perGroup), within = rem(inner, perGroup);
  Value first = b.mul(which, b.i32(group)), left = arith::SubIOp::create(b, b.loc, rows, first);
  Value height = arith::MinUIOp::create(b, b.loc, left, b.i32(group));
  Value m = b.add(first, rem(within, height)), n = div(within, height);
  auto start = [&](StringAttr name, Value at, bool stacked) {
    int64_t block = b.program.getAxis(name).getBlock();
    Value begin = b.mul(at, b.i32(block * (stacked ? cluster : 1)));
    if (stacked && cluster > 1)
      begin = b.add(begin, b.mul(rank, b.i32(block)));
    starts[b.axisPosition(name)] = begin;
  };
  start(row, m, stackRows);
  start(column, n, !stackRows);
  return starts;
}

} // namespace emmy
