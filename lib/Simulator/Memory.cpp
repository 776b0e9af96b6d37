// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory.h"

#include <algorithm>

namespace emmy::simulator {

/// Members of a set before another is put on top of it.
static constexpr size_t maxMembers = 32;

uint32_t AccessLog::add(const Access &access) {
  const Access &last = entries.back();
  if (entries.size() > 1 && last.op == access.op && last.agent == access.agent && last.clock == access.clock &&
      last.launch == access.launch && last.write == access.write && last.async == access.async && last.atomic == access.atomic &&
      last.step == access.step)
    return entries.size() - 1;
  entries.push_back(access);
  entries.back().data = nullptr;
  return entries.size() - 1;
}

bool Memory::ordered(const Access &earlier, const Access &later, const VectorClock &clock) const {
  return earlier.launch < clock.launches || clock.get(earlier.agent) >= earlier.clock || (earlier.atomic && later.atomic);
}

bool Memory::fenced(const Access &earlier, const VectorClock &clock) const {
  if (earlier.launch < clock.launches)
    return true;
  const auto kind = earlier.deferred        ? WarpSlot::FencedCopy
                    : space == Space::Shared ? WarpSlot::FencedShared
                                             : WarpSlot::FencedGlobal;
  const uint32_t warp = earlier.agent.slot / slotsPerWarp;
  return clock.get({earlier.agent.cluster, warp * slotsPerWarp + static_cast<uint32_t>(kind)}) >= earlier.clock;
}

std::optional<Hazard> Memory::hazardAfterWrite(const Access &earlier, const Access &later,
                                               const VectorClock &clock) const {
  if (!ordered(earlier, later, clock))
    return earlier.deferred ? Hazard::UnwaitedWrite : Hazard::Race;
  if (later.async && !earlier.async && !fenced(earlier, clock))
    return Hazard::ProxyFence;
  return std::nullopt;
}

std::optional<Hazard> Memory::hazardAfterRead(const Access &earlier, const Access &later,
                                              const VectorClock &clock) const {
  if (ordered(earlier, later, clock))
    return std::nullopt;
  if (later.async)
    return Hazard::StageReuse;
  return earlier.deferred ? Hazard::UnwaitedRead : Hazard::Race;
}

uint32_t Memory::withMember(uint32_t set, uint32_t access) {
  const auto [found, isNew] = transitions.try_emplace((uint64_t(set) << 32) | access, 0);
  if (!isNew)
    return found->second;
  const Access &added = log[access];
  AccessSet larger = sets[set];
  if (larger.members.size() >= maxMembers) {
    larger.members.clear();
    larger.rest = set;
  }
  // A later access of the same agent stands for its earlier ones.
  larger.members.erase(std::remove_if(larger.members.begin(), larger.members.end(),
                                      [&](uint32_t other) { return log[other].agent == added.agent; }),
                       larger.members.end());
  larger.members.push_back(access);
  larger.isAsync &= added.async;
  sets.push_back(std::move(larger));
  return found->second = sets.size() - 1;
}

template <typename Hazards> std::optional<Conflict> Memory::firstIn(uint32_t set, int64_t byte, Hazards hazard) const {
  for (; set; set = sets[set].rest)
    for (uint32_t member : sets[set].members)
      if (std::optional<Hazard> found = hazard(log[member]))
        return Conflict{*found, member, byte};
  return std::nullopt;
}

std::optional<Conflict> Memory::note(const Access &later, const VectorClock &clock, int64_t at, int64_t count) {
  const uint32_t access = log.add(later);
  std::optional<Conflict> conflict;
  const auto afterWrite = [&](const Access &earlier) { return hazardAfterWrite(earlier, later, clock); };
  const auto afterRead = [&](const Access &earlier) { return hazardAfterRead(earlier, later, clock); };
  uint32_t checkedWriter = 0, checkedReaders = 0, checkedAtomics = 0;
  for (int64_t byte = at; byte < at + count; ++byte) {
    Shadow &cell = shadow[byte];
    if (!later.write || later.atomic)
      if (!cell.initialized && !conflict)
        conflict = Conflict{Hazard::Uninitialized, 0, byte};
    if (cell.writer == access && later.data && !conflict && bytes[byte] != later.data[byte - at])
      conflict = Conflict{Hazard::Overlap, 0, byte};
    if (cell.writer && cell.writer != access && cell.writer != checkedWriter) {
      checkedWriter = cell.writer;
      if (auto hazard = afterWrite(log[cell.writer]); hazard && !conflict)
        conflict = Conflict{*hazard, cell.writer, byte};
    }
    // Atomics need no order among themselves; those of the async proxy need fences after generic ones.
    if (cell.atomics && cell.atomics != checkedAtomics && !(later.atomic && (!later.async || sets[cell.atomics].isAsync))) {
      checkedAtomics = cell.atomics;
      if (!conflict)
        conflict = firstIn(cell.atomics, byte, afterWrite);
    }
    if (!later.write) {
      if (writable)
        cell.readers = withMember(cell.readers, access);
      continue;
    }
    if (cell.readers && cell.readers != checkedReaders) {
      checkedReaders = cell.readers;
      if (!conflict)
        conflict = firstIn(cell.readers, byte, afterRead);
    }
    const uint32_t atomics = later.atomic && cell.writer && log[cell.writer].atomic ? withMember(cell.atomics, cell.writer) : 0;
    cell = {access, 0, atomics, true};
  }
  return conflict;
}

void Memory::copyFrom(const Memory &other) {
  for (int64_t byte = 0; byte < size() && byte < other.size(); ++byte) {
    bytes[byte] = other.bytes[byte];
    shadow[byte] = {0, 0, 0, other.shadow[byte].initialized};
  }
}

void Memory::fill(int64_t at, int64_t count, uint8_t value) {
  std::fill_n(bytes.begin() + at, count, value);
  std::fill_n(shadow.begin() + at, count, Shadow{0, 0, 0, true});
}

std::vector<std::pair<int64_t, int64_t>> Memory::unwritten() const {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t byte = 0; byte < size(); ++byte) {
    if (shadow[byte].initialized)
      continue;
    if (!ranges.empty() && ranges.back().second == byte - 1)
      ++ranges.back().second;
    else
      ranges.emplace_back(byte, byte);
  }
  return ranges;
}

} // namespace emmy::simulator
