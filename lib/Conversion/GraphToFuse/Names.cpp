// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names for people: of kernels after their source ops, of axes after their part in a contraction.
#include "Emit.h"

using namespace mlir;

namespace emmy {

static constexpr size_t kMaxNameLength = 48;

/// The first name in a location that an op's importer gave it.
static StringRef getSourceName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = getSourceName(part); !name.empty())
        return name;
  return {};
}

static std::string toSymbol(StringRef name) {
  std::string symbol;
  for (char c : name)
    symbol += llvm::isAlnum(c) ? c : '_';
  return symbol;
}

std::string nameKernel(const PlannedKernel &kernel) {
  // Element-wise functions only name a kernel that does nothing else.
  llvm::SetVector<StringRef> names, pointwise;
  for (const Node &node : kernel.dag.nodes)
    if (StringRef name = node.op ? getSourceName(node.op->getLoc()) : StringRef(); !name.empty())
      (graph::symbolizeFunction(name) ? pointwise : names).insert(name);
  std::string joined;
  for (StringRef name : names.empty() ? pointwise : names) {
    std::string longer = joined + (joined.empty() ? "" : "_") + toSymbol(name);
    if (longer.size() > kMaxNameLength && !joined.empty())
      break;
    joined = longer.substr(0, kMaxNameLength);
  }
  if (!joined.empty() && !llvm::isDigit(joined[0]))
    return joined;
  switch (kernel.kind) {
  case KernelClass::Contraction:
    return "contract";
  case KernelClass::Streaming:
    return "stream";
  case KernelClass::Reduction:
    return "reduce";
  case KernelClass::Pointwise:
    break;
  }
  if (kernel.dag.stores.front().tied)
    return "scatter";
  return llvm::any_of(kernel.dag.nodes, [](const Node &n) { return n.kind == NodeKind::Map; }) ? "map" : "copy";
}

namespace {
class AxisNamer {
public:
  explicit AxisNamer(unsigned count) : names(count) {}
  /// Gives the axes, innermost first, the first free names of `wanted`.
  void give(ArrayRef<unsigned> innermostFirst, ArrayRef<StringRef> wanted) {
    for (unsigned axis : innermostFirst)
      if (names[axis].empty())
        names[axis] = choose(wanted);
  }
  SmallVector<std::string> names;

private:
  std::string choose(ArrayRef<StringRef> wanted) {
    for (StringRef name : wanted)
      if (taken.insert(name).second)
        return name.str();
    for (unsigned i = 1;; ++i)
      if (std::string name = (wanted.front() + Twine(i)).str(); taken.insert(name).second)
        return name;
  }
  llvm::StringSet<> taken;
};
} // namespace

static SmallVector<unsigned> reversed(ArrayRef<unsigned> axes) { return SmallVector<unsigned>(axes.rbegin(), axes.rend()); }

/// Splits the kept axes of a contraction: in both operands, and in one.
static void giveContraction(AxisNamer &namer, const KernelDag &dag, const Node &node, StringRef m, StringRef n, StringRef k) {
  const Node &lhs = dag.nodes[node.operands[0]], &rhs = dag.nodes[node.operands[1]];
  SmallVector<unsigned> both, left, right;
  for (unsigned axis : node.axes) {
    bool inLeft = llvm::is_contained(lhs.axes, axis), inRight = llvm::is_contained(rhs.axes, axis);
    (inLeft && inRight ? both : inLeft ? left : right).push_back(axis);
  }
  namer.give(reversed(node.over), {k});
  namer.give(reversed(both), {"h", "b"});
  if (both.empty())
    namer.give(reversed(left), {m, "b", "a"});
  else
    namer.give(reversed(left), {m, "g"}); // rows, then the heads that share a batch
  namer.give(reversed(right), {n});
}

SmallVector<std::string> nameAxes(const PlannedKernel &kernel) {
  const KernelDag &dag = kernel.dag;
  AxisNamer namer(dag.axes.size());
  std::vector<bool> feeds(dag.nodes.size());
  for (unsigned id = dag.nodes.size(); id-- > 0;) {
    const Node &node = dag.nodes[id];
    for (unsigned operand : node.operands)
      feeds[operand] = feeds[operand] || feeds[id] || node.kind == NodeKind::Contract || node.kind == NodeKind::Reduce;
    if (node.kind != NodeKind::Contract)
      continue;
    if (kernel.kind != KernelClass::Streaming)
      giveContraction(namer, dag, node, "m", "n", "k");
    else if (!feeds[id])
      giveContraction(namer, dag, node, "m", "d", "n");
    else
      giveContraction(namer, dag, node, "m", "n", "k");
  }
  for (const Store &store : dag.stores)
    namer.give(reversed(store.over), {"n", "m", "h", "b", "a"});
  for (const Node &node : dag.nodes)
    namer.give(reversed(node.over), {"n", "k", "r"});
  for (const Node &node : dag.nodes)
    namer.give(reversed(node.axes), {"x"});
  return namer.names;
}

} // namespace emmy
