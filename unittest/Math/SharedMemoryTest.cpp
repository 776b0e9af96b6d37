// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Check.h"
#include "emmy/Support/Math/Swizzle.h"
#include "emmy/Support/Math/Tma.h"
#include "emmy/Support/Math/WgmmaDescriptor.h"

using namespace emmy::math;
using Text = std::optional<std::string>;

/// The programming guide's pictures: where the eight 16-byte chunks of each 128-byte line go.
static void testSwizzle() {
  const int64_t span128[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5},
                                 {3, 2, 1, 0, 7, 6, 5, 4}, {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                                 {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
  const int64_t span64[4][8] = {
      {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4}};
  const int64_t span32[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
  for (int64_t line = 0; line < 16; ++line)
    for (int64_t chunk = 0; chunk < 8; ++chunk) {
      const int64_t address = line * 128 + chunk * 16 + 6;
      CHECK_EQ(swizzleAddress(address, 128), line * 128 + span128[line % 8][chunk] * 16 + 6);
      CHECK_EQ(swizzleAddress(address, 64), line * 128 + span64[line % 4][chunk] * 16 + 6);
      CHECK_EQ(swizzleAddress(address, 32), line * 128 + span32[line % 2][chunk] * 16 + 6);
      CHECK_EQ(swizzleAddress(address, 0), address);
    }
  CHECK_EQ(swizzlePeriod(128), 1024);
  CHECK_EQ(swizzlePeriod(64), 512);
  CHECK_EQ(swizzlePeriod(32), 256);
}

static void testSharedLayout() {
  const SharedLayout ring = SharedLayout::rowMajor({4, 128, 64}, 2, 128);
  CHECK_EQ(ring.bytes(), 65536);
  CHECK_EQ(ring.address(1024, {0, 0, 0}), 1024);
  CHECK_EQ(ring.address(1024, {0, 1, 0}), 1024 + 128 + 16);
  CHECK_EQ(ring.address(1024, {2, 9, 17}), 1024 + 2 * 16384 + 9 * 128 + 3 * 16 + 2);
  const SharedLayout padded{{32, 32}, {33, 1}, 4, 0};
  CHECK_EQ(padded.address(0, {1, 1}), 136);
  CHECK_EQ(padded.bytes(), (31 * 33 + 32) * 4);
}

/// Bit fields of "Matrix-descriptor format": 0-13 address, 16-29 leading, 32-45 stride, 49-51 base offset, 62-63 mode.
static void testDescriptorBits() {
  // SWIZZLE_128B, stride 1024 B, leading 1: the constant of hand-written Hopper kernels, for address 0x2400.
  const WgmmaDescriptor kMajor{0x2400, 16, 1024, 0, 128};
  CHECK_EQ(kMajor.encode(), uint64_t(0x4000004000010240));
  CHECK_EQ(kMajor.encode() + descriptorAdvance(32), uint64_t(0x4000004000010242));
  CHECK_EQ(WgmmaDescriptor::decode(0x4000004000010240) == kMajor, true);
  const WgmmaDescriptor odd{0x10, 0x20, 0x30, 5, 32};
  CHECK_EQ(odd.encode(), uint64_t(0xC00A000300020001));
  CHECK_EQ(WgmmaDescriptor::decode(0xC00A000300020001) == odd, true);
  CHECK_EQ((WgmmaDescriptor{0, 0, 512, 0, 64}.encode()), uint64_t(0x8000002000000000));
}

/// Operands written row by row at swizzled addresses must be found again through their descriptor.
static void testOperandAddresses() {
  // K-major, 128 x 64 bf16: row 9, k 17 is line 9, chunk 2 ^ 1, second element of the chunk.
  const OperandTile a{2048, Major::K, 128, 2, 0};
  CHECK_EQ(operandAddress(operandDescriptor(a, 0, 0), Major::K, 2, 9, 15), 2048 + 9 * 128 + (1 ^ 1) * 16 + 14);
  CHECK_EQ(operandAddress(operandDescriptor(a, 0, 16), Major::K, 2, 9, 1), 2048 + 9 * 128 + (2 ^ 1) * 16 + 2);
  CHECK_EQ(operandAddress(operandDescriptor(a, 64, 48), Major::K, 2, 3, 8), 2048 + 67 * 128 + (7 ^ 3) * 16);
  // MN-major, 128 k x 128 columns bf16 in two panels of 64 columns: k 21, column 70 is panel 1, line 21, chunk 0 ^ 5.
  const OperandTile v{4096, Major::MN, 128, 2, 128 * 128};
  CHECK_EQ(operandDescriptor(v, 0, 16).encode(),
           (uint64_t(1) << 62) | (uint64_t(64) << 32) | (uint64_t(1024) << 16) | ((4096 + 16 * 128) >> 4));
  CHECK_EQ(operandAddress(operandDescriptor(v, 0, 16), Major::MN, 2, 70, 5), 4096 + 16384 + 21 * 128 + (0 ^ 5) * 16 + 12);
  CHECK_EQ(operandAddress(operandDescriptor(v, 64, 0), Major::MN, 2, 15, 1), 4096 + 16384 + 128 + (1 ^ 1) * 16 + 14);
  // 64-byte span: eight rows take 512 bytes, the line index counts pairs of rows.
  const OperandTile narrow{512, Major::K, 64, 2, 0};
  CHECK_EQ(operandAddress(operandDescriptor(narrow, 0, 0), Major::K, 2, 2, 0), 512 + 128 + (0 ^ 1) * 16);
  CHECK_EQ(operandAddress(operandDescriptor(narrow, 0, 16), Major::K, 2, 8, 8), 512 + 512 + (3 ^ 0) * 16);
  // Core matrices without swizzle: 8 rows by 16 bytes.
  const WgmmaDescriptor plain{0, 128, 256, 0, 0};
  CHECK_EQ(operandAddress(plain, Major::K, 2, 9, 9), 256 + 128 + 16 + 2);
  CHECK_EQ(operandAddress(plain, Major::MN, 2, 9, 9), 256 + 128 + 16 + 2);
  CHECK_EQ(operandError(a), Text());
  CHECK_EQ(operandError({100, Major::K, 128, 2, 0}),
           Text("a wgmma operand starts at a multiple of 1024 bytes, not at 100"));
  CHECK_EQ(operandError({0, Major::MN, 128, 1, 0}), Text("a wgmma operand of 8-bit elements is K-major"));
  CHECK_EQ(operandError({0, Major::K, 0, 2, 0}), Text("a wgmma operand is swizzled by 32, 64 or 128 bytes, not 0"));
}

static void testTma() {
  const TmaBox box{{128, 64}, 2, 128};
  CHECK_EQ(box.transactionBytes(), 16384);
  CHECK_EQ(box.sharedAddress(1024, {9, 17}), 1024 + 9 * 128 + 3 * 16 + 2);
  CHECK_EQ(box.coordinates(65), (std::vector<int64_t>{1, 1}));
  const TmaBox panels{{2, 128, 64}, 2, 128};
  CHECK_EQ(panels.sharedAddress(0, {1, 3, 0}), 16384 + 3 * 128 + 3 * 16);
  const TmaMap map{box, {100, 200}, {400, 2}, 0};
  CHECK_EQ(mapError(map), Text());
  CHECK_EQ(map.globalOffset({64, 128}, {35, 63}), std::optional<int64_t>(99 * 400 + 191 * 2));
  CHECK_EQ(map.globalOffset({64, 128}, {36, 0}), std::optional<int64_t>());
  CHECK_EQ(map.globalOffset({0, 192}, {0, 8}), std::optional<int64_t>());
  CHECK_EQ(map.globalOffset({-1, 0}, {0, 0}), std::optional<int64_t>());
  CHECK_EQ(map.globalOffset({-1, 0}, {1, 0}), std::optional<int64_t>(0));
  CHECK_EQ(boxError({{257, 64}, 2, 128}), Text("box dimension #0 is 1 to 256 elements, not 257"));
  CHECK_EQ(boxError({{128, 128}, 2, 128}),
           Text("the inner box dimension is at most the swizzle span of 128 bytes, not 256"));
  CHECK_EQ(boxError({{128, 4}, 2, 0}), Text("the inner box dimension is a multiple of 16 bytes, not 8"));
  CHECK_EQ(mapError({box, {100, 100}, {200, 2}, 0}), Text("stride #0 is a multiple of 16 bytes below 2^40, not 200"));
  CHECK_EQ(mapError({box, {100, 200}, {400, 2}, 8}), Text("the tensor starts at a multiple of 16 bytes, not at 8"));
  CHECK_EQ(coordinatesError(box, {-3, -8}), Text());
  CHECK_EQ(coordinatesError(box, {0, 5}), Text("the inner coordinate of a TMA tile is a multiple of 16 bytes, not 10"));
  CHECK_EQ(sharedAddressError(box, 1024), Text());
  CHECK_EQ(sharedAddressError(box, 128),
           Text("a TMA tile starts at a multiple of 1024 bytes in shared memory, not at 128"));
}

void testSharedMemory() {
  testSwizzle();
  testSharedLayout();
  testDescriptorBits();
  testOperandAddresses();
  testTma();
}
