// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// ldmatrix and stmatrix: which lane supplies which row address, and which element of which 8x8 matrix sits in which
// half of which register.

#ifndef EMMY_SUPPORT_MATH_MATRIXMOVES_H
#define EMMY_SUPPORT_MATH_MATRIXMOVES_H

#include "emmy/Support/Math/Layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace emmy::math {

/// Element of an 8x8 matrix of 16-bit elements; `matrix` counts the x1/x2/x4 matrices of one instruction.
struct MatrixElement {
  int64_t matrix = 0, row = 0, col = 0;
  bool operator==(const MatrixElement &other) const {
    return matrix == other.matrix && row == other.row && col == other.col;
  }
};

/// The row whose address lane `lane` supplies; its column is 0. Lanes past 8·count are ignored by the hardware.
constexpr MatrixElement matrixRowOfLane(int64_t lane) { return {lane / 8, lane % 8, 0}; }

/// The element in half `half` (0 low, 1 high) of register `reg` of lane `lane`, with or without .trans.
constexpr MatrixElement matrixElement(int64_t reg, int64_t half, int64_t lane, bool transposed) {
  return transposed ? MatrixElement{reg, lane % 4 * 2 + half, lane / 4} : MatrixElement{reg, lane / 4, lane % 4 * 2 + half};
}

/// How one warp moves a rank-2 fragment of 16-bit elements: a list of instructions, each with the coordinate (in the
/// tile) of every lane's row start and the fragment registers of its matrices.
struct MatrixMove {
  /// 1, 2 or 4 matrices.
  int64_t count = 4;
  /// Fragment register index of the low half of matrix i's register; the high half is the next one.
  std::vector<int64_t> registers;
  /// Tile coordinates of the top left element of each matrix, for warp 0 (other warps add their own offset).
  std::vector<Coordinates> origins;
};

/// The instructions that move a fragment with `layout` (rank 2); `transposed` when memory is contiguous along
/// dimension 0. Nothing if the layout's registers are not made of 8x8 matrices; the lowering then moves elements.
std::optional<std::vector<MatrixMove>> planMatrixMoves(const Layout &layout, bool transposed);

} // namespace emmy::math

#endif // EMMY_SUPPORT_MATH_MATRIXMOVES_H
