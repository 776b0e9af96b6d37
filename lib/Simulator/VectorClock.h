// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Vector clocks over everything that accesses memory on its own: warps, and the asynchronous engines behind TMA and
// wgmma. An agent belongs to a cluster; clusters only learn about each other through global atomics, so a clock is a
// tree over clusters whose leaves are dense. Usually it is one leaf. Copies share what is equal, so that 65536 CTAs
// that count on one address do not each hold, and merge, what all earlier ones knew.

#ifndef EMMY_LIB_SIMULATOR_VECTORCLOCK_H
#define EMMY_LIB_SIMULATOR_VECTORCLOCK_H

#include <cstdint>
#include <memory>

namespace emmy::simulator {

struct Agent {
  uint32_t cluster = 0, slot = 0;
  bool operator==(const Agent &other) const { return cluster == other.cluster && slot == other.slot; }
};

/// The agents of one warp, as slots `warp * slotsPerWarp + kind`. A fenced slot holds the generic clock up to which
/// the warp has made its writes visible to the async proxy of that space. The asynchronous slots count groups.
enum class WarpSlot : uint32_t { Generic, FencedShared, FencedGlobal, BulkRead, BulkWrite, Wgmma, AsyncCopy, FencedCopy };
constexpr uint32_t slotsPerWarp = 8;

class VectorClock {
public:
  struct Node;
  using NodeRef = std::shared_ptr<Node>;

  uint32_t get(Agent agent) const;
  void set(Agent agent, uint32_t value);
  /// Raises `agent` to at least `value`.
  void raise(Agent agent, uint32_t value);
  void join(const VectorClock &other);
  /// What both know: the knowledge of a group whose members act together.
  void meet(const VectorClock &other);
  void clear() { *this = VectorClock(); }

  /// Launches of the plan that are known to have finished: everything they did is ordered before.
  uint32_t launches = 0;

private:
  NodeRef root;
};

} // namespace emmy::simulator

#endif // EMMY_LIB_SIMULATOR_VECTORCLOCK_H
