// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which chain schedules are legal: numbered rules, one condition each. Nothing here asks whether a schedule is good.
#include "Chain.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using emmy::sched::ChainAttr;

namespace emmy::chain {

using Rule = std::optional<std::string>;

static std::string text(int64_t number) { return std::to_string(number); }

static Type elementOf(Value value) { return cast<fuse::ValueType>(value.getType()).getElementType(); }

static Rule checkNumbers(const Chain &chain, const KernelView &view, ChainAttr schedule) {
  // 1. The axes are those of the kernel.
  if (schedule.getRowAxis() != view.axes[chain.row].name)
    return "rows are along '" + view.axes[chain.row].name.str() + "', but the schedule says '" + schedule.getRowAxis().str() + "'";
  if (schedule.getFoldAxis() != view.axes[chain.over].name)
    return "the fold is over '" + view.axes[chain.over].name.str() + "', but the schedule says '" + schedule.getFoldAxis().str() + "'";
  // 2. Warpgroups take 64 rows each.
  if (schedule.getConsumers() < 1 || schedule.getConsumers() > 3)
    return "1 to 3 warpgroups consume, but there are " + text(schedule.getConsumers());
  if (schedule.getRows() != 64 * schedule.getConsumers())
    return text(schedule.getConsumers()) + " warpgroups take 64 rows each, but the block has " + text(schedule.getRows());
  // 3. A block is an operand of both products.
  if (schedule.getStep() < 16 || schedule.getStep() > 256 || schedule.getStep() % 16)
    return "blocks of the fold's axis come in steps of 16 up to 256, but this one has " + text(schedule.getStep());
  // 4. Rings have stages.
  for (int64_t number : {schedule.getScoreStages(), schedule.getValueStages(), schedule.getSection()})
    if (number < 1 || number > 65536) // larger ones would only overflow in the rules below
      return "stages and section are positive and at most 65536, but one is " + text(number);
  // 5. Results leave from registers or through the copy engine.
  if (schedule.getEpilogue() == sched::Via::cp_async)
    return std::string("the epilogue is direct or tma, but it is cp_async");
  return std::nullopt;
}

static Rule checkRegisters(const Chain &chain, const KernelView &view, ChainAttr schedule) {
  int64_t producer = schedule.getProducerRegisters(), consumer = schedule.getConsumerRegisters();
  // 10. Registers come in steps of 8.
  for (int64_t number : {producer, consumer})
    if (number < 24 || number > 256 || number % 8)
      return "registers are a multiple of 8 from 24 to 256, but one is " + text(number);
  // 11. All warpgroups' together are those of a multiprocessor.
  int64_t all = 128 * (producer + schedule.getConsumers() * consumer);
  if (schedule.getConsumers() > 1 && all > 65536)
    return "a multiprocessor has 65536 registers, but the warpgroups take " + text(all);
  // 12. Tiles fit, with some registers for addresses and statistics.
  int64_t tiles = tileRegisters(chain, view, schedule.getStep());
  if (tiles + 24 > consumer)
    return "tiles take " + text(tiles) + " registers and 24 more are needed, but a consumer has " + text(consumer);
  return std::nullopt;
}

static Rule checkTypes(const Chain &chain, TargetAttr target) {
  // 20. The machine has wgmma.
  if (!target.hasWgmma())
    return "wgmma needs sm_90a, but the target is " + target.getChip().str();
  // 21. Operands are of one 16-bit float type in each product, sums are f32.
  auto check = [](fuse::ContractOp op) {
    Type a = elementOf(op.getLhs()), b = elementOf(op.getRhs());
    return a == b && (a.isBF16() || a.isF16()) && op.getType().getElementType().isF32();
  };
  bool good = llvm::all_of(chain.scores, [&](const ScoreProduct &p) { return check(p.op); }) &&
              llvm::all_of(chain.values, [&](const ValueProduct &p) { return check(p.op); });
  if (!good)
    return std::string("wgmma multiplies bf16 or f16 operands of one type and accumulates in f32");
  // 22. Reductions keep the type.
  for (auto reduce : chain.fold.getBody().front().getOps<fuse::ReduceOp>())
    if (elementOf(reduce.getInput()) != elementOf(reduce.getResult()))
      return std::string("a reduction over the fold's axis accumulates in the type of its operand");
  return std::nullopt;
}

static Rule checkOperands(const Chain &chain, const KernelView &view, ChainAttr schedule) {
  SmallVector<int64_t> blocks = blocksOf(chain, view, schedule);
  auto check = [&](fuse::LoadOp load, unsigned inner) -> Rule {
    // 30. The axis inside a tile is taken whole.
    std::string name = view.axes[inner].name.str();
    int64_t size = view.axes[inner].getSize(0);
    if (size < 1 || size > 256)
      return "axis '" + name + "' is taken whole, 1 to 256 elements, but it has " + (size ? text(size) : "an unknown number");
    // 31. The copy engine can address it.
    sched::TmaPlan plan = view.planTma(load, blocks);
    if (!plan)
      return "the copy engine cannot address the operand over '" + name + "': " + plan.whyNot;
    // 32. It is contiguous along that axis.
    if (plan.dims.back().dim != inner)
      return "wgmma reads the operand over '" + name + "' contiguous along it";
    return std::nullopt;
  };
  for (const ScoreProduct &product : chain.scores)
    for (fuse::LoadOp load : {product.rows, product.streamed})
      if (Rule rule = check(load, product.depth))
        return rule;
  for (const ValueProduct &product : chain.values)
    if (Rule rule = check(product.streamed, product.column))
      return rule;
  return std::nullopt;
}

Rule violation(Attribute attribute, const KernelView &view, TargetAttr target) {
  auto schedule = cast<ChainAttr>(attribute);
  Chain chain = *analyze(view);
  if (Rule rule = checkNumbers(chain, view, schedule))
    return rule;
  if (Rule rule = checkTypes(chain, target))
    return rule;
  if (Rule rule = checkOperands(chain, view, schedule))
    return rule;
  if (Rule rule = checkRegisters(chain, view, schedule))
    return rule;
  // 40. Shared memory holds the rows, the rings and the results.
  int64_t bytes = sharedBytes(chain, view, schedule);
  if (bytes > target.getShared())
    return "a CTA has " + text(target.getShared()) + " bytes of shared memory, but the schedule takes " + text(bytes);
  // 41. Some result can leave through the copy engine.
  if (schedule.getEpilogue() == sched::Via::tma &&
      llvm::none_of(chain.stores, [&](fuse::StoreOp store) { return storesByTma(chain, view, store, schedule); }))
    return std::string("the copy engine cannot store any result");
  return std::nullopt;
}

} // namespace emmy::chain
