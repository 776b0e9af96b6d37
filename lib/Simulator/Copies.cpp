// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// TMA and cp.async. A copy is issued with what its thread knows at that time and happens later, when the scheduler
// draws it; its accesses are checked against the clock of the issue.
#include "Interpreter.h"
#include "emmy/Support/Math/Swizzle.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;
using emmy::math::clampOffset, emmy::math::Wide;

namespace {
/// Everything a TMA request needs after its thread has moved on.
struct Request {
  Machine &machine;
  Operation *op;
  const std::string *unit;
  std::shared_ptr<TensorMap> map;
  std::vector<int64_t> start;
  int64_t shared;
  VectorClock clock;
  uint32_t launch, issued;
  uint64_t step;

  Access access(Agent agent, uint32_t clock, bool write) const {
    Access access;
    access.op = op;
    access.unit = unit;
    access.agent = agent;
    access.clock = clock;
    access.launch = launch;
    access.issued = issued;
    access.step = step;
    access.async = access.deferred = true;
    access.write = write;
    return access;
  }
};

/// Up to 16 bytes of a box that are contiguous in shared and in global memory.
struct Chunk {
  int64_t shared;
  /// Inside the tensor; outside, a load writes zeros and a store nothing.
  bool inside;
  int64_t global;
  int64_t bytes;
};
} // namespace

/// Calls `visit` for each chunk of the box; stops at the first failure.
template <typename Visit> static LogicalResult forEachChunk(const Request &request, Visit visit) {
  const emmy::math::TmaBox &box = request.map->map.box;
  const int64_t perChunk = 16 / box.elementBytes, inner = box.shape.back(), elements = box.elements();
  for (int64_t row = 0; row < elements; row += inner)
    for (int64_t column = 0; column < inner; column += perChunk) {
      std::vector<int64_t> at = box.coordinates(row + column), last = at;
      const int64_t count = std::min(perChunk, inner - column);
      last.back() += count - 1;
      const int64_t shared = box.sharedAddress(request.shared, at);
      const std::optional<int64_t> first = request.map->map.globalOffset(request.start, at);
      if (first && request.map->map.globalOffset(request.start, last)) {
        if (failed(visit(Chunk{shared, true, clampOffset(Wide(request.map->offset) + *first), count * box.elementBytes})))
          return failure();
        continue;
      }
      // Partly or wholly outside the tensor: the inside part may start late, too.
      for (int64_t i = 0; i < count; ++i, ++at.back()) {
        const std::optional<int64_t> offset = request.map->map.globalOffset(request.start, at);
        const Chunk element{shared + i * box.elementBytes, offset.has_value(),
                            clampOffset(Wide(request.map->offset) + offset.value_or(0)), box.elementBytes};
        if (failed(visit(element)))
          return failure();
      }
    }
  return success();
}

/// Checks what holds for loads and stores alike and builds the request.
static FailureOr<Request> makeRequest(Machine &machine, Operation *op, Unit &unit, std::shared_ptr<TensorMap> map,
                                      std::vector<int64_t> start, const SharedRef &shared) {
  if (auto error = emmy::math::sharedAddressError(map->map.box, shared.base))
    return machine.fail(op, "alignment", *error);
  if (auto error = emmy::math::coordinatesError(map->map.box, start))
    return machine.fail(op, "alignment", *error);
  return Request{machine, op, &unit.name, std::move(map), std::move(start), shared.base, unit.leader().clock,
                 static_cast<uint32_t>(machine.launchIndex), machine.log.size(), unit.step};
}

//===----------------------------------------------------------------------===//
// TMA loads
//===----------------------------------------------------------------------===//

/// The load's effect on one CTA of its cluster.
static void land(const Request &request, Cta &target, Mbarrier &barrier, uint64_t phase, const BarrierUse &use) {
  Machine &machine = request.machine;
  const auto clock = static_cast<uint32_t>(phase + 1);
  const Access reading = request.access(barrier.agent, clock, false), writing = request.access(barrier.agent, clock, true);
  const LogicalResult moved = forEachChunk(request, [&](const Chunk &chunk) -> LogicalResult {
    if (chunk.inside && failed(machine.touchGlobal(request.map->buffer, reading, request.clock, chunk.global, chunk.bytes)))
      return failure();
    if (failed(machine.touchShared(target, writing, request.clock, chunk.shared, chunk.bytes)))
      return failure();
    uint8_t *bytes = &target.shared->bytes[chunk.shared];
    if (chunk.inside)
      std::copy_n(&machine.globals[request.map->buffer]->bytes[chunk.global], chunk.bytes, bytes);
    else
      std::fill_n(bytes, chunk.bytes, 0);
    return success();
  });
  if (failed(moved))
    return;
  if (auto finding = barrier.completeCopy(use, request.map->map.box.transactionBytes()))
    (void)machine.report(request.op, *finding);
}

