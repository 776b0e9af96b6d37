// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The schedule space of chains and the model that ranks it: clocks of a block of the fold's axis on the tensor cores and in the
// pointwise part between the products, as measured on an H200, times blocks, times waves.
#include "Chain.h"

using namespace mlir;
using emmy::sched::ChainAttr;
using emmy::sched::Via;

namespace emmy::chain {

/// A symbolic size is taken to be this many when schedules are ranked.
constexpr int64_t kTypicalSize = 2048;
/// Bytes of streamed operands that stay in L2 while row blocks pass over them.
constexpr int64_t kSectionBytes = 32 << 20;

static int64_t sizeOf(const KernelView &view, unsigned axis) {
  AffineExpr expr = view.axes[axis].size;
  AffineExpr typical = getAffineConstantExpr(kTypicalSize, expr.getContext());
  DenseMap<AffineExpr, AffineExpr> guesses;
  expr.walk([&](AffineExpr e) {
    if (isa<AffineSymbolExpr>(e))
      guesses[e] = typical;
  });
  auto constant = dyn_cast<AffineConstantExpr>(expr.replace(guesses));
  return constant ? std::max<int64_t>(1, constant.getValue()) : kTypicalSize;
}

/// Axes that the grid walks beside the rows.
static SmallVector<unsigned> outerAxes(const Chain &chain, const KernelView &view) {
  SmallVector<unsigned> outer;
  for (unsigned axis = 0; axis < view.axes.size(); ++axis) {
    bool inside = axis == chain.row || axis == chain.over || view.axes[axis].into;
    for (const ScoreProduct &product : chain.scores)
      inside |= axis == product.depth;
    for (const ValueProduct &product : chain.values)
      inside |= axis == product.column;
    if (!inside)
      outer.push_back(axis);
  }
  return outer;
}

static int64_t sectionOf(const Chain &chain, const KernelView &view) {
  fuse::LoadOp streamed = chain.scores.front().streamed;
  SmallVector<unsigned> streamedAxes = view.axesOf(streamed.getResult());
  int64_t sharing = 1, bytes = 0;
  for (unsigned axis : outerAxes(chain, view))
    if (!llvm::is_contained(streamedAxes, axis))
      sharing *= sizeOf(view, axis);
  for (const ScoreProduct &product : chain.scores)
    bytes += 2 * paddedSize(view, product.depth) * sizeOf(view, chain.over);
  for (const ValueProduct &product : chain.values)
    bytes += 2 * paddedSize(view, product.column) * sizeOf(view, chain.over);
  return std::clamp<int64_t>(kSectionBytes / std::max<int64_t>(1, bytes), 1, 4096) * sharing;
}

/// Whether later rows have more to visit than earlier ones.
static bool growsWithRows(const KernelView &view, const Chain &chain, sched::RangeAttr range) {
  auto *row = llvm::find(range.getOver().getValue(), Attribute(view.axes[chain.row].name));
  if (row == range.getOver().end())
    return false;
  unsigned at = row - range.getOver().begin();
  return llvm::any_of(range.getTo(), [&](AffineExpr to) { return to.isFunctionOfDim(at); });
}

static Candidate rate(ChainAttr s, const Chain &chain, const KernelView &view, TargetAttr target) {
  double scores = 0, values = 0;
  for (const ScoreProduct &product : chain.scores)
    scores += s.getStep() / 2.0 * paddedSize(view, product.depth) / 16;
  for (const ValueProduct &product : chain.values)
    values += paddedSize(view, product.column) / 2.0 * s.getStep() / 16;
  double tensor = s.getConsumers() * (scores + values);
  double pointwise = s.getConsumers() * 0.082 * 64 * s.getStep() * (s.getConsumers() == 1 ? 1.4 : 1.0);
  // Warpgroups fill each other's gaps but for about 330 clocks of waits; one alone overlaps little.
  double exposed = s.getConsumers() == 1 ? 0.7 * std::min(tensor, pointwise) : 330;
  double block = std::max(tensor, pointwise) + exposed;
  double blocks = llvm::divideCeil(sizeOf(view, chain.over), s.getStep());
  if (s.getLastFirst())
    blocks = blocks / 2 + 1;
  int64_t tiles = llvm::divideCeil(sizeOf(view, chain.row), s.getRows());
  for (unsigned axis : outerAxes(chain, view))
    tiles *= sizeOf(view, axis);
  double waves = s.getLastFirst() ? std::max(1.0, static_cast<double>(tiles) / target.getSms())
                                  : static_cast<double>(llvm::divideCeil(tiles, target.getSms()));
  double busy = waves * (blocks * block + 2500) / target.getClock(), launch = 2.7;
  int percent = 100 * tensor / block * blocks * block / (blocks * block + 2500) * busy / (busy + launch);
  return {s, busy + launch, "tensor cores " + std::to_string(percent) + " %"};
}

Candidate rate(Attribute schedule, const KernelView &view, TargetAttr target) {
  return rate(cast<ChainAttr>(schedule), *analyze(view), view, target);
}

SmallVector<Candidate> enumerate(const KernelView &view, TargetAttr target) {
  Chain chain = *analyze(view);
  SmallVector<Candidate> candidates;
  MLIRContext *context = view.kernel.getContext();
  StringAttr row = view.axes[chain.row].name, over = view.axes[chain.over].name;
  int64_t section = sectionOf(chain, view);
  int64_t longest = 0; // of several warpgroups: shorter blocks wait more often than the model knows
  for (int64_t step : {128, 64, 32})
    for (int64_t consumers : {2, 3, 1})
      for (Via epilogue : {Via::tma, Via::direct}) {
        if (consumers > 1 && step < longest)
          break;
        int64_t producer = consumers == 3 ? 32 : 24, consumer = consumers == 3 ? 160 : 240;
        auto make = [&](bool lastFirst) {
          return ChainAttr::get(context, row, 64 * consumers, over, step, 2, 2, consumers, producer, consumer, section, epilogue,
                                lastFirst);
        };
        if (violation(make(false), view, target))
          continue;
        sched::RangeAttr range = rangeOf(chain, view, make(false), /*marks=*/false);
        candidates.push_back(rate(make(growsWithRows(view, chain, range)), chain, view, target));
        longest = consumers > 1 ? step : longest;
        break; // direct stores are for what the copy engine cannot write
      }
  return candidates;
}

} // namespace emmy::chain
