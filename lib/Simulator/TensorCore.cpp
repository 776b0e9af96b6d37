// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorCore.h"

#include <algorithm>

namespace emmy::simulator {

void multiplyAccumulate(const std::vector<Number> &a, const std::vector<Number> &b, std::vector<Number> &acc, int64_t m,
                        int64_t n, int64_t k, int64_t step, Format format) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      Number &sum = acc[i * n + j];
      const Number *x = &a[i * k], *y = &b[j * k];
      for (int64_t start = 0; start < k; start += step) {
        const int64_t end = std::min(k, start + step);
        if (!isFloat(format)) {
          for (int64_t l = start; l < end; ++l)
            sum.integer = wrapTo(format, sum.integer + x[l].integer * y[l].integer);
          continue;
        }
        double part = 0;
        for (int64_t l = start; l < end; ++l)
          part += x[l].real * y[l].real;
        sum.real = roundTo(format, sum.real + part);
      }
    }
}

} // namespace emmy::simulator
