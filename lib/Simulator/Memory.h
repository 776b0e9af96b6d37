// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Byte-exact memory with a shadow: every byte remembers its last write and the reads since, and every new access is
// checked against them by vector clock. What is found does not depend on the schedule that was drawn, only on the
// order that barriers, waits and fences establish.

#ifndef EMMY_LIB_SIMULATOR_MEMORY_H
#define EMMY_LIB_SIMULATOR_MEMORY_H

#include "VectorClock.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace mlir {
class Operation;
}

namespace emmy::simulator {

enum class Space : uint8_t { Shared, Global };

/// One execution of a memory op by one agent.
struct Access {
  mlir::Operation *op = nullptr;
  /// Name of the unit that executed the op, owned by the launch.
  const std::string *unit = nullptr;
  Agent agent;
  uint32_t clock = 0;
  uint32_t launch = 0;
  /// Performed through the async proxy (TMA, wgmma) rather than by the threads themselves.
  bool async = false;
  /// Happens some time after the op, until something waits for it.
  bool deferred = false;
  /// Of a deferred access: entries of the log when its op was executed.
  uint32_t issued = 0;
  bool atomic = false;
  bool write = false;
  /// Execution of the op by its unit, which tells writes of one instruction from those of the next.
  uint64_t step = 0;
  /// What a plain write stores, while it is checked; null if writes of one instruction cannot overlap.
  const uint8_t *data = nullptr;
};

/// All accesses of a launch; index 0 stands for "none".
class AccessLog {
public:
  AccessLog() : entries(1) {}
  uint32_t add(const Access &access);
  /// Valid until the next `add`.
  const Access &operator[](uint32_t index) const { return entries[index]; }
  uint32_t size() const { return entries.size(); }

private:
  std::vector<Access> entries;
};

enum class Hazard {
  Uninitialized,
  /// Unordered accesses of two threads.
  Race,
  /// Threads of a warp write different values to one place by one instruction: any of them may stay.
  Overlap,
  /// A generic write that an asynchronous access does not see for want of a fence.
  ProxyFence,
  /// An asynchronous write (TMA) whose completion was not waited for.
  UnwaitedWrite,
  /// An asynchronous read (TMA store, wgmma) of bytes that are overwritten before its completion was waited for.
  UnwaitedRead,
  /// An asynchronous write over bytes whose readers have not released them.
  StageReuse,
};

struct Conflict {
  Hazard hazard;
  /// The earlier access; 0 for uninitialised bytes.
  uint32_t earlier;
  int64_t byte;
};

class Memory {
public:
  /// Reads of memory that is never written need no record.
  Memory(AccessLog &log, Space space, int64_t bytes, bool initialized, bool writable = true)
      : bytes(bytes, 0), log(log), space(space), writable(writable), shadow(bytes, Shadow{0, 0, 0, initialized}) {}

  int64_t size() const { return static_cast<int64_t>(bytes.size()); }
  /// Checks and records an access of [at, at + count), whose agent knows `clock`.
  std::optional<Conflict> note(const Access &access, const VectorClock &clock, int64_t at, int64_t count);
  /// Without checks and records: the contents of another memory of this size, or one byte over a range.
  void copyFrom(const Memory &other);
  void fill(int64_t at, int64_t count, uint8_t value);
  /// Ranges [first, last] of bytes that nothing has written.
  std::vector<std::pair<int64_t, int64_t>> unwritten() const;

  std::vector<uint8_t> bytes;

private:
  struct Shadow {
    uint32_t writer;
    uint32_t readers;
    /// Atomic writers before the last one, which it need not be ordered after.
    uint32_t atomics;
    bool initialized;
  };
  bool ordered(const Access &earlier, const Access &later, const VectorClock &clock) const;
  bool fenced(const Access &earlier, const VectorClock &clock) const;
  std::optional<Hazard> hazardAfterWrite(const Access &earlier, const Access &later, const VectorClock &clock) const;
  std::optional<Hazard> hazardAfterRead(const Access &earlier, const Access &later, const VectorClock &clock) const;
  /// A set of accesses is a few members on top of another set, so that sets of thousands are not copied to add one.
  struct AccessSet {
    std::vector<uint32_t> members;
    uint32_t rest = 0;
    /// No access of the set went through the generic proxy.
    bool isAsync = true;
  };
  uint32_t withMember(uint32_t set, uint32_t access);
  /// The first member of a set for which `hazard` finds one.
  template <typename Hazards> std::optional<Conflict> firstIn(uint32_t set, int64_t byte, Hazards hazard) const;

  AccessLog &log;
  Space space;
  bool writable;
  std::vector<Shadow> shadow;
  /// Sets of accesses are interned: neighbouring bytes nearly always share theirs.
  std::vector<AccessSet> sets{{}};
  std::unordered_map<uint64_t, uint32_t> transitions;
};

} // namespace emmy::simulator

#endif // EMMY_LIB_SIMULATOR_MEMORY_H
