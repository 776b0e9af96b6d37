// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes of the fuse stage, declared in Passes.td beside this file.
#ifndef EMMY_FUSE_PASSES_H
#define EMMY_FUSE_PASSES_H

#include "dialects/Fuse/Fuse.h"
#include "mlir/Pass/Pass.h"

namespace emmy::fuse {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "emmy/Fuse/Passes.h.inc"

} // namespace emmy::fuse

#endif // EMMY_FUSE_PASSES_H
