// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The name `torch` for files that hold torch-mlir's ops in generic form.
#ifndef EMMY_GRAPH_TORCHDIALECT_H
#define EMMY_GRAPH_TORCHDIALECT_H

#include "mlir/IR/Dialect.h"

namespace emmy::graph {

/// Lets ops and types of the prefix `torch` through as unknown ones, for `--emmy-import-torch`; every other unregistered op stays an
/// error of the parser.
class TorchDialect : public mlir::Dialect {
public:
  explicit TorchDialect(mlir::MLIRContext *context) : Dialect(getDialectNamespace(), context, mlir::TypeID::get<TorchDialect>()) {
    allowUnknownOperations();
    allowUnknownTypes();
  }
  static constexpr llvm::StringLiteral getDialectNamespace() { return llvm::StringLiteral("torch"); }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TorchDialect)
};

} // namespace emmy::graph

#endif // EMMY_GRAPH_TORCHDIALECT_H
