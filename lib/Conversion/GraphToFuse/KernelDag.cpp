// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Building kernels without duplicates, and finding which of their axes are one.
#include "KernelDag.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace emmy {

unsigned KernelDag::addAxis(AffineExpr size, bool isOutput) {
  math.addDim(size);
  axes.push_back({size, isOutput});
  return axes.size() - 1;
}

static void sortUnique(SmallVectorImpl<unsigned> &numbers) {
  llvm::sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
}

void KernelDag::collectDims(ArrayRef<AffineExpr> exprs, SmallVectorImpl<unsigned> &found, SmallVectorImpl<unsigned> &behind) const {
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr e) {
      auto dim = dyn_cast<AffineDimExpr>(e);
      if (!dim)
        return;
      if (dim.getPosition() < kIndirectBase)
        found.push_back(dim.getPosition());
      else if (unsigned node = indirect[dim.getPosition() - kIndirectBase]; !llvm::is_contained(behind, node))
        behind.push_back(node);
    });
  sortUnique(found);
}

AffineExpr KernelDag::getIndirect(unsigned node) {
  auto it = llvm::find(indirect, node);
  unsigned position = it - indirect.begin();
  if (it == indirect.end())
    indirect.push_back(node);
  return getAffineDimExpr(kIndirectBase + position, math.getContext());
}

static bool isSame(const Node &a, const Node &b) {
  return a.kind == b.kind && a.body == b.body && a.guarded == b.guarded && a.op == b.op && a.source == b.source &&
         a.element == b.element && a.constant == b.constant && a.exprs == b.exprs && a.operands == b.operands && a.over == b.over;
}

static unsigned hash(const Node &node) {
  return llvm::hash_combine(int(node.kind), int(node.body), node.op, node.source.getAsOpaquePointer(),
                            llvm::hash_combine_range(node.operands.begin(), node.operands.end()), node.exprs.size());
}

unsigned KernelDag::add(Node node) {
  sortUnique(node.over);
  if (node.kind == NodeKind::Load || node.kind == NodeKind::Index)
    collectDims(node.exprs, node.axes, node.operands);
  SmallVector<unsigned, 2> &bucket = byHash[hash(node) >> 1]; // the map keeps two keys for itself
  for (unsigned candidate : bucket)
    if (isSame(nodes[candidate], node))
      return candidate;
  for (unsigned operand : node.operands)
    for (unsigned axis : nodes[operand].axes)
      if (!llvm::is_contained(node.over, axis))
        node.axes.push_back(axis);
  sortUnique(node.axes);
  if (node.kind == NodeKind::Contract)
    contractAxes.insert(node.over.begin(), node.over.end());
  bucket.push_back(nodes.size());
  nodes.push_back(std::move(node));
  return nodes.size() - 1;
}

unsigned KernelDag::broadcast(unsigned node, ArrayRef<unsigned> wanted) {
  Node glue{NodeKind::Map, MapBody::Broadcast};
  glue.element = nodes[node].element;
  glue.operands.push_back(node);
  for (unsigned axis : wanted) {
    if (llvm::is_contained(nodes[node].axes, axis))
      continue;
    Node index{NodeKind::Index};
    index.element = IntegerType::get(math.getContext(), 64);
    index.exprs.push_back(getAffineDimExpr(axis, math.getContext()));
    glue.operands.push_back(add(index));
  }
  return glue.operands.size() == 1 ? node : add(glue);
}

//===----------------------------------------------------------------------===//
// Axes that are one
//===----------------------------------------------------------------------===//

/// Adds to `pairs` the dimensions that must be equal for the expressions to be.
static bool matchExprs(AffineExpr a, AffineExpr b, SmallVectorImpl<std::pair<unsigned, unsigned>> &pairs) {
  if (a == b)
    return true;
  if (a.getKind() != b.getKind())
    return false;
  if (auto dim = dyn_cast<AffineDimExpr>(a)) {
    unsigned x = dim.getPosition(), y = cast<AffineDimExpr>(b).getPosition();
    if (x >= kIndirectBase || y >= kIndirectBase)
      return false;
    pairs.emplace_back(x, y);
    return true;
  }
  auto left = dyn_cast<AffineBinaryOpExpr>(a);
  if (!left)
    return false;
  auto right = cast<AffineBinaryOpExpr>(b);
  return matchExprs(left.getLHS(), right.getLHS(), pairs) && matchExprs(left.getRHS(), right.getRHS(), pairs);
}

