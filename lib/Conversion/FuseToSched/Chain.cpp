// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is a chain of products through a fold, and the sizes that follow from a schedule.
#include "Chain.h"

using namespace mlir;
using emmy::sched::ChainAttr;

namespace emmy::chain {

/// Elements of a 16-bit type in one 128-byte span.
constexpr int64_t kSpan = 64;

static bool contains(ArrayRef<unsigned> axes, unsigned axis) { return llvm::is_contained(axes, axis); }

/// Finds the parts of a chain one after the other; each step gives false if the kernel is not one.
namespace {
class Analysis {
public:
  explicit Analysis(const KernelView &view) : view(view) {}
  bool run() { return findFold() && findProducts() && findRow() && checkScores() && checkValues() && checkStatistics(); }
  Chain chain;

private:
  bool findFold();
  bool findProducts();
  bool findRow();
  bool checkScores();
  bool checkValues();
  bool checkStatistics();
  bool varies(Value value, unsigned axis) { return contains(view.axesOf(value), axis); }
  Block &body() { return chain.fold.getBody().front(); }

  const KernelView &view;
  SmallVector<fuse::ContractOp> along, across; // along the fold's axis, along others
};
} // namespace

bool Analysis::findFold() {
  for (Operation &op : view.kernel.getBody().front()) {
    if (auto fold = dyn_cast<fuse::FoldOp>(op)) {
      if (chain.fold)
        return false;
      chain.fold = fold;
    } else if (auto store = dyn_cast<fuse::StoreOp>(op)) {
      chain.stores.push_back(store);
    } else if (!isa<fuse::LoadOp, fuse::MapOp, fuse::IndexOp>(op)) {
      return false;
    }
  }
  if (!chain.fold || chain.stores.empty())
    return false;
  chain.over = view.find(chain.fold.getAxisAttr());
  return true;
}

bool Analysis::findProducts() {
  for (Operation &op : body().without_terminator()) {
    if (auto contract = dyn_cast<fuse::ContractOp>(op)) {
      SmallVector<unsigned> over = view.axesOf(llvm::to_vector(contract.getOver().getAsRange<StringAttr>()));
      if (over.size() != 1)
        return false;
      (over[0] == chain.over ? along : across).push_back(contract);
    } else if (auto reduce = dyn_cast<fuse::ReduceOp>(op)) {
      if (view.axesOf(llvm::to_vector(reduce.getOver().getAsRange<StringAttr>())) != SmallVector<unsigned>{chain.over})
        return false;
    } else if (!isa<fuse::LoadOp, fuse::MapOp, fuse::IndexOp>(op)) {
      return false;
    }
  }
  return !along.empty() && !across.empty();
}

/// The row axis is the largest that a score has beside the fold's and the streamed operand lacks.
bool Analysis::findRow() {
  fuse::ContractOp first = across.front();
  Value rows = varies(first.getLhs(), chain.over) ? first.getRhs() : first.getLhs();
  Value streamed = rows == first.getLhs() ? first.getRhs() : first.getLhs();
  std::optional<unsigned> best;
  for (unsigned axis : view.axesOf(first.getResult()))
    if (axis != chain.over && varies(rows, axis) && !varies(streamed, axis) &&
        (!best || view.axes[axis].getSize(1 << 20) > view.axes[*best].getSize(1 << 20)))
      best = axis;
  if (best)
    chain.row = *best;
  return best.has_value();
}

bool Analysis::checkScores() {
  for (fuse::ContractOp op : across) {
    ScoreProduct product;
    product.op = op;
    product.depth = view.axesOf(llvm::to_vector(op.getOver().getAsRange<StringAttr>())).front();
    Value rows = op.getLhs(), streamed = op.getRhs();
    if (varies(rows, chain.over))
      std::swap(rows, streamed);
    product.rows = rows.getDefiningOp<fuse::LoadOp>(), product.streamed = streamed.getDefiningOp<fuse::LoadOp>();
    if (!product.rows || !product.streamed || !varies(rows, chain.row) || varies(rows, chain.over) || varies(streamed, chain.row) ||
        !varies(streamed, chain.over))
      return false;
    // Every other axis of the streamed operand is one of the rows too: one block of it serves one tile.
    for (unsigned axis : view.axesOf(streamed))
      if (axis != chain.over && !varies(rows, axis))
        return false;
    chain.scores.push_back(product);
  }
  return true;
}

bool Analysis::checkValues() {
  SmallVector<unsigned> score = view.axesOf(chain.scores.front().op.getResult());
  auto yield = cast<fuse::YieldOp>(body().getTerminator());
  for (fuse::ContractOp op : along) {
    ValueProduct product;
    product.op = op;
    product.weights = op.getLhs();
    Value streamed = op.getRhs();
    if (!varies(product.weights, chain.row))
      std::swap(product.weights, streamed);
    product.streamed = streamed.getDefiningOp<fuse::LoadOp>();
    if (!product.streamed || varies(streamed, chain.row) || view.axesOf(product.weights) != score)
      return false;
    SmallVector<unsigned> own;
    for (unsigned axis : view.axesOf(streamed))
      if (!contains(score, axis))
        own.push_back(axis);
    if (own.size() != 1 || !op->hasOneUse())
      return false;
    product.column = own.front();
    // The one user adds the product to something else, and yields that.
    product.merge = dyn_cast<fuse::MapOp>(*op->user_begin());
    if (!product.merge || !product.merge->hasOneUse() || *product.merge->user_begin() != yield ||
        llvm::count(product.merge.getInputs(), op.getResult()) != 1)
      return false;
    Block &region = product.merge.getBody().front();
    Value element = region.getArgument(llvm::find(product.merge.getInputs(), op.getResult()) - product.merge.getInputs().begin());
    auto sum = region.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
    if (!sum || !element.hasOneUse() || (sum.getLhs() == element) == (sum.getRhs() == element))
      return false;
    product.base = sum.getLhs() == element ? sum.getRhs() : sum.getLhs();
    product.carried = llvm::find(yield.getValues(), product.merge.getResult()) - yield.getValues().begin();
    chain.values.push_back(product);
  }
  return true;
}

/// What is carried beside sums of products varies over rows alone, and does not depend on those sums.
bool Analysis::checkStatistics() {
  for (auto [i, argument] : llvm::enumerate(body().getArguments())) {
    auto *value = llvm::find_if(chain.values, [&](const ValueProduct &v) { return v.carried == i; });
    if (value != chain.values.end()) {
      for (Operation *user : argument.getUsers())
        if (user != value->merge)
          return false;
      continue;
    }
    for (const ValueProduct &v : chain.values)
      if (varies(argument, v.column))
        return false;
  }
  // Blocks are rows by the fold's axis: nothing else may have a column.
  for (Operation &op : body().without_terminator()) {
    auto isPart = [&](const ValueProduct &v) { return &op == v.op || &op == v.merge; };
    auto hasColumn = [&](const ValueProduct &v) { return varies(op.getResult(0), v.column); };
    if (!isa<fuse::LoadOp>(op) && llvm::none_of(chain.values, isPart) && llvm::any_of(chain.values, hasColumn))
      return false;
  }
  for (Operation &op : body().without_terminator())
    if (auto reduce = dyn_cast<fuse::ReduceOp>(op); reduce && !varies(reduce.getInput(), chain.row))
      return false;
  // Results have rows and columns only.
  for (fuse::StoreOp store : chain.stores) {
    SmallVector<unsigned> axes = view.axesOf(llvm::to_vector(store.getOver().getAsRange<StringAttr>()));
    if (!contains(axes, chain.row) || contains(axes, chain.over) ||
        llvm::any_of(chain.scores, [&](const ScoreProduct &s) { return contains(axes, s.depth); }))
      return false;
  }
  return true;
}

std::optional<Chain> analyze(const KernelView &view) {
  Analysis analysis(view);
  if (!analysis.run())
    return std::nullopt;
  return analysis.chain;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t paddedSize(const KernelView &view, unsigned axis) { return llvm::alignTo(view.axes[axis].getSize(0), kSpan); }

SmallVector<int64_t> blocksOf(const Chain &chain, const KernelView &view, ChainAttr schedule) {
  SmallVector<int64_t> blocks(view.axes.size(), 1);
  blocks[chain.row] = schedule.getRows();
  blocks[chain.over] = schedule.getStep();
  for (const ScoreProduct &product : chain.scores)
    blocks[product.depth] = paddedSize(view, product.depth);
  for (const ValueProduct &product : chain.values)
    blocks[product.column] = paddedSize(view, product.column);
  return blocks;
}

static Type elementOf(Value value) { return cast<fuse::ValueType>(value.getType()).getElementType(); }

bool storesByTma(const Chain &chain, const KernelView &view, fuse::StoreOp store, ChainAttr schedule) {
  if (schedule.getEpilogue() != sched::Via::tma || elementOf(store.getValue()).getIntOrFloatBitWidth() != 16)
    return false;
  sched::TmaPlan plan = view.planTma(store, blocksOf(chain, view, schedule));
  return plan && llvm::any_of(chain.values, [&](const ValueProduct &v) { return plan.dims.back().dim == v.column; });
}

int64_t sharedBytes(const Chain &chain, const KernelView &view, ChainAttr schedule) {
  int64_t rows = 0, scores = 0, values = 0, results = 0;
  llvm::SmallPtrSet<Operation *, 4> seen;
  for (const ScoreProduct &product : chain.scores) {
    if (seen.insert(product.rows).second)
      rows += schedule.getRows() * paddedSize(view, product.depth);
    if (seen.insert(product.streamed).second)
      scores += schedule.getStep() * paddedSize(view, product.depth);
  }
  for (const ValueProduct &product : chain.values)
    if (seen.insert(product.streamed).second)
      values += schedule.getStep() * paddedSize(view, product.column);
  for (fuse::StoreOp store : chain.stores)
    if (storesByTma(chain, view, store, schedule))
      for (const ValueProduct &product : chain.values)
        results = std::max(results, paddedSize(view, product.column));
  int64_t stores = llvm::count_if(chain.stores, [&](fuse::StoreOp store) { return storesByTma(chain, view, store, schedule); });
  results *= schedule.getRows() * stores;
  return 2 * (rows + schedule.getScoreStages() * scores + schedule.getValueStages() * values + results) +
         16 * (schedule.getScoreStages() + schedule.getValueStages()) + 16;
}

int64_t tileRegisters(const Chain &chain, const KernelView &view, int64_t step) {
  int64_t registers = chain.scores.size() * step / 2 + chain.values.size() * step / 4;
  for (const ValueProduct &product : chain.values)
    registers += paddedSize(view, product.column) / 2;
  return registers;
}

KernelClass getClass() {
  return {"chain",
          [](const KernelView &view) {
            // What wgmma cannot take is left to the classes that follow.
            return analyze(view) && !enumerate(view, TargetAttr::of(view.kernel)).empty();
          },
          [](Attribute schedule) { return isa<ChainAttr>(schedule); },
          violation,
          rate,
          enumerate,
          apply};
}

} // namespace emmy::chain
