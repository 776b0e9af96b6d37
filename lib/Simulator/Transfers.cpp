// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ordinary loads and stores between registers, shared and global memory.
#include "Interpreter.h"
#include "emmy/Support/Math/MatrixMoves.h"
#include "emmy/Tile/Layout.h"

#include <array>

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

FailureOr<std::vector<int64_t>> Interpreter::globalOffsets(Operation *op, const LayoutTable &table, PointerRef pointer,
                                                           int64_t offset, ValueRange strideValues, ValueRange limitValues,
                                                           int64_t vector, int64_t elementBytes, const Fragment *mask) {
  const std::vector<int64_t> strides = integers(strideValues), limits = integers(limitValues);
  const size_t rank = table.shape.size();
  std::vector<int64_t> offsets(table.element.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    int64_t rest = table.element[i];
    emmy::math::Wide at = offset;
    bool inside = !mask || mask->data[i].integer;
    for (size_t d = rank; d-- > 0;) {
      const int64_t index = rest % table.shape[d];
      rest /= table.shape[d];
      at += emmy::math::Wide(index) * strides[d];
      inside &= limits.empty() || index < limits[d];
    }
    offsets[i] = inside ? pointer.at(at, elementBytes) : cutOff;
  }
  // Vector accesses are aligned and wholly inside or outside.
  for (size_t i = 0; vector > 1 && i < offsets.size(); ++i) {
    const size_t first = i / vector * vector;
    if ((offsets[i] == cutOff) != (offsets[first] == cutOff))
      return fail(op, "alignment", unit.name + " has a limit or a mask's edge inside a vector of " + Twine(vector) + " elements");
    if (emmy::math::isFar(offsets[i])) // cut off, or out of bounds
      continue;
    if (offsets[first] % (vector * elementBytes) != 0)
      return fail(op, "alignment", unit.name + " moves " + Twine(vector * elementBytes) + " bytes at a time at byte " +
                                       Twine(offsets[first]) + " of " + machine.buffers[pointer.buffer].name);
    if (offsets[i] != offsets[first] + static_cast<int64_t>(i - first) * elementBytes)
      return fail(op, "alignment", unit.name + " moves vectors of " + Twine(vector) + " elements that are not neighbours");
  }
  return offsets;
}

/// Calls `visit(warp index, first register slot, count)` for runs of registers of one thread that are neighbours in
/// memory; slots for which `skip` holds belong to no run.
template <typename Skip, typename Visit>
static LogicalResult forEachRun(const LayoutTable &table, const std::vector<int64_t> &offsets, int64_t bytes, Skip skip, Visit visit) {
  for (int64_t thread = 0; thread < table.threads; ++thread)
    for (int64_t i = thread * table.registers, end = i + table.registers; i < end;) {
      if (skip(thread, i)) {
        ++i;
        continue;
      }
      int64_t next = i + 1;
      while (next < end && !skip(thread, next) && offsets[next] == offsets[next - 1] + bytes && (next - i) * bytes < 16)
        ++next;
      if (failed(visit(thread / 32, i, next - i)))
        return failure();
      i = next;
    }
  return success();
}

LogicalResult Interpreter::readGlobal(Operation *op, size_t buffer, const std::vector<int64_t> &offsets, Fragment &into) {
  const int64_t bytes = byteSize(into.format);
  const auto skip = [&](int64_t, int64_t i) { return offsets[i] == cutOff; };
  return forEachRun(*into.table, offsets, bytes, skip, [&](int64_t warpIndex, int64_t first, int64_t count) -> LogicalResult {
    Warp &warp = unit.warp(warpIndex % unit.warps);
    if (failed(machine.touchGlobal(buffer, machine.genericAccess(op, unit, warp, false), warp.clock, offsets[first], count * bytes)))
      return failure();
    for (int64_t i = first; i < first + count; ++i)
      into.data[i] = simulator::load(into.format, &machine.globals[buffer]->bytes[offsets[i]]);
    return success();
  });
}

/// What a run of registers stores.
static std::array<uint8_t, 16> bytesOf(const Fragment &from, int64_t first, int64_t count) {
  std::array<uint8_t, 16> data;
  for (int64_t i = 0; i < count; ++i)
    simulator::store(from.format, from.data[first + i], &data[i * byteSize(from.format)]);
  return data;
}

