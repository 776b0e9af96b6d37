// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random operations on vector clocks against plain maps, with copies alive that must not change.
#include "../../lib/Simulator/VectorClock.h"
#include "../Check.h"

#include <algorithm>
#include <map>
#include <random>

using namespace emmy::simulator;
using emmy::test::tally;

using Plain = std::map<std::pair<uint32_t, uint32_t>, uint32_t>;

static Plain joined(const Plain &a, const Plain &b) {
  Plain result = a;
  for (auto [key, value] : b)
    result[key] = std::max(result[key], value);
  return result;
}

static Plain met(const Plain &a, const Plain &b) {
  Plain result;
  for (auto [key, value] : a)
    if (auto other = b.find(key); other != b.end())
      result[key] = std::min(value, other->second);
  return result;
}

static bool agree(const VectorClock &clock, const Plain &plain, const std::vector<uint32_t> &clusters) {
  for (uint32_t cluster : clusters)
    for (uint32_t slot = 0; slot < 4; ++slot) {
      auto found = plain.find({cluster, slot});
      if (clock.get({cluster, slot}) != (found == plain.end() ? 0 : found->second))
        return false;
    }
  return true;
}

int main() {
  std::mt19937 random(1);
  const std::vector<uint32_t> clusters = {0, 1, 2, 3, 4, 5, 7, 8, 64, 65, 1000, 65535, 65536, 0x80000000u, 0xffffffffu};
  for (int round = 0; round < 200; ++round) {
    std::vector<VectorClock> clocks(6);
    std::vector<Plain> plains(6);
    bool right = true;
    for (int step = 0; step < 200; ++step) {
      const size_t a = random() % 6, b = random() % 6;
      const uint32_t cluster = clusters[random() % (1 + random() % clusters.size())], slot = random() % 4, value = random() % 20;
      switch (random() % 6) {
      case 0:
        clocks[a].set({cluster, slot}, value);
        plains[a][{cluster, slot}] = value;
        break;
      case 1:
        clocks[a].raise({cluster, slot}, value);
        plains[a][{cluster, slot}] = std::max(plains[a][{cluster, slot}], value);
        break;
      case 2:
      case 3:
        clocks[a].join(clocks[b]);
        plains[a] = joined(plains[a], plains[b]);
        break;
      case 4:
        clocks[a] = clocks[b];
        plains[a] = plains[b];
        break;
      case 5:
        clocks[a].meet(clocks[b]);
        plains[a] = met(plains[a], plains[b]);
        break;
      }
      for (size_t i = 0; i < clocks.size(); ++i)
        right &= agree(clocks[i], plains[i], clusters);
    }
    CHECK_EQ(right, true);
  }
  std::cout << tally.passed << " passed, " << tally.failed << " failed\n";
  return tally.failed != 0;
}
