// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the two halves of --emmy-import-linalg share.
#ifndef EMMY_LIB_GRAPH_LINALG_LINALGIMPORT_H
#define EMMY_LIB_GRAPH_LINALG_LINALGIMPORT_H

#include "dialects/Graph/GraphBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace emmy::graph {

/// Fails with a diagnostic of `op` that says what is not supported.
mlir::LogicalResult refuseLinalg(mlir::Operation *op, const llvm::Twine &reason);

/// The value that replaces the only result of a structured op: a map, a reduction or a contraction.
mlir::FailureOr<mlir::Value> importStructured(GraphBuilder &builder, mlir::linalg::LinalgOp op);

} // namespace emmy::graph

#endif // EMMY_LIB_GRAPH_LINALG_LINALGIMPORT_H
