// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cuts reductions into parts for different CTAs where the axes that stay are too few to fill the machine.
//
// In: kernels that host functions launch. Out: for each one that gains by it, a kernel of partial results, which has its schedule,
// and one that combines them; launches follow. Reductions over the same axes that do not depend on each other share the parts. What
// varies over a reduced axis and needs the result (a softmax along it, a variance) reads it from memory and is looked at again.
// Refuses kernels with contractions or folds. Numerics: sums are reordered, always in the same way; partial results are kept in the type
// of accumulation.
#include "KernelClass.h"
#include "ReductionParts.h"
#include "Streaming.h"
#include "emmy/Conversion/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "emmy-split-reductions"

using namespace mlir;

namespace emmy {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "emmy/Conversion/Passes.h.inc"

using namespace streaming;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static bool variesOver(Value value, ArrayAttr axes) {
  return llvm::any_of(cast<fuse::ValueType>(value.getType()).getAxes(), [&](StringAttr axis) { return llvm::is_contained(axes, axis); });
}

/// Whether computing `value` takes a reduction over one of `axes`.
static bool dependsOnReduction(Value value, ArrayAttr axes) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  auto reduction = dyn_cast<fuse::ReduceOp>(op);
  if (reduction && llvm::any_of(reduction.getOver(), [&](Attribute axis) { return llvm::is_contained(axes, axis); }))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isa<fuse::ValueType>(operand.getType()) && dependsOnReduction(operand, axes);
  });
}

/// Groups of reductions over the same axes to the same axes, none of which needs a reduction over these axes first.
static SmallVector<SmallVector<fuse::ReduceOp>> groupReductions(fuse::KernelOp kernel) {
  SmallVector<SmallVector<fuse::ReduceOp>> groups;
  for (auto reduction : kernel.getBody().getOps<fuse::ReduceOp>()) {
    if (dependsOnReduction(reduction.getInput(), reduction.getOver()))
      continue;
    auto *group = llvm::find_if(groups, [&](const SmallVector<fuse::ReduceOp> &known) {
      fuse::ReduceOp first = known.front();
      return first.getOver() == reduction.getOver() && first.getType().getAxes() == reduction.getType().getAxes();
    });
    if (group == groups.end())
      groups.push_back({reduction});
    else
      group->push_back(reduction);
  }
  return groups;
}

/// Whether what is stored needs elements along `axes` apart from `reductions`.
static bool needsElements(fuse::KernelOp kernel, ArrayRef<fuse::ReduceOp> reductions, ArrayAttr axes) {
  SmallVector<Value> open;
  for (auto store : kernel.getBody().getOps<fuse::StoreOp>()) {
    if (llvm::any_of(store.getOver(), [&](Attribute axis) { return llvm::is_contained(axes, axis); }))
      return true;
    open.push_back(store.getValue());
  }
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!isa<fuse::ValueType>(value.getType()) || !seen.insert(value).second ||
        llvm::is_contained(reductions, value.getDefiningOp<fuse::ReduceOp>()))
      continue;
    if (variesOver(value, axes))
      return true;
    llvm::append_range(open, value.getDefiningOp()->getOperands());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

namespace {
/// Microseconds of a reduction, whole or in parts.
class Model {
public:
  Model(fuse::KernelOp kernel, sched::StreamingAttr schedule, TargetAttr target, double launches)
      : hbm(target.getHbm() * 1e3), launches(launches) {
    int64_t threads = llvm::alignTo(schedule.getNumThreads(), 32);
    resident = target.getSms() * std::max<int64_t>(1, kThreadsOfSm / threads);
    for (BlockArgument argument : kernel.getBody().getArguments())
      (argument.getArgNumber() < kernel.getNumInputs() ? read : written) += tensorBytes(argument.getType(), kUnknown);
  }

  /// `ctas` of so many turns each, cut into `parts` apiece; 1: as they are, in one launch.
  double time(double ctas, double turns, double parts) const {
    double waves = std::ceil(ctas * parts / resident), bandwidth = (read + written) / hbm;
    double whole = kLaunch + std::max(bandwidth, waves * turns * (parts > 1 ? kTurn : kCombinedTurn));
    return parts > 1 ? whole + launches * kNextLaunch + 2 * parts * written / hbm : whole;
  }