LogicalResult Interpreter::writeGlobal(Operation *op, size_t buffer, const std::vector<int64_t> &offsets, const Fragment &from,
                                       bool add) {
  const int64_t bytes = byteSize(from.format);
  const auto skip = [&](int64_t thread, int64_t i) { return offsets[i] == cutOff || !from.table->primary[thread]; };
  return forEachRun(*from.table, offsets, bytes, skip, [&](int64_t warpIndex, int64_t first, int64_t count) -> LogicalResult {
    Warp &warp = unit.warp(warpIndex % unit.warps);
    Access access = machine.genericAccess(op, unit, warp, true);
    access.atomic = add;
    const std::array<uint8_t, 16> data = bytesOf(from, first, count);
    access.data = add ? nullptr : data.data();
    if (failed(machine.touchGlobal(buffer, access, warp.clock, offsets[first], count * bytes)))
      return failure();
    uint8_t *to = &machine.globals[buffer]->bytes[offsets[first]];
    for (int64_t i = 0; add && i < count; ++i)
      addTo(from.format, from.data[first + i], to + i * bytes);
    if (!add)
      std::copy_n(data.begin(), count * bytes, to);
    return success();
  });
}

LogicalResult Interpreter::execLoad(tile::LoadOp op) {
  FailureOr<FragmentRef> mask = op.getMask() ? readable(op, op.getMask()) : FailureOr<FragmentRef>(FragmentRef());
  if (failed(mask) || failed(giveWay()))
    return failure();
  FragmentRef result = machine.newFragment(op.getType());
  const PointerRef source = as<PointerRef>(op.getSource());
  FailureOr<std::vector<int64_t>> offsets =
      globalOffsets(op, *result->table, source, integer(op.getOffset()), op.getStrides(), op.getLimits(), op.getVector(),
                    byteSize(result->format), mask->get());
  if (failed(offsets) || failed(readGlobal(op, source.buffer, *offsets, *result)))
    return failure();
  define(op, op.getResult(), std::move(result));
  return success();
}

LogicalResult Interpreter::execStore(tile::StoreOp op) {
  FailureOr<FragmentRef> value = readable(op, op.getValue());
  if (failed(value) || failed(giveWay()))
    return failure();
  const PointerRef target = as<PointerRef>(op.getTarget());
  FailureOr<std::vector<int64_t>> offsets =
      globalOffsets(op, *(*value)->table, target, integer(op.getOffset()), op.getStrides(), op.getLimits(), op.getVector(),
                    byteSize((*value)->format));
  return success(succeeded(offsets) && succeeded(writeGlobal(op, target.buffer, *offsets, **value, op.getAdd())));
}

/// Byte offsets of gathered or scattered elements, `cutOff` where the mask is false.
static std::vector<int64_t> maskedOffsets(PointerRef pointer, const Fragment &offsets, const Fragment *mask, int64_t bytes) {
  std::vector<int64_t> result(offsets.data.size());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = mask && !mask->data[i].integer ? cutOff : pointer.at(offsets.data[i].integer, bytes);
  return result;
}

LogicalResult Interpreter::execGather(tile::GatherOp op) {
  FailureOr<FragmentRef> offsets = readable(op, op.getOffsets());
  FailureOr<FragmentRef> mask = op.getMask() ? readable(op, op.getMask()) : FailureOr<FragmentRef>(FragmentRef());
  if (failed(offsets) || failed(mask) || failed(giveWay()))
    return failure();
  FragmentRef result = machine.newFragment(op.getType());
  const PointerRef source = as<PointerRef>(op.getSource());
  const std::vector<int64_t> at = maskedOffsets(source, **offsets, mask->get(), byteSize(result->format));
  if (failed(readGlobal(op, source.buffer, at, *result)))
    return failure();
  define(op, op.getResult(), std::move(result));
  return success();
}

LogicalResult Interpreter::execScatter(tile::ScatterOp op) {
  FailureOr<FragmentRef> value = readable(op, op.getValue()), offsets = readable(op, op.getOffsets());
  FailureOr<FragmentRef> mask = op.getMask() ? readable(op, op.getMask()) : FailureOr<FragmentRef>(FragmentRef());
  if (failed(value) || failed(offsets) || failed(mask) || failed(giveWay()))
    return failure();
  const PointerRef target = as<PointerRef>(op.getTarget());
  return writeGlobal(op, target.buffer, maskedOffsets(target, **offsets, mask->get(), byteSize((*value)->format)), **value, op.getAdd());
}

