// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes on the host program, declared in Passes.td beside this file.
#ifndef EMMY_PLAN_PASSES_H
#define EMMY_PLAN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace emmy {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "emmy/Plan/Passes.h.inc"

} // namespace emmy

#endif // EMMY_PLAN_PASSES_H
