// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// TMA and cp.async.
#include "KernelEmitter.h"

using namespace mlir;

namespace emmy::tile {

// L2 cache policies as createpolicy would make them, fraction 1.
static constexpr int64_t kEvictFirst = 0x12F0000000000000, kEvictLast = 0x14F0000000000000;

static LogicalResult checkOneThread(KernelEmitter &e, Operation *op) {
  if (e.unit.oneThread)
    return success();
  return op->emitOpError("expects to stand in 'emmy_tile.one_thread'");
}

static TmaBox boxOf(KernelEmitter &e, Value map, ValueRange coords) {
  TmaBox box{e.scalar(map), {}};
  for (Value coordinate : llvm::reverse(coords))
    box.coordinates.push_back(e.scalar(coordinate));
  return box;
}

LogicalResult emit(KernelEmitter &e, TmaLoadOp op) {
  if (failed(checkOneThread(e, op)))
    return failure();
  TmaHints hints;
  if (e.kernel.getCluster() > 1)
    hints.multicast = op.getMulticast().value_or(0);
  hints.cachePolicy = op.getEvictFirst() ? kEvictFirst : op.getEvictLast() ? kEvictLast : 0;
  Value barrier = e.pointer(e.offset(e.address(op.getBarrier()), e.scalar(op.getIndex()), 8));
  e.b.tmaLoad(boxOf(e, op.getMap(), op.getCoords()), e.pointer(e.address(op.getTarget())), barrier, hints);
  return success();
}

LogicalResult emit(KernelEmitter &e, TmaStoreOp op) {
  if (failed(checkOneThread(e, op)))
    return failure();
  e.b.tmaStore(e.pointer(e.address(op.getSource())), boxOf(e, op.getMap(), op.getCoords()), op.getAdd());
  return success();
}

LogicalResult emit(KernelEmitter &e, TmaCommitOp op) {
  if (failed(checkOneThread(e, op)))
    return failure();
  e.b.bulkCommit();
  return success();
}

LogicalResult emit(KernelEmitter &e, TmaWaitOp op) {
  if (failed(checkOneThread(e, op)))
    return failure();
  e.b.bulkWait(op.getPending(), op.getRead());
  return success();
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// Coordinates of the vector that this thread copies in round `round`, the innermost in elements. Where the threads cover whole
/// lines, a round only moves along the next dimension, which keeps the division out of the rounds.
static SmallVector<Sum> vectorCoordinates(KernelEmitter &e, ArrayRef<int64_t> shape, int64_t vector, int64_t round) {
  NvvmBuilder &b = e.b;
  SmallVector<Sum> at(shape.size());
  int64_t below = 1, threads = e.unit.threads();
  int64_t skipped = round * threads;
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t size = i + 1 == shape.size() ? shape[i] / vector : shape[i];
    if (threads % below == 0 && (threads / below) % size == 0) {
      at[i].dynamic = b.rem(b.div(e.unit.thread, below), size);
    } else if (threads % below == 0 && (i == 0 || size % (threads / below) == 0)) {
      int64_t lines = threads / below; // of this dimension in one round
      at[i].dynamic = b.div(e.unit.thread, below);
      at[i].constant = (skipped / below) % size;
      if (i == 0)
        at[i].constant = skipped / below;
    } else {
      Value number = b.div(b.add(e.unit.thread, skipped), below);
      at[i].dynamic = i == 0 ? number : b.rem(number, size);
    }
    below *= size;
  }
  at.back().dynamic = b.mul(at.back().dynamic, vector);
  at.back().constant *= vector;
  return at;
}

LogicalResult emit(KernelEmitter &e, CpAsyncOp op) {
  NvvmBuilder &b = e.b;
  SharedType type = op.getTarget().getType();
  if (e.unit.oneThread)
    return op.emitOpError("needs the whole unit, but stands in 'emmy_tile.one_thread'");
  ArrayRef<int64_t> shape = type.getShape();
  int64_t vector = op.getVector(), bytes = vector * type.getElementBytes();
  int64_t vectors = 1;
  for (int64_t size : shape)
    vectors *= size;
  vectors /= vector;
  int64_t threads = e.unit.threads();
  SharedAddress target = e.address(op.getTarget());
  for (int64_t round = 0; round * threads < vectors; ++round) {
    SmallVector<Sum> at = vectorCoordinates(e, shape, vector, round);
    Value inside, offset = e.scalar(op.getOffset());
    for (auto [sum, stride, limit, size] : llvm::zip(at, op.getStrides(), op.getLimits(), shape)) {
      Value index = b.add(sum.dynamic, sum.constant);
      offset = b.add(offset, b.mul(b.signExtend(index, b.getI64Type()), e.scalar(stride)));
      APInt known;
      if (!matchPattern(e.scalar(limit), m_ConstantInt(&known)) || known.getSExtValue() < size)
        inside = b.both(inside, b.compare(arith::CmpIPredicate::slt, index, e.scalar(limit)));
    }
    Value present = inside ? b.createOrFold<arith::SelectOp>(b.loc, inside, b.i32(bytes), b.i32(0)) : Value();
    // What is not there must not be addressed either.
    if (inside)
      offset = b.createOrFold<arith::SelectOp>(b.loc, inside, offset, b.i64(0));
    Value source = b.gep(e.scalar(op.getSource()), b.mul(offset, type.getElementBytes()));
    bool partial = (round + 1) * threads > vectors;
    e.guarded(partial ? b.below(e.unit.thread, vectors - round * threads) : Value(),
              [&] { b.cpAsync(e.elementPointer(target, type, at), source, bytes, present); });
  }
  return success();
}

LogicalResult emit(KernelEmitter &e, CpAsyncCommitOp) {
  e.b.cpAsyncCommit();
  return success();
}

LogicalResult emit(KernelEmitter &e, CpAsyncWaitOp op) {
  e.b.cpAsyncWait(op.getPending());
  return success();
}

} // namespace emmy::tile
