// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: any function. Out: the same, or an error for each op that the level of primitives may not hold. Nothing is changed.
#include "dialects/Graph/GraphBuilder.h"
#include "emmy/Graph/Passes.h"

#define DEBUG_TYPE "emmy-verify-graph-form"

using namespace mlir;

namespace emmy::graph {
#define GEN_PASS_DEF_VERIFYGRAPHFORMPASS
#include "emmy/Graph/Passes.h.inc"

namespace {
/// A rule that an op breaks, and the pass that should have removed it.
struct Breach {
  StringRef rule, remedy;
};
} // namespace

static std::optional<Breach> findBreach(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "torch")
    return Breach{"no_torch_op", "--emmy-import-torch imports ops of the torch dialect"};
  if (dialect == "linalg" || dialect == "tensor")
    return Breach{"no_linalg_op", "--emmy-import-linalg imports ops of the linalg and tensor dialects"};
  if (isa<DecomposableOp>(op))
    return Breach{"no_composite_op", "--emmy-decompose replaces composite ops by primitives"};
  bool isInMap = isa<MapOp>(op->getParentOp());
  if (isInMap && (dialect == "arith" || dialect == "math"))
    return std::nullopt;
  if (!isa_and_nonnull<GraphDialect>(op->getDialect()) && !isa<func::FuncOp, func::ReturnOp, arith::ConstantOp, LaunchOp>(op))
    return Breach{"no_foreign_op", "no pass of this level removes it"};
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && llvm::is_contained(emmy::getSizes(tensor), AffineExpr()))
      return Breach{"sizes_have_expressions", "--emmy-import-torch gives every dynamic size an expression in #emmy.dims"};
  }
  return std::nullopt;
}

namespace {
struct VerifyGraphFormPass : impl::VerifyGraphFormPassBase<VerifyGraphFormPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      std::optional<Breach> breach = op == getOperation() ? std::nullopt : findBreach(op);
      if (!breach)
        return;
      InFlightDiagnostic diagnostic = op->emitOpError("violates graph form: ") << breach->rule;
      diagnostic.attachNote() << breach->remedy;
      signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace emmy::graph
