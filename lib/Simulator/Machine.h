// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The state of a running launch: clusters of CTAs with byte-exact shared memory, warps with their clocks, units that
// execute programs, and the values those programs compute.

#ifndef EMMY_LIB_SIMULATOR_MACHINE_H
#define EMMY_LIB_SIMULATOR_MACHINE_H

#include "Mbarrier.h"
#include "Memory.h"
#include "Number.h"
#include "Scheduler.h"
#include "emmy/Simulator/Simulator.h"
#include "emmy/Support/Math/Layout.h"
#include "emmy/Support/Math/Offset.h"
#include "emmy/Support/Math/Tma.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>

namespace emmy::simulator {

std::optional<Format> formatOf(mlir::Type type);

/// As `emitOpError`, but without printing the op, which may hold a whole program.
mlir::InFlightDiagnostic headerError(mlir::Operation *op);

/// What cannot be run at all: names that no kernel knows, parameters that do not fit arguments, steps outside buffers.
mlir::LogicalResult checkRequest(mlir::Operation *site, llvm::ArrayRef<Step> steps, llvm::ArrayRef<Buffer> buffers,
                                 const Options &options);

/// A scalar op of arith or math on the values of its operands.
struct ElementOp {
  std::function<Number(const Number *)> compute;
  /// Why the op has no meaning for two integers of that width, e.g. "divides 1 by 0"; null for ops that always have one.
  std::optional<std::string> (*undefined)(int64_t, int64_t, unsigned width) = nullptr;
  unsigned width = 0;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A layout with its coordinates tabulated: where each thread's registers lie in the row-major tile.
struct LayoutTable {
  math::Layout layout;
  std::vector<int64_t> shape;
  int64_t registers = 0, threads = 0;
  /// Row-major element of register r of thread t at [t · registers + r].
  std::vector<int32_t> element;
  /// Thread t is the one that writes among those holding the same elements.
  std::vector<bool> primary;
};

/// Registers of all threads of a unit, [thread · registers + register].
struct Fragment {
  const LayoutTable *table = nullptr;
  Format format = Format::F32;
  std::vector<Number> data;
  /// Set for what `undef` gives.
  bool undefined = false;
  /// Number of the wgmma group that writes it; 0 if ordinary instructions do.
  uint64_t pendingGroup = 0;
  /// Unit step at which ordinary instructions defined it (wgmma must see a fence after it).
  uint64_t definedAt = 0;
  mlir::Operation *definedBy = nullptr;
};
using FragmentRef = std::shared_ptr<Fragment>;

struct SharedRef {
  /// Byte address of the first element before the swizzle.
  int64_t base = 0;
  tile::SharedType type;
};
struct BarrierRef {
  int64_t first = 0, count = 0;
  mlir::Operation *alloc = nullptr;
};
struct PointerRef {
  size_t buffer = 0;
  int64_t offset = 0;

  /// Byte offset of an element, which no sum of products makes wrap.
  int64_t at(math::Wide element, int64_t bytes) const { return math::clampOffset(offset + element * bytes); }
};
struct TensorMap {
  size_t buffer = 0;
  int64_t offset = 0;
  math::TmaMap map;
  Format format = Format::F32;
};
using Value = std::variant<Number, FragmentRef, SharedRef, BarrierRef, PointerRef, std::shared_ptr<TensorMap>>;

//===----------------------------------------------------------------------===//
// The hierarchy
//===----------------------------------------------------------------------===//

/// TMA stores of one thread between two commits.
struct BulkGroup {
  int64_t reads = 0, writes = 0;
  mlir::Operation *op = nullptr;
};

struct Warp {
  VectorClock clock;
  uint32_t slot = 0; // of its agents
  uint32_t cluster = 0;
  /// Last entry is the open group.
  std::vector<BulkGroup> bulk{1};
  /// Pending cp.async copies per group; last entry is the open group.
  std::vector<int64_t> copies{0};

  Agent agent(WarpSlot kind = WarpSlot::Generic) const { return {cluster, slot + static_cast<uint32_t>(kind)}; }
  uint32_t now() const { return clock.get(agent()); }
  /// Later accesses of this warp are not covered by what it has just published.
  void tick() { clock.set(agent(), now() + 1); }
};

/// Meeting point of some number of fibers.
struct Rendezvous {
  int64_t arrived = 0, generation = 0;
  VectorClock gathering, released;
};

struct Cluster;

/// A use of one CTA's shared memory or barriers by another CTA or by a copy; it must precede the CTA's exit.
struct ForeignUse {
  enum Kind { Arrival, Access, Copy };
  BarrierUse use;
  Kind kind = Arrival;
};

struct Cta {
  Cluster *cluster = nullptr;
  int64_t rank = 0;
  int64_t coordinates[3] = {0, 0, 0};
  std::string name;
  std::unique_ptr<Memory> shared;
  std::vector<Mbarrier> barriers;
  std::vector<Warp> warps;
  std::map<mlir::Operation *, Rendezvous> roleSyncs;
  /// The last one of each agent.
  std::map<std::pair<uint32_t, uint32_t>, ForeignUse> foreignUses;
  bool exited = false;
};

struct Cluster {
  /// Number over all launches, and within this one.
  uint32_t id = 0;
  int64_t index = 0;
  std::vector<std::unique_ptr<Cta>> ctas;
  Rendezvous sync;
  int64_t running = 0;
};

/// What executes a program: the whole CTA, or one warp or warpgroup of a role.
struct Unit {
  Cta *cta = nullptr;
  std::string name;
  mlir::Operation *role = nullptr;
  int64_t firstWarp = 0, warps = 1;
  bool oneThread = false;
  llvm::DenseMap<mlir::Value, Value> values;
  Unit *parent = nullptr;

