// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory.h"

#include <algorithm>

namespace emmy::simulator {

uint32_t AccessLog::add(const Access &access) {
  const Access &last = entries.back();
  if (entries.size() > 1 && last.op == access.op && last.agent == access.agent && last.clock == access.clock &&
      last.launch == access.launch && last.write == access.write && last.async == access.async && last.atomic == access.atomic)
    return entries.size() - 1;
  entries.push_back(access);
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
  std::vector<uint32_t> members = sets[set];
  const Access &added = log[access];
  // A later access of the same agent stands for its earlier ones.
  members.erase(std::remove_if(members.begin(), members.end(),
                               [&](uint32_t other) { return log[other].agent == added.agent; }),
                members.end());
  members.push_back(access);
  sets.push_back(std::move(members));
  return found->second = sets.size() - 1;
}

std::optional<Conflict> Memory::note(uint32_t access, const VectorClock &clock, int64_t at, int64_t count) {
  const Access &later = log[access];
  std::optional<Conflict> conflict;
  uint32_t checkedWriter = 0, checkedReaders = 0, checkedAtomics = 0;
  for (int64_t byte = at; byte < at + count; ++byte) {
    Shadow &cell = shadow[byte];
    if (!later.write || later.atomic)
      if (!cell.initialized && !conflict)
        conflict = Conflict{Hazard::Uninitialized, 0, byte};
    if (cell.writer && cell.writer != checkedWriter) {
      checkedWriter = cell.writer;
      if (auto hazard = hazardAfterWrite(log[cell.writer], later, clock); hazard && !conflict)
        conflict = Conflict{*hazard, cell.writer, byte};
    }
    if (cell.atomics && cell.atomics != checkedAtomics) {
      checkedAtomics = cell.atomics;
      for (uint32_t writer : sets[cell.atomics])
        if (auto hazard = hazardAfterWrite(log[writer], later, clock); hazard && !conflict)
          conflict = Conflict{*hazard, writer, byte};
    }
    if (!later.write) {
      if (writable)
        cell.readers = withMember(cell.readers, access);
      continue;
    }
    if (cell.readers && cell.readers != checkedReaders) {
      checkedReaders = cell.readers;
      for (uint32_t reader : sets[cell.readers])
        if (auto hazard = hazardAfterRead(log[reader], later, clock); hazard && !conflict)
          conflict = Conflict{*hazard, reader, byte};
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

} // namespace emmy::simulator
