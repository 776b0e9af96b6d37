// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Mbarrier.h"

#include <algorithm>
#include <utility>

namespace emmy::simulator {

static std::string by(const BarrierUse &use) { return use.unit ? *use.unit : std::string("a copy"); }

Finding Mbarrier::named(Finding finding) const {
  finding.barrier = alloc;
  finding.index = index;
  return finding;
}

std::optional<Finding> Mbarrier::init(const BarrierUse &use, int64_t count) {
  if (initialized)
    return named({"barrier-init", "the barrier is initialised a second time", initializer.op, "first here"});
  initialized = true;
  fenced = false;
  initializer = use;
  expected = pending = count;
  return std::nullopt;
}

std::optional<Finding> Mbarrier::visible(const BarrierUse &use, const VectorClock &clock, bool needsFence) const {
  if (!initialized)
    return named({"barrier-init", "the barrier is used before it is initialised", nullptr, ""});
  if (clock.get(initializer.agent) < initializer.clock)
    return named({"barrier-init", by(use) + " may reach the barrier before its initialisation is visible",
                   initializer.op, "initialised here without a sync that both pass"});
  if (needsFence && !fenced)
    return named({"barrier-init", "copies and other CTAs see the barrier only after fence_barrier_init",
                   initializer.op, "initialised here"});
  return std::nullopt;
}

/// The hardware counts arrivals and bytes in 20 bits and a sign.
static constexpr int64_t maxBytes = (1 << 20) - 1;

static bool contains(const std::vector<BarrierUse> &uses, Agent agent) {
  return std::any_of(uses.begin(), uses.end(), [&](const BarrierUse &use) { return use.agent == agent; });
}

static void removeOf(Agent agent, std::vector<BarrierUse> &uses) {
  uses.erase(std::remove_if(uses.begin(), uses.end(), [&](const BarrierUse &use) { return use.agent == agent; }), uses.end());
}

Finding Mbarrier::tooFewBytes(const BarrierUse &copy, const std::vector<BarrierUse> &arrivals) const {
  return named({"expect-tx", "too few bytes are expected: the phase can complete before all bytes of a copy by " + by(copy) + " have landed",
                 copy.op, "the copy", arrivals.empty() ? nullptr : arrivals.back().op});
}

Finding Mbarrier::parityLag(const BarrierUse &wait, uint64_t phase) const {
  return named({"parity-lag",
                 "this completes phase " + std::to_string(phase) + " of the barrier, but nothing makes " + by(wait) +
                     " pass its wait for the phase before first: a slow warp would find the parity flipped twice and hang",
                 wait.op, "the wait that can lag, by " + by(wait)});
}

std::optional<Finding> Mbarrier::completeIfDone(const BarrierUse &use) {
  if (pending == 0 && bytes < 0)
    return tooFewBytes(landed.back(), arrivals);
  if (pending != 0 || bytes != 0)
    return std::nullopt;
  if (!flying.empty())
    return tooFewBytes(flying.back(), arrivals);
  // A wait that is not ordered before this completion might find the phase flipped twice and never return.
  for (const BarrierUse &wait : waits)
    if (gathering.get(wait.agent) < wait.clock)
      return parityLag(wait, phases);
  for (const BarrierUse &wait : waiting)
    if (isComplete(wait.parity))
      return parityLag(wait, phases);
  waits.clear();
  completer = use.op;
  ++phases;
  gathering.raise(agent, static_cast<uint32_t>(phases));
  completion = gathering;
  gathering.clear();
  earlierArrivals = std::exchange(arrivals, {});
  earlierCopies = std::exchange(landed, {});
  pending = expected;
  return std::nullopt;
}

std::optional<Finding> Mbarrier::arrive(const BarrierUse &use, const VectorClock &clock, bool remote) {
  if (auto finding = visible(use, clock, remote))
    return finding;
  for (const BarrierUse &earlier : arrivals)
    if (earlier.agent == use.agent && earlier.op == use.op)
      return named({"arrive-over-count",
                     by(use) + " arrives a second time in phase " + std::to_string(phases) + " of the barrier, which expects " +
                         std::to_string(expected) + " arrivals",
                     nullptr, ""});
  if (pending == 0)
    return named({"arrive-over-count",
                   "all " + std::to_string(expected) + " arrivals of phase " + std::to_string(phases) +
                       " have happened; only " + std::to_string(bytes) + " bytes are missing",
                   arrivals.empty() ? nullptr : arrivals.back().op, "the last one counted"});
  arrivals.push_back(use);
  gathering.join(clock);
  --pending;
  return completeIfDone(use);
}

std::optional<Finding> Mbarrier::expect(const BarrierUse &use, const VectorClock &clock, int64_t count) {
  bytes += count;
  if (bytes > maxBytes)
    return named({"expect-tx", std::to_string(bytes) + " bytes are expected in phase " + std::to_string(phases) +
                                    " of the barrier, which counts at most " + std::to_string(maxBytes)});
  return arrive(use, clock, /*remote=*/false);
}

std::optional<Finding> Mbarrier::beginCopy(const BarrierUse &use, const VectorClock &clock) {
  if (auto finding = visible(use, clock, /*needsFence=*/true))
    return finding;
  // A thread that does not know of a complete phase, and has not come to the next, meant its copy for the complete one.
  if (phases > 0 && clock.get(agent) < phases && !contains(arrivals, use.agent)) {
    const auto isSame = [&](const BarrierUse &other) { return other.agent == use.agent && other.op == use.op; };
    if (contains(earlierArrivals, use.agent) || std::none_of(earlierCopies.begin(), earlierCopies.end(), isSame))
      return tooFewBytes(use, earlierArrivals);
  }
  flying.push_back(use);
  return std::nullopt;
}

std::optional<Finding> Mbarrier::completeCopy(const BarrierUse &use, int64_t count) {
  const auto isThis = [&](const BarrierUse &other) { return other.agent == use.agent && other.op == use.op && other.clock == use.clock; };
  flying.erase(std::find_if(flying.begin(), flying.end(), isThis));
  landed.push_back(use);
  bytes -= count;
  if (bytes < -maxBytes)
    return named({"expect-tx", std::to_string(-bytes) + " bytes land in phase " + std::to_string(phases) +
                                    " of the barrier before any are expected; it counts at most " + std::to_string(maxBytes)});
  return completeIfDone(use);
}

std::optional<Finding> Mbarrier::beginWait(const BarrierUse &use, const VectorClock &clock, int64_t parity) {
  const uint64_t known = clock.get(agent);
  if (!initialized || known == 0) // a first wait may mean the phase before the first one
    return std::nullopt;
  // Of the phases that this warp knows to be complete, it can only wait for the last.
  if (!isComplete(parity) && known < phases && (known + 1) % 2 == (static_cast<uint64_t>(parity) & 1)) {
    Finding finding = parityLag(use, known);
    finding.site = completer;
    return finding;
  }
  waiting.push_back(use);
  waiting.back().parity = parity;
  return std::nullopt;
}

std::optional<Finding> Mbarrier::noteWait(const BarrierUse &use, const VectorClock &clock) {
  if (auto finding = visible(use, clock, /*needsFence=*/false))
    return finding;
  removeOf(use.agent, waits);
  waits.push_back(use);
  removeOf(use.agent, waiting);
  return std::nullopt;
}

} // namespace emmy::simulator
