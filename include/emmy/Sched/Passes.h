// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes of the sched stage, declared in Passes.td beside this file.
#ifndef EMMY_SCHED_PASSES_H
#define EMMY_SCHED_PASSES_H

#include "mlir/Pass/Pass.h"

namespace emmy::sched {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "emmy/Sched/Passes.h.inc"

} // namespace emmy::sched

#endif // EMMY_SCHED_PASSES_H
