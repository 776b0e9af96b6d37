// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_CONVERSION_PASSES_TD
#define EMMY_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // EMMY_CONVERSION_PASSES_TD
