// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emmy/Support/Math/Tma.h"
#include "emmy/Support/Math/Offset.h"
#include "emmy/Support/Math/Swizzle.h"

#include <algorithm>
#include <cassert>

namespace emmy::math {

static std::string text(int64_t value) { return std::to_string(value); }

int64_t TmaBox::elements() const {
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  return total;
}

int64_t TmaBox::rowPitch() const {
  const int64_t inner = shape.back() * elementBytes;
  return swizzle == 0 ? inner : std::max(inner, swizzle);
}

int64_t TmaBox::sharedBytes() const { return elements() / shape.back() * rowPitch(); }

std::vector<int64_t> TmaBox::coordinates(int64_t index) const {
  std::vector<int64_t> at(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    at[d] = index % shape[d];
    index /= shape[d];
  }
  return at;
}

int64_t TmaBox::sharedAddress(int64_t base, const std::vector<int64_t> &at) const {
  assert(at.size() == shape.size() && "one coordinate per dimension");
  int64_t row = 0;
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    row = row * shape[d] + at[d];
  return swizzleAddress(base + row * rowPitch() + at.back() * elementBytes, swizzle);
}

std::optional<int64_t> TmaMap::globalOffset(const std::vector<int64_t> &start, const std::vector<int64_t> &at) const {
  Wide offset = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t index = start[d] + at[d];
    if (index < 0 || index >= sizes[d])
      return std::nullopt;
    offset += Wide(index) * (d + 1 == sizes.size() ? box.elementBytes : strides[d]);
  }
  return clampOffset(offset);
}

std::optional<std::string> boxError(const TmaBox &box) {
  // 1. Rank.
  if (box.shape.empty() || box.shape.size() > 5)
    return "a tensor map has 1 to 5 dimensions, not " + text(box.shape.size());
  // 2. Box sizes.
  for (size_t d = 0; d < box.shape.size(); ++d)
    if (box.shape[d] < 1 || box.shape[d] > 256)
      return "box dimension #" + text(d) + " is 1 to 256 elements, not " + text(box.shape[d]);
  // 3. The inner row is whole 16-byte chunks.
  const int64_t inner = box.shape.back() * box.elementBytes;
  if (inner % 16 != 0)
    return "the inner box dimension is a multiple of 16 bytes, not " + text(inner);
  // 4. It stays inside one swizzle span.
  if (!isSwizzleSpan(box.swizzle))
    return "the swizzle is 0, 32, 64 or 128 bytes, not " + text(box.swizzle);
  if (box.swizzle != 0 && inner > box.swizzle)
    return "the inner box dimension is at most the swizzle span of " + text(box.swizzle) + " bytes, not " + text(inner);
  return std::nullopt;
}

std::optional<std::string> mapError(const TmaMap &map) {
  // 1. The box on its own.
  if (std::optional<std::string> error = boxError(map.box))
    return error;
  // 2. Ranks agree.
  const size_t rank = map.box.shape.size();
  if (map.sizes.size() != rank || map.strides.size() + 1 < rank)
    return "box, sizes and strides have the same rank, not " + text(rank) + ", " + text(map.sizes.size()) + " and " +
           text(map.strides.size());
  // 3. Base alignment.
  if (map.base % 16 != 0)
    return "the tensor starts at a multiple of 16 bytes, not at " + text(map.base);
  for (size_t d = 0; d < rank; ++d) {
    // 4. Tensor sizes fit 32 bits.
    if (map.sizes[d] < 1 || map.sizes[d] > (int64_t(1) << 32))
      return "tensor dimension #" + text(d) + " is 1 to 2^32 elements, not " + text(map.sizes[d]);
    // 5. Strides are whole 16-byte units below 2^40.
    if (d + 1 < rank && (map.strides[d] % 16 != 0 || map.strides[d] < 0 || map.strides[d] >= (int64_t(1) << 40)))
      return "stride #" + text(d) + " is a multiple of 16 bytes below 2^40, not " + text(map.strides[d]);
  }
  return std::nullopt;
}

std::optional<std::string> coordinatesError(const TmaBox &box, const std::vector<int64_t> &start) {
  if (start.size() != box.shape.size())
    return "a request has one coordinate for each box dimension";
  if (start.back() * box.elementBytes % 16 != 0)
    return "the inner coordinate of a TMA tile is a multiple of 16 bytes, not " + text(start.back() * box.elementBytes);
  return std::nullopt;
}

std::optional<std::string> sharedAddressError(const TmaBox &box, int64_t address) {
  const int64_t alignment = std::max<int64_t>(128, swizzlePeriod(box.swizzle));
  if (address % alignment != 0)
    return "a TMA tile starts at a multiple of " + text(alignment) + " bytes in shared memory, not at " + text(address);
  return std::nullopt;
}

} // namespace emmy::math
