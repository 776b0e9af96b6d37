// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types a plan may name, and what DLPack and the TMA unit call them.

#ifndef EMMY_RUNTIME_DTYPE_H
#define EMMY_RUNTIME_DTYPE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace emmy::runtime {

enum class DType : uint8_t { F64, F32, F16, BF16, F8E4M3FN, F8E5M2, I64, I32, I16, I8, U8, I1 };

inline constexpr unsigned kNumDTypes = 12;

struct DTypeInfo {
  llvm::StringLiteral name;      ///< Spelling in a plan.
  llvm::StringLiteral torchName; ///< Attribute of the `torch` module.
  uint8_t bytes;                 ///< Storage of one element; `i1` takes a byte, as in PyTorch.
  uint8_t dlpackCode;            ///< DLDataTypeCode.
  uint8_t dlpackBits;
  uint8_t tensorMapType; ///< CUtensorMapDataType of the same width.
};

const DTypeInfo &getInfo(DType dtype);

std::optional<DType> parseDType(llvm::StringRef name);

/// The element type for a one-lane DLDataType; none if a plan cannot name it.
std::optional<DType> fromDLPack(uint8_t code, uint8_t bits);

} // namespace emmy::runtime

#endif // EMMY_RUNTIME_DTYPE_H
