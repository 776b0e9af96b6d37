// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The layouts the tensor cores prescribe and the blocked layouts of row-wise code. Digits come out merged, so that two
// routes to the same distribution give equal attributes.

#include "emmy/Support/Math/Layout.h"

#include <algorithm>
#include <cassert>

namespace emmy::math {

/// Elements of one 32-bit register.
static int64_t packed(unsigned bits) {
  assert((bits == 8 || bits == 16 || bits == 32) && "tensor-core operands have 8, 16 or 32 bits");
  return 32 / bits;
}

/// Four lanes along the second dimension with one register's elements each, eight lanes along the first.
static Modes quadLanes(int64_t perRegister) { return {{4, {0, perRegister}}, {8, {1, 0}}}; }

Layout wgmmaAccumulator(int64_t n) {
  assert(n % 8 == 0 && "wgmma is a multiple of 8 columns wide");
  // Spelled as the verifier of emmy_tile.wgmma spells it, also for n = 8.
  return Layout(2, {{2, {0, 1}}, {2, {8, 0}}, {n / 8, {0, 8}}}, quadLanes(2), {{4, {16, 0}}});
}

Layout wgmmaOperandA(int64_t k, unsigned bits) { return mmaOperandA(64, k, bits, {4, 1}); }

Layout mmaOperandA(int64_t rows, int64_t k, unsigned bits, WarpGrid grid) {
  const int64_t pack = packed(bits), perWarp = rows / grid.m;
  assert(perWarp % 16 == 0 && k % (8 * pack) == 0 && "operand A comes in blocks of 16 rows by 32 bytes");
  return Layout(2, {{pack, {0, 1}}, {2, {8, 0}}, {k / (4 * pack), {0, 4 * pack}}, {perWarp / 16, {16, 0}}},
                quadLanes(pack), {{grid.m, {perWarp, 0}}, {grid.n, {0, 0}}})
      .normalized();
}

Layout mmaOperandB(int64_t cols, int64_t k, unsigned bits, WarpGrid grid) {
  const int64_t pack = packed(bits), perWarp = cols / grid.n;
  assert(perWarp % 8 == 0 && k % (8 * pack) == 0 && "operand B comes in blocks of 8 columns by 32 bytes");
  return Layout(2, {{pack, {0, 1}}, {k / (4 * pack), {0, 4 * pack}}, {perWarp / 8, {8, 0}}}, quadLanes(pack),
                {{grid.m, {0, 0}}, {grid.n, {perWarp, 0}}})
      .normalized();
}

Layout mmaAccumulator(int64_t rows, int64_t cols, WarpGrid grid) {
  const int64_t warpRows = rows / grid.m, warpCols = cols / grid.n;
  assert(warpRows % 16 == 0 && warpCols % 8 == 0 && "the accumulator comes in blocks of 16 rows by 8 columns");
  return Layout(2, {{2, {0, 1}}, {2, {8, 0}}, {warpCols / 8, {0, 8}}, {warpRows / 16, {16, 0}}}, quadLanes(2),
                {{grid.m, {warpRows, 0}}, {grid.n, {0, warpCols}}})
      .normalized();
}

Layout blockedRows(int64_t rows, int64_t cols, int64_t threadsPerRow, int64_t vector, int64_t warps) {
  const int64_t lanesPerRow = std::min<int64_t>(threadsPerRow, 32), warpsPerRow = threadsPerRow / lanesPerRow;
  assert(32 % lanesPerRow == 0 && threadsPerRow % lanesPerRow == 0 && warps % warpsPerRow == 0 &&
         "rows take a power of two of lanes or whole warps");
  assert(cols % (threadsPerRow * vector) == 0 && "a row is a whole number of passes");
  const int64_t laneRows = std::min<int64_t>(rows, 32 / lanesPerRow), laneCopies = 32 / lanesPerRow / laneRows;
  const int64_t warpRows = std::min<int64_t>(rows / laneRows, warps / warpsPerRow);
  const int64_t warpCopies = warps / warpsPerRow / warpRows, pass = laneRows * warpRows;
  assert(rows % pass == 0 && "the rows are a whole number of passes");
  return Layout(2, {{vector, {0, 1}}, {cols / (threadsPerRow * vector), {0, threadsPerRow * vector}}, {rows / pass, {pass, 0}}},
                {{lanesPerRow, {0, vector}}, {laneRows, {1, 0}}, {laneCopies, {0, 0}}},
                {{warpsPerRow, {0, 32 * vector}}, {warpRows, {laneRows, 0}}, {warpCopies, {0, 0}}})
      .normalized();
}

Layout blockedVector(int64_t size, int64_t vector, int64_t warps) {
  assert(size % vector == 0 && "the vector is a whole number of accesses");
  const int64_t lanes = std::min<int64_t>(32, size / vector), warpsUsed = std::min(warps, size / vector / lanes);
  const int64_t pass = vector * lanes * warpsUsed;
  assert(32 % lanes == 0 && warps % warpsUsed == 0 && size % pass == 0 && "the vector is a whole number of passes");
  return Layout(1, {{vector, {1}}, {size / pass, {pass}}}, {{lanes, {vector}}, {32 / lanes, {0}}},
                {{warpsUsed, {lanes * vector}}, {warps / warpsUsed, {0}}})
      .normalized();
}

} // namespace emmy::math
