// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared-memory views, mbarriers, syncs and fences.
#include "Interpreter.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::execAlloc(tile::AllocOp op) {
  if (auto type = dyn_cast<tile::SharedType>(op.getType()))
    set(op.getResult(), SharedRef{machine.sharedOffset(op), type});
  else
    set(op.getResult(), machine.barrierOf(op));
  return success();
}

LogicalResult Interpreter::execSubview(tile::SubviewOp op) {
  const auto &source = as<SharedRef>(op.getSource());
  ArrayRef<int64_t> shape = source.type.getShape(), part = op.getType().getShape();
  const size_t dropped = shape.size() - part.size();
  int64_t elements = 0;
  for (auto [d, offset] : llvm::enumerate(op.getOffsets())) {
    const int64_t at = integer(offset), size = d < dropped ? 1 : part[d - dropped];
    if (at < 0 || at + size > shape[d])
      return fail(op, "out-of-bounds", unit.name + " takes elements " + Twine(at) + " to " + Twine(at + size - 1) + " of dimension #" +
                                           Twine(d) + ", which has " + Twine(shape[d]));
    elements += at * source.type.getStrides()[d];
  }
  set(op.getResult(), SharedRef{source.base + elements * source.type.getElementBytes(), op.getType()});
  return success();
}

//===----------------------------------------------------------------------===//
// Mbarriers
//===----------------------------------------------------------------------===//

FailureOr<Mbarrier *> Interpreter::barrier(Operation *op, Cta &cta, const BarrierRef &ref, int64_t index) {
  if (index < 0 || index >= ref.count)
    return fail(op, "out-of-bounds", unit.name + " uses barrier " + Twine(index) + " of " + Twine(ref.count));
  return &cta.barriers[ref.first + index];
}

LogicalResult Interpreter::execBarrierInit(tile::BarrierInitOp op) {
  if (failed(giveWay()))
    return failure();
  const auto &ref = as<BarrierRef>(op.getBarrier());
  Warp &warp = unit.leader();
  for (int64_t i = 0; i < ref.count; ++i)
    if (failed(check(op, unit.cta->barriers[ref.first + i].init(machine.use(op, unit, warp), op.getArrivals()))))
      return failure();
  return success();
}

LogicalResult Interpreter::execFenceBarrierInit(tile::FenceBarrierInitOp) {
  for (Mbarrier &barrier : unit.cta->barriers)
    barrier.fence();
  return success();
}

void simulator::noteForeign(Cta &cta, const BarrierUse &use, ForeignUse::Kind kind) {
  cta.foreignUses[{use.agent.cluster, use.agent.slot}] = {use, kind};
}

LogicalResult Interpreter::arriveAt(tile::BarrierArriveOp op, int64_t rank) {
  Cluster &cluster = *unit.cta->cluster;
  if (rank < 0 || rank >= static_cast<int64_t>(cluster.ctas.size()))
    return fail(op, "out-of-bounds", unit.name + " arrives at CTA " + Twine(rank) + " of a cluster of " + Twine(cluster.ctas.size()));
  Cta &target = *cluster.ctas[rank];
  const bool remote = &target != unit.cta;
  Warp &warp = unit.leader();
  if (target.exited)
    return fail(op, "exit-before-peers", unit.name + " arrives at a barrier of " + target.name + ", which has exited");
  FailureOr<Mbarrier *> barrier = this->barrier(op, target, as<BarrierRef>(op.getBarrier()), integer(op.getIndex()));
  if (failed(barrier))
    return failure();
  const BarrierUse use = machine.use(op, unit, warp);
  if (remote)
    noteForeign(target, use, ForeignUse::Arrival);
  return check(op, (*barrier)->arrive(use, warp.clock, remote));
}

LogicalResult Interpreter::execArrive(tile::BarrierArriveOp op) {
  if (failed(giveWay()))
    return failure();
  if (op.getAll()) {
    for (size_t rank = 0; rank < unit.cta->cluster->ctas.size(); ++rank)
      if (failed(arriveAt(op, rank)))
        return failure();
  } else if (failed(arriveAt(op, op.getRank() ? integer(op.getRank()) : unit.cta->rank))) {
    return failure();
  }
  unit.leader().tick();
  unit.issuing = true;
  return success();
}

LogicalResult Interpreter::execExpect(tile::BarrierExpectOp op) {
  if (failed(giveWay()))
    return failure();
  FailureOr<Mbarrier *> barrier = this->barrier(op, *unit.cta, as<BarrierRef>(op.getBarrier()), integer(op.getIndex()));
  Warp &warp = unit.leader();
  if (failed(barrier) || failed(check(op, (*barrier)->expect(machine.use(op, unit, warp), warp.clock, op.getBytes()))))
    return failure();
  warp.tick();
  unit.issuing = true;
  return success();
}

