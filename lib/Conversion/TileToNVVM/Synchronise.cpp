// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared memory as offsets, mbarriers, fences, synchronisation of units, launch order.
#include "KernelEmitter.h"

using namespace mlir;

namespace emmy::tile {

LogicalResult emit(KernelEmitter &, AllocOp) { return success(); } // placed before the kernel's first op

LogicalResult emit(KernelEmitter &e, SubviewOp op) {
  SharedType from = op.getSource().getType();
  SharedAddress at = e.address(op.getSource());
  for (auto [offset, stride] : llvm::zip(op.getOffsets(), from.getStrides()))
    at = e.offset(at, e.scalar(offset), stride * from.getElementBytes());
  e.setAddress(op.getResult(), at);
  return success();
}

/// Address of one barrier of an array.
static Value barrierPointer(KernelEmitter &e, Value barriers, Value index) {
  return e.pointer(e.offset(e.address(barriers), e.scalar(index), 8));
}

LogicalResult emit(KernelEmitter &e, BarrierInitOp op) {
  e.guarded(e.onlyThread(), [&] {
    SharedAddress at = e.address(op.getBarrier());
    for (int64_t i = 0; i < op.getBarrier().getType().getCount(); ++i, at.bytes += 8)
      e.b.barrierInit(e.pointer(at), op.getArrivals());
  });
  return success();
}

LogicalResult emit(KernelEmitter &e, FenceBarrierInitOp) {
  e.b.fenceBarrierInit();
  return success();
}

LogicalResult emit(KernelEmitter &e, BarrierArriveOp op) {
  NvvmBuilder &b = e.b;
  int64_t cluster = e.kernel.getCluster();
  Value barrier = barrierPointer(e, op.getBarrier(), op.getIndex());
  if (op.getRank() || (op.getAll() && cluster > 1 && e.unit.oneThread)) {
    e.guarded(e.onlyThread(), [&] {
      if (op.getRank())
        return b.arriveRemote(barrier, e.scalar(op.getRank()), e.sharesMemory());
      for (int64_t rank = 0; rank < cluster; ++rank)
        b.arriveRemote(barrier, b.i32(rank), e.sharesMemory());
    });
    return success();
  }
  if (op.getAll() && cluster > 1) // thread i arrives at CTA i
    e.guarded(b.below(e.unit.thread, cluster), [&] { b.arriveRemote(barrier, e.unit.thread, e.sharesMemory()); });
  else
    e.guarded(e.onlyThread(), [&] { b.arrive(barrier); });
  return success();
}

LogicalResult emit(KernelEmitter &e, BarrierExpectOp op) {
  Value barrier = barrierPointer(e, op.getBarrier(), op.getIndex());
  e.guarded(e.onlyThread(), [&] { e.b.arriveExpect(barrier, op.getBytes()); });
  return success();
}

LogicalResult emit(KernelEmitter &e, BarrierWaitOp op) {
  Value barrier = barrierPointer(e, op.getBarrier(), op.getIndex());
  Block *spin = e.newBlock(), *after = e.newBlock();
  e.b.branch(spin);
  e.continueIn(spin);
  e.b.branch(e.b.tryWait(barrier, e.scalar(op.getParity()), e.sharesMemory()), after, {}, spin, {});
  e.continueIn(after);
  return success();
}

LogicalResult emit(KernelEmitter &e, SyncOp op) {
  bool inRole = e.unit.roleWarps > 0;
  switch (op.getScope()) {
  case SyncScope::unit:
    e.syncUnit();
    return success();
  case SyncScope::role:
    if (!inRole || e.unit.roleWarps == e.unit.warps) {
      e.syncUnit();
      return success();
    }
    if (e.unit.roleBarrier > 15)
      return op.emitOpError("needs a sixteenth named barrier: the kernel has too many warpgroups and roles");
    e.b.syncNamed(e.b.i32(e.unit.roleBarrier), 32 * e.unit.roleWarps);
    return success();
  case SyncScope::cta:
  case SyncScope::cluster:
    if (inRole)
      return op.emitOpError("waits for threads that run other roles");
    if (op.getScope() == SyncScope::cluster && e.kernel.getCluster() > 1)
      e.b.syncCluster();
    else
      e.b.syncCta();
    return success();
  }
  llvm_unreachable("unknown scope");
}

LogicalResult emit(KernelEmitter &e, FenceAsyncOp) {
  e.b.fenceProxyAsync();
  return success();
}

LogicalResult emit(KernelEmitter &e, PdlWaitOp) {
  e.b.waitForPrerequisites();
  return success();
}

LogicalResult emit(KernelEmitter &e, PdlLaunchOp) {
  e.b.launchDependents();
  return success();
}

} // namespace emmy::tile