LogicalResult Interpreter::execTmaLoad(tile::TmaLoadOp op) {
  if (!unit.issuing && failed(giveWay()))
    return failure();
  FailureOr<Request> request = makeRequest(machine, op, unit, as<std::shared_ptr<TensorMap>>(op.getMap()),
                                           integers(op.getCoords()), as<SharedRef>(op.getTarget()));
  if (failed(request))
    return failure();
  const std::vector<std::unique_ptr<Cta>> &ctas = unit.cta->cluster->ctas;
  const uint64_t mask = op.getMulticast().value_or(uint64_t(1) << unit.cta->rank);
  if (mask >> ctas.size())
    return fail(op, "out-of-bounds", "the multicast mask " + Twine(mask) + " names CTAs outside a cluster of " + Twine(ctas.size()));
  for (size_t rank = 0; rank < ctas.size(); ++rank) {
    if (!(mask >> rank & 1))
      continue;
    Cta &target = *ctas[rank];
    if (target.exited)
      return fail(op, "exit-before-peers", unit.name + " copies into " + target.name + ", which has exited");
    FailureOr<Mbarrier *> found = barrier(op, target, as<BarrierRef>(op.getBarrier()), integer(op.getIndex()));
    BarrierUse use = machine.use(op, unit, unit.leader());
    if (failed(found) || failed(check(op, (*found)->beginCopy(use, unit.leader().clock))))
      return failure();
    Mbarrier &barrier = **found;
    const uint64_t phase = barrier.phase();
    noteForeign(target, {op, &unit.name, barrier.agent, static_cast<uint32_t>(phase + 1)}, ForeignUse::Copy);
    machine.scheduler.post(0, [request = *request, &target, &barrier, phase, use] { land(request, target, barrier, phase, use); });
  }
  // What the thread does from here on is not ordered before the copy.
  unit.leader().tick();
  return success();
}

//===----------------------------------------------------------------------===//
// TMA stores
//===----------------------------------------------------------------------===//

/// Writes what was read from shared memory, or adds it.
static LogicalResult flush(const Request &request, const Warp &warp, size_t group, bool add, const std::vector<uint8_t> &data) {
  Machine &machine = request.machine;
  Access writing = request.access(warp.agent(WarpSlot::BulkWrite), group + 1, true);
  writing.atomic = add;
  int64_t next = 0;
  return forEachChunk(request, [&](const Chunk &chunk) -> LogicalResult {
    const uint8_t *from = &data[next];
    next += chunk.bytes;
    if (!chunk.inside)
      return success();
    writing.data = add ? nullptr : from;
    if (failed(machine.touchGlobal(request.map->buffer, writing, request.clock, chunk.global, chunk.bytes)))
      return failure();
    uint8_t *to = &machine.globals[request.map->buffer]->bytes[chunk.global];
    if (!add) {
      std::copy_n(from, chunk.bytes, to);
      return success();
    }
    const Format format = request.map->format;
    for (int64_t i = 0; i < chunk.bytes; i += byteSize(format))
      addTo(format, load(format, from + i), to + i);
    return success();
  });
}

LogicalResult Interpreter::execTmaStore(tile::TmaStoreOp op) {
  if (failed(giveWay()))
    return failure();
  FailureOr<Request> request = makeRequest(machine, op, unit, as<std::shared_ptr<TensorMap>>(op.getMap()),
                                           integers(op.getCoords()), as<SharedRef>(op.getSource()));
  if (failed(request))
    return failure();
  for (auto [i, start] : llvm::enumerate(request->start))
    if (start < 0) // loads may
      return fail(op, "out-of-bounds", unit.name + " stores a tile from coordinate #" + Twine(i) + " = " + Twine(start) +
                                           ", which is an illegal instruction: tiles are cut off at the end of a tensor only");
  Warp &warp = unit.leader();
  const size_t group = warp.bulk.size() - 1;
  warp.bulk[group].op = op;
  ++warp.bulk[group].reads;
  ++warp.bulk[group].writes;
  machine.scheduler.post(0, [request = *request, cta = unit.cta, &warp, group, add = op.getAdd()] {
    auto data = std::make_shared<std::vector<uint8_t>>();
    const Access reading = request.access(warp.agent(WarpSlot::BulkRead), group + 1, false);
    const LogicalResult read = forEachChunk(request, [&](const Chunk &chunk) -> LogicalResult {
      // What is cut off need not have been written.
      if (chunk.inside && failed(request.machine.touchShared(*cta, reading, request.clock, chunk.shared, chunk.bytes)))
        return failure();
      const uint8_t *bytes = &cta->shared->bytes[chunk.shared];
      data->insert(data->end(), bytes, bytes + chunk.bytes);
      return success();
    });
    if (failed(read))
      return;
    --warp.bulk[group].reads;
    request.machine.scheduler.post(0, [request, &warp, group, add, data] {
      if (succeeded(flush(request, warp, group, add, *data)))
        --warp.bulk[group].writes;
    });
  });
  warp.tick();
  return success();
}

LogicalResult Interpreter::execTmaCommit(tile::TmaCommitOp) {
  unit.leader().bulk.emplace_back();
  return success();
}

