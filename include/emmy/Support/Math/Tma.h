// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What one TMA tile request touches: where each element of the box lands in shared memory, where it comes from in
// global memory, and which maps the hardware accepts. All lists are outermost dimension first.

#ifndef EMMY_SUPPORT_MATH_TMA_H
#define EMMY_SUPPORT_MATH_TMA_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace emmy::math {

/// The part of a tensor map that is fixed when a kernel is compiled.
struct TmaBox {
  /// Elements per dimension.
  std::vector<int64_t> shape;
  int64_t elementBytes = 2;
  int64_t swizzle = 0;

  int64_t elements() const;
  /// Bytes that a load adds to its barrier, whether in bounds or filled with zeros.
  int64_t transactionBytes() const { return elements() * elementBytes; }
  /// Distance of neighbouring rows in shared memory: a swizzled row takes a whole span.
  int64_t rowPitch() const;
  /// Bytes of shared memory the box covers.
  int64_t sharedBytes() const;
  /// Box coordinates of the element with row-major number `index`.
  std::vector<int64_t> coordinates(int64_t index) const;
  /// Absolute shared-memory byte address of the element at box coordinates `at` for a destination at `base`.
  int64_t sharedAddress(int64_t base, const std::vector<int64_t> &at) const;
};

/// A tensor map as the driver encodes it.
struct TmaMap {
  TmaBox box;
  /// Tensor sizes in elements and strides in bytes. The innermost stride is the element size and is not looked at.
  std::vector<int64_t> sizes, strides;
  /// Byte address of the tensor; only its alignment matters here.
  int64_t base = 0;

  /// Byte offset from `base` of the element at `start` + `at`; nothing if that lies outside the tensor (a load then
  /// writes zero, a store nothing). At most `farAway`.
  std::optional<int64_t> globalOffset(const std::vector<int64_t> &start, const std::vector<int64_t> &at) const;
};

/// The rule a box or map violates, as text for a diagnostic; nothing when it is legal.
std::optional<std::string> boxError(const TmaBox &box);
std::optional<std::string> mapError(const TmaMap &map);

/// The rule the coordinates of a request violate. An inner coordinate inside a 16-byte unit is an illegal instruction on
/// the hardware (seen on an H200), whatever the outer ones are.
std::optional<std::string> coordinatesError(const TmaBox &box, const std::vector<int64_t> &start);

/// The rule a shared-memory destination or source address violates.
std::optional<std::string> sharedAddressError(const TmaBox &box, int64_t address);

} // namespace emmy::math

#endif // EMMY_SUPPORT_MATH_TMA_H
