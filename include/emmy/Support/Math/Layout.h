// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a tile is distributed over the registers, lanes and warps of a unit. A register index, a lane id and a warp id
// are each split into digits; every digit moves along the tile by its strides, and an element's coordinate is the sum
// over all digits. The accumulators and operands of the tensor cores and plain blocked rows are all instances, so one
// set of rules serves the verifier, the lowering and the simulator.

#ifndef EMMY_SUPPORT_MATH_LAYOUT_H
#define EMMY_SUPPORT_MATH_LAYOUT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace emmy::math {

using Coordinates = std::vector<int64_t>;

/// One digit: it takes values 0..size-1 and each step moves by `strides` (one entry per dimension of the tile).
/// A lane or warp digit whose strides are all zero replicates the tile.
struct Mode {
  int64_t size = 1;
  std::vector<int64_t> strides;

  bool isReplication() const;
  bool operator==(const Mode &other) const { return size == other.size && strides == other.strides; }
};

/// Digits of one index, least significant first.
using Modes = std::vector<Mode>;

/// Where one copy of an element lives.
struct Owner {
  int64_t reg = 0, lane = 0, warp = 0;
  bool operator==(const Owner &other) const {
    return reg == other.reg && lane == other.lane && warp == other.warp;
  }
};

class Layout {
public:
  Layout() = default;
  Layout(unsigned rank, Modes reg, Modes lane, Modes warp);

  unsigned rank() const { return dims; }
  const Modes &reg() const { return regModes; }
  const Modes &lane() const { return laneModes; }
  const Modes &warp() const { return warpModes; }

  /// Number of register elements each thread holds, and of lanes and warps the digits span.
  int64_t registers() const;
  int64_t lanes() const;
  int64_t warps() const;
  int64_t threads() const { return lanes() * warps(); }

  /// The tile coordinate of register `reg` in lane `lane` of warp `warp`.
  Coordinates coordinates(int64_t reg, int64_t lane, int64_t warp) const;

  /// One past the largest coordinate per dimension.
  Coordinates extents() const;

  /// Every place that holds the element at `at`, in order of warp, lane, register.
  std::vector<Owner> owners(const Coordinates &at) const;

  /// Threads (warp·32 + lane) that hold some element with coordinate `index` along `dim`, ascending.
  std::vector<int64_t> threadsHolding(unsigned dim, int64_t index) const;

  /// Bits of the lane (warp) id that no coordinate depends on. Digits whose size is not a power of two set none.
  uint32_t laneReplicationMask() const;
  uint32_t warpReplicationMask() const;

  /// Bits of the lane (warp) id that move along `dim`: the XOR masks of a butterfly reduction of that dimension.
  uint32_t laneMaskAlong(unsigned dim) const;
  uint32_t warpMaskAlong(unsigned dim) const;

  /// True for exactly one thread among those that hold the same elements: the one that writes.
  bool isPrimary(int64_t lane, int64_t warp) const;

  /// Number of copies of each element.
  int64_t replicas() const;

  /// Largest w such that registers [i·w, i·w + w) hold w consecutive elements along `dim`, for every i.
  int64_t vectorWidth(unsigned dim) const;

  /// The same map with digits of size 1 dropped and adjacent digits merged where one continues the other.
  Layout normalized() const;

  /// Layout after a reduction of `dim`: that dimension is gone, register digits that moved only along it too, while
  /// lane and warp digits stay (replicated, as an all-reduce leaves them).
  Layout sliced(unsigned dim) const;

  /// The inverse of `sliced` on register indices: entry r is the register of `sliced(dim)` that belongs to register r
  /// of this layout (the operand of a broadcast, the accumulator of a reduction).
  std::vector<int64_t> slicedRegisters(unsigned dim) const;

  /// Why this layout does not cover `shape` exactly once up to replication; nothing when it does.
  std::optional<std::string> coverageError(const Coordinates &shape) const;
  bool covers(const Coordinates &shape) const { return !coverageError(shape); }

  /// Same map from (register, lane, warp) to coordinates.
  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }

  /// `reg = [2:(0,1)], lane = [...], warp = [...]`, as the attribute prints it.
  std::string str() const;

private:
  unsigned dims = 0;
  Modes regModes, laneModes, warpModes;
};

/// Tile shape of a tensor-core operand over `warpsM` x `warpsN` warps, warp id = m + warpsM·n.
struct WarpGrid {
  int64_t m = 1, n = 1;
};

/// The 64 x n accumulator of one warpgroup's wgmma.
Layout wgmmaAccumulator(int64_t n);

/// The 64 x k register operand A of wgmma for elements of `bits` (8, 16 or 32) bits.
Layout wgmmaOperandA(int64_t k, unsigned bits);

/// mma.sync operands for elements of `bits` (16: m16n8k16, 32: tf32 m16n8k8, 8: m16n8k32): A is rows x k,
/// B is columns x k, C is rows x columns. Each warp owns a contiguous block of rows and of columns.
Layout mmaOperandA(int64_t rows, int64_t k, unsigned bits, WarpGrid grid);
Layout mmaOperandB(int64_t cols, int64_t k, unsigned bits, WarpGrid grid);
Layout mmaAccumulator(int64_t rows, int64_t cols, WarpGrid grid);

/// rows x cols over `warps` warps: `threadsPerRow` threads side by side hold `vector` consecutive elements each, and
/// the pattern repeats along the row, then down the rows. `threadsPerRow` above 32 spans warps; threads left over when
/// there are fewer rows than row groups are replicas.
Layout blockedRows(int64_t rows, int64_t cols, int64_t threadsPerRow, int64_t vector, int64_t warps);

/// A vector of `size` elements over the threads of `warps` warps, `vector` consecutive elements each; threads left over
/// are replicas.
Layout blockedVector(int64_t size, int64_t vector, int64_t warps);

} // namespace emmy::math

#endif // EMMY_SUPPORT_MATH_LAYOUT_H
