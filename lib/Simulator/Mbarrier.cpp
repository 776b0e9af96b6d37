// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Mbarrier.h"

#include <algorithm>

namespace emmy::simulator {

static std::string by(const BarrierUse &use) { return use.unit ? *use.unit : std::string("a copy"); }

std::optional<Finding> Mbarrier::init(const BarrierUse &use, int64_t count) {
  if (initialized)
    return Finding{"barrier-init", "the barrier is initialised a second time", initializer.op, "first here"};
  initialized = true;
  fenced = false;
  initializer = use;
  expected = pending = count;
  return std::nullopt;
}

std::optional<Finding> Mbarrier::visible(const BarrierUse &use, const VectorClock &clock, bool needsFence) const {
  if (!initialized)
    return Finding{"barrier-init", "the barrier is used before it is initialised", nullptr, ""};
  if (clock.get(initializer.agent) < initializer.clock)
    return Finding{"barrier-init", by(use) + " may reach the barrier before its initialisation is visible",
                   initializer.op, "initialised here without a sync that both pass"};
  if (needsFence && !fenced)
    return Finding{"barrier-init", "copies and other CTAs see the barrier only after fence_barrier_init",
                   initializer.op, "initialised here"};
  return std::nullopt;
}

std::optional<Finding> Mbarrier::completeIfDone(const BarrierUse &use) {
  if (pending != 0 || bytes != 0)
    return std::nullopt;
  // A wait that is not ordered before this completion might find the phase flipped twice and never return.
  for (const BarrierUse &wait : waits)
    if (gathering.get(wait.agent) < wait.clock)
      return Finding{"parity-lag",
                     "this completes phase " + std::to_string(phases) + " of the barrier, but nothing makes " +
                         by(wait) + " pass its wait for the phase before first: a slow warp would find the parity "
                                    "flipped twice and hang",
                     wait.op, "the wait that can lag, by " + by(wait)};
  waits.clear();
  ++phases;
  gathering.raise(agent, static_cast<uint32_t>(phases));
  completion = gathering;
  gathering.clear();
  arrivals.clear();
  pending = expected;
  return std::nullopt;
}

std::optional<Finding> Mbarrier::arrive(const BarrierUse &use, const VectorClock &clock, bool remote) {
  if (auto finding = visible(use, clock, remote))
    return finding;
  for (const BarrierUse &earlier : arrivals)
    if (earlier.agent == use.agent && earlier.op == use.op)
      return Finding{"arrive-over-count",
                     by(use) + " arrives a second time in phase " + std::to_string(phases) + " of the barrier, which expects " +
                         std::to_string(expected) + " arrivals",
                     nullptr, ""};
  if (pending == 0)
    return Finding{"arrive-over-count",
                   "all " + std::to_string(expected) + " arrivals of phase " + std::to_string(phases) +
                       " have happened; only " + std::to_string(bytes) + " bytes are missing",
                   arrivals.empty() ? nullptr : arrivals.back().op, "the last one counted"};
  arrivals.push_back(use);
  gathering.join(clock);
  --pending;
  return completeIfDone(use);
}

std::optional<Finding> Mbarrier::expect(const BarrierUse &use, const VectorClock &clock, int64_t count) {
  bytes += count;
  return arrive(use, clock, /*remote=*/false);
}

std::optional<Finding> Mbarrier::beginCopy(const BarrierUse &use, const VectorClock &clock) {
  return visible(use, clock, /*needsFence=*/true);
}

std::optional<Finding> Mbarrier::completeCopy(const BarrierUse &use, uint64_t phase, int64_t count) {
  if (phase != phases)
    return Finding{"expect-tx",
                   "the barrier completed the copy's phase " + std::to_string(phase) +
                       " before its bytes had landed: too few bytes were expected",
                   nullptr, ""};
  bytes -= count;
  if (pending == 0 && bytes < 0)
    return Finding{"expect-tx",
                   std::to_string(-bytes) + " bytes more than expected arrive in phase " + std::to_string(phases) +
                       " of the barrier",
                   arrivals.empty() ? nullptr : arrivals.back().op, "the last arrival of this phase"};
  return completeIfDone(use);
}

std::optional<Finding> Mbarrier::noteWait(const BarrierUse &use, const VectorClock &clock) {
  if (auto finding = visible(use, clock, /*needsFence=*/false))
    return finding;
  waits.erase(std::remove_if(waits.begin(), waits.end(), [&](const BarrierUse &other) { return other.agent == use.agent; }),
              waits.end());
  waits.push_back(use);
  return std::nullopt;
}

} // namespace emmy::simulator
