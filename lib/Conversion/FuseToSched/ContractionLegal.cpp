// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which contraction schedules are legal: numbered rules, one condition each. Nothing here asks whether a schedule is good.
#include "Contraction.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using emmy::sched::ContractionAttr;
using emmy::sched::MmaKind;
using emmy::sched::Multicast;
using emmy::sched::Via;

namespace emmy::contraction {

using Rule = std::optional<std::string>;

static std::string text(int64_t number) { return std::to_string(number); }

static Type elementOf(Value value) { return cast<fuse::ValueType>(value.getType()).getElementType(); }

int64_t sharedBytes(const Contraction &contraction, const KernelView &view, ContractionAttr schedule, const Roles &roles) {
  int64_t operand = elementOf(roles.a).getIntOrFloatBitWidth() / 8;
  int64_t bytes = schedule.getStages() * (schedule.getRows() + schedule.getColumns()) * schedule.getStep() * operand;
  if (schedule.getMma() != MmaKind::wgmma)
    return bytes;
  int64_t widest = 1, results = 0;
  for (fuse::StoreOp store : contraction.stores) {
    int64_t element = elementOf(store.getValue()).getIntOrFloatBitWidth() / 8;
    widest = std::max(widest, element);
    results += storesByTma(view, store, schedule, roles) ? element : 0;
  }
  bytes += schedule.getConsumers() * 2 * 64 * sched::panelColumns(schedule.getColumns(), widest) * results;
  return bytes + 16 * schedule.getStages();
}

//===----------------------------------------------------------------------===//
// Rules of every schedule
//===----------------------------------------------------------------------===//

static Rule checkNumbers(ContractionAttr schedule) {
  // 1. Sizes and counts are positive and no larger than anything on a machine.
  for (int64_t number : {schedule.getRows(), schedule.getColumns(), schedule.getStep(), schedule.getStages(), schedule.getConsumers(),
                         schedule.getCluster(), schedule.getRaster()})
    if (number < 1 || number > 65536) // larger ones would only overflow in the rules below
      return "tile, step, stages, consumers, cluster and raster are positive and at most 65536, but one is " + text(number);
  // 2. A cluster shares an operand, and only a cluster does.
  if ((schedule.getCluster() > 1) != (schedule.getMulticast() != Multicast::none))
    return "a cluster of more than one CTA, and no other, multicasts an operand, but the cluster is " + text(schedule.getCluster());
  // 3. At most one wgmma group stays in flight.
  if (schedule.getWait() < 0 || schedule.getWait() > 1)
    return "wait is 0 or 1, but it is " + text(schedule.getWait());
  // 4. Results leave from registers or through the copy engine.
  if (schedule.getEpilogue() == Via::cp_async)
    return std::string("the epilogue is direct or tma, but it is cp_async");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rules of wgmma
//===----------------------------------------------------------------------===//

static Rule checkWgmmaTypes(const Contraction &contraction, const Roles &roles, TargetAttr target) {
  // 10. The machine has wgmma.
  if (!target.hasWgmma())
    return "wgmma needs sm_90a, but the target is " + target.getChip().str();
  // 11. Operands are of one 16-bit float type, sums are f32.
  Type a = elementOf(roles.a), b = elementOf(roles.b);
  if (a != b || !(a.isBF16() || a.isF16()))
    return std::string("wgmma multiplies bf16 or f16 operands of one type");
  if (!contraction.op.getType().getElementType().isF32())
    return std::string("wgmma accumulates in f32");
  // 12. One axis is contracted: the producer walks a single loop.
  if (contraction.over.size() != 1)
    return "wgmma contracts one axis, but the kernel contracts " + text(contraction.over.size());
  return std::nullopt;
}

static Rule checkWgmmaTile(ContractionAttr schedule) {
  int64_t rows = schedule.getRows(), columns = schedule.getColumns(), consumers = schedule.getConsumers();
  // 20. Each warpgroup takes one or two blocks of 64 rows.
  if (rows % (64 * consumers) || rows / (64 * consumers) > 2)
    return "wgmma gives each of " + text(consumers) + " warpgroups 64 or 128 rows, but the tile has " + text(rows);
  // 21. Columns are those of one instruction.
  if (columns % 16 || columns > 256)
    return "wgmma takes columns in steps of 16 up to 256, but the tile has " + text(columns);
  // 22. A step is one swizzle span of 128 bytes.
  if (schedule.getStep() != 64)
    return "wgmma walks the contracted axis in steps of 64, but the step is " + text(schedule.getStep());
  // 23. Accumulators fit the registers that a warpgroup of this many can have.
  if (consumers > 3)
    return "at most 3 warpgroups consume, but there are " + text(consumers);
  int64_t most = consumers == 3 ? 128 : 416;
  if (rows / (64 * consumers) * columns > most)
    return text(consumers) + " warpgroups hold " + text(most) + " columns of 64 rows each, but the tile gives them " +
           text(rows / (64 * consumers) * columns);
  // 24. A box has at most 256 rows.
  if (rows > 256)
    return "a copy moves at most 256 rows, but the tile has " + text(rows);
  // 25. Clusters of wgmma kernels are of 1 or 2 CTAs.
  if (schedule.getCluster() > 2)
    return "a cluster has 1 or 2 CTAs, but this one has " + text(schedule.getCluster());
  return std::nullopt;
}

static Rule checkOperand(const KernelView &view, const Contraction &contraction, const Roles &roles, fuse::LoadOp load,
                         const std::string &side, int64_t share) {
  // 30. An operand is a tensor as it stands.
  if (!load)
    return "wgmma reads operand " + side + " from a tensor, but it is computed";
  // 31. The copy engine can address it.
  sched::TmaPlan plan = view.planTma(load, roles.blocks);
  if (!plan)
    return "the copy engine cannot address operand " + side + ": " + plan.whyNot;
  // 32. Rows of the accumulator are never the contiguous axis of their operand.
  bool kMajor = plan.dims.back().dim == contraction.over.back();
  if (side == "a" && !kMajor)
    return std::string("wgmma reads operand a contiguous along the contracted axis");
  // 33. A share of an operand is whole swizzle atoms.
  int64_t across = roles.blocks[side == "a" ? roles.row : roles.column];
  int64_t atom = kMajor ? 8 : 64;
  if (across % (share * atom))
    return "operand " + side + " comes in parts of " + text(atom) + " for each of " + text(share) + " CTAs, but the tile has " +
           text(across);
  return std::nullopt;
}

static Rule checkWgmma(ContractionAttr schedule, const KernelView &view, const Contraction &contraction, const Roles &roles,
                       TargetAttr target) {
  if (Rule rule = checkWgmmaTypes(contraction, roles, target))
    return rule;
  if (Rule rule = checkWgmmaTile(schedule))
    return rule;
  auto share = [&](Multicast side) { return schedule.getMulticast() == side ? schedule.getCluster() : 1; };
  if (Rule rule = checkOperand(view, contraction, roles, roles.aLoad, "a", share(Multicast::a)))
    return rule;
  if (Rule rule = checkOperand(view, contraction, roles, roles.bLoad, "b", share(Multicast::b)))
    return rule;
  if (schedule.getEpilogue() != Via::tma)
    return std::nullopt;
  // 40. Some result can leave through the copy engine, along its columns.
  std::string why;
  for (fuse::StoreOp store : contraction.stores) {
    sched::TmaPlan plan = view.planTma(store, roles.blocks);
    if (plan && plan.dims.back().dim == roles.column)
      return std::nullopt;
    why = plan ? "its rows are contiguous, not its columns" : plan.whyNot;
  }
  return "the copy engine cannot store the result: " + why;
}

//===----------------------------------------------------------------------===//
// Rules of mma.sync and FMA
//===----------------------------------------------------------------------===//

static Rule checkPortable(ContractionAttr schedule, const Roles &roles) {
  // 50. CTAs work alone, without a ring, and results leave from registers.
  if (schedule.getCluster() != 1 || schedule.getStages() != 1 || schedule.getEpilogue() != Via::direct || schedule.getWait())
    return std::string("schedules without wgmma have cluster 1, stages 1, wait 0 and a direct epilogue");
  // 51. Warps divide the rows of the tile.
  int64_t warps = schedule.getConsumers();
  if (!llvm::isPowerOf2_64(warps) || warps > 16)
    return "1, 2, 4, 8 or 16 warps consume, but there are " + text(warps);
  // 52. Sums stay in registers.
  int64_t sums = schedule.getRows() * schedule.getColumns() / (32 * warps);
  if (sums > 128)
    return "a thread keeps at most 128 sums, but the tile gives it " + text(sums);
  if (schedule.getMma() == MmaKind::fma) {
    // 53. Threads form a grid of 8 by 4 in each warp, warps follow each other along the rows.
    if (schedule.getRows() % (8 * warps) || schedule.getColumns() % 16)
      return "an FMA tile has rows in steps of 8 for each warp and columns in steps of 16";
    if (!llvm::isPowerOf2_64(schedule.getRows()) || !llvm::isPowerOf2_64(schedule.getColumns()) ||
        !llvm::isPowerOf2_64(schedule.getStep()))
      return std::string("an FMA tile has powers of two for rows, columns and step");
    return std::nullopt;
  }
  // 54. mma.sync multiplies 16-bit floats in m16n8k16.
  Type a = elementOf(roles.a), b = elementOf(roles.b);
  if (a != b || !(a.isBF16() || a.isF16()))
    return std::string("mma.sync multiplies bf16 or f16 operands of one type");
  if (schedule.getRows() % (16 * warps) || schedule.getColumns() % 16 || schedule.getStep() % 16)
    return std::string("an mma.sync tile has rows in steps of 16 for each warp, columns and step in steps of 16");
  return std::nullopt;
}

Rule violation(Attribute attribute, const KernelView &view, TargetAttr target) {
  auto schedule = cast<ContractionAttr>(attribute);
  Contraction contraction = *analyze(view);
  if (Rule rule = checkNumbers(schedule))
    return rule;
  // 5. The tile names an axis of each operand that the result keeps.
  std::optional<Roles> roles = assignRoles(contraction, view, schedule);
  if (!roles)
    return "the tile takes one axis of each operand that the result keeps, but it names " + schedule.getRowAxis().str() + " and " +
           schedule.getColumnAxis().str();
  Rule rule = schedule.getMma() == MmaKind::wgmma ? checkWgmma(schedule, view, contraction, *roles, target)
                                                  : checkPortable(schedule, *roles);
  if (rule)
    return rule;
  // 6. Shared memory suffices.
  int64_t bytes = sharedBytes(contraction, view, schedule, *roles);
  if (bytes > target.getShared())
    return "the program takes " + text(bytes) + " bytes of shared memory, but " + target.getChip().str() + " has " +
           text(target.getShared());
  return std::nullopt;
}

} // namespace emmy::contraction
