// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The simulator as a pass, declared in Passes.td beside this file.
#ifndef EMMY_SIMULATOR_PASSES_H
#define EMMY_SIMULATOR_PASSES_H

#include "mlir/Pass/Pass.h"

namespace emmy::simulator {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "emmy/Simulator/Passes.h.inc"

} // namespace emmy::simulator

#endif // EMMY_SIMULATOR_PASSES_H
