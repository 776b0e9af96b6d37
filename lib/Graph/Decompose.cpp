// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: emmy_graph ops. Out: only primitives, in place of each composite op. Every composite op decomposes.
// Refuses: dynamic sizes without an expression.
// Numerics: sums in f32 (f64 for f64), each composite's result rounded once.
#include "dialects/Graph/GraphBuilder.h"
#include "emmy/Graph/Passes.h"

#define DEBUG_TYPE "emmy-decompose"

using namespace mlir;

namespace emmy::graph {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "emmy/Graph/Passes.h.inc"

/// Primitives are located under the name of the op that they came from, after which kernels are named.
static Location getLocation(Operation *op) {
  if (isa<NameLoc>(op->getLoc()))
    return op->getLoc();
  auto pointwise = dyn_cast<PointwiseOp>(op);
  StringRef name = pointwise ? stringifyFunction(pointwise.getFunction()) : op->getName().stripDialect();
  return NameLoc::get(StringAttr::get(op->getContext(), name), op->getLoc());
}

/// Decompositions compute with sizes, so each needs an expression.
static LogicalResult checkSizes(DecomposableOp op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  for (Value value : values)
    if (llvm::is_contained(sizesOf(value), AffineExpr()))
      return op->emitOpError("needs sizes with expressions (#emmy.dims) to be decomposed, but got ") << value.getType();
  return success();
}

/// A decomposition may use other composites, so this repeats until there are none.
static FailureOr<int64_t> decomposeAll(func::FuncOp func) {
  int64_t count = 0;
  SmallVector<DecomposableOp> pending;
  do {
    pending.clear();
    func.walk([&](DecomposableOp op) { pending.push_back(op); });
    for (DecomposableOp op : pending) {
      if (failed(checkSizes(op)))
        return failure();
      OpBuilder builder(op);
      GraphBuilder graph(builder, getLocation(op));
      Value replacement = op.decompose(graph);
      op->getResult(0).replaceAllUsesWith(graph.reshape(replacement, sizesOf(op->getResult(0)))); // equal sizes, spelled as declared
      op->erase();
      ++count;
    }
  } while (!pending.empty());
  return count;
}

namespace {
struct DecomposePass : impl::DecomposePassBase<DecomposePass> {
  using Base::Base;
  void runOnOperation() override {
    FailureOr<int64_t> count = decomposeAll(getOperation());
    if (failed(count))
      return signalPassFailure();
    numDecomposed += *count;
  }
};
} // namespace
} // namespace emmy::graph
