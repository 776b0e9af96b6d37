// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Places the temporaries of a host program in one arena.
//
// In:  a function of emmy.launch ops. Out: `emmy.offsets` on each launch, `emmy.arena` on the function. A launch reads its
// operands while it writes its results, so a temporary is live from the launch that writes it to the last one that reads it,
// both included. Memory of symbolic size follows that of constant size.
#include "HostBuffers.h"
#include "emmy/Plan/Passes.h"

#define DEBUG_TYPE "emmy-plan-memory"

using namespace mlir;

namespace emmy {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "emmy/Plan/Passes.h.inc"

static constexpr int64_t kAlignment = 256; // bytes; a multiple of what TMA and vector accesses need

namespace {
struct Temporary {
  unsigned buffer;
  int64_t first = 0, last = 0; // launches between which it is live
  AffineExpr bytes;            // a multiple of kAlignment
  AffineExpr offset;

  bool overlaps(const Temporary &other) const { return first <= other.last && other.first <= last; }
};
} // namespace

static SmallVector<Temporary> collectTemporaries(func::FuncOp host, const HostBuffers &buffers) {
  SmallVector<Temporary> temporaries;
  llvm::DenseMap<unsigned, size_t> known; // by buffer
  int64_t now = 0;
  auto touch = [&](Value value) {
    unsigned number = buffers.lookup(value);
    const HostBuffer &buffer = buffers.buffers[number];
    if (buffer.kind != HostBuffer::Temporary)
      return;
    auto [it, isNew] = known.try_emplace(number, temporaries.size());
    if (isNew)
      temporaries.push_back({number, now, now, getBytes(cast<RankedTensorType>(buffer.root.getType())), {}});
    temporaries[it->second].last = now;
  };
  for (auto launch : host.getBody().front().getOps<LaunchOp>()) {
    llvm::for_each(launch.getResults(), touch);
    llvm::for_each(launch.getInputs(), touch);
    ++now;
  }
  for (Temporary &temporary : temporaries)
    temporary.bytes = temporary.bytes.ceilDiv(kAlignment) * kAlignment;
  return temporaries;
}

static int64_t getConstant(AffineExpr expr) { return cast<AffineConstantExpr>(expr).getValue(); }

/// First fit among the constant-sized temporaries before `index`; returns where it ends.
static int64_t placeConstant(MutableArrayRef<Temporary> temporaries, size_t index) {
  Temporary &temporary = temporaries[index];
  int64_t bytes = getConstant(temporary.bytes);
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (const Temporary &other : temporaries.take_front(index))
    if (isa<AffineConstantExpr>(other.bytes) && temporary.overlaps(other))
      taken.push_back({getConstant(other.offset), getConstant(other.offset) + getConstant(other.bytes)});
  llvm::sort(taken);
  int64_t offset = 0;
  for (auto [begin, end] : taken)
    if (begin < offset + bytes)
      offset = std::max(offset, end);
  temporary.offset = getAffineConstantExpr(offset, temporary.bytes.getContext());
  return offset + bytes;
}

/// Takes the slot of an earlier temporary of equal size that is free; false if there is none.
static bool reuseSlot(MutableArrayRef<Temporary> temporaries, size_t index) {
  Temporary &temporary = temporaries[index];
  for (const Temporary &slot : temporaries.take_front(index)) {
    auto inUse = [&](const Temporary &other) { return other.offset == slot.offset && other.overlaps(temporary); };
    if (slot.bytes == temporary.bytes && llvm::none_of(temporaries.take_front(index), inUse)) {
      temporary.offset = slot.offset;
      return true;
    }
  }
  return false;
}

/// Sets all offsets; returns the bytes of the arena.
static AffineExpr placeAll(MutableArrayRef<Temporary> temporaries, MLIRContext *context) {
  int64_t constantEnd = 0;
  for (size_t i = 0; i < temporaries.size(); ++i)
    if (isa<AffineConstantExpr>(temporaries[i].bytes))
      constantEnd = std::max(constantEnd, placeConstant(temporaries, i));
  AffineExpr end = getAffineConstantExpr(constantEnd, context);
  for (size_t i = 0; i < temporaries.size(); ++i) {
    if (isa<AffineConstantExpr>(temporaries[i].bytes) || reuseSlot(temporaries, i))
      continue;
    temporaries[i].offset = end;
    end = end + temporaries[i].bytes;
  }
  return end;
}

namespace {
struct PlanMemoryPass : impl::PlanMemoryPassBase<PlanMemoryPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp host = getOperation();
    if (host.isDeclaration())
      return;
    HostBuffers buffers(host);
    SmallVector<Temporary> temporaries = collectTemporaries(host, buffers);
    AffineExpr bytes = placeAll(temporaries, &getContext());
    host->setAttr(kArenaAttr, DimsAttr::get(&getContext(), bytes));
    llvm::DenseMap<unsigned, AffineExpr> offsets;
    llvm::DenseSet<AffineExpr> distinct;
    for (const Temporary &temporary : temporaries) {
      offsets[temporary.buffer] = temporary.offset;
      numShared += !distinct.insert(temporary.offset).second;
    }
    numTemporaries += temporaries.size();
    AffineExpr elsewhere = getAffineConstantExpr(-1, &getContext());
    for (auto launch : host.getBody().front().getOps<LaunchOp>()) {
      auto offsetOf = [&](Value result) {
        auto it = offsets.find(buffers.lookup(result));
        return it == offsets.end() ? elsewhere : it->second;
      };
      launch->setAttr(kOffsetsAttr, DimsAttr::get(&getContext(), llvm::map_to_vector(launch.getResults(), offsetOf)));
    }
  }
};
} // namespace
} // namespace emmy
