// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Launch state: cluster start and exit, memory checks, and how findings become diagnostics.
#include "Machine.h"
#include "Interpreter.h"
#include "emmy/Tile/Layout.h"

#include <algorithm>

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

std::optional<Format> simulator::formatOf(Type type) {
  if (type.isF64())
    return Format::F64;
  if (type.isF32())
    return Format::F32;
  if (type.isTF32())
    return Format::TF32;
  if (type.isF16())
    return Format::F16;
  if (type.isBF16())
    return Format::BF16;
  if (isa<Float8E4M3FNType>(type))
    return Format::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return Format::F8E5M2;
  if (type.isIndex())
    return Format::I64;
  if (!type.isInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return Format::I1;
  case 8:
    return Format::I8;
  case 16:
    return Format::I16;
  case 32:
    return Format::I32;
  case 64:
    return Format::I64;
  default:
    return std::nullopt;
  }
}

const LayoutTable &Machine::table(tile::FragType type) {
  // The element type does not matter, but the shape follows from the layout.
  std::unique_ptr<LayoutTable> &entry = tables[type.getLayout().getAsOpaquePointer()];
  if (entry)
    return *entry;
  entry = std::make_unique<LayoutTable>();
  entry->layout = tile::toLayout(type.getLayout());
  entry->shape = type.getShape().vec();
  entry->registers = entry->layout.registers();
  entry->threads = 32 * entry->layout.warps();
  for (int64_t thread = 0; thread < entry->threads; ++thread) {
    entry->primary.push_back(entry->layout.isPrimary(thread % 32, thread / 32));
    for (int64_t reg = 0; reg < entry->registers; ++reg) {
      int64_t element = 0;
      const emmy::math::Coordinates at = entry->layout.coordinates(reg, thread % 32, thread / 32);
      for (size_t d = 0; d < at.size(); ++d)
        element = element * entry->shape[d] + at[d];
      entry->element.push_back(static_cast<int32_t>(element));
    }
  }
  return *entry;
}

FragmentRef Machine::newFragment(tile::FragType type) {
  auto fragment = std::make_shared<Fragment>();
  fragment->table = &table(type);
  fragment->format = *formatOf(type.getElementType());
  fragment->data.resize(fragment->table->threads * fragment->table->registers);
  return fragment;
}

Operation *Machine::allocationAt(int64_t byte) const {
  for (const auto &[op, offset] : sharedOffsets) {
    auto type = cast<tile::SharedType>(op->getResult(0).getType());
    if (byte >= offset && byte < offset + type.getSizeInBytes())
      return op;
  }
  return nullptr;
}

/// Ops that use the barriers of `alloc`, also by way of ops that choose between barriers or carry them.
static llvm::SetVector<Operation *> usersOfBarrier(Operation *alloc) {
  llvm::SetVector<Operation *> users;
  llvm::SetVector<mlir::Value> handles;
  handles.insert(alloc->getResult(0));
  for (size_t i = 0; i < handles.size(); ++i)
    for (Operation *user : handles[i].getUsers()) {
      Operation *holder = user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user;
      users.insert(user);
      const auto follow = [&](mlir::Value value) {
        if (isa<tile::BarrierType>(value.getType()))
          handles.insert(value);
      };
      llvm::for_each(holder->getResults(), follow);
      for (Region &region : holder->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), follow);
    }
  return users;
}

std::string Machine::arrivers(Operation *alloc, bool copies) const {
  std::set<std::string> names;
  for (Operation *user : usersOfBarrier(alloc)) {
    if (copies ? !isa<tile::TmaLoadOp>(user) : !isa<tile::BarrierArriveOp, tile::BarrierExpectOp>(user))
      continue;
    auto role = user->getParentOfType<tile::RoleOp>();
    names.insert(role ? role.getName().str() : "the CTA");
  }
  return names.empty() ? "no op" : llvm::join(names, ", ");
}

