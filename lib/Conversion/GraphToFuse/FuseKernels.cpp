// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: a host function of primitives (emmy_graph.map, reduce, contract, iota, size, views, concat, pad, take, gather, scatter and
// constants). Out: emmy_fuse.kernel ops before it and launches in it. Refuses composite ops, which --emmy-decompose removes, and
// tensors whose dynamic sizes have no expressions. Numerics are kept: every rounding in the graph is in a kernel.
#include "Emit.h"
#include "emmy/Conversion/Passes.h"

#define DEBUG_TYPE "emmy-fuse-kernels"

using namespace mlir;

namespace emmy {
#define GEN_PASS_DEF_FUSEKERNELSPASS
#include "emmy/Conversion/Passes.h.inc"
} // namespace emmy

using namespace emmy;

static bool isPrimitive(Operation *op) {
  return isa<graph::MapOp, graph::ReduceOp, graph::ContractOp, graph::IotaOp, graph::SizeOp, graph::ReshapeOp, graph::PermuteOp,
             graph::ExpandOp, graph::SliceOp, graph::ConcatOp, graph::PadOp, graph::TakeOp, graph::GatherOp, graph::ScatterOp,
             arith::ConstantOp, func::ReturnOp>(op);
}

static LogicalResult checkTensor(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && !llvm::is_contained(getSizes(tensor), AffineExpr()))
    return success();
  return op->emitError("expects tensors with known or symbolic sizes (#emmy.dims), but got ") << type;
}

static LogicalResult checkInput(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitError("expects one block in a function of primitives");
  for (Operation &op : func.getBody().front()) {
    if (!isPrimitive(&op)) {
      InFlightDiagnostic diagnostic = op.emitError("expects primitives of emmy_graph, but got '") << op.getName() << "'";
      diagnostic.attachNote() << "--emmy-decompose turns composite operations into primitives";
      return diagnostic;
    }
    if (auto scatter = dyn_cast<graph::ScatterOp>(op)) {
      auto updates = cast<RankedTensorType>(scatter.getUpdates().getType()), input = cast<RankedTensorType>(scatter.getInput().getType());
      if (updates.getRank() != input.getRank() || scatter.getDim() >= uint64_t(input.getRank()))
        return scatter.emitError("expects updates of the operand's rank above 'dim', but got ") << updates;
    }
    for (Type type : op.getResultTypes())
      if (failed(checkTensor(&op, type)))
        return failure();
  }
  for (BlockArgument argument : func.getArguments())
    if (!argument.use_empty() && failed(checkTensor(func, argument.getType())))
      return failure();
  return success();
}

namespace {
struct FuseKernelsPass : emmy::impl::FuseKernelsPassBase<FuseKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (func.isExternal() || llvm::none_of(func.getOps(), [](Operation &op) { return isa<graph::GraphDialect>(op.getDialect()); }))
        continue;
      if (failed(checkInput(func)))
        return signalPassFailure();
      FusionPlan plan = planFusion(func, separate);
      emitKernels(func, plan);
      numKernels += plan.kernels.size();
      numMerged += plan.numMerged;
      numKept += plan.numKept;
    }
  }
};
} // namespace
