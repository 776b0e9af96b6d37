// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The hardware's shared-memory swizzle and the placement of elements in a swizzled buffer. TMA, wgmma descriptors and
// ordinary accesses all agree on absolute byte addresses, so a swizzled buffer starts at a multiple of its pattern.

#ifndef EMMY_SUPPORT_MATH_SWIZZLE_H
#define EMMY_SUPPORT_MATH_SWIZZLE_H

#include <cstdint>
#include <vector>

namespace emmy::math {

/// True for the spans the hardware knows: 0 (none), 32, 64 and 128 bytes.
constexpr bool isSwizzleSpan(int64_t span) { return span == 0 || span == 32 || span == 64 || span == 128; }

/// Byte address after the swizzle with `span`: the 16-byte chunk index within a span is XORed with the low bits of the
/// 128-byte line index. 128: bits 4-6 ^= 7-9; 64: bits 4-5 ^= 7-8; 32: bit 4 ^= 7. It is its own inverse.
constexpr int64_t swizzleAddress(int64_t address, int64_t span) {
  const int64_t chunks = span / 16;
  return span == 0 ? address : address ^ (((address >> 7) & (chunks - 1)) << 4);
}

/// Bytes after which the pattern repeats; also the alignment of a swizzled buffer (16 without swizzle).
constexpr int64_t swizzlePeriod(int64_t span) { return span == 0 ? 16 : span * 8; }

/// A strided, swizzled array in shared memory.
struct SharedLayout {
  std::vector<int64_t> shape;
  /// In elements, one per dimension.
  std::vector<int64_t> strides;
  int64_t elementBytes = 1;
  int64_t swizzle = 0;

  /// Row-major without gaps.
  static SharedLayout rowMajor(std::vector<int64_t> shape, int64_t elementBytes, int64_t swizzle);

  /// Bytes from the start of the buffer to the element at `at` before the swizzle.
  int64_t linearOffset(const std::vector<int64_t> &at) const;

  /// Absolute shared-memory byte address of the element at `at` in a buffer that starts at `base`.
  int64_t address(int64_t base, const std::vector<int64_t> &at) const {
    return swizzleAddress(base + linearOffset(at), swizzle);
  }

  /// Bytes the buffer occupies, rounded up to the swizzle pattern.
  int64_t bytes() const;
};

} // namespace emmy::math

#endif // EMMY_SUPPORT_MATH_SWIZZLE_H
