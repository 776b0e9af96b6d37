// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Roles, single threads, numbers of the CTA, and structured control flow as blocks whose arguments carry fragments by register.
#include "KernelEmitter.h"

using namespace mlir;

namespace emmy::tile {

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Registers that a thread has at launch, with one CTA on a multiprocessor.
static int64_t launchRegisters(KernelOp kernel) {
  int64_t perThread = TargetAttr::of(kernel).getRegisters() / (32 * kernel.getWarps());
  return std::min<int64_t>(perThread / 8 * 8, 255);
}

static Unit unitOfRole(KernelEmitter &e, const RolePlan::Entry &entry) {
  NvvmBuilder &b = e.b;
  Unit unit;
  RoleOp role = entry.role;
  bool groups = role.getWarpgroups();
  unit.kind = groups ? Unit::Warpgroup : Unit::Warp;
  unit.warps = groups ? 4 : 1;
  unit.warp = groups ? b.bitAnd(e.warp, 3) : b.i32(0);
  unit.thread = groups ? b.bitAnd(e.threadId, 127) : e.lane;
  if (groups) // a constant where one will do: ptxas reserves all sixteen barriers for a number that it does not know
    unit.barrier = role.getUnits() == 1 ? b.i32(1 + entry.firstWarp / 4) : b.add(b.shiftRight(e.warp, 2), 1);
  unit.roleBarrier = entry.barrier;
  unit.roleWarps = entry.warps;
  return unit;
}

static LogicalResult emitRole(KernelEmitter &e, const RolePlan::Entry &entry, Block *teardown) {
  NvvmBuilder &b = e.b;
  RoleOp role = entry.role;
  if (std::optional<uint64_t> registers = role.getRegisters())
    b.setMaxRegisters(*registers, /*increase=*/static_cast<int64_t>(*registers) > launchRegisters(e.kernel));
  if (entry.warps < entry.occupied) {
    Block *working = e.newBlock();
    b.branch(b.below(e.warp, entry.firstWarp + entry.warps), working, {}, teardown, {});
    e.continueIn(working);
  }
  Unit outer = std::exchange(e.unit, unitOfRole(e, entry));
  Block &body = role.getBody().front();
  if (body.getNumArguments() == 1) {
    Value number = b.add(e.warp, -entry.firstWarp);
    e.set(body.getArgument(0), {role.getWarpgroups() ? b.shiftRight(number, 2) : number});
  }
  if (failed(e.emitBlock(body)))
    return failure();
  b.branch(teardown);
  e.unit = outer;
  return success();
}

LogicalResult emit(KernelEmitter &e, WarpSpecializeOp op) {
  if (op->getParentOp() != e.kernel)
    return op.emitOpError("expects to stand at the top of a kernel, since its warps part for good");
  RolePlan plan = planRoles(op);
  Block *teardown = e.newBlock();
  int64_t end = 0; // of the warps dealt out so far
  for (auto [i, entry] : llvm::enumerate(plan.roles)) {
    RoleOp role = entry.role;
    if (role.getWarpgroups() && entry.firstWarp % 4)
      return role.emitOpError("expects its warpgroups to start at a multiple of four warps, but they start at ")
             << entry.firstWarp;
    if (entry.firstWarp > end) { // warps between two roles have none
      Block *others = e.newBlock();
      e.b.branch(e.b.below(e.warp, entry.firstWarp), teardown, {}, others, {});
      e.continueIn(others);
    }
    end = entry.firstWarp + entry.occupied;
    Block *next = teardown;
    if (i + 1 < plan.roles.size()) {
      Block *mine = e.newBlock();
      next = e.newBlock();
      e.b.branch(e.b.below(e.warp, end), mine, {}, next, {});
      e.continueIn(mine);
    }
    if (failed(emitRole(e, entry, teardown)))
      return failure();
    e.continueIn(next);
  }
  e.continueIn(teardown);
  return success();
}

LogicalResult emit(KernelEmitter &e, OneThreadOp op) {
  if (e.unit.oneThread)
    return e.emitBlock(op.getBody().front());
  LogicalResult result = success();
  e.guarded(e.onlyThread(), [&] {
    e.unit.oneThread = true;
    result = e.emitBlock(op.getBody().front());
    e.unit.oneThread = false;
  });
  return result;
}

LogicalResult emit(KernelEmitter &e, ReadOp op) {
  NvvmBuilder &b = e.b;
  auto read = [&]() -> Value {
    switch (op.getWhich()) {
    case SpecialRegister::cta_x:
    case SpecialRegister::cta_y:
    case SpecialRegister::cta_z:
      return b.ctaId(static_cast<int>(op.getWhich()));
    case SpecialRegister::grid_x:
    case SpecialRegister::grid_y:
    case SpecialRegister::grid_z:
      return b.gridSize(static_cast<int>(op.getWhich()) - static_cast<int>(SpecialRegister::grid_x));
    case SpecialRegister::cluster_rank:
      return e.kernel.getCluster() > 1 ? b.clusterRank() : b.i32(0);
    case SpecialRegister::cluster_id:
      return e.kernel.getCluster() > 1 ? b.clusterId() : b.ctaId(0);
    case SpecialRegister::warp:
      return e.warp;
    }
    llvm_unreachable("unknown special register");
  };
  e.set(op.getResult(), {read()});
  return success();
}

LogicalResult emit(KernelEmitter &e, RingSlotOp op) {
  Value counter = e.scalar(op.getCounter());
  int64_t stages = op.getStages();
  e.set(op.getStage(), {stages == 1 ? e.b.i32(0) : e.b.rem(counter, stages)});
  e.set(op.getParity(), {e.b.bitAnd(e.b.div(counter, stages), 1)});
  return success();
}

//===----------------------------------------------------------------------===//
// Structured control flow
//===----------------------------------------------------------------------===//

LogicalResult emit(KernelEmitter &e, scf::ForOp op) {
  NvvmBuilder &b = e.b;
  Location loc = op.getLoc();
  Type type = e.convertType(op.getInductionVar().getType());
  SmallVector<Type> types = {type};
  for (Value argument : op.getRegionIterArgs())
    llvm::append_range(types, e.flatTypes(argument.getType()));
  Block *header = e.newBlock(types), *body = e.newBlock(), *after = e.newBlock();
  SmallVector<Value> initial = {e.scalar(op.getLowerBound())};
  llvm::append_range(initial, e.flatten(op.getInitArgs()));
  b.branch(header, initial);

  e.continueIn(header);
  Value counter = header->getArgument(0);
  auto predicate = op.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  b.branch(b.compare(predicate, counter, e.scalar(op.getUpperBound())), body, {}, after, {});
  e.set(op.getInductionVar(), {counter});
  ValueRange carried = ValueRange(header->getArguments()).drop_front();
  e.bind(op.getRegionIterArgs(), carried);
  e.bind(op.getResults(), carried);

  e.continueIn(body);
  if (failed(e.emitBlock(*op.getBody())))
    return failure();
  b.loc = loc;
  SmallVector<Value> next = {b.add(counter, e.scalar(op.getStep()))};
  llvm::append_range(next, e.flatten(op.getBody()->getTerminator()->getOperands()));
  b.branchBack(header, next);
  e.continueIn(after);
  return success();
}

LogicalResult emit(KernelEmitter &e, scf::IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    llvm::append_range(types, e.flatTypes(type));
  Block *yes = e.newBlock(), *after = e.newBlock(types);
  Block *no = op.elseBlock() ? e.newBlock() : after;
  e.b.branch(e.scalar(op.getCondition()), yes, {}, no, {});
  auto emitBranch = [&](Block *from, Block *into) -> LogicalResult {
    e.continueIn(into);
    if (failed(e.emitBlock(*from)))
      return failure();
    e.b.branch(after, e.flatten(from->getTerminator()->getOperands()));
    return success();
  };
  if (failed(emitBranch(op.thenBlock(), yes)) || (op.elseBlock() && failed(emitBranch(op.elseBlock(), no))))
    return failure();
  e.bind(op.getResults(), after->getArguments());
  e.continueIn(after);
  return success();
}

LogicalResult emit(KernelEmitter &e, scf::WhileOp op) {
  SmallVector<Type> types;
  for (Value argument : op.getBeforeArguments())
    llvm::append_range(types, e.flatTypes(argument.getType()));
  Block *header = e.newBlock(types), *body = e.newBlock(), *after = e.newBlock();
  e.b.branch(header, e.flatten(op.getInits()));

  e.continueIn(header);
  e.bind(op.getBeforeArguments(), header->getArguments());
  if (failed(e.emitBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  SmallVector<Value> passed = e.flatten(condition.getArgs());
  e.b.branch(e.scalar(condition.getCondition()), body, {}, after, {});
  e.bind(op.getAfterArguments(), passed);
  e.bind(op.getResults(), passed);

  e.continueIn(body);
  if (failed(e.emitBlock(*op.getAfterBody())))
    return failure();
  e.b.branchBack(header, e.flatten(op.getYieldOp().getOperands()));
  e.continueIn(after);
  return success();
}

} // namespace emmy::tile
