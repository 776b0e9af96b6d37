// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Queries on distributed layouts. Everything is brute force over registers, lanes and warps where that is clearest:
// a tile has at most some ten thousand elements.

#include "emmy/Support/Math/Layout.h"

#include <algorithm>
#include <cassert>
#include <sstream>

namespace emmy::math {

bool Mode::isReplication() const {
  return std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 0; });
}

Layout::Layout(unsigned rank, Modes reg, Modes lane, Modes warp)
    : dims(rank), regModes(std::move(reg)), laneModes(std::move(lane)), warpModes(std::move(warp)) {
  for ([[maybe_unused]] const Modes *modes : {&regModes, &laneModes, &warpModes})
    for ([[maybe_unused]] const Mode &mode : *modes)
      assert(mode.size > 0 && mode.strides.size() == rank && "a mode needs one stride per dimension");
}

static int64_t product(const Modes &modes) {
  int64_t total = 1;
  for (const Mode &mode : modes)
    total *= mode.size;
  return total;
}

int64_t Layout::registers() const { return product(regModes); }
int64_t Layout::lanes() const { return product(laneModes); }
int64_t Layout::warps() const { return product(warpModes); }

static void addDigits(Coordinates &at, const Modes &modes, int64_t index) {
  for (const Mode &mode : modes) {
    const int64_t digit = index % mode.size;
    index /= mode.size;
    for (size_t d = 0; d < at.size(); ++d)
      at[d] += digit * mode.strides[d];
  }
}

Coordinates Layout::coordinates(int64_t reg, int64_t lane, int64_t warp) const {
  Coordinates at(dims, 0);
  addDigits(at, regModes, reg);
  addDigits(at, laneModes, lane);
  addDigits(at, warpModes, warp);
  return at;
}

Coordinates Layout::extents() const {
  Coordinates extents(dims, 1);
  for (const Modes *modes : {&regModes, &laneModes, &warpModes})
    for (const Mode &mode : *modes)
      for (unsigned d = 0; d < dims; ++d)
        extents[d] += (mode.size - 1) * mode.strides[d];
  return extents;
}

std::vector<Owner> Layout::owners(const Coordinates &at) const {
  std::vector<Owner> found;
  for (int64_t warp = 0; warp < warps(); ++warp)
    for (int64_t lane = 0; lane < lanes(); ++lane)
      for (int64_t reg = 0; reg < registers(); ++reg)
        if (coordinates(reg, lane, warp) == at)
          found.push_back({reg, lane, warp});
  return found;
}

std::vector<int64_t> Layout::threadsHolding(unsigned dim, int64_t index) const {
  std::vector<int64_t> threads;
  for (int64_t warp = 0; warp < warps(); ++warp)
    for (int64_t lane = 0; lane < lanes(); ++lane) {
      bool holds = false;
      for (int64_t reg = 0; reg < registers() && !holds; ++reg)
        holds = coordinates(reg, lane, warp)[dim] == index;
      if (holds)
        threads.push_back(warp * 32 + lane);
    }
  return threads;
}

/// Bits of the index that belong to power-of-two digits for which `select` holds.
template <typename Select> static uint32_t digitBits(const Modes &modes, Select select) {
  uint32_t mask = 0;
  int64_t weight = 1;
  for (const Mode &mode : modes) {
    const bool powers = (mode.size & (mode.size - 1)) == 0 && (weight & (weight - 1)) == 0;
    if (powers && select(mode))
      mask |= static_cast<uint32_t>(weight * (mode.size - 1));
    weight *= mode.size;
  }
  return mask;
}

static uint32_t replicationBits(const Modes &modes) {
  return digitBits(modes, [](const Mode &mode) { return mode.isReplication(); });
}

static uint32_t bitsAlong(const Modes &modes, unsigned dim) {
  return digitBits(modes, [dim](const Mode &mode) { return mode.strides[dim] != 0; });
}

uint32_t Layout::laneReplicationMask() const { return replicationBits(laneModes); }
uint32_t Layout::warpReplicationMask() const { return replicationBits(warpModes); }
uint32_t Layout::laneMaskAlong(unsigned dim) const { return bitsAlong(laneModes, dim); }
uint32_t Layout::warpMaskAlong(unsigned dim) const { return bitsAlong(warpModes, dim); }

static bool replicatedDigitsAreZero(const Modes &modes, int64_t index) {
  for (const Mode &mode : modes) {
    if (mode.isReplication() && index % mode.size != 0)
      return false;
    index /= mode.size;
  }
  return true;
}

bool Layout::isPrimary(int64_t lane, int64_t warp) const {
  return replicatedDigitsAreZero(laneModes, lane) && replicatedDigitsAreZero(warpModes, warp);
}

