// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emmy/Support/Math/WgmmaDescriptor.h"
#include "emmy/Support/Math/Swizzle.h"

#include <cassert>

namespace emmy::math {

static constexpr int64_t addressLimit = 1 << 18;

/// The 14-bit field of a byte quantity in units of 16 bytes.
static uint64_t field(int64_t bytes) { return (static_cast<uint64_t>(bytes) & (addressLimit - 1)) >> 4; }

static uint64_t swizzleCode(int64_t span) { return span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0; }

uint64_t WgmmaDescriptor::encode() const {
  assert(address % 16 == 0 && leadingBytes % 16 == 0 && strideBytes % 16 == 0 && "fields count 16-byte units");
  assert(isSwizzleSpan(swizzle) && "no such swizzle");
  return field(address) | field(leadingBytes) << 16 | field(strideBytes) << 32 |
         (static_cast<uint64_t>(baseOffset) & 7) << 49 | swizzleCode(swizzle) << 62;
}

WgmmaDescriptor WgmmaDescriptor::decode(uint64_t bits) {
  static constexpr int64_t spans[] = {0, 128, 64, 32};
  const auto bytes = [bits](unsigned shift) { return static_cast<int64_t>((bits >> shift) & 0x3FFF) << 4; };
  return {bytes(0), bytes(16), bytes(32), static_cast<int64_t>((bits >> 49) & 7), spans[bits >> 62]};
}

/// Byte offset from the start address before the swizzle.
static int64_t linearOffset(const WgmmaDescriptor &d, Major major, int64_t elementBytes, int64_t mn, int64_t k) {
  if (major == Major::K) {
    const int64_t kBytes = k * elementBytes;
    if (d.swizzle == 0)
      return mn / 8 * d.strideBytes + kBytes / 16 * d.leadingBytes + mn % 8 * 16 + kBytes % 16;
    return mn / 8 * d.strideBytes + mn % 8 * d.swizzle + kBytes;
  }
  const int64_t mnBytes = mn * elementBytes;
  if (d.swizzle == 0)
    return mnBytes / 16 * d.strideBytes + k / 8 * d.leadingBytes + k % 8 * 16 + mnBytes % 16;
  return mnBytes / d.swizzle * d.leadingBytes + k / 8 * d.strideBytes + k % 8 * d.swizzle + mnBytes % d.swizzle;
}

int64_t operandAddress(const WgmmaDescriptor &d, Major major, int64_t elementBytes, int64_t mn, int64_t k) {
  const int64_t linear = d.address + linearOffset(d, major, elementBytes, mn, k);
  // The pattern counts rows from address bits 7-9 minus the base offset, so that a matrix may start inside a pattern.
  const int64_t shift = d.baseOffset << 7;
  return swizzleAddress(linear - shift, d.swizzle) + shift;
}

WgmmaDescriptor operandDescriptor(const OperandTile &tile, int64_t mn, int64_t k) {
  assert(tile.swizzle != 0 && "operand tiles are swizzled");
  WgmmaDescriptor d;
  d.swizzle = tile.swizzle;
  d.strideBytes = 8 * tile.swizzle;
  if (tile.major == Major::K) {
    const int64_t kBytes = k * tile.elementBytes;
    assert(mn % 8 == 0 && kBytes % 32 == 0 && "a K-major operand starts on 8 rows and 32 bytes of k");
    d.address = tile.address + kBytes / tile.swizzle * tile.panelBytes + mn * tile.swizzle + kBytes % tile.swizzle;
    // Ignored by the hardware for swizzled K-major operands; 1 is what other compilers write.
    d.leadingBytes = 16;
    return d;
  }
  const int64_t mnBytes = mn * tile.elementBytes;
  assert(mnBytes % tile.swizzle == 0 && k % 8 == 0 && "an MN-major operand starts on a span and 8 k");
  d.address = tile.address + mnBytes / tile.swizzle * tile.panelBytes + k * tile.swizzle;
  d.leadingBytes = tile.panelBytes;
  return d;
}

std::optional<std::string> operandError(const OperandTile &tile) {
  // 1. The hardware knows three spans; without swizzle tiles are interleaved core matrices, which no buffer type has.
  if (tile.swizzle == 0 || !isSwizzleSpan(tile.swizzle))
    return "a wgmma operand is swizzled by 32, 64 or 128 bytes, not " + std::to_string(tile.swizzle);
  // 2. Descriptors assume that the pattern starts at the tile.
  if (tile.address % swizzlePeriod(tile.swizzle) != 0)
    return "a wgmma operand starts at a multiple of " + std::to_string(swizzlePeriod(tile.swizzle)) +
           " bytes, not at " + std::to_string(tile.address);
  // 3. Only 16-bit types can be transposed on the way in.
  if (tile.major == Major::MN && tile.elementBytes != 2)
    return "a wgmma operand of " + std::to_string(tile.elementBytes * 8) + "-bit elements is K-major";
  // 4. Panels keep the pattern's phase.
  if (tile.panelBytes % swizzlePeriod(tile.swizzle) != 0)
    return "panels of a wgmma operand are a multiple of " + std::to_string(swizzlePeriod(tile.swizzle)) +
           " bytes apart, not " + std::to_string(tile.panelBytes);
  return std::nullopt;
}

} // namespace emmy::math
