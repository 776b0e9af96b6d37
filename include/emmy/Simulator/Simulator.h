// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs `emmy_tile.kernel` launches on the CPU with the hardware's barrier, copy-engine and tensor-core semantics, and
// reports the first broken rule of the memory model as a diagnostic at the op. Whether a race, a missing fence or an
// unwaited copy is reported depends on what the program orders, not on the schedule that was drawn; schedules decide
// which values are seen and whether a hang is met.

#ifndef EMMY_SIMULATOR_SIMULATOR_H
#define EMMY_SIMULATOR_SIMULATOR_H

#include "dialects/Tile/Tile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace emmy::simulator {

/// Global memory that launches share, owned by the caller.
struct Buffer {
  std::string name;
  llvm::MutableArrayRef<uint8_t> bytes;
  /// False for outputs and workspaces: reading a byte that no launch wrote is an error.
  bool initialized = true;
  /// False to forbid writing.
  bool writable = true;
  /// After a simulation: ranges [first, last] of bytes that nothing has written.
  std::vector<std::pair<int64_t, int64_t>> unwritten;
};

/// A kernel parameter, in the order of the kernel's arguments.
struct PointerParameter {
  size_t buffer = 0;
  int64_t offset = 0; // bytes
};
struct TensorMapParameter {
  size_t buffer = 0;
  int64_t offset = 0; // bytes
  /// Outermost first; strides in bytes, one for each dimension but the innermost.
  std::vector<int64_t> sizes, strides;
};
using Parameter = std::variant<int64_t, double, PointerParameter, TensorMapParameter>;

struct Launch {
  tile::KernelOp kernel;
  int64_t grid[3] = {1, 1, 1};
  std::vector<Parameter> parameters;
};

/// A copy between buffers of one size, or, without a source, the same byte over a part of one.
struct MemoryStep {
  size_t target = 0;
  std::optional<size_t> source;
  int64_t offset = 0, bytes = 0;
  uint8_t value = 0;
};
using Step = std::variant<Launch, MemoryStep>;

struct Options {
  uint64_t seed = 0;
  /// "random", or "delay=ROLE" to starve a role (or "async", the copies and tensor cores) as long as anything else moves.
  std::string schedule = "random";
  /// Clusters that run at once; the rest of the grid follows in a drawn order.
  int64_t residentClusters = 8;
  int64_t maxClusters = 1 << 16;
  /// Scheduling steps after which a launch counts as livelocked.
  uint64_t maxSteps = 5'000'000;
  /// Ops that a unit may execute between two scheduling steps, for the same reason.
  uint64_t maxOps = 2'000'000;
  /// Of all buffers together: the simulator keeps a record for every byte.
  int64_t maxBytes = int64_t(1) << 27;
};

/// What a simulation ran.
struct Summary {
  /// Launches, and different kernels among them.
  int64_t launches = 0, programs = 0;
  /// Choices of the scheduler.
  uint64_t steps = 0;
};

/// Runs the steps in order (a kernel marked `pdl` may overlap its predecessors until it waits). On failure a diagnostic
/// has been emitted, at `site` if it is about no kernel.
mlir::FailureOr<Summary> simulate(mlir::Operation *site, llvm::ArrayRef<Step> steps, llvm::MutableArrayRef<Buffer> buffers,
                                  const Options &options);

} // namespace emmy::simulator

#endif // EMMY_SIMULATOR_SIMULATOR_H