  static int64_t sizeOf(AffineExpr size) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    return constant ? std::max<int64_t>(1, constant.getValue()) : kUnknown;
  }

private:
  static constexpr double kLaunch = 2, kNextLaunch = 1.5; // microseconds
  static constexpr double kTurn = 2, kCombinedTurn = 3;   // a block of loads, and one with a combination of all threads
  static constexpr int64_t kThreadsOfSm = 768;            // of about 80 registers
  static constexpr int64_t kUnknown = 4096;               // elements of a symbolic axis

  double hbm, launches, read = 0, written = 0;
  int64_t resident;
};
} // namespace

/// The cut of one serial axis into blocks of the schedule, which may shrink to divide the axis.
static AxisParts cutBlocks(fuse::AxisAttr axis, sched::StreamingAttr schedule) {
  AxisParts cut{axis.getName(), axis.getSize(), {}};
  int64_t vector = axis.getName() == schedule.getVectorAxis() ? schedule.getVector() : 1;
  cut.lanes = schedule.getThreads(axis.getName()) * vector;
  cut.items = schedule.getBlock(axis.getName()) / cut.lanes;
  int64_t size = Model::sizeOf(axis.getSize());
  for (int64_t items = cut.items; 2 * items > cut.items; --items)
    if (size % (items * cut.lanes) == 0) {
      cut.items = items;
      break;
    }
  return cut;
}

static int64_t blocksOf(const AxisParts &cut) { return llvm::divideCeil(Model::sizeOf(cut.size), cut.items * cut.lanes); }

/// The fastest numbers of parts; nothing if the reductions are better left whole.
static std::optional<SmallVector<AxisParts>> chooseCuts(fuse::KernelOp kernel, sched::StreamingAttr schedule, const Model &model) {
  constexpr int64_t mostParts = 4096;
  SmallVector<StringAttr> reduced = reducedAxes(kernel);
  SmallVector<AxisParts> cuts;
  double ctas = 1, turns = 1;
  for (auto axis : kernel.getAxes().getAsRange<fuse::AxisAttr>()) {
    if (schedule.isSerial(axis.getName())) {
      cuts.push_back(cutBlocks(axis, schedule));
      turns *= blocksOf(cuts.back());
    } else if (!llvm::is_contained(reduced, axis.getName()))
      ctas *= llvm::divideCeil(Model::sizeOf(axis.getSize()), schedule.getBlock(axis.getName()));
  }
  SmallVector<AxisParts *> order;
  for (AxisParts &cut : cuts)
    order.push_back(&cut);
  llvm::stable_sort(order, [](AxisParts *a, AxisParts *b) { return blocksOf(*a) > blocksOf(*b); });
  double best = model.time(ctas, turns, 1), parts = 1;
  for (AxisParts *cut : order) {
    int64_t blocks = blocksOf(*cut), most = std::min<int64_t>(blocks, mostParts / parts);
    double others = turns / blocks, before = parts;
    for (int64_t some = 2; some <= most; ++some) {
      double time = model.time(ctas, others * llvm::divideCeil(blocks, some), before * some);
      if (blocks % some)
        time *= 1.02; // unequal parts compare indices
      if (time >= best)
        continue;
      best = time;
      cut->parts = some;
      parts = before * some;
    }
    turns = others * llvm::divideCeil(blocks, cut->parts);
    if (cut->parts < most)
      break;
  }
  if (parts == 1)
    return std::nullopt;
  for (AxisParts &cut : cuts)
    cut.turns = cut.size.ceilDiv(cut.parts * cut.items * cut.lanes);
  return cuts;
}

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

/// Launches `kernel` on `inputs`; the results are its outputs.
static ValueRange launch(OpBuilder &builder, Location loc, fuse::KernelOp kernel, ValueRange inputs) {
  SmallVector<Type> types = llvm::map_to_vector(kernel.getOutputs(), [](BlockArgument output) { return output.getType(); });
  return LaunchOp::create(builder, loc, types, kernel.getSymName(), inputs, DenseI64ArrayAttr()).getResults();
}

