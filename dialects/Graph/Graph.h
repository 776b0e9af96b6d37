// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect `emmy_graph`: what is computed, on tensors.
#ifndef EMMY_DIALECTS_GRAPH_GRAPH_H
#define EMMY_DIALECTS_GRAPH_GRAPH_H

#include "dialects/Base/Base.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace emmy::graph {
class GraphBuilder;
} // namespace emmy::graph

#include "dialects/Graph/GraphDialect.h.inc"
#include "dialects/Graph/GraphEnums.h.inc"
#include "dialects/Graph/GraphInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/GraphOps.h.inc"

#endif // EMMY_DIALECTS_GRAPH_GRAPH_H