std::optional<KernelDag::AxisPairs> KernelDag::matchLoads(const Node &a, const Node &b) const {
  if (a.kind != NodeKind::Load || b.kind != NodeKind::Load || a.source != b.source || a.guarded != b.guarded)
    return std::nullopt;
  AxisPairs pairs;
  for (auto [x, y] : llvm::zip(a.exprs, b.exprs))
    if (!matchExprs(x, y, pairs))
      return std::nullopt;
  return pairs;
}

/// Whether axes a and b may be one: equal sizes, at least one bound by a reduction, and no element depends on both.
bool KernelDag::canUnify(unsigned a, unsigned b) const {
  if (axes[a].size != axes[b].size)
    return false;
  if (axes[a].isOutput || axes[b].isOutput) {
    if (contractAxes.contains(a) || contractAxes.contains(b))
      return false;
    for (const Store &store : stores)
      if (llvm::is_contained(store.over, a) && llvm::is_contained(store.over, b))
        return false;
  }
  for (const Node &node : nodes) {
    bool hasA = llvm::is_contained(node.over, a) || llvm::is_contained(node.axes, a);
    bool hasB = llvm::is_contained(node.over, b) || llvm::is_contained(node.axes, b);
    if (hasA && hasB)
      return false;
  }
  return true;
}

void KernelDag::unifyAxes() {
  SmallVector<unsigned> identity(axes.size());
  for (unsigned i = 0; i < axes.size(); ++i)
    identity[i] = i;
  rebuild(identity);
  auto findPairs = [&]() -> AxisPairs {
    for (unsigned i = 0; i < nodes.size(); ++i)
      for (unsigned j = 0; j < i; ++j) {
        std::optional<AxisPairs> pairs = matchLoads(nodes[j], nodes[i]);
        if (pairs && !pairs->empty() && llvm::all_of(*pairs, [&](auto pair) { return canUnify(pair.first, pair.second); }))
          return *pairs;
      }
    return {};
  };
  // Each round removes an axis.
  for (AxisPairs pairs = findPairs(); !pairs.empty(); pairs = findPairs()) {
    SmallVector<unsigned> axisOf(identity);
    auto [a, b] = pairs.front();
    unsigned kept = axes[a].isOutput == axes[b].isOutput ? std::min(a, b) : axes[a].isOutput ? a : b;
    axisOf[a] = axisOf[b] = kept;
    rebuild(axisOf);
  }
}

static AffineExpr rename(AffineExpr expr, function_ref<AffineExpr(AffineDimExpr)> newDim) {
  llvm::DenseMap<AffineExpr, AffineExpr> replacements;
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      replacements[e] = newDim(dim);
  });
  return expr.replace(replacements);
}

void KernelDag::rebuild(ArrayRef<unsigned> axisOf) {
  std::vector<Node> old;
  std::swap(old, nodes);
  SmallVector<unsigned> oldIndirect;
  std::swap(oldIndirect, indirect);
  byHash.clear();
  contractAxes.clear();
  llvm::DenseMap<unsigned, unsigned> renamed;
  auto renameAll = [&](SmallVectorImpl<unsigned> &numbers) {
    for (unsigned &number : numbers)
      number = axisOf[number];
  };
  std::function<unsigned(unsigned)> visit;
  auto renameExprs = [&](SmallVectorImpl<AffineExpr> &exprs) {
    for (AffineExpr &expr : exprs)
      expr = math.simplify(rename(expr, [&](AffineDimExpr dim) -> AffineExpr {
        if (dim.getPosition() < kIndirectBase)
          return getAffineDimExpr(axisOf[dim.getPosition()], math.getContext());
        return getIndirect(visit(oldIndirect[dim.getPosition() - kIndirectBase]));
      }));
  };
  visit = [&](unsigned id) -> unsigned {
    if (auto it = renamed.find(id); it != renamed.end())
      return it->second;
    Node node = old[id];
    node.axes.clear();
    renameAll(node.over);
    if (node.kind == NodeKind::Load || node.kind == NodeKind::Index) {
      node.operands.clear();
      renameExprs(node.exprs);
    } else {
      for (unsigned &operand : node.operands)
        operand = visit(operand);
    }
    return renamed[id] = add(std::move(node));
  };
  for (Store &store : stores) {
    store.node = visit(store.node);
    renameExprs(store.at);
    renameAll(store.over);
    sortUnique(store.over);
  }
}

} // namespace emmy