namespace {
struct SplitReductionsPass : impl::SplitReductionsPassBase<SplitReductionsPass> {
  using Base::Base;

  /// Names for the parts of `kernel` and what combines them.
  SmallVector<std::string, 2> freshNames(fuse::KernelOp kernel) {
    auto isTaken = [&](const std::string &name) { return getOperation().lookupSymbol(name) != nullptr; };
    for (unsigned i = 0;; ++i) {
      std::string base = kernel.getSymName().str() + (i ? "_" + std::to_string(i) : "");
      if (!isTaken(base + "_parts") && !isTaken(base + "_totals"))
        return {base + "_parts", base + "_totals"};
    }
  }

  /// Splits `group`, the kernel's, if that pays.
  bool split(fuse::KernelOp kernel, ArrayRef<fuse::ReduceOp> group, ArrayRef<LaunchOp> launches) {
    ArrayAttr over = fuse::ReduceOp(group.front()).getOver();
    bool isLast = !needsElements(kernel, group, over);
    SmallVector<std::string, 2> names = freshNames(kernel);
    Isolated isolated = isolate(kernel, group, names[1]);
    TargetAttr target = TargetAttr::of(kernel);
    sched::StreamingAttr schedule = pickSchedule(isolated.kernel, target);
    // A serial axis of an earlier reduction in the group's operands is not the group's to cut.
    bool isOwn = llvm::all_of(schedule.getSerial(), [&](StringAttr axis) { return llvm::is_contained(over, axis); });
    std::optional<SmallVector<AxisParts>> cuts;
    if (isOwn)
      cuts = chooseCuts(isolated.kernel, schedule, Model(isolated.kernel, schedule, target, isLast ? 1 : 2));
    if (!cuts) {
      isolated.kernel.erase();
      return false;
    }
    fuse::KernelOp parts = cutIntoParts(isolated.kernel, names[0], *cuts, schedule);
    bool keepInputs = llvm::any_of(launches, [](LaunchOp op) { return op.getTied().has_value(); });
    SmallVector<unsigned> left;
    if (isLast) {
      isolated.kernel.erase();
      left = combineParts(kernel, group, *cuts, keepInputs);
    } else {
      SmallVector<fuse::ReduceOp> totals;
      for (auto store : isolated.kernel.getBody().getOps<fuse::StoreOp>())
        totals.push_back(store.getValue().getDefiningOp<fuse::ReduceOp>());
      combineParts(isolated.kernel, totals, *cuts, /*keepInputs=*/false);
      left = combineParts(kernel, group, {}, keepInputs);
    }
    for (LaunchOp op : launches) {
      OpBuilder builder(op);
      auto pick = [&](ArrayRef<unsigned> numbers) {
        return llvm::map_to_vector(numbers, [&](unsigned number) -> Value { return op.getInputs()[number]; });
      };
      ValueRange results = launch(builder, op.getLoc(), parts, pick(isolated.inputs));
      if (!isLast)
        results = launch(builder, op.getLoc(), isolated.kernel, results);
      SmallVector<Value> inputs = pick(left);
      llvm::append_range(inputs, results);
      op.getInputsMutable().assign(inputs);
    }
    return true;
  }

  bool splitAny(fuse::KernelOp kernel) {
    SmallVector<LaunchOp> launches;
    getOperation().walk([&](LaunchOp op) {
      if (op.getKernel() == kernel.getSymName())
        launches.push_back(op);
    });
    WalkResult refused = kernel.walk([](Operation *op) -> WalkResult {
      return isa<fuse::ContractOp, fuse::FoldOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (launches.empty() || refused.wasInterrupted() || kernel->hasAttr(sched::kScheduleAttr))
      return false;
    return llvm::any_of(groupReductions(kernel), [&](ArrayRef<fuse::ReduceOp> group) { return split(kernel, group, launches); });
  }

  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<fuse::KernelOp>()))
      while (splitAny(kernel))
        ++numSplit;
  }
};
} // namespace
} // namespace emmy
