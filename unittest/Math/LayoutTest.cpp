// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Check.h"
#include "emmy/Support/Math/Layout.h"
#include "emmy/Support/Math/MatrixMoves.h"

using namespace emmy::math;

/// A cell of one of the PTX ISA's fragment figures.
struct Cell {
  int64_t warp, lane, reg, row, col;
};

static void checkCells(const Layout &layout, const std::vector<Cell> &cells, int line) {
  for (const Cell &cell : cells)
    emmy::test::checkEqual(layout.coordinates(cell.reg, cell.lane, cell.warp), Coordinates{cell.row, cell.col},
                           "fragment cell", line);
}

/// Figure "WGMMA .m64nNk16 register fragment layout for accumulator matrix D".
static void testWgmmaAccumulator() {
  checkCells(wgmmaAccumulator(16),
             {{0, 0, 0, 0, 0},   {0, 0, 1, 0, 1},   {0, 1, 0, 0, 2},   {0, 2, 0, 0, 4},   {0, 3, 1, 0, 7},
              {0, 0, 4, 0, 8},   {0, 3, 5, 0, 15},  {0, 4, 0, 1, 0},   {0, 31, 1, 7, 7},  {0, 0, 2, 8, 0},
              {0, 3, 3, 8, 7},   {0, 0, 6, 8, 8},   {0, 31, 3, 15, 7}, {0, 31, 7, 15, 15}, {1, 0, 0, 16, 0},
              {1, 28, 2, 31, 0}, {2, 0, 0, 32, 0},  {2, 5, 6, 41, 10}, {3, 0, 2, 56, 0},  {3, 31, 3, 63, 7}},
             __LINE__);
  const Layout layout = wgmmaAccumulator(256);
  CHECK_EQ(layout.registers(), 128);
  CHECK_EQ(layout.lanes(), 32);
  CHECK_EQ(layout.warps(), 4);
  CHECK_EQ(layout.covers({64, 256}), true);
  CHECK_EQ(layout.vectorWidth(1), 2);
  CHECK_EQ(layout.vectorWidth(0), 1);
  CHECK_EQ(layout.str(), std::string("reg = [2:(0,1), 2:(8,0), 32:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]"));
}

/// Figures for matrix A in registers: .m64k16 (16-bit), .m64k8 (tf32), .m64k32 (8-bit).
static void testWgmmaOperandA() {
  checkCells(wgmmaOperandA(16, 16),
             {{0, 0, 0, 0, 0}, {0, 0, 1, 0, 1}, {0, 0, 2, 8, 0}, {0, 0, 4, 0, 8}, {0, 0, 7, 8, 9}, {0, 31, 7, 15, 15},
              {3, 31, 7, 63, 15}}, __LINE__);
  checkCells(wgmmaOperandA(8, 32),
             {{0, 0, 0, 0, 0}, {0, 1, 0, 0, 1}, {0, 0, 1, 8, 0}, {0, 0, 2, 0, 4}, {0, 31, 3, 15, 7}, {1, 0, 0, 16, 0}},
             __LINE__);
  checkCells(wgmmaOperandA(32, 8),
             {{0, 0, 0, 0, 0}, {0, 0, 3, 0, 3}, {0, 1, 0, 0, 4}, {0, 0, 4, 8, 0}, {0, 0, 8, 0, 16}, {0, 3, 15, 8, 31}},
             __LINE__);
  // A bf16 accumulator is a register operand without any movement.
  CHECK_EQ(wgmmaOperandA(64, 16) == wgmmaAccumulator(64), true);
}

