// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: functions of primitives whose arguments say by `emmy.aliases` which result is their new value.
// Out: the same, with `emmy.mutable` on each argument that may be written in place: its new value is made by scatters alone, and nothing
// reads what they overwrite. Other arguments get a remark; their new value is a tensor of its own that the caller copies.
// Numerics preserved.
#include "dialects/Graph/Graph.h"
#include "emmy/Graph/Passes.h"

#define DEBUG_TYPE "emmy-reinplace"

using namespace mlir;

namespace emmy::graph {
#define GEN_PASS_DEF_REINPLACEPASS
#include "emmy/Graph/Passes.h.inc"

static constexpr StringLiteral kAliasesAttr = "emmy.aliases";
static constexpr StringLiteral kMutableAttr = "emmy.mutable";

/// Why the argument cannot be written in place; empty if it can. `updated` is its new value.
static StringRef findObstacle(BlockArgument argument, Value updated) {
  Value at = updated;
  while (at != argument) {
    auto scatter = at.getDefiningOp<ScatterOp>();
    if (!scatter)
      return "its new value is not made by scatters alone";
    at = scatter.getInput();
    if (!at.hasOneUse())
      return "a value that would be overwritten has another reader";
  }
  return updated == argument ? "its new value is the old one" : "";
}

/// The number of arguments that may be written in place; failure where an attribute names no result.
static FailureOr<int64_t> markMutable(func::FuncOp func) {
  int64_t count = 0;
  Operation *terminator = func.getBody().front().getTerminator();
  for (BlockArgument argument : func.getArguments()) {
    auto aliases = func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kAliasesAttr);
    if (!aliases)
      continue;
    uint64_t result = aliases.getValue().getZExtValue();
    if (result >= terminator->getNumOperands())
      return func.emitError() << "argument #" << argument.getArgNumber() << " aliases result #" << result << ", but there are "
                              << terminator->getNumOperands();
    Value updated = terminator->getOperand(result);
    if (updated.getType() != argument.getType())
      return func.emitError() << "argument #" << argument.getArgNumber() << " aliases result #" << result << " of another type";
    if (StringRef obstacle = findObstacle(argument, updated); !obstacle.empty()) {
      func.emitRemark() << "argument #" << argument.getArgNumber() << " is not written in place: " << obstacle;
      continue;
    }
    func.setArgAttr(argument.getArgNumber(), kMutableAttr, UnitAttr::get(func.getContext()));
    ++count;
  }
  return count;
}

namespace {
struct ReinplacePass : impl::ReinplacePassBase<ReinplacePass> {
  using Base::Base;
  void runOnOperation() override {
    if (getOperation().isExternal() || !getOperation().getBody().hasOneBlock())
      return;
    FailureOr<int64_t> count = markMutable(getOperation());
    if (failed(count))
      return signalPassFailure();
    numTied += *count;
  }
};
} // namespace
} // namespace emmy::graph
