// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One mbarrier: phase, pending arrivals, pending bytes, and what the checks need to know about who did what.

#ifndef EMMY_LIB_SIMULATOR_MBARRIER_H
#define EMMY_LIB_SIMULATOR_MBARRIER_H

#include "VectorClock.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class Operation;
}

namespace emmy::simulator {

/// A rule that was broken, before it becomes a diagnostic.
struct Finding {
  std::string rule;
  std::string text;
  /// The other op involved, if any.
  mlir::Operation *other = nullptr;
  std::string otherText;
  /// Where the fault is, if not at the op that found it.
  mlir::Operation *site = nullptr;
  /// The barrier that it is about, as an allocation and the number of one of its barriers.
  mlir::Operation *barrier = nullptr;
  int64_t index = 0;
};

/// Someone's use of a barrier at a point of its own clock.
struct BarrierUse {
  mlir::Operation *op = nullptr;
  const std::string *unit = nullptr;
  Agent agent;
  uint32_t clock = 0;
  /// Of a wait.
  int64_t parity = 0;
};

class Mbarrier {
public:
  /// Agent whose clock counts this barrier's completed phases; asynchronous copies write under it.
  Agent agent;
  /// Where it is allocated, and which of the array it is.
  mlir::Operation *alloc = nullptr;
  int64_t index = 0;

  std::optional<Finding> init(const BarrierUse &use, int64_t arrivals);
  /// After a fence, copies and other CTAs may use the barrier.
  void fence() { fenced = initialized; }

  /// `remote` for an arrival from another CTA. `clock` is what the arriving warp knows.
  std::optional<Finding> arrive(const BarrierUse &use, const VectorClock &clock, bool remote);
  std::optional<Finding> expect(const BarrierUse &use, const VectorClock &clock, int64_t bytes);
  /// A copy is issued on this barrier; it belongs to the current phase.
  std::optional<Finding> beginCopy(const BarrierUse &use, const VectorClock &clock);
  /// Bytes of a copy that was issued in the current phase have landed.
  std::optional<Finding> completeCopy(const BarrierUse &use, int64_t bytes);

  /// True once the phase of that parity is complete, as try_wait.parity answers it.
  bool isComplete(int64_t parity) const { return initialized && static_cast<int64_t>(phases & 1) != (parity & 1); }
  /// A warp comes to a wait; it may find that what it waits for is over and done with.
  std::optional<Finding> beginWait(const BarrierUse &use, const VectorClock &clock, int64_t parity);
  /// Records that a warp has seen the last complete phase.
  std::optional<Finding> noteWait(const BarrierUse &use, const VectorClock &clock);
  /// What a successful wait teaches.
  const VectorClock &completionClock() const { return completion; }

  uint64_t phase() const { return phases; }
  int64_t pendingArrivals() const { return pending; }
  int64_t pendingBytes() const { return bytes; }
  bool isInitialized() const { return initialized; }
  bool isFirstPhase() const { return phases == 0; }
  /// Something arrived in the current phase but it is not complete.
  bool isPartial() const { return initialized && (pending != expected || bytes != 0); }
  const std::vector<BarrierUse> &arrived() const { return arrivals; }
  int64_t expectedArrivals() const { return expected; }

private:
  std::optional<Finding> visible(const BarrierUse &use, const VectorClock &clock, bool needsFence) const;
  /// The finding, which is about this barrier.
  Finding named(Finding finding) const;
  std::optional<Finding> completeIfDone(const BarrierUse &use);
  /// Phase `phase` is completed by an op although a warp may still wait for the one before.
  Finding parityLag(const BarrierUse &wait, uint64_t phase) const;
  /// Whatever shows it first, bytes of `copy` are not among those that the phase expects.
  Finding tooFewBytes(const BarrierUse &copy, const std::vector<BarrierUse> &arrivals) const;

  bool initialized = false, fenced = false;
  BarrierUse initializer;
  int64_t expected = 0, pending = 0, bytes = 0;
  uint64_t phases = 0;
  VectorClock gathering, completion;
  /// Of the current phase and of the one before.
  std::vector<BarrierUse> arrivals, earlierArrivals;
  /// Copies of the current phase: those in flight and those landed; and those of the phase before.
  std::vector<BarrierUse> flying, landed, earlierCopies;
  /// Waits that passed on the last complete phase, and on the one before the barrier's first.
  std::vector<BarrierUse> waits;
  /// Waits that warps have come to but not left.
  std::vector<BarrierUse> waiting;
  /// What completed the last phase.
  mlir::Operation *completer = nullptr;
};

} // namespace emmy::simulator

#endif // EMMY_LIB_SIMULATOR_MBARRIER_H
