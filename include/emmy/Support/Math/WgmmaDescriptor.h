// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The 64-bit matrix descriptor through which wgmma reads an operand from shared memory, and the byte address it
// assigns to every element. The lowering encodes descriptors; the simulator reads through them.

#ifndef EMMY_SUPPORT_MATH_WGMMADESCRIPTOR_H
#define EMMY_SUPPORT_MATH_WGMMADESCRIPTOR_H

#include <cstdint>
#include <optional>
#include <string>

namespace emmy::math {

/// Which dimension of an operand is contiguous in shared memory: K, or M (operand A) or N (operand B).
enum class Major { K, MN };

struct WgmmaDescriptor {
  /// Byte address in shared memory; a multiple of 16 below 2^18.
  int64_t address = 0;
  /// Leading and stride byte offsets; multiples of 16 below 2^18. See `operandAddress` for their meaning.
  int64_t leadingBytes = 0, strideBytes = 0;
  /// Row of the swizzle pattern (address bits 7-9) at which the matrix starts; 0 if the pattern is aligned.
  int64_t baseOffset = 0;
  /// 0, 32, 64 or 128 bytes.
  int64_t swizzle = 0;

  uint64_t encode() const;
  static WgmmaDescriptor decode(uint64_t bits);
  bool operator==(const WgmmaDescriptor &other) const {
    return address == other.address && leadingBytes == other.leadingBytes && strideBytes == other.strideBytes &&
           baseOffset == other.baseOffset && swizzle == other.swizzle;
  }
};

/// Absolute byte address at which wgmma finds the element (mn, k) of an operand with elements of `elementBytes`,
/// where mn counts rows of A or columns of B.
///
/// K-major, swizzled: rows of one span lie in groups of eight, `strideBytes` apart; an instruction's 32 bytes of k
///   never leave the span.  K-major without swizzle: 8-row by 16-byte core matrices of 128 bytes, `leadingBytes` apart
///   along k and `strideBytes` along mn.
/// MN-major, swizzled: one span of mn by 8 k is one atom; atoms are `leadingBytes` apart along mn and `strideBytes`
///   along k.  MN-major without swizzle: 16 bytes of mn by 8 k is one core matrix; `strideBytes` apart along mn and
///   `leadingBytes` along k.
int64_t operandAddress(const WgmmaDescriptor &descriptor, Major major, int64_t elementBytes, int64_t mn, int64_t k);

/// A row-major operand tile in shared memory: `outer` lines of one swizzle span each (K-major: outer counts rows and a
/// line holds k; MN-major: outer counts k and a line holds rows), followed by further such panels `panelBytes` apart
/// when the tile is wider than a span.
struct OperandTile {
  int64_t address = 0;
  Major major = Major::K;
  int64_t swizzle = 128;
  int64_t elementBytes = 2;
  /// Distance of neighbouring panels in bytes; unused when the contiguous dimension fits one span.
  int64_t panelBytes = 0;
};

/// Descriptor of the part of `tile` that starts at row (or column) `mn` and at `k`. The start must lie on an atom: mn
/// a multiple of 8 and k a multiple of 32 bytes for K-major tiles; mn a multiple of a span and k of 8 for MN-major.
WgmmaDescriptor operandDescriptor(const OperandTile &tile, int64_t mn, int64_t k);

/// What to add to the 64-bit descriptor to move it by `bytes` in shared memory.
constexpr uint64_t descriptorAdvance(int64_t bytes) { return static_cast<uint64_t>(bytes) >> 4; }

/// Why wgmma cannot read `tile`: alignment, element type against major-ness, span. Nothing when it can.
std::optional<std::string> operandError(const OperandTile &tile);

/// Number of k elements of one wgmma or mma.sync instruction: 32 bytes.
constexpr int64_t instructionK(int64_t elementBytes) { return 32 / elementBytes; }

} // namespace emmy::math

#endif // EMMY_SUPPORT_MATH_WGMMADESCRIPTOR_H
