// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Number.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>

namespace emmy::simulator {

int64_t byteSize(Format format) {
  switch (format) {
  case Format::F64:
  case Format::I64:
    return 8;
  case Format::F32:
  case Format::TF32:
  case Format::I32:
    return 4;
  case Format::F16:
  case Format::BF16:
  case Format::I16:
    return 2;
  default:
    return 1;
  }
}

static const llvm::fltSemantics &semantics(Format format) {
  switch (format) {
  case Format::F16:
    return llvm::APFloat::IEEEhalf();
  case Format::F8E4M3FN:
    return llvm::APFloat::Float8E4M3FN();
  case Format::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  case Format::TF32:
    return llvm::APFloat::FloatTF32();
  default:
    return llvm::APFloat::BFloat();
  }
}

static llvm::APFloat convert(Format format, double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics(format), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number;
}

/// The bits of a float holding a bfloat16 after rounding to nearest even.
static uint32_t roundedBFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (std::isnan(value))
    return 0x7fc00000;
  return (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
}

double roundTo(Format format, double value) {
  if (format == Format::F64)
    return value;
  if (format == Format::F32)
    return static_cast<float>(value);
  // A double that is no float must not be rounded twice; such values come only from f64 programs.
  if (format == Format::BF16 && static_cast<float>(value) == value) {
    const uint32_t bits = roundedBFloat(static_cast<float>(value));
    float rounded;
    std::memcpy(&rounded, &bits, 4);
    return rounded;
  }
  llvm::APFloat number = convert(format, value);
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

int64_t wrapTo(Format format, int64_t value) {
  switch (format) {
  case Format::I32:
    return static_cast<int32_t>(value);
  case Format::I16:
    return static_cast<int16_t>(value);
  case Format::I8:
    return static_cast<int8_t>(value);
  case Format::I1:
    return value & 1;
  default:
    return value;
  }
}

template <typename T> static T bits(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

Number load(Format format, const uint8_t *bytes) {
  switch (format) {
  case Format::F64:
    return ofReal(bits<double>(bytes));
  case Format::F32:
  case Format::TF32:
    return ofReal(bits<float>(bytes));
  case Format::BF16: {
    const uint32_t wide = static_cast<uint32_t>(bits<uint16_t>(bytes)) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return ofReal(value);
  }
  case Format::F16:
  case Format::F8E4M3FN:
  case Format::F8E5M2: {
    const unsigned width = byteSize(format) * 8;
    const uint64_t raw = width == 16 ? bits<uint16_t>(bytes) : *bytes;
    llvm::APFloat number(semantics(format), llvm::APInt(width, raw));
    bool losesInfo;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return ofReal(number.convertToDouble());
  }
  case Format::I64:
    return ofInteger(bits<int64_t>(bytes));
  case Format::I32:
    return ofInteger(bits<int32_t>(bytes));
  case Format::I16:
    return ofInteger(bits<int16_t>(bytes));
  case Format::I8:
    return ofInteger(static_cast<int8_t>(*bytes));
  case Format::I1:
    return ofInteger(*bytes & 1);
  }
  return {};
}

template <typename T> static void put(uint8_t *bytes, T value) { std::memcpy(bytes, &value, sizeof(T)); }

void store(Format format, Number value, uint8_t *bytes) {
  switch (format) {
  case Format::F64:
    return put(bytes, value.real);
  case Format::F32:
  case Format::TF32:
    return put(bytes, static_cast<float>(value.real));
  case Format::BF16:
    return put(bytes, static_cast<uint16_t>(roundedBFloat(static_cast<float>(value.real)) >> 16));
  case Format::F16:
    return put(bytes, static_cast<uint16_t>(convert(format, value.real).bitcastToAPInt().getZExtValue()));
  case Format::F8E4M3FN:
  case Format::F8E5M2:
    return put(bytes, static_cast<uint8_t>(convert(format, value.real).bitcastToAPInt().getZExtValue()));
  case Format::I64:
    return put(bytes, value.integer);
  case Format::I32:
    return put(bytes, static_cast<int32_t>(value.integer));
  case Format::I16:
    return put(bytes, static_cast<int16_t>(value.integer));
  case Format::I8:
  case Format::I1:
    return put(bytes, static_cast<uint8_t>(value.integer));
  }
}

void addTo(Format format, Number term, uint8_t *bytes) {
  const Number old = load(format, bytes);
  const bool real = isFloat(format);
  store(format, real ? ofReal(roundTo(format, old.real + term.real)) : ofInteger(wrapTo(format, old.integer + term.integer)), bytes);
}

} // namespace emmy::simulator
