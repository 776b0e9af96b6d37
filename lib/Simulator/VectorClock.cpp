// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VectorClock.h"

#include <algorithm>

namespace emmy::simulator {

std::vector<uint32_t> &VectorClock::chunk(uint32_t cluster) {
  for (auto &[id, values] : chunks)
    if (id == cluster)
      return values;
  chunks.emplace_back(cluster, std::vector<uint32_t>());
  return chunks.back().second;
}

uint32_t VectorClock::get(Agent agent) const {
  for (const auto &[id, values] : chunks)
    if (id == agent.cluster)
      return agent.slot < values.size() ? values[agent.slot] : 0;
  return 0;
}

void VectorClock::set(Agent agent, uint32_t value) {
  std::vector<uint32_t> &values = chunk(agent.cluster);
  if (agent.slot >= values.size())
    values.resize(agent.slot + 1, 0);
  values[agent.slot] = value;
}

void VectorClock::raise(Agent agent, uint32_t value) { set(agent, std::max(get(agent), value)); }

void VectorClock::join(const VectorClock &other) {
  if (this == &other)
    return;
  launches = std::max(launches, other.launches);
  for (const auto &[id, values] : other.chunks) {
    std::vector<uint32_t> &mine = chunk(id);
    if (mine.size() < values.size())
      mine.resize(values.size(), 0);
    for (size_t i = 0; i < values.size(); ++i)
      mine[i] = std::max(mine[i], values[i]);
  }
}

void VectorClock::meet(const VectorClock &other) {
  launches = std::min(launches, other.launches);
  for (auto &[id, values] : chunks)
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::min(values[i], other.get({id, static_cast<uint32_t>(i)}));
}

} // namespace emmy::simulator
