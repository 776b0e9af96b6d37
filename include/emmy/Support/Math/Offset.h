// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Byte offsets that programs compute from numbers of their own: sums of products of 64-bit numbers do not wrap.

#ifndef EMMY_SUPPORT_MATH_OFFSET_H
#define EMMY_SUPPORT_MATH_OFFSET_H

#include <cstdint>

namespace emmy::math {

/// Holds any sum of a few products of two 64-bit numbers.
__extension__ typedef __int128 Wide;

/// No memory is this large. Offsets beyond it are all the same, and sizes can be added to them.
constexpr int64_t farAway = int64_t(1) << 62;

constexpr int64_t clampOffset(Wide offset) {
  return offset > farAway ? farAway : offset < -farAway ? -farAway : static_cast<int64_t>(offset);
}
constexpr bool isFar(int64_t offset) { return offset >= farAway || offset <= -farAway; }

} // namespace emmy::math

#endif // EMMY_SUPPORT_MATH_OFFSET_H
