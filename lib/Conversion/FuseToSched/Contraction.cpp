// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is a contraction kernel, who plays which role, and the program of a schedule.
#include "Contraction.h"
#include "ProgramBuilder.h"

using namespace mlir;
using emmy::sched::ContractionAttr;
using emmy::sched::Via;

namespace emmy::contraction {

std::optional<Contraction> analyze(const KernelView &view) {
  Contraction found;
  fuse::KernelOp kernel = view.kernel;
  for (Operation &op : kernel.getBody().front()) {
    if (auto contract = dyn_cast<fuse::ContractOp>(op)) {
      if (found.op)
        return std::nullopt;
      found.op = contract;
    } else if (auto store = dyn_cast<fuse::StoreOp>(op)) {
      found.stores.push_back(store);
    } else if (!isa<fuse::LoadOp, fuse::MapOp, fuse::IndexOp>(op)) {
      return std::nullopt;
    }
  }
  if (!found.op || found.stores.empty())
    return std::nullopt;
  Value lhs = found.op.getLhs(), rhs = found.op.getRhs();
  found.over = view.axesOf(llvm::to_vector(found.op.getOver().getAsRange<StringAttr>()));
  SmallVector<unsigned> lhsAxes = view.axesOf(lhs), rhsAxes = view.axesOf(rhs);
  for (unsigned axis : lhsAxes)
    if (!llvm::is_contained(found.over, axis))
      (llvm::is_contained(rhsAxes, axis) ? found.batch : found.lhs).push_back(axis);
  for (unsigned axis : rhsAxes)
    if (!llvm::is_contained(found.over, axis) && !llvm::is_contained(lhsAxes, axis))
      found.rhs.push_back(axis);
  if (found.lhs.empty() || found.rhs.empty()) // a matrix times a vector has no tile of products
    return std::nullopt;
  found.lhsLoad = lhs.getDefiningOp<fuse::LoadOp>();
  found.rhsLoad = rhs.getDefiningOp<fuse::LoadOp>();
  return found;
}

std::optional<Roles> assignRoles(const Contraction &contraction, const KernelView &view, ContractionAttr schedule) {
  auto find = [&](StringAttr name, ArrayRef<unsigned> among) -> std::optional<unsigned> {
    for (unsigned axis : among)
      if (view.axes[axis].name == name)
        return axis;
    return std::nullopt;
  };
  fuse::ContractOp op = contraction.op;
  Roles roles;
  roles.blocks.assign(view.axes.size(), 1);
  std::optional<unsigned> row = find(schedule.getRowAxis(), contraction.lhs), column = find(schedule.getColumnAxis(), contraction.rhs);
  if (row && column) {
    roles.a = op.getLhs(), roles.b = op.getRhs();
    roles.aLoad = contraction.lhsLoad, roles.bLoad = contraction.rhsLoad;
  } else {
    row = find(schedule.getRowAxis(), contraction.rhs), column = find(schedule.getColumnAxis(), contraction.lhs);
    if (!row || !column)
      return std::nullopt;
    roles.a = op.getRhs(), roles.b = op.getLhs();
    roles.aLoad = contraction.rhsLoad, roles.bLoad = contraction.lhsLoad;
  }
  roles.row = *row, roles.column = *column;
  roles.blocks[*row] = schedule.getRows();
  roles.blocks[*column] = schedule.getColumns();
  roles.blocks[contraction.over.back()] = schedule.getStep();
  return roles;
}

bool storesByTma(const KernelView &view, fuse::StoreOp store, ContractionAttr schedule, const Roles &roles) {
  if (schedule.getEpilogue() != Via::tma)
    return false;
  sched::TmaPlan plan = view.planTma(store, roles.blocks);
  return plan && plan.dims.back().dim == roles.column;
}

sched::ProgramOp apply(const KernelView &view, Attribute attribute, TargetAttr) {
  auto schedule = cast<ContractionAttr>(attribute);
  Contraction contraction = *analyze(view);
  Roles roles = *assignRoles(contraction, view, schedule);
  SmallVector<AxisCut> cuts;
  for (int64_t block : roles.blocks)
    cuts.push_back({block, sched::AxisKind::grid});
  for (unsigned axis : contraction.over)
    cuts[axis].kind = sched::AxisKind::serial;
  ProgramBuilder program(view, cuts, schedule);

  Type accumulator = contraction.op.getType().getElementType();
  TypedAttr zero = program.getBuilder().getZeroAttr(accumulator);
  SmallVector<unsigned> kept = view.axesOf(contraction.op.getResult());
  bool wgmma = schedule.getMma() == sched::MmaKind::wgmma;
  auto operand = [&](Value value, fuse::LoadOp load, sched::Multicast side) -> Value {
    return wgmma ? program.stage(load, Via::tma, schedule.getMulticast() == side) : program.share(value);
  };
  auto multiply = [&](ValueRange carried) -> SmallVector<Value> {
    Value a = operand(roles.a, roles.aLoad, sched::Multicast::a), b = operand(roles.b, roles.bLoad, sched::Multicast::b);
    return {sched::MmaOp::create(program.getBuilder(), contraction.op.getLoc(), carried[0].getType(), a, b, carried[0])};
  };
  // Contracted axes nest; the innermost one is cut into steps.
  std::function<SmallVector<Value>(size_t, ValueRange)> nest = [&](size_t depth, ValueRange carried) -> SmallVector<Value> {
    if (depth == contraction.over.size())
      return multiply(carried);
    auto inner = [&](ValueRange arguments) { return nest(depth + 1, arguments); };
    return {program.pipeline(contraction.over[depth], carried, inner).getResult(0)};
  };
  program.set(contraction.op.getResult(), nest(0, program.fill(zero, kept))[0]);
  for (fuse::StoreOp store : contraction.stores)
    program.write(store, storesByTma(view, store, schedule, roles) ? Via::tma : Via::direct);
  return program.getProgram();
}

KernelClass getClass() {
  return {"contraction",
          [](const KernelView &view) { return analyze(view).has_value(); },
          [](Attribute schedule) { return isa<ContractionAttr>(schedule); },
          violation,
          rate,
          enumerate,
          apply};
}

} // namespace emmy::contraction