std::string Machine::nameOf(Operation *alloc) const {
  if (auto name = alloc->getLoc()->findInstanceOf<NameLoc>())
    return "'" + name.getName().str() + "'";
  if (auto place = alloc->getLoc()->findInstanceOf<FileLineColLoc>())
    return "allocated at line " + std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
  const auto *found = llvm::find_if(barrierRefs, [alloc](const auto &entry) { return entry.first == alloc; });
  return "of allocation #" + std::to_string(found - barrierRefs.begin());
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

InFlightDiagnostic simulator::headerError(Operation *op) { return emitError(op->getLoc()) << "'" << op->getName() << "' op "; }

static InFlightDiagnostic violation(Operation *op, StringRef rule) { return headerError(op) << "violates " << rule << ": "; }

LogicalResult Machine::report(Operation *op, const Finding &finding) {
  if (stopped)
    return failure();
  stopped = true;
  scheduler.stop();
  if (held && finding.rule != "expect-tx") {
    held();
    return failure();
  }
  InFlightDiagnostic diagnostic = violation(finding.site ? finding.site : op, finding.rule) << finding.text;
  if (finding.other)
    diagnostic.attachNote(finding.other->getLoc()) << finding.otherText;
  if (finding.barrier)
    diagnostic.attachNote(finding.barrier->getLoc()) << "barrier " << finding.index << " of these";
  return failure();
}

LogicalResult Machine::fail(Operation *op, StringRef rule, const Twine &text) {
  return report(op, {rule.str(), text.str(), nullptr, ""});
}

/// Rule and explanation of a memory hazard between an earlier access and this one.
static std::pair<StringRef, StringRef> explain(Hazard hazard) {
  switch (hazard) {
  case Hazard::Uninitialized:
    return {"uninitialized", "that nothing has written"};
  case Hazard::Race:
    return {"data-race", "without an order after an access of the same bytes"};
  case Hazard::Overlap:
    return {"data-race", "twice by one op, with different values: either may stay"};
  case Hazard::ProxyFence:
    return {"proxy-fence", "through the async proxy, but the thread that wrote them executed no fence_async since"};
  case Hazard::UnwaitedWrite:
    return {"async-write-not-waited", "before an asynchronous write of them was waited for"};
  case Hazard::UnwaitedRead:
    return {"async-read-not-waited", "before an asynchronous read of them was waited for"};
  case Hazard::StageReuse:
    return {"stage-reuse", "before a reader has released them"};
  }
  return {};
}

/// Scheduling steps in which the cause of a finding may show.
static constexpr uint64_t stepsToTheCause = 10000;

LogicalResult Machine::touch(Memory &memory, const Access &access, const VectorClock &clock, int64_t at, int64_t count,
                             StringRef what) {
  if (stopped)
    return failure();
  if (at < 0 || at > memory.size() - count) {
    const std::string start = *access.unit + (access.write ? " writes " : " reads ");
    const std::string end = what.str() + ", which has " + std::to_string(memory.size());
    if (emmy::math::isFar(at))
      return fail(access.op, "out-of-bounds", start + "more than 2^62 bytes away from " + end);
    return fail(access.op, "out-of-bounds", start + "bytes " + Twine(at) + " to " + Twine(at + count - 1) + " of " + end);
  }
  std::optional<Conflict> conflict = memory.note(access, clock, at, count);
  if (!conflict)
    return success();
  auto [rule, reason] = explain(conflict->hazard);
  const Access &earlier = log[conflict->earlier];
  const Access *culprit = &access, *other = &earlier;
  // Work of an earlier launch that was not waited for has its own rule.
  if (conflict->earlier && earlier.launch != access.launch)
    std::tie(rule, reason) = std::pair<StringRef, StringRef>("pdl-wait", "of an earlier launch before pdl_wait");
  // A unit that ran ahead of its own copy is at fault itself, whichever access was drawn first.
  else if (access.deferred && conflict->earlier >= access.issued && earlier.unit == access.unit && !earlier.deferred) {
    std::tie(rule, reason) = explain(access.write ? Hazard::UnwaitedWrite : Hazard::UnwaitedRead);
    std::swap(culprit, other);
  }
  Operation *alloc = what == "shared memory" ? allocationAt(conflict->byte) : nullptr;
  // A barrier that expects too few bytes lets its waiters go early. Whether the copy comes is seen a little later.
  const bool mayFollow = conflict->hazard == Hazard::Uninitialized && alloc && !barrierRefs.empty();
  if (mayFollow && held)
    return success();
  const auto emit = [this, alloc, rule = rule, reason = reason, culprit = *culprit, other = *other, what = what.str(), found = *conflict] {
    InFlightDiagnostic diagnostic = violation(culprit.op, rule) << *culprit.unit << (culprit.write ? " writes" : " reads") << " byte "
                                                                << found.byte << " of " << what << " " << reason;
    if (found.earlier)
      diagnostic.attachNote(other.op->getLoc())
          << "the other access: " << *other.unit << (other.write ? " writes" : " reads") << " it here";
    if (alloc)
      diagnostic.attachNote(alloc->getLoc()) << "byte " << found.byte - sharedOffsets.lookup(alloc) << " of this buffer";
  };
  if (mayFollow) {
    scheduler.stopAfter(stepsToTheCause);
    held = emit;
    return success();
  }
  stopped = true;
  scheduler.stop();
  held ? held() : emit();
  return failure();
}

LogicalResult Machine::touchShared(Cta &cta, const Access &access, const VectorClock &clock, int64_t at, int64_t count) {
  if (cta.exited)
    return fail(access.op, "exit-before-peers", *access.unit + " accesses shared memory of " + cta.name + ", which has exited");
  return touch(*cta.shared, access, clock, at, count, "shared memory");
}

LogicalResult Machine::touchGlobal(size_t buffer, const Access &access, const VectorClock &clock, int64_t at, int64_t count) {
  if (access.write && !buffers[buffer].writable)
    return fail(access.op, "read-only", *access.unit + " writes " + buffers[buffer].name);
  return touch(*globals[buffer], access, clock, at, count, buffers[buffer].name);
}

Access Machine::genericAccess(Operation *op, Unit &unit, Warp &warp, bool write) const {
  Access access;
  access.op = op;
  access.unit = &unit.name;
  access.agent = warp.agent();
  access.clock = warp.now();
  access.launch = static_cast<uint32_t>(launchIndex);
  access.write = write;
  access.step = write ? unit.step : 0;
  return access;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Machine::Machine(const Launch &launch, size_t launchIndex, uint32_t firstPending, uint32_t clusterBase,
                 MutableArrayRef<Buffer> buffers, MutableArrayRef<std::unique_ptr<Memory>> globals, AccessLog &log,
                 const Options &options)
    : launch(launch), launchIndex(launchIndex), options(options), buffers(buffers), globals(globals), log(log),
      scheduler({options.seed * 1000003 + launchIndex, options.schedule}), firstPending(firstPending),
      clusterBase(clusterBase) {
  const tile::SharedPlan plan = tile::planShared(const_cast<tile::KernelOp &>(launch.kernel));
  sharedBytes = plan.bytes;
  for (auto [alloc, offset] : plan.offsets) {
    tile::AllocOp op = alloc;
    if (auto barrier = dyn_cast<tile::BarrierType>(op.getType())) {
      barrierRefs[op] = {barrierCount, barrier.getCount(), op};
      barrierCount += barrier.getCount();
    } else {
      sharedOffsets[op] = offset;
    }
  }
  warpsPerCta = kernel().getWarps();
}

int64_t Machine::clusterCount() const {
  return launch.grid[0] * launch.grid[1] * launch.grid[2] / kernel().getCluster();
}

void Machine::startCluster(int64_t index) {
  const int64_t size = kernel().getCluster(), perRow = launch.grid[0] / size;
  clusters.push_back(std::make_unique<Cluster>());
  Cluster &cluster = *clusters.back();
  cluster.id = clusterBase + index;
  cluster.index = index;
  cluster.running = size;
  for (int64_t rank = 0; rank < size; ++rank) {
    cluster.ctas.push_back(std::make_unique<Cta>());
    Cta &cta = *cluster.ctas.back();
    cta.cluster = &cluster;
    cta.rank = rank;
    cta.coordinates[0] = index % perRow * size + rank;
    cta.coordinates[1] = index / perRow % launch.grid[1];
    cta.coordinates[2] = index / perRow / launch.grid[1];
    cta.name = "CTA " + std::to_string(cta.coordinates[0]);
    for (int d : {1, 2})
      if (launch.grid[d] > 1)
        cta.name += "," + std::to_string(cta.coordinates[d]);
    cta.shared = std::make_unique<Memory>(log, Space::Shared, sharedBytes, /*initialized=*/false);
    cta.warps.resize(warpsPerCta);
    cta.barriers.resize(barrierCount);
    const uint32_t barrierSlots = size * warpsPerCta * slotsPerWarp;
    for (const auto &[op, ref] : barrierRefs)
      for (int64_t i = 0; i < ref.count; ++i) {
        cta.barriers[ref.first + i].alloc = op;
        cta.barriers[ref.first + i].index = i;
      }
    for (int64_t i = 0; i < barrierCount; ++i)
      cta.barriers[i].agent = {cluster.id, static_cast<uint32_t>(barrierSlots + rank * barrierCount + i)};
    for (int64_t i = 0; i < warpsPerCta; ++i) {
      Warp &warp = cta.warps[i];
      warp.cluster = cluster.id;
      warp.slot = (rank * warpsPerCta + i) * slotsPerWarp;
      warp.clock.set(warp.agent(), 1);
      warp.clock.launches = firstPending;
    }
  }
  for (const std::unique_ptr<Cta> &cta : cluster.ctas)
    startCta(*cta);
}

void Machine::startCta(Cta &cta) {
  units.push_back(std::make_unique<Unit>());
  Unit &unit = *units.back();
  unit.cta = &cta;
  unit.name = cta.name;
  unit.warps = warpsPerCta;
  scheduler.spawn(unit.name, "", [this, &unit, &cta] {
    Interpreter interpreter(*this, unit);
    if (succeeded(interpreter.runKernel()) && succeeded(exit(cta)) && --cta.cluster->running == 0)
      finishCluster(*cta.cluster);
  });
}

LogicalResult Machine::checkCounts(const Cta &cta) {
  for (const auto &[op, ref] : barrierRefs)
    for (int64_t i = ref.first; i < ref.first + ref.count; ++i)
      if (const Mbarrier &barrier = cta.barriers[i]; barrier.isPartial())
        return fail(op, "arrive-under-count",
                    cta.name + " ends with phase " + Twine(barrier.phase()) + " of barrier " + Twine(i - ref.first) +
                        " lacking " + Twine(barrier.pendingArrivals()) + " of " + Twine(barrier.expectedArrivals()) +
                        " arrivals and " + Twine(barrier.pendingBytes()) + " bytes");
  return success();
}

void Machine::finishCluster(Cluster &cluster) {
  for (const std::unique_ptr<Cta> &cta : cluster.ctas) {
    // Peers have made all their arrivals by now: a half-counted phase means a wrong count.
    if (failed(checkCounts(*cta)))
      return;
    cta->shared.reset();
  }
  if (nextCluster < static_cast<int64_t>(order.size()))
    startCluster(order[nextCluster++]);
}

LogicalResult Machine::exit(Cta &cta) {
  cta.exited = true;
  VectorClock clock;
  for (const Warp &warp : cta.warps)
    clock.join(warp.clock);
  // 1. Nobody may reach this CTA's shared memory or barriers afterwards.
  for (const auto &[agent, foreign] : cta.foreignUses)
    if (clock.get(foreign.use.agent) < foreign.use.clock) {
      const std::string user = *foreign.use.unit, after = " after " + cta.name + " has exited";
      if (foreign.kind == ForeignUse::Copy)
        return fail(foreign.use.op, "exit-before-copies", "a copy issued by " + user + " may land" + after);
      return fail(foreign.use.op, "exit-before-peers",
                  user + (foreign.kind == ForeignUse::Arrival ? " may arrive" : " may access its shared memory") + after);
    }
  // 2. The copy engine must be done reading it.
  for (const Warp &warp : cta.warps)
    for (size_t group = 0; group < warp.bulk.size(); ++group)
      if (warp.bulk[group].op && clock.get(warp.agent(WarpSlot::BulkRead)) < group + 1)
        return fail(warp.bulk[group].op, "exit-before-copies",
                    cta.name + " may exit before this store has read its shared memory; it needs tma_commit and tma_wait");
  // 3. A kernel that overlaps its predecessors orders itself after them before it ends.
  if (kernel().getPdl() && clock.launches < launchIndex)
    return fail(kernel(), "pdl-wait", cta.name + " exits without pdl_wait");
  return success();
}

LogicalResult Machine::reportDeadlock(ArrayRef<const Fiber *> blocked) {
  stopped = true;
  // CTAs that only wait for their roles are not part of the story.
  SmallVector<const Fiber *> waiting;
  for (const Fiber *fiber : blocked)
    if (fiber->site && !isa<tile::WarpSpecializeOp>(fiber->site))
      waiting.push_back(fiber);
  Operation *site = waiting.empty() ? kernel().getOperation() : waiting.front()->site;
  InFlightDiagnostic diagnostic = violation(site, "deadlock") << "nothing can move; " << waiting.size() << " units wait";
  for (const Fiber *fiber : waiting)
    diagnostic.attachNote(fiber->site->getLoc()) << fiber->name << " waits for " << fiber->waitingFor();
  return failure();
}

LogicalResult Machine::run() {
  if (launch.grid[0] % static_cast<int64_t>(kernel().getCluster()) != 0)
    return fail(kernel(), "launch", "a grid of " + Twine(launch.grid[0]) + " CTAs is not whole clusters of " + Twine(kernel().getCluster()));
  for (auto [i, size] : llvm::enumerate(launch.grid))
    if (size < 0 || size > tile::maxGridSize(i))
      return fail(kernel(), "launch", "grid size #" + Twine(i) + " is 0 to " + Twine(tile::maxGridSize(i)) + ", not " + Twine(size));
  if (clusterCount() > options.maxClusters)
    return fail(kernel(), "launch", "the grid has " + Twine(clusterCount()) + " clusters, more than the " + Twine(options.maxClusters) +
                                        " that the simulator runs");
  for (int64_t i = 0; i < clusterCount(); ++i)
    order.push_back(i);
  std::shuffle(order.begin(), order.end(), scheduler.random());
  while (nextCluster < std::min<int64_t>(order.size(), options.residentClusters))
    startCluster(order[nextCluster++]);
  const std::vector<const Fiber *> blocked = scheduler.run(options.maxSteps);
  if (!stopped && held) {
    stopped = true;
    held();
  }
  if (!stopped && scheduler.steps() >= options.maxSteps)
    (void)fail(kernel(), "livelock", "still running after " + Twine(options.maxSteps) + " steps");
  if (!stopped && !blocked.empty())
    (void)reportDeadlock(blocked);
  scheduler.collect();
  return failure(stopped);
}

//===----------------------------------------------------------------------===//
// Entry point
//===----------------------------------------------------------------------===//

/// Host-side copies and fills run alone: everything before them has finished.
static void runMemoryStep(const MemoryStep &step, MutableArrayRef<std::unique_ptr<Memory>> globals) {
  Memory &target = *globals[step.target];
  if (step.source)
    target.copyFrom(*globals[*step.source]);
  else
    target.fill(step.offset, step.bytes, step.value);
}

FailureOr<Summary> simulator::simulate(Operation *site, ArrayRef<Step> steps, MutableArrayRef<Buffer> buffers, const Options &options) {
  if (failed(checkRequest(site, steps, buffers, options)))
    return failure();
  AccessLog log;
  Summary summary;
  llvm::SmallPtrSet<Operation *, 8> programs;
  std::vector<std::unique_ptr<Memory>> globals;
  for (Buffer &buffer : buffers) {
    globals.push_back(std::make_unique<Memory>(log, Space::Global, buffer.bytes.size(), buffer.initialized, buffer.writable));
    std::copy(buffer.bytes.begin(), buffer.bytes.end(), globals.back()->bytes.begin());
  }
  // Machines stay alive: findings of later launches name units of earlier ones.
  std::vector<std::unique_ptr<Machine>> machines;
  uint32_t firstPending = 0, clusterBase = 0;
  LogicalResult result = success();
  for (const Step &step : steps) {
    if (auto *memory = std::get_if<MemoryStep>(&step)) {
      runMemoryStep(*memory, globals);
      firstPending = machines.size();
      continue;
    }
    const Launch &launch = std::get<Launch>(step);
    const size_t index = machines.size();
    // Launches before an unbroken chain of overlapping ones have finished when the chain starts.
    if (!tile::KernelOp(launch.kernel).getPdl())
      firstPending = index;
    machines.push_back(std::make_unique<Machine>(launch, index, firstPending, clusterBase, buffers, globals, log, options));
    clusterBase += machines.back()->clusterCount();
    result = machines.back()->run();
    if (failed(result))
      break;
    if (machines.back()->clusterCount() > 0) { // a launch over nothing runs nothing
      ++summary.launches;
      programs.insert(launch.kernel);
    }
    summary.steps += machines.back()->scheduler.steps();
  }
  for (auto [buffer, memory] : llvm::zip(buffers, globals)) {
    std::copy(memory->bytes.begin(), memory->bytes.end(), buffer.bytes.begin());
    buffer.unwritten = memory->unwritten();
  }
  summary.programs = programs.size();
  return failed(result) ? FailureOr<Summary>(failure()) : FailureOr<Summary>(summary);
}