  /// Since it announced bytes, nothing but copies has been issued: others see them all at once or none.
  bool issuing = false;
  /// Steps of this unit, to order definitions and fences.
  uint64_t step = 1;
  /// The scheduler's step at which it last began, and its own then.
  uint64_t resumedAt = 0, stepThen = 0;
  /// Step of the last wgmma_fence; 0 before the first.
  uint64_t fencedAt = 0;
  /// Groups of wgmma: the open one, and how far they are complete.
  uint64_t openGroup = 1;
  std::map<uint64_t, int64_t> pendingInGroup;
  /// Queue of its tensor-core events; 0 before the first.
  uint64_t queue = 0;
  /// What the warps knew, together, when they issued each group; a wait passes it to every warp.
  std::map<uint64_t, VectorClock> issueClocks;

  Warp &warp(int64_t i) { return cta->warps[firstWarp + i]; }
  /// Warps that take part in the current op.
  int64_t activeWarps() const { return oneThread ? 1 : warps; }
  Warp &leader() { return warp(0); }
};

/// A launch under execution.
class Machine {
public:
  /// `firstPending`: launches of the plan before this one have finished. `clusterBase`: clusters of earlier launches.
  Machine(const Launch &launch, size_t launchIndex, uint32_t firstPending, uint32_t clusterBase,
          llvm::MutableArrayRef<Buffer> buffers, llvm::MutableArrayRef<std::unique_ptr<Memory>> globals, AccessLog &log,
          const Options &options);

  mlir::LogicalResult run();
  int64_t clusterCount() const;
  tile::KernelOp kernel() const { return launch.kernel; }

  /// Emits the diagnostic, stops the simulation and fails.
  mlir::LogicalResult report(mlir::Operation *op, const Finding &finding);
  mlir::LogicalResult fail(mlir::Operation *op, llvm::StringRef rule, const llvm::Twine &text);
  bool hasFailed() const { return stopped; }

  /// Check and record an access; the caller moves the data.
  mlir::LogicalResult touchShared(Cta &cta, const Access &access, const VectorClock &clock, int64_t at, int64_t count);
  mlir::LogicalResult touchGlobal(size_t buffer, const Access &access, const VectorClock &clock, int64_t at,
                                  int64_t count);
  Access genericAccess(mlir::Operation *op, Unit &unit, Warp &warp, bool write) const;
  BarrierUse use(mlir::Operation *op, Unit &unit, Warp &warp) const {
    return {op, &unit.name, warp.agent(), warp.now()};
  }

  const LayoutTable &table(tile::FragType type);
  FragmentRef newFragment(tile::FragType type);
  int64_t sharedOffset(mlir::Operation *alloc) const { return sharedOffsets.lookup(alloc); }
  BarrierRef barrierOf(mlir::Operation *alloc) const { return barrierRefs.lookup(alloc); }
  /// "maker, taker": roles with an op that can arrive on the barriers of `alloc`, or whose copies deliver bytes to them.
  std::string arrivers(mlir::Operation *alloc, bool copies) const;
  /// Name of an allocation if its location has one, else where it stands.
  std::string nameOf(mlir::Operation *alloc) const;

  const Launch &launch;
  const size_t launchIndex;
  const Options &options;
  llvm::MutableArrayRef<Buffer> buffers;
  llvm::MutableArrayRef<std::unique_ptr<Memory>> globals;
  AccessLog &log;
  Scheduler scheduler;
  int64_t warpsPerCta = 0;
  /// Queues of ordered events; 0 has no order.
  uint64_t nextQueue = 1;
  /// Units keep their names alive, which accesses point to.
  std::vector<std::unique_ptr<Unit>> units;
  llvm::DenseMap<mlir::Operation *, std::shared_ptr<ElementOp>> elementOps;
  /// What acquire-release additions to an element (buffer, byte) have published.
  std::map<std::pair<size_t, int64_t>, VectorClock> published;

private:
  void startCluster(int64_t index);
  void startCta(Cta &cta);
  void finishCluster(Cluster &cluster);
  mlir::LogicalResult exit(Cta &cta);
  mlir::LogicalResult checkCounts(const Cta &cta);
  mlir::LogicalResult reportDeadlock(llvm::ArrayRef<const Fiber *> blocked);
  mlir::LogicalResult touch(Memory &memory, const Access &access, const VectorClock &clock, int64_t at, int64_t count,
                            llvm::StringRef what);
  /// The allocation that contains a byte of shared memory; null for padding.
  mlir::Operation *allocationAt(int64_t byte) const;

  bool stopped = false;
  /// Emits a finding that may be a consequence of another, which is then reported in its place.
  std::function<void()> held;
  const uint32_t firstPending, clusterBase;
  llvm::MapVector<mlir::Operation *, int64_t> sharedOffsets;
  llvm::MapVector<mlir::Operation *, BarrierRef> barrierRefs;
  int64_t sharedBytes = 0, barrierCount = 0;
  std::map<const void *, std::unique_ptr<LayoutTable>> tables;
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::vector<int64_t> order;
  int64_t nextCluster = 0;
};

} // namespace emmy::simulator

#endif // EMMY_LIB_SIMULATOR_MACHINE_H
