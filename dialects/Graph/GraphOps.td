// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_GRAPH_OPS_TD
#define EMMY_GRAPH_OPS_TD

include "dialects/Base/BaseAttrs.td"
include "dialects/Graph/GraphDialect.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits>;

defvar Graph_Tensor = RankedTensorOf<[AnySignlessInteger, AnyFloat]>;

include "dialects/Graph/GraphPrimitives.td"
include "dialects/Graph/GraphComposite.td"
include "dialects/Graph/GraphPointwise.td"

#endif // EMMY_GRAPH_OPS_TD
