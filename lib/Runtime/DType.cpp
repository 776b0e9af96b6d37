// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of element types, in the order of `DType`.

#include "emmy/Runtime/DType.h"

namespace emmy::runtime {

static constexpr DTypeInfo kInfos[kNumDTypes] = {
    {"f64", "float64", 8, 2, 64, 8},          {"f32", "float32", 4, 2, 32, 7},
    {"f16", "float16", 2, 2, 16, 6},          {"bf16", "bfloat16", 2, 4, 16, 9},
    {"f8e4m3fn", "float8_e4m3fn", 1, 10, 8, 0}, {"f8e5m2", "float8_e5m2", 1, 12, 8, 0},
    {"i64", "int64", 8, 0, 64, 5},            {"i32", "int32", 4, 0, 32, 3},
    {"i16", "int16", 2, 0, 16, 1},            {"i8", "int8", 1, 0, 8, 0},
    {"u8", "uint8", 1, 1, 8, 0},              {"i1", "bool", 1, 6, 8, 0},
};

const DTypeInfo &getInfo(DType dtype) { return kInfos[static_cast<unsigned>(dtype)]; }

std::optional<DType> parseDType(llvm::StringRef name) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (kInfos[i].name == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

std::optional<DType> fromDLPack(uint8_t code, uint8_t bits) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (kInfos[i].dlpackCode == code && kInfos[i].dlpackBits == bits)
      return static_cast<DType>(i);
  return std::nullopt;
}

} // namespace emmy::runtime
