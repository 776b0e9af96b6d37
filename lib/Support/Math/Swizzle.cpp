// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emmy/Support/Math/Swizzle.h"

#include <cassert>
#include <cstddef>

namespace emmy::math {

SharedLayout SharedLayout::rowMajor(std::vector<int64_t> shape, int64_t elementBytes, int64_t swizzle) {
  assert(isSwizzleSpan(swizzle) && "no such swizzle");
  std::vector<int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return {std::move(shape), std::move(strides), elementBytes, swizzle};
}

int64_t SharedLayout::linearOffset(const std::vector<int64_t> &at) const {
  assert(at.size() == strides.size() && "one index per dimension");
  int64_t elements = 0;
  for (std::size_t d = 0; d < at.size(); ++d)
    elements += at[d] * strides[d];
  return elements * elementBytes;
}

int64_t SharedLayout::bytes() const {
  int64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d)
    last += (shape[d] - 1) * strides[d];
  const int64_t size = (last + 1) * elementBytes, period = swizzle == 0 ? 1 : swizzlePeriod(swizzle);
  return (size + period - 1) / period * period;
}

} // namespace emmy::math
