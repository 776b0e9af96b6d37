// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emmy/Support/Math/MatrixMoves.h"

namespace emmy::math {

/// Registers `reg` and `reg + 1` of all lanes of a warp form an 8x8 matrix whose memory rows run along dimension 1
/// (or 0 if transposed): lane digits 4 and 8 as quadrant-wise tables prescribe.
static bool isMatrix(const Layout &layout, int64_t reg, bool transposed) {
  const Coordinates origin = layout.coordinates(reg, 0, 0);
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t half = 0; half < 2; ++half) {
      const MatrixElement element = matrixElement(0, half, lane, transposed);
      const int64_t along0 = transposed ? element.col : element.row, along1 = transposed ? element.row : element.col;
      if (layout.coordinates(reg + half, lane, 0) != Coordinates{origin[0] + along0, origin[1] + along1})
        return false;
    }
  return true;
}

std::optional<std::vector<MatrixMove>> planMatrixMoves(const Layout &layout, bool transposed) {
  const int64_t registers = layout.registers();
  if (layout.rank() != 2 || layout.lanes() != 32 || registers % 2 != 0)
    return std::nullopt;
  for (int64_t reg = 0; reg < registers; reg += 2)
    if (!isMatrix(layout, reg, transposed))
      return std::nullopt;
  std::vector<MatrixMove> moves;
  for (int64_t reg = 0; reg < registers;) {
    MatrixMove move;
    const int64_t left = (registers - reg) / 2;
    move.count = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    for (int64_t i = 0; i < move.count; ++i, reg += 2) {
      move.registers.push_back(reg);
      move.origins.push_back(layout.coordinates(reg, 0, 0));
    }
    moves.push_back(std::move(move));
  }
  return moves;
}

} // namespace emmy::math