LogicalResult Interpreter::execTmaWait(tile::TmaWaitOp op) {
  Warp &warp = unit.leader();
  const int64_t committed = warp.bulk.size() - 1, due = std::max<int64_t>(0, committed - op.getPending());
  const bool onlyRead = op.getRead();
  const auto done = [&warp, due, onlyRead] {
    for (int64_t group = 0; group < due; ++group)
      if (warp.bulk[group].reads || (!onlyRead && warp.bulk[group].writes))
        return false;
    return true;
  };
  if (failed(giveWay()) || !machine.scheduler.wait(op, done, [] { return std::string("its TMA stores"); }))
    return failure();
  warp.clock.raise(warp.agent(WarpSlot::BulkRead), due);
  if (!onlyRead)
    warp.clock.raise(warp.agent(WarpSlot::BulkWrite), due);
  return success();
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::execCpAsync(tile::CpAsyncOp op) {
  if (failed(giveWay()))
    return failure();
  const SharedRef shared = as<SharedRef>(op.getTarget());
  const PointerRef source = as<PointerRef>(op.getSource());
  const std::vector<int64_t> strides = integers(op.getStrides()), limits = integers(op.getLimits());
  ArrayRef<int64_t> shape = shared.type.getShape();
  const int64_t bytes = shared.type.getElementBytes(), vector = op.getVector(), offset = integer(op.getOffset());
  const emmy::math::SharedLayout layout{shape.vec(), shared.type.getStrides().vec(), bytes, shared.type.getSwizzle()};
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  if (vector > 1 && strides.back() != 1)
    return fail(op, "alignment", unit.name + " copies vectors of " + Twine(vector) + " elements that are not neighbours");
  // Thread t of the unit moves vectors t, t + threads, …
  struct Piece {
    int64_t shared, global;
    bool inside;
  };
  std::vector<std::vector<Piece>> pieces(unit.activeWarps());
  for (int64_t first = 0; first < elements; first += vector) {
    std::vector<int64_t> at(shape.size());
    int64_t rest = first;
    Wide global = offset;
    bool inside = true;
    for (size_t d = shape.size(); d-- > 0;) {
      at[d] = rest % shape[d];
      rest /= shape[d];
      global += Wide(at[d]) * strides[d];
      inside &= at[d] < limits[d];
    }
    const Piece piece{layout.address(shared.base, at), source.at(global, bytes), inside};
    if (inside && at.back() + vector > limits.back())
      return fail(op, "alignment", unit.name + " has a limit inside a vector of " + Twine(vector) + " elements");
    if (piece.shared % (vector * bytes) || (inside && piece.global % (vector * bytes)))
      return fail(op, "alignment", unit.name + " copies " + Twine(vector * bytes) + " bytes at a time from byte " + Twine(piece.global) + " of " +
                                       machine.buffers[source.buffer].name + " to byte " + Twine(piece.shared) + " of shared memory");
    pieces[first / vector / 32 % pieces.size()].push_back(piece);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    Warp &warp = unit.warp(i);
    const size_t group = warp.copies.size() - 1;
    Access access = machine.genericAccess(op, unit, warp, false);
    access.agent = warp.agent(WarpSlot::AsyncCopy);
    access.clock = group + 1;
    access.deferred = true;
    access.issued = machine.log.size();
    access.step = unit.step;
    ++warp.copies[group];
    machine.scheduler.post(0, [&machine = machine, access, clock = warp.clock, moves = std::move(pieces[i]), &warp, group,
                               cta = unit.cta, buffer = source.buffer, count = vector * bytes]() mutable {
      for (const auto &piece : moves) {
        access.write = false;
        if (piece.inside && failed(machine.touchGlobal(buffer, access, clock, piece.global, count)))
          return;
        access.write = true;
        if (failed(machine.touchShared(*cta, access, clock, piece.shared, count)))
          return;
        uint8_t *to = &cta->shared->bytes[piece.shared];
        if (piece.inside)
          std::copy_n(&machine.globals[buffer]->bytes[piece.global], count, to);
        else
          std::fill_n(to, count, 0);
      }
      --warp.copies[group];
    });
    warp.tick();
  }
  return success();
}

LogicalResult Interpreter::execCpAsyncCommit(tile::CpAsyncCommitOp) {
  for (int64_t i = 0; i < unit.activeWarps(); ++i)
    unit.warp(i).copies.push_back(0);
  return success();
}

LogicalResult Interpreter::execCpAsyncWait(tile::CpAsyncWaitOp op) {
  if (failed(giveWay()))
    return failure();
  for (int64_t i = 0; i < unit.activeWarps(); ++i) {
    Warp &warp = unit.warp(i);
    const int64_t due = std::max<int64_t>(0, static_cast<int64_t>(warp.copies.size()) - 1 - op.getPending());
    const auto done = [&warp, due] {
      return std::all_of(warp.copies.begin(), warp.copies.begin() + due, [](int64_t pending) { return pending == 0; });
    };
    if (!machine.scheduler.wait(op, done, [] { return std::string("its asynchronous copies"); }))
      return failure();
    warp.clock.raise(warp.agent(WarpSlot::AsyncCopy), due);
  }
  return success();
}
