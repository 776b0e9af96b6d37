// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_UNITTEST_RUNTIME_FAKECUDA_H
#define EMMY_UNITTEST_RUNTIME_FAKECUDA_H

#include <string>
#include <vector>

/// What the driver was asked to do since the last time, one line each.
std::vector<std::string> takeFakeCudaLog();

#endif // EMMY_UNITTEST_RUNTIME_FAKECUDA_H