LogicalResult Interpreter::execLoadScalar(tile::LoadScalarOp op) {
  if (failed(giveWay()))
    return failure();
  const PointerRef source = as<PointerRef>(op.getSource());
  const Format format = *formatOf(op.getResult().getType());
  const int64_t at = source.at(integer(op.getOffset()), byteSize(format));
  for (int64_t i = 0; i < unit.activeWarps(); ++i)
    if (failed(machine.touchGlobal(source.buffer, machine.genericAccess(op, unit, unit.warp(i), false), unit.warp(i).clock, at,
                                   byteSize(format))))
      return failure();
  set(op.getResult(), simulator::load(format, &machine.globals[source.buffer]->bytes[at]));
  return success();
}

LogicalResult Interpreter::execAtomicAdd(tile::AtomicAddOp op) {
  if (failed(giveWay()))
    return failure();
  const PointerRef target = as<PointerRef>(op.getTarget());
  const Format format = *formatOf(op.getOld().getType());
  const int64_t at = target.at(integer(op.getOffset()), byteSize(format));
  Warp &warp = unit.leader();
  Access access = machine.genericAccess(op, unit, warp, true);
  access.atomic = true;
  if (failed(machine.touchGlobal(target.buffer, access, warp.clock, at, byteSize(format))))
    return failure();
  uint8_t *bytes = &machine.globals[target.buffer]->bytes[at];
  set(op.getOld(), simulator::load(format, bytes));
  addTo(format, number(op.getValue()), bytes);
  // Relaxed, it counts, but orders nothing else.
  if (op.getAcqRel()) {
    VectorClock &published = machine.published[{target.buffer, at}];
    published.join(warp.clock);
    warp.clock = published;
    warp.tick();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Byte address of element `index` of a buffer seen as one row-major list.
static int64_t elementAddress(const SharedRef &shared, int64_t index) {
  const emmy::math::SharedLayout layout = tile::toSharedLayout(shared.type);
  std::vector<int64_t> at(layout.shape.size());
  for (size_t d = at.size(); d-- > 0;) {
    at[d] = index % layout.shape[d];
    index /= layout.shape[d];
  }
  return layout.address(shared.base, at);
}

FailureOr<Cta *> Interpreter::ctaOf(Operation *op, mlir::Value rankValue) {
  const std::vector<std::unique_ptr<Cta>> &ctas = unit.cta->cluster->ctas;
  const int64_t rank = rankValue ? integer(rankValue) : unit.cta->rank;
  if (rank < 0 || rank >= static_cast<int64_t>(ctas.size()))
    return fail(op, "out-of-bounds", unit.name + " accesses CTA " + Twine(rank) + " of a cluster of " + Twine(ctas.size()));
  Cta *cta = ctas[rank].get();
  if (cta == unit.cta)
    return cta;
  for (int64_t i = 0; i < unit.activeWarps(); ++i) {
    Warp &warp = unit.warp(i);
    const auto knows = [&](const Warp &theirs) { return warp.clock.get(theirs.agent()) > 0; };
    if (llvm::none_of(cta->warps, knows))
      return fail(op, "peer-start", unit.name + " accesses shared memory of " + cta->name + ", which may not have started");
    noteForeign(*cta, machine.use(op, unit, warp), ForeignUse::Access);
  }
  return cta;
}

static int64_t elementCount(tile::SharedType type) {
  int64_t count = 1;
  for (int64_t size : type.getShape())
    count *= size;
  return count;
}

LogicalResult Interpreter::execPut(tile::PutOp op) {
  const auto &shared = as<SharedRef>(op.getTarget());
  const Format format = *formatOf(op.getValue().getType());
  const int64_t index = integer(op.getIndex()), size = elementCount(shared.type);
  if (index < 0 || index >= size)
    return fail(op, "out-of-bounds", unit.name + " writes element " + Twine(index) + " of " + Twine(size));
  if (failed(giveWay()))
    return failure();
  const int64_t at = elementAddress(shared, index);
  Warp &warp = unit.leader();
  FailureOr<Cta *> cta = ctaOf(op, op.getRank());
  if (failed(cta) ||
      failed(machine.touchShared(**cta, machine.genericAccess(op, unit, warp, true), warp.clock, at, byteSize(format))))
    return failure();
  simulator::store(format, number(op.getValue()), &(*cta)->shared->bytes[at]);
  return success();
}

LogicalResult Interpreter::execGet(tile::GetOp op) {
  const auto &shared = as<SharedRef>(op.getSource());
  const Format format = *formatOf(op.getResult().getType());
  const int64_t index = integer(op.getIndex()), size = elementCount(shared.type);
  if (index < 0 || index >= size)
    return fail(op, "out-of-bounds", unit.name + " reads element " + Twine(index) + " of " + Twine(size));
  if (failed(giveWay()))
    return failure();
  const int64_t at = elementAddress(shared, index);
  FailureOr<Cta *> cta = ctaOf(op, op.getRank());
  if (failed(cta))
    return failure();
  for (int64_t i = 0; i < unit.activeWarps(); ++i)
    if (failed(machine.touchShared(**cta, machine.genericAccess(op, unit, unit.warp(i), false), unit.warp(i).clock, at,
                                   byteSize(format))))
      return failure();
  set(op.getResult(), simulator::load(format, &(*cta)->shared->bytes[at]));
  return success();
}

std::vector<int64_t> Interpreter::sharedAddresses(const LayoutTable &table, const SharedRef &shared, bool transpose) const {
  const emmy::math::SharedLayout layout = tile::toSharedLayout(shared.type);
  std::vector<int64_t> addresses(table.element.size()), at(table.shape.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    int64_t rest = table.element[i];
    for (size_t d = at.size(); d-- > 0;) {
      at[d] = rest % table.shape[d];
      rest /= table.shape[d];
    }
    if (transpose)
      std::reverse(at.begin(), at.end());
    addresses[i] = layout.address(shared.base, at);
  }
  return addresses;
}

LogicalResult Interpreter::checkMatrixMove(Operation *op, const LayoutTable &table, bool transpose) {
  if (!emmy::math::planMatrixMoves(table.layout, transpose))
    return fail(op, "matrix-move", "the fragment's registers are not made of 8x8 matrices");
  return success();
}

LogicalResult Interpreter::execLoadShared(tile::LoadSharedOp op) {
  if (failed(giveWay()))
    return failure();
  FragmentRef result = machine.newFragment(op.getType());
  if (op.getMatrix() && failed(checkMatrixMove(op, *result->table, op.getTranspose())))
    return failure();
  const std::vector<int64_t> addresses = sharedAddresses(*result->table, as<SharedRef>(op.getSource()), op.getTranspose());
  const int64_t bytes = byteSize(result->format);
  FailureOr<Cta *> cta = ctaOf(op, op.getRank());
  if (failed(cta))
    return failure();
  const auto skip = [](int64_t, int64_t) { return false; };
  const auto read = [&](int64_t warpIndex, int64_t first, int64_t count) -> LogicalResult {
    Warp &warp = unit.warp(warpIndex % unit.warps);
    if (failed(machine.touchShared(**cta, machine.genericAccess(op, unit, warp, false), warp.clock, addresses[first], count * bytes)))
      return failure();
    for (int64_t i = first; i < first + count; ++i)
      result->data[i] = simulator::load(result->format, &(*cta)->shared->bytes[addresses[i]]);
    return success();
  };
  if (failed(forEachRun(*result->table, addresses, bytes, skip, read)))
    return failure();
  define(op, op.getResult(), std::move(result));
  return success();
}

LogicalResult Interpreter::execStoreShared(tile::StoreSharedOp op) {
  FailureOr<FragmentRef> value = readable(op, op.getValue());
  if (failed(value) || failed(giveWay()))
    return failure();
  const Fragment &from = **value;
  if (op.getMatrix() && failed(checkMatrixMove(op, *from.table, op.getTranspose())))
    return failure();
  const std::vector<int64_t> addresses = sharedAddresses(*from.table, as<SharedRef>(op.getTarget()), op.getTranspose());
  const int64_t bytes = byteSize(from.format);
  FailureOr<Cta *> cta = ctaOf(op, op.getRank());
  if (failed(cta))
    return failure();
  const auto skip = [&](int64_t thread, int64_t) { return !from.table->primary[thread]; };
  return forEachRun(*from.table, addresses, bytes, skip, [&](int64_t warpIndex, int64_t first, int64_t count) -> LogicalResult {
    Warp &warp = unit.warp(warpIndex % unit.warps);
    Access access = machine.genericAccess(op, unit, warp, true);
    const std::array<uint8_t, 16> data = bytesOf(from, first, count);
    access.data = data.data();
    if (failed(machine.touchShared(**cta, access, warp.clock, addresses[first], count * bytes)))
      return failure();
    std::copy_n(data.begin(), count * bytes, &(*cta)->shared->bytes[addresses[first]]);
    return success();
  });
}
