// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tree is a Patricia trie on the bits of a cluster's number, lowest first: merging two of them takes the time of
// what differs. A node that only one clock holds is changed in place.
#include "VectorClock.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace emmy::simulator {

struct VectorClock::Node {
  /// Of a leaf: its cluster. Of a branch: the bits below `bit` that its clusters share.
  uint32_t prefix = 0;
  /// The bit that parts a branch's children; 0 in a leaf.
  uint32_t bit = 0;
  NodeRef zero, one;
  std::vector<uint32_t> values;

  bool isLeaf() const { return bit == 0; }
  bool covers(uint32_t cluster) const { return isLeaf() ? cluster == prefix : (cluster & (bit - 1)) == prefix; }
  NodeRef &child(uint32_t cluster) { return cluster & bit ? one : zero; }
};

using Node = VectorClock::Node;
using NodeRef = VectorClock::NodeRef;

static const Node *findLeaf(const Node *node, uint32_t cluster) {
  while (node && !node->isLeaf())
    node = (cluster & node->bit ? node->one : node->zero).get();
  return node && node->prefix == cluster ? node : nullptr;
}

/// The node itself if nobody else holds it, else a copy.
static Node &own(NodeRef &node) {
  if (node.use_count() > 1)
    node = std::make_shared<Node>(*node);
  return *node;
}

/// A branch over two nodes without a common cluster.
static NodeRef branch(NodeRef a, NodeRef b) {
  const uint32_t differing = a->prefix ^ b->prefix;
  auto node = std::make_shared<Node>();
  node->bit = differing & -differing;
  node->prefix = a->prefix & (node->bit - 1);
  const bool swapped = a->prefix & node->bit;
  node->zero = swapped ? std::move(b) : std::move(a);
  node->one = swapped ? std::move(a) : std::move(b);
  return node;
}

/// The leaf of `cluster` below `node`, which is made if there is none; only this clock holds it.
static Node &ownLeaf(NodeRef &node, uint32_t cluster) {
  if (node && node->covers(cluster)) {
    Node &mine = own(node);
    return mine.isLeaf() ? mine : ownLeaf(mine.child(cluster), cluster);
  }
  auto leaf = std::make_shared<Node>();
  leaf->prefix = cluster;
  node = node ? branch(node, leaf) : leaf;
  return *leaf;
}

uint32_t VectorClock::get(Agent agent) const {
  const Node *leaf = findLeaf(root.get(), agent.cluster);
  return leaf && agent.slot < leaf->values.size() ? leaf->values[agent.slot] : 0;
}

void VectorClock::set(Agent agent, uint32_t value) {
  std::vector<uint32_t> &values = ownLeaf(root, agent.cluster).values;
  if (agent.slot >= values.size())
    values.resize(agent.slot + 1, 0);
  values[agent.slot] = value;
}

void VectorClock::raise(Agent agent, uint32_t value) {
  if (get(agent) < value)
    set(agent, value);
}

static void joinLeaf(NodeRef &mine, const NodeRef &other) {
  const std::vector<uint32_t> &theirs = other->values;
  const auto isNews = [&](size_t i) { return theirs[i] > (i < mine->values.size() ? mine->values[i] : 0); };
  size_t i = 0;
  while (i < theirs.size() && !isNews(i))
    ++i;
  if (i == theirs.size())
    return;
  std::vector<uint32_t> &values = own(mine).values;
  values.resize(std::max(values.size(), theirs.size()), 0);
  for (; i < theirs.size(); ++i)
    values[i] = std::max(values[i], theirs[i]);
}

static void joinNode(NodeRef &mine, const NodeRef &other) {
  if (mine == other || !other)
    return;
  if (!mine)
    mine = other;
  else if (mine->bit == other->bit && mine->prefix == other->prefix) {
    if (mine->isLeaf())
      return joinLeaf(mine, other);
    // A child that learns nothing must not make a copy of its parents.
    NodeRef zero = mine->zero, one = mine->one;
    const Node *oldZero = zero.get(), *oldOne = one.get();
    if (mine.use_count() == 1)
      mine->zero = mine->one = nullptr;
    joinNode(zero, other->zero);
    joinNode(one, other->one);
    if (mine.use_count() == 1 || zero.get() != oldZero || one.get() != oldOne) {
      Node &node = own(mine);
      node.zero = std::move(zero);
      node.one = std::move(one);
    }
  } else if (!mine->isLeaf() && mine->covers(other->prefix) && (other->isLeaf() || other->bit > mine->bit)) {
    NodeRef child = mine->child(other->prefix);
    const Node *old = child.get();
    if (mine.use_count() == 1)
      mine->child(other->prefix) = nullptr;
    joinNode(child, other);
    if (mine.use_count() == 1 || child.get() != old)
      own(mine).child(other->prefix) = std::move(child);
  } else if (!other->isLeaf() && other->covers(mine->prefix) && (mine->isLeaf() || mine->bit > other->bit)) {
    auto node = std::make_shared<Node>(*other);
    NodeRef &child = node->child(mine->prefix);
    const NodeRef theirs = std::exchange(child, std::move(mine));
    joinNode(child, theirs);
    mine = std::move(node);
  } else {
    mine = branch(std::move(mine), other);
  }
}

void VectorClock::join(const VectorClock &other) {
  launches = std::max(launches, other.launches);
  joinNode(root, other.root);
}

static void meetNode(NodeRef &mine, const NodeRef &other) {
  if (!mine || mine == other)
    return;
  if (mine->isLeaf()) {
    const Node *theirs = findLeaf(other.get(), mine->prefix);
    if (!theirs) {
      mine = nullptr;
      return;
    }
    std::vector<uint32_t> &values = own(mine).values;
    values.resize(std::min(values.size(), theirs->values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::min(values[i], theirs->values[i]);
    return;
  }
  const bool isAligned = other && mine->bit == other->bit && mine->prefix == other->prefix;
  Node &node = own(mine);
  meetNode(node.zero, isAligned ? other->zero : other);
  meetNode(node.one, isAligned ? other->one : other);
  if (!node.zero || !node.one) {
    NodeRef left = node.zero ? node.zero : node.one;
    mine = std::move(left);
  }
}

void VectorClock::meet(const VectorClock &other) {
  launches = std::min(launches, other.launches);
  meetNode(root, other.root);
}

} // namespace emmy::simulator