LogicalResult Interpreter::execWait(tile::BarrierWaitOp op) {
  const BarrierRef ref = as<BarrierRef>(op.getBarrier());
  const int64_t index = integer(op.getIndex()), parity = integer(op.getParity());
  FailureOr<Mbarrier *> found = barrier(op, *unit.cta, ref, index);
  if (failed(found))
    return failure();
  Mbarrier &barrier = **found;
  const auto describe = [this, &barrier, ref, index, parity] {
    std::string text = "barrier " + std::to_string(index) + " " + machine.nameOf(ref.alloc) + ", parity " + std::to_string(parity) +
                       ": phase " + std::to_string(barrier.phase()) + " lacks " + std::to_string(barrier.pendingArrivals()) + " of " +
                       std::to_string(barrier.expectedArrivals()) + " arrivals and " + std::to_string(barrier.pendingBytes()) +
                       " bytes; arrivals come from " + machine.arrivers(ref.alloc, /*copies=*/false);
    if (barrier.pendingBytes() > 0)
      text += ", bytes from " + machine.arrivers(ref.alloc, /*copies=*/true);
    for (const BarrierUse &use : barrier.arrived())
      text += "; arrived: " + *use.unit;
    return text;
  };
  if (parity != 0 && parity != 1)
    return fail(op, "parity", unit.name + " waits for a phase of parity " + Twine(parity) + ", which is 0 or 1");
  if (!barrier.isInitialized())
    return fail(op, "barrier-init", "the barrier is used before it is initialised");
  if (failed(giveWay()))
    return failure();
  for (int64_t i = 0; i < unit.activeWarps(); ++i)
    if (failed(check(op, barrier.beginWait(machine.use(op, unit, unit.warp(i)), unit.warp(i).clock, parity))))
      return failure();
  if (!machine.scheduler.wait(op, [&barrier, parity] { return barrier.isComplete(parity); }, describe))
    return failure();
  for (int64_t i = 0; i < unit.activeWarps(); ++i) {
    Warp &warp = unit.warp(i);
    if (failed(check(op, barrier.noteWait(machine.use(op, unit, warp), warp.clock))))
      return failure();
    warp.clock.join(barrier.completionClock());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Syncs and fences
//===----------------------------------------------------------------------===//

void Interpreter::syncUnit() {
  VectorClock all;
  for (int64_t i = 0; i < unit.warps; ++i)
    all.join(unit.warp(i).clock);
  for (int64_t i = 0; i < unit.warps; ++i) {
    unit.warp(i).clock = all;
    unit.warp(i).tick();
  }
}

LogicalResult Interpreter::meet(Operation *op, Rendezvous &point, int64_t parties, const char *what) {
  const int64_t generation = point.generation;
  for (int64_t i = 0; i < unit.warps; ++i)
    point.gathering.join(unit.warp(i).clock);
  if (++point.arrived == parties) {
    point.released = point.gathering;
    point.gathering.clear();
    point.arrived = 0;
    ++point.generation;
  }
  const auto describe = [&point, parties, what] {
    return std::to_string(parties - point.arrived) + " of " + std::to_string(parties) + " " + what + " to reach this sync";
  };
  if (!machine.scheduler.wait(op, [&point, generation] { return point.generation != generation; }, describe))
    return failure();
  for (int64_t i = 0; i < unit.warps; ++i) {
    unit.warp(i).clock.join(point.released);
    unit.warp(i).tick();
  }
  return success();
}

LogicalResult Interpreter::execSync(tile::SyncOp op) {
  if (failed(giveWay()))
    return failure();
  switch (op.getScope()) {
  case tile::SyncScope::unit:
    syncUnit();
    return success();
  case tile::SyncScope::role: {
    auto role = dyn_cast_or_null<tile::RoleOp>(unit.role);
    if (!role)
      return fail(op, "sync-scope", "no role is running");
    for (const tile::RolePlan::Entry &entry : tile::planRoles(role->getParentOfType<tile::WarpSpecializeOp>()).roles)
      if (entry.role == role && role.getUnits() > 1 && entry.barrier > 15)
        return fail(op, "sync-scope", unit.name + " needs named barrier " + Twine(entry.barrier) + ", but a CTA has 0 to 15");
    return meet(op, unit.cta->roleSyncs[role], role.getUnits(), "units of the role");
  }
  case tile::SyncScope::cta:
    if (unit.role)
      return fail(op, "sync-scope", unit.name + " cannot wait for the whole CTA inside a role");
    syncUnit();
    return success();
  case tile::SyncScope::cluster:
    if (unit.role)
      return fail(op, "sync-scope", unit.name + " cannot wait for the whole cluster inside a role");
    return meet(op, unit.cta->cluster->sync, unit.cta->cluster->ctas.size(), "CTAs");
  }
  return success();
}

LogicalResult Interpreter::execFenceAsync(tile::FenceAsyncOp) {
  for (int64_t i = 0; i < unit.activeWarps(); ++i) {
    Warp &warp = unit.warp(i);
    warp.clock.set(warp.agent(WarpSlot::FencedShared), warp.now());
    warp.clock.set(warp.agent(WarpSlot::FencedCopy), warp.clock.get(warp.agent(WarpSlot::AsyncCopy)));
    // A write after the fence is not covered by it, even before anything is published.
    warp.tick();
  }
  return success();
}

LogicalResult Interpreter::execPdlWait(tile::PdlWaitOp) {
  if (failed(giveWay()))
    return failure();
  for (int64_t i = 0; i < unit.activeWarps(); ++i)
    unit.warp(i).clock.launches = machine.launchIndex;
  return success();
}