/// Figures for mma.m16n8k16 (.bf16) and mma.m16n8k8 (.tf32).
static void testMma() {
  const WarpGrid one;
  checkCells(mmaOperandA(16, 16, 16, one),
             {{0, 0, 0, 0, 0}, {0, 0, 1, 0, 1}, {0, 3, 1, 0, 7}, {0, 4, 0, 1, 0}, {0, 0, 2, 8, 0}, {0, 0, 4, 0, 8},
              {0, 0, 6, 8, 8}, {0, 31, 7, 15, 15}}, __LINE__);
  // The figure of B counts rows along k: here the coordinate is (column, k).
  checkCells(mmaOperandB(8, 16, 16, one),
             {{0, 0, 0, 0, 0}, {0, 0, 1, 0, 1}, {0, 1, 0, 0, 2}, {0, 0, 2, 0, 8}, {0, 4, 0, 1, 0}, {0, 31, 3, 7, 15}},
             __LINE__);
  checkCells(mmaAccumulator(16, 8, one),
             {{0, 0, 0, 0, 0}, {0, 0, 1, 0, 1}, {0, 0, 2, 8, 0}, {0, 31, 1, 7, 7}, {0, 31, 3, 15, 7}}, __LINE__);
  checkCells(mmaOperandA(16, 8, 32, one),
             {{0, 0, 0, 0, 0}, {0, 0, 1, 8, 0}, {0, 0, 2, 0, 4}, {0, 5, 3, 9, 5}, {0, 31, 3, 15, 7}}, __LINE__);
  checkCells(mmaOperandB(8, 8, 32, one), {{0, 0, 0, 0, 0}, {0, 0, 1, 0, 4}, {0, 1, 0, 0, 1}, {0, 4, 0, 1, 0}}, __LINE__);
  const WarpGrid grid{2, 2};
  CHECK_EQ(mmaAccumulator(64, 64, grid).covers({64, 64}), true);
  CHECK_EQ(mmaOperandA(64, 32, 16, grid).covers({64, 32}), true);
  CHECK_EQ(mmaOperandB(64, 32, 16, grid).covers({64, 32}), true);
  CHECK_EQ(mmaOperandA(64, 32, 16, grid).replicas(), 2);
  CHECK_EQ(mmaOperandA(64, 32, 16, grid).warpReplicationMask(), 2u);
  CHECK_EQ(mmaOperandB(64, 32, 16, grid).warpReplicationMask(), 1u);
  CHECK_EQ(mmaAccumulator(64, 256, {4, 1}) == wgmmaAccumulator(256), true);
}

static void testBlocked() {
  const Layout rows = blockedRows(16, 64, 8, 8, 4);
  checkCells(rows, {{0, 0, 0, 0, 0}, {0, 1, 0, 0, 8}, {0, 7, 7, 0, 63}, {0, 8, 0, 1, 0}, {3, 31, 7, 15, 63}}, __LINE__);
  CHECK_EQ(rows.covers({16, 64}), true);
  CHECK_EQ(rows.vectorWidth(1), 8);
  CHECK_EQ(rows.laneMaskAlong(1), 7u);
  CHECK_EQ(rows.laneMaskAlong(0), 24u);
  const Layout wide = blockedRows(2, 4096, 128, 8, 8);
  checkCells(wide, {{1, 0, 0, 0, 256}, {3, 31, 7, 0, 1023}, {0, 0, 8, 0, 1024}, {4, 0, 0, 1, 0}}, __LINE__);
  CHECK_EQ(wide.covers({2, 4096}), true);
  CHECK_EQ(wide.warpMaskAlong(1), 3u);
  const Layout few = blockedRows(2, 64, 8, 8, 4);
  CHECK_EQ(few.covers({2, 64}), true);
  CHECK_EQ(few.replicas(), 8);
  CHECK_EQ(few.isPrimary(0, 0), true);
  CHECK_EQ(few.isPrimary(16, 0), false);
  CHECK_EQ(few.isPrimary(0, 1), false);
  CHECK_EQ(blockedVector(1024, 4, 4).covers({1024}), true);
  CHECK_EQ(blockedVector(64, 2, 4).covers({64}), true);
  CHECK_EQ(blockedVector(64, 2, 4).replicas(), 4);
}

