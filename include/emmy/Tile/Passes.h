// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes of the tile stage, declared in Passes.td beside this file.
#ifndef EMMY_TILE_PASSES_H
#define EMMY_TILE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace emmy::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "emmy/Tile/Passes.h.inc"

} // namespace emmy::tile

#endif // EMMY_TILE_PASSES_H
