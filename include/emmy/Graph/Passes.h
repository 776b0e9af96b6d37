// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes of the graph stage, declared in Passes.td beside this file.
#ifndef EMMY_GRAPH_PASSES_H
#define EMMY_GRAPH_PASSES_H

#include "mlir/Pass/Pass.h"

namespace emmy::graph {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "emmy/Graph/Passes.h.inc"

} // namespace emmy::graph

#endif // EMMY_GRAPH_PASSES_H