static void testSlices() {
  const Layout accumulator = wgmmaAccumulator(64), rows = accumulator.sliced(1);
  CHECK_EQ(rows.str(), std::string("reg = [2:(8)], lane = [4:(0), 8:(1)], warp = [4:(16)]"));
  CHECK_EQ(rows.covers({64}), true);
  CHECK_EQ(rows.laneReplicationMask(), 3u);
  CHECK_EQ(accumulator.laneMaskAlong(1), 3u);
  const std::vector<int64_t> map = accumulator.slicedRegisters(1);
  CHECK_EQ(std::vector<int64_t>(map.begin(), map.begin() + 8), (std::vector<int64_t>{0, 0, 1, 1, 0, 0, 1, 1}));
  const Layout columns = accumulator.sliced(0);
  CHECK_EQ(columns.covers({64}), true);
  CHECK_EQ(columns.replicas(), 32);
  CHECK_EQ(accumulator.threadsHolding(0, 17), (std::vector<int64_t>{36, 37, 38, 39}));
  CHECK_EQ(accumulator.threadsHolding(1, 2).size(), size_t(32));
  CHECK_EQ(accumulator.owners({41, 10}).size(), size_t(1));
  CHECK_EQ((accumulator.owners({41, 10}).front() == Owner{6, 5, 2}), true);
}

static void testErrors() {
  const Layout merged(1, {{2, {1}}, {4, {2}}}, {{32, {8}}}, {{1, {0}}});
  CHECK_EQ(merged == Layout(1, {{8, {1}}}, {{32, {8}}}, {}), true);
  CHECK_EQ(merged.coverageError({128}), std::optional<std::string>("dimension #0 spans 256 elements, not 128"));
  CHECK_EQ(Layout(1, {{2, {1}}}, {{32, {1}}}, {}).coverageError({33}),
           std::optional<std::string>("element 1 (row-major) has more than one owner"));
  CHECK_EQ(Layout(1, {}, {{32, {2}}}, {}).coverageError({63}), std::optional<std::string>("31 elements have no owner"));
}

/// Figures "ldmatrix fragment layout": thread 0 holds row 0, elements 0-1; thread 4 row 1; thread 31 row 7, 6-7.
static void testMatrixMoves() {
  CHECK_EQ((matrixElement(0, 0, 0, false) == MatrixElement{0, 0, 0}), true);
  CHECK_EQ((matrixElement(0, 1, 1, false) == MatrixElement{0, 0, 3}), true);
  CHECK_EQ((matrixElement(2, 0, 4, false) == MatrixElement{2, 1, 0}), true);
  CHECK_EQ((matrixElement(3, 1, 31, false) == MatrixElement{3, 7, 7}), true);
  CHECK_EQ((matrixElement(0, 1, 0, true) == MatrixElement{0, 1, 0}), true);
  CHECK_EQ((matrixElement(0, 0, 5, true) == MatrixElement{0, 2, 1}), true);
  CHECK_EQ((matrixRowOfLane(9) == MatrixElement{1, 1, 0}), true);
  CHECK_EQ((matrixRowOfLane(31) == MatrixElement{3, 7, 0}), true);
  const auto moves = planMatrixMoves(wgmmaAccumulator(16), false);
  CHECK_EQ(moves.has_value(), true);
  CHECK_EQ(moves->size(), size_t(1));
  CHECK_EQ(moves->front().registers, (std::vector<int64_t>{0, 2, 4, 6}));
  CHECK_EQ(moves->front().origins, (std::vector<Coordinates>{{0, 0}, {8, 0}, {0, 8}, {8, 8}}));
  CHECK_EQ(planMatrixMoves(blockedRows(16, 64, 8, 8, 4), false).has_value(), false);
}

void testLayout() {
  testWgmmaAccumulator();
  testWgmmaOperandA();
  testMma();
  testBlocked();
  testSlices();
  testErrors();
  testMatrixMoves();
}
