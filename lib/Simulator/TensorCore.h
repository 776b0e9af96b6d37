// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The arithmetic of wgmma and mma.sync on dense matrices.

#ifndef EMMY_LIB_SIMULATOR_TENSORCORE_H
#define EMMY_LIB_SIMULATOR_TENSORCORE_H

#include "Number.h"

#include <vector>

namespace emmy::simulator {

/// acc(m x n) += a(m x k) · b(n x k)^T, all row-major. Products and sums of one instruction's `step` values of k are
/// exact; the accumulator is rounded to `format` after each instruction. Integers wrap.
void multiplyAccumulate(const std::vector<Number> &a, const std::vector<Number> &b, std::vector<Number> &acc, int64_t m,
                        int64_t n, int64_t k, int64_t step, Format format);

} // namespace emmy::simulator

#endif // EMMY_LIB_SIMULATOR_TENSORCORE_H
