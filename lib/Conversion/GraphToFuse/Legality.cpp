// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The rules of one kernel, as numbered early returns.
#include "Legality.h"
#include "Pull.h"

using namespace mlir;

namespace emmy {

/// A head dimension beyond this does not fit in the registers of a streaming kernel.
static constexpr int64_t kMaxInnerSize = 256;
/// A row beyond this is cheaper to read twice with the whole machine than once with a part of it.
static constexpr double kMaxRowAlone = 65536;

double estimatePoints(const KernelDag &dag, ArrayRef<unsigned> axes) {
  double points = 1;
  for (unsigned axis : axes)
    points *= dag.math.estimate(dag.axes[axis].size);
  return points;
}

static double bytesOf(Type element) { return element.isIntOrFloat() ? std::max(1u, element.getIntOrFloatBitWidth() / 8) : 8; }

double estimateBytes(const IndexMath &math, Value value) {
  return math.estimate(countElements(value)) * bytesOf(getElementTypeOrSelf(value.getType()));
}

double estimateLoadBytes(const KernelDag &dag, unsigned root) {
  double bytes = 0;
  SmallVector<unsigned> worklist{root};
  llvm::DenseSet<unsigned> seen;
  while (!worklist.empty()) {
    unsigned id = worklist.pop_back_val();
    if (!seen.insert(id).second)
      continue;
    const Node &node = dag.nodes[id];
    if (node.kind == NodeKind::Load)
      bytes += std::min(estimatePoints(dag, node.axes) * bytesOf(node.element), estimateBytes(dag.math, node.source));
    worklist.append(node.operands.begin(), node.operands.end());
  }
  return bytes;
}

namespace {
/// What judging needs to know of a kernel's reductions and contractions.
struct Anchors {
  SmallVector<unsigned> reduces, inner, last; // inner contractions feed another anchor
  std::vector<bool> onAnchor, onContract;     // by node: whether it depends on one
};
} // namespace

static Anchors findAnchors(const KernelDag &dag) {
  Anchors anchors;
  std::vector<bool> feeds(dag.nodes.size()); // whether an anchor depends on the node
  anchors.onAnchor.resize(dag.nodes.size());
  anchors.onContract.resize(dag.nodes.size());
  auto isAnchor = [](const Node &node) { return node.kind == NodeKind::Reduce || node.kind == NodeKind::Contract; };
  for (auto [id, node] : llvm::enumerate(dag.nodes))
    for (unsigned operand : node.operands) {
      anchors.onAnchor[id] = anchors.onAnchor[id] || anchors.onAnchor[operand] || isAnchor(dag.nodes[operand]);
      anchors.onContract[id] =
          anchors.onContract[id] || anchors.onContract[operand] || dag.nodes[operand].kind == NodeKind::Contract;
    }
  for (unsigned id = dag.nodes.size(); id-- > 0;) {
    const Node &node = dag.nodes[id];
    for (unsigned operand : node.operands)
      feeds[operand] = feeds[operand] || feeds[id] || isAnchor(node);
    if (node.kind == NodeKind::Reduce)
      anchors.reduces.push_back(id);
    if (node.kind == NodeKind::Contract)
      (feeds[id] ? anchors.inner : anchors.last).push_back(id);
  }
  return anchors;
}

/// Product of constant sizes; nullopt where one is symbolic.
static std::optional<int64_t> staticPoints(const KernelDag &dag, ArrayRef<unsigned> axes) {
  int64_t points = 1;
  for (unsigned axis : axes) {
    auto size = dyn_cast<AffineConstantExpr>(dag.axes[axis].size);
    if (!size)
      return std::nullopt;
    points *= size.getValue();
  }
  return points;
}

static std::string checkOnceEach(const KernelDag &dag) {
  llvm::DenseSet<Operation *> seen;
  for (const Node &node : dag.nodes) {
    if (node.kind != NodeKind::Reduce && node.kind != NodeKind::Contract)
      continue;
    if (!seen.insert(node.op).second)
      return "a reduction would run more than once, at different indices";
    AffineExpr points = dag.math.getConstant(1);
    for (unsigned axis : node.axes)
      points = points * dag.axes[axis].size;
    AffineExpr elements = countElements(node.op->getResult(0));
    if (!dag.math.areEqual(points, elements) && dag.math.estimate(points) > dag.math.estimate(elements))
      return "a reduction would be computed again for indices that share its result";
  }
  return "";
}

static std::string checkReductions(const KernelDag &dag, const Anchors &anchors, TargetAttr target) {
  if (anchors.reduces.empty())
    return "";
  const Node &first = dag.nodes[anchors.reduces.front()];
  for (unsigned id : anchors.reduces)
    if (dag.nodes[id].over != first.over)
      return "its reductions run along different axes";
  double rows = estimatePoints(dag, first.axes), length = estimatePoints(dag, first.over);
  bool streamsTwice = anchors.reduces.size() > 1;
  for (const Store &store : dag.stores)
    streamsTwice |= llvm::is_contained(store.over, first.over.front());
  if (!target.isCpu() && streamsTwice && length > kMaxRowAlone && rows * 2 < target.getSms())
    return "too few rows to fill the machine, each too long for one multiprocessor";
  return "";
}

static std::string checkContractions(const KernelDag &dag, const Anchors &anchors) {
  if (anchors.last.size() > 1)
    return "more than one contraction";
  for (unsigned operand : dag.nodes[anchors.last[0]].operands)
    if (NodeKind kind = dag.nodes[operand].kind; kind != NodeKind::Load && kind != NodeKind::Map)
      return "an operand of the contraction is not in memory";
  return "";
}

/// Whether a value is read from memory that is contiguous along one of `axes`.
static bool isReadAlong(const Node &node, ArrayRef<unsigned> axes) {
  return node.kind == NodeKind::Load && !node.exprs.empty() &&
         llvm::any_of(axes, [&](unsigned axis) { return node.exprs.back().isFunctionOfDim(axis); });
}

/// Scores that contractions along `n` consume: everything else about them lives in registers while n streams by.
static std::string checkStreaming(const KernelDag &dag, const Anchors &anchors, TargetAttr target) {
  if (anchors.last.empty()) // (1)
    return "a contraction feeds reductions and no contraction consumes them";
  const SmallVector<unsigned, 2> &over = dag.nodes[anchors.last[0]].over;
  if (over.size() != 1) // (2)
    return "the consuming contraction runs over more than one axis";
  unsigned n = over[0];
  bool rescales = false;
  for (unsigned id : anchors.reduces) { // (3)
    if (dag.nodes[id].over != over)
      return "a reduction of the scores runs along another axis than the contraction";
    rescales |= cast<graph::ReduceOp>(dag.nodes[id].op).getKind() == graph::Combiner::max;
  }
  if (anchors.inner.empty() && !rescales) // (4)
    return "a plain operand in memory feeds the contraction better than one computed on the way";
  for (unsigned id : anchors.inner) { // (5)
    const Node &score = dag.nodes[id];
    if (!llvm::is_contained(score.axes, n))
      return "a contraction that feeds another does not vary over the axis of that one";
    for (unsigned operand : score.operands)
      if (anchors.onAnchor[operand])
        return "more than two contractions in a row";
    std::optional<int64_t> depth = staticPoints(dag, score.over);
    if (!depth || *depth > kMaxInnerSize)
      return "the inner contraction is longer than registers and shared memory can keep beside the outer";
  }
  for (unsigned id : anchors.last) { // (6)
    const Node &node = dag.nodes[id];
    bool left = anchors.onAnchor[node.operands[0]], right = anchors.onAnchor[node.operands[1]];
    if (node.over != over || left == right)
      return "the contraction does not have scores on one side and memory on the other";
    const Node &scores = dag.nodes[node.operands[left ? 0 : 1]], &memory = dag.nodes[node.operands[left ? 1 : 0]];
    if (!target.isCpu() && isReadAlong(memory, over))
      return "tensor cores take the streamed operand of the outer contraction along its width, and it lies along the stream";
    SmallVector<unsigned> width;
    for (unsigned axis : node.axes)
      if (!llvm::is_contained(scores.axes, axis))
        width.push_back(axis);
    std::optional<int64_t> points = staticPoints(dag, width);
    if (!points || *points > kMaxInnerSize)
      return "the result is wider than registers can carry along the stream";
  }
  for (const Store &store : dag.stores) // (7)
    if (llvm::is_contained(store.over, n))
      return "the scores themselves are wanted in memory";
  return "";
}

/// CTAs share out the axes of the outputs, so that an output that lacks one of them would be written by many. Scores that stream have
/// the width of a result in one CTA.
static std::string checkStores(const KernelDag &dag) {
  llvm::DenseSet<unsigned> reduced, shared;
  for (const Node &node : dag.nodes)
    reduced.insert(node.over.begin(), node.over.end());
  for (const Store &store : dag.stores)
    for (unsigned axis : store.over)
      if (!reduced.contains(axis))
        shared.insert(axis);
  for (const Store &store : dag.stores)
    for (unsigned axis : shared)
      if (!llvm::is_contained(store.over, axis) && !dag.math.areEqual(dag.axes[axis].size, dag.math.getConstant(1)))
        return "its outputs lie along different axes";
  return "";
}

Verdict judge(const KernelDag &dag, TargetAttr target) {
  Anchors anchors = findAnchors(dag);
  Verdict verdict;
  verdict.reason = checkOnceEach(dag);
  if (anchors.inner.empty() && anchors.last.empty()) {
    verdict.kind = anchors.reduces.empty() ? KernelClass::Pointwise : KernelClass::Reduction;
    if (verdict.isLegal())
      verdict.reason = checkReductions(dag, anchors, target);
  } else if (anchors.inner.empty() && anchors.reduces.empty()) {
    verdict.kind = KernelClass::Contraction;
    if (verdict.isLegal())
      verdict.reason = checkContractions(dag, anchors);
  } else {
    verdict.kind = KernelClass::Streaming;
    if (verdict.isLegal())
      verdict.reason = checkStreaming(dag, anchors, target);
  }
  if (verdict.isLegal() && verdict.kind != KernelClass::Streaming)
    verdict.reason = checkStores(dag);
  return verdict;
}

} // namespace emmy
