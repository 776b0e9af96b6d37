// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Element formats. Every float is held as a double that is exactly representable in its format; every integer as a
// sign-extended 64-bit value (i1 as 0 or 1). Rounding a double result of + - * / sqrt to a format of at most 24 bits is
// the same as computing in that format.

#ifndef EMMY_LIB_SIMULATOR_NUMBER_H
#define EMMY_LIB_SIMULATOR_NUMBER_H

#include <cstdint>

namespace emmy::simulator {

enum class Format : uint8_t { F64, F32, TF32, F16, BF16, F8E4M3FN, F8E5M2, I64, I32, I16, I8, I1 };

constexpr bool isFloat(Format format) { return format <= Format::F8E5M2; }
int64_t byteSize(Format format);

/// A scalar or one element: `real` for floats, `integer` otherwise; its type says which.
union Number {
  double real;
  int64_t integer = 0;
};
inline Number ofReal(double value) {
  Number number;
  number.real = value;
  return number;
}
inline Number ofInteger(int64_t value) {
  Number number;
  number.integer = value;
  return number;
}

/// Nearest value of the format, ties to even; NaN stays NaN, overflow follows the format (E4M3FN: NaN).
double roundTo(Format format, double value);
/// Wraps to the width of an integer format.
int64_t wrapTo(Format format, int64_t value);

Number load(Format format, const uint8_t *bytes);
void store(Format format, Number value, uint8_t *bytes);
/// Adds in place, rounded to the format.
void addTo(Format format, Number term, uint8_t *bytes);

} // namespace emmy::simulator

#endif // EMMY_LIB_SIMULATOR_NUMBER_H
