// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TMA descriptors by what they describe. Weights keep their addresses and the caching allocator hands out few different
// ones, so a handful of entries per descriptor of the plan catches nearly every call.

#ifndef EMMY_LIB_RUNTIME_TENSORMAPCACHE_H
#define EMMY_LIB_RUNTIME_TENSORMAPCACHE_H

#include "emmy/Runtime/CudaAbi.h"

#include <array>
#include <mutex>
#include <vector>

namespace emmy::runtime {

/// Everything that varies between descriptors of one tensor map of a plan. Unused entries are zero.
struct TensorMapKey {
  uint64_t address = 0;
  std::array<uint64_t, 5> sizes{};   ///< Innermost first.
  std::array<uint64_t, 4> strides{}; ///< Bytes.

  bool operator==(const TensorMapKey &other) const {
    return address == other.address && sizes == other.sizes && strides == other.strides;
  }
};

class TensorMapCache {
public:
  explicit TensorMapCache(size_t numMaps) : slots(numMaps) {}

  bool lookup(unsigned map, const TensorMapKey &key, cuda::TensorMap *result) {
    std::lock_guard<std::mutex> guard(mutex);
    for (const Entry &entry : slots[map].entries)
      if (entry.key == key) {
        *result = entry.value;
        return true;
      }
    return false;
  }

  void insert(unsigned map, const TensorMapKey &key, const cuda::TensorMap &value) {
    std::lock_guard<std::mutex> guard(mutex);
    Slot &slot = slots[map];
    if (slot.entries.size() < kEntries) {
      slot.entries.push_back({value, key});
      return;
    }
    slot.entries[slot.next] = {value, key};
    slot.next = (slot.next + 1) % kEntries;
  }

private:
  static constexpr size_t kEntries = 8;
  struct Entry {
    cuda::TensorMap value;
    TensorMapKey key;
  };
  struct Slot {
    std::vector<Entry> entries;
    size_t next = 0;
  };

  std::mutex mutex;
  std::vector<Slot> slots;
};

} // namespace emmy::runtime

#endif // EMMY_LIB_RUNTIME_TENSORMAPCACHE_H