int64_t Layout::replicas() const {
  int64_t copies = 1;
  for (const Modes *modes : {&laneModes, &warpModes})
    for (const Mode &mode : *modes)
      if (mode.isReplication())
        copies *= mode.size;
  return copies;
}

int64_t Layout::vectorWidth(unsigned dim) const {
  const Layout merged = normalized();
  if (merged.regModes.empty())
    return 1;
  const Mode &first = merged.regModes.front();
  for (unsigned d = 0; d < dims; ++d)
    if (first.strides[d] != (d == dim ? 1 : 0))
      return 1;
  return first.size;
}

static Modes merged(const Modes &modes) {
  Modes result;
  for (const Mode &mode : modes) {
    if (mode.size == 1)
      continue;
    bool continues = !result.empty();
    if (continues)
      for (size_t d = 0; d < mode.strides.size(); ++d)
        continues &= mode.strides[d] == result.back().size * result.back().strides[d];
    if (continues)
      result.back().size *= mode.size;
    else
      result.push_back(mode);
  }
  return result;
}

Layout Layout::normalized() const { return Layout(dims, merged(regModes), merged(laneModes), merged(warpModes)); }

static Modes withoutDimension(Modes modes, unsigned dim, bool dropReplication) {
  Modes result;
  for (Mode &mode : modes) {
    mode.strides.erase(mode.strides.begin() + dim);
    if (!dropReplication || !mode.isReplication())
      result.push_back(std::move(mode));
  }
  return result;
}

Layout Layout::sliced(unsigned dim) const {
  assert(dim < dims && "no such dimension");
  return Layout(dims - 1, withoutDimension(regModes, dim, true), withoutDimension(laneModes, dim, false),
                withoutDimension(warpModes, dim, false));
}

std::vector<int64_t> Layout::slicedRegisters(unsigned dim) const {
  std::vector<int64_t> map(registers(), 0);
  for (int64_t reg = 0; reg < registers(); ++reg) {
    int64_t rest = reg, weight = 1;
    for (const Mode &mode : regModes) {
      const int64_t digit = rest % mode.size;
      rest /= mode.size;
      bool kept = false;
      for (unsigned d = 0; d < dims; ++d)
        kept |= d != dim && mode.strides[d] != 0;
      if (!kept)
        continue;
      map[reg] += digit * weight;
      weight *= mode.size;
    }
  }
  return map;
}

std::optional<std::string> Layout::coverageError(const Coordinates &shape) const {
  if (shape.size() != dims)
    return "rank of the layout (" + std::to_string(dims) + ") differs from the tile's (" +
           std::to_string(shape.size()) + ")";
  const Coordinates extent = extents();
  int64_t elements = 1;
  for (unsigned d = 0; d < dims; ++d) {
    if (extent[d] != shape[d])
      return "dimension #" + std::to_string(d) + " spans " + std::to_string(extent[d]) + " elements, not " +
             std::to_string(shape[d]);
    elements *= shape[d];
  }
  std::vector<bool> seen(elements, false);
  int64_t covered = 0;
  for (int64_t warp = 0; warp < warps(); ++warp)
    for (int64_t lane = 0; lane < lanes(); ++lane) {
      if (!isPrimary(lane, warp))
        continue;
      for (int64_t reg = 0; reg < registers(); ++reg) {
        int64_t linear = 0;
        const Coordinates at = coordinates(reg, lane, warp);
        for (unsigned d = 0; d < dims; ++d)
          linear = linear * shape[d] + at[d];
        if (seen[linear])
          return "element " + std::to_string(linear) + " (row-major) has more than one owner";
        seen[linear] = true;
        ++covered;
      }
    }
  if (covered != elements)
    return std::to_string(elements - covered) + " elements have no owner";
  return std::nullopt;
}

bool Layout::operator==(const Layout &other) const {
  const Layout a = normalized(), b = other.normalized();
  return a.dims == b.dims && a.regModes == b.regModes && a.laneModes == b.laneModes && a.warpModes == b.warpModes;
}

static void print(std::ostringstream &os, const char *name, const Modes &modes) {
  os << name << " = [";
  for (size_t i = 0; i < modes.size(); ++i) {
    os << (i ? ", " : "") << modes[i].size << ":(";
    for (size_t d = 0; d < modes[i].strides.size(); ++d)
      os << (d ? "," : "") << modes[i].strides[d];
    os << ")";
  }
  os << "]";
}

std::string Layout::str() const {
  std::ostringstream os;
  print(os, "reg", regModes);
  print(os, ", lane", laneModes);
  print(os, ", warp", warpModes);
  return os.str();
}

} // namespace emmy::math
