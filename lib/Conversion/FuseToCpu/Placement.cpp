// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Choice of places; Placement.h has the rule.
#include "Placement.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace emmy::fuse {

static ArrayRef<StringAttr> axesOf(Value value) { return cast<ValueType>(value.getType()).getAxes(); }

static SmallVector<StringAttr> toAxes(ArrayAttr attr) { return llvm::to_vector(attr.getAsRange<StringAttr>()); }

static Loop makeLoop(StringAttr axis, const void *owner, unsigned part = 0) { return {axis, owner, part, FoldOp()}; }

/// Loops that `op` must stay inside: those of its fold's block loop and around it.
static size_t getFloor(Operation *op, const Chain &chain) {
  auto fold = dyn_cast<FoldOp>(op->getParentOp());
  if (!fold)
    return 0;
  for (size_t i = chain.size(); i-- > 0;)
    if (chain[i].block == fold)
      return i + 1;
  llvm_unreachable("a value is demanded outside its fold");
}

/// The shortest part of `chain` that binds all `axes`.
static Chain getBinding(Operation *op, const Chain &chain, ArrayRef<StringAttr> axes) {
  size_t length = getFloor(op, chain);
  for (size_t i = length; i < chain.size(); ++i)
    if (!chain[i].block && llvm::is_contained(axes, chain[i].axis))
      length = i + 1;
  return Chain(chain.begin(), chain.begin() + length);
}

/// True if `chain`, as given by getBinding, computes some element more than once.
static bool isRedundant(Operation *op, const Chain &chain, ArrayRef<StringAttr> axes) {
  return llvm::any_of(ArrayRef(chain).drop_front(getFloor(op, chain)),
                      [&](const Loop &loop) { return !loop.block && !llvm::is_contained(axes, loop.axis); });
}

static Chain getCommonPart(ArrayRef<Chain> chains) {
  Chain common = chains.front();
  for (const Chain &chain : chains.drop_front()) {
    size_t length = 0;
    while (length < std::min(common.size(), chain.size()) && common[length] == chain[length])
      ++length;
    common.truncate(length);
  }
  return common;
}

/// The part of the common loops that ranges over `axes` only.
static Chain getPlace(Operation *op, ArrayRef<Chain> chains, ArrayRef<StringAttr> axes) {
  Chain common = getCommonPart(chains);
  size_t length = getFloor(op, common);
  while (length < common.size() && !common[length].block && llvm::is_contained(axes, common[length].axis))
    ++length;
  common.truncate(length);
  return common;
}

static SmallVector<StringAttr> getUnbound(ArrayRef<StringAttr> axes, const Chain &chain) {
  return llvm::filter_to_vector(axes, [&](StringAttr axis) {
    return llvm::none_of(chain, [&](const Loop &loop) { return loop.binds(axis); });
  });
}

static Chain extend(Chain chain, ArrayRef<StringAttr> axes, const void *owner, unsigned part = 0) {
  for (StringAttr axis : axes)
    chain.push_back(makeLoop(axis, owner, part));
  return chain;
}

Placement::Placement(KernelOp kernel) : kernel(kernel) {
  buildStoreTree();
  demandStores(stores, {});
  placeBlock(kernel.getBody().front());
}

void Placement::buildStoreTree() {
  llvm::SmallPtrSet<void *, 8> written;
  for (auto store : kernel.getBody().front().getOps<StoreOp>()) {
    // A second store to a tensor may overwrite elements of the first, so it starts a nest of its own.
    bool mayMerge = written.insert(store.getTarget().getAsOpaquePointer()).second;
    StoreNode *node = &stores;
    for (auto axis : store.getOver().getAsRange<StringAttr>()) {
      auto same = [&](StoreNode::Item &item) { return item.loop && item.loop->axis == axis; };
      auto it = mayMerge ? llvm::find_if(node->items, same) : node->items.end();
      if (it == node->items.end()) {
        StoreNode::Item item;
        item.loop = std::make_unique<StoreNode>();
        item.loop->axis = axis;
        it = node->items.insert(node->items.end(), std::move(item));
        mayMerge = false;
      }
      node = it->loop.get();
    }
    StoreNode::Item leaf;
    leaf.store = store;
    node->items.push_back(std::move(leaf));
  }
}

void Placement::demandStores(const StoreNode &node, const Chain &chain) {
  for (const StoreNode::Item &item : node.items) {
    if (item.loop) {
      Chain inner = chain;
      inner.push_back(makeLoop(item.loop->axis, item.loop.get()));
      demandStores(*item.loop, inner);
      continue;
    }
    StoreOp store = item.store;
    demand(store.getValue(), chain);
    for (Value index : store.getIndices())
      demand(index, chain);
  }
}

void Placement::demand(Value value, const Chain &chain) {
  SmallVector<Chain> &chains = demands[value];
  if (!llvm::is_contained(chains, chain))
    chains.push_back(chain);
}

void Placement::placeBlock(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    if (auto fold = dyn_cast<FoldOp>(op)) {
      placeFold(fold);
      continue;
    }
    if (op.getNumResults() != 1 || demands[op.getResult(0)].empty())
      continue;
    SmallVector<Chain> chains = demands[op.getResult(0)];
    if (isa<ReduceOp, ContractOp>(op))
      placeAccumulation(&op, chains);
    else
      placeInline(&op, chains);
  }
}

void Placement::placeInline(Operation *op, ArrayRef<Chain> chains) {
  ArrayRef<StringAttr> axes = axesOf(op->getResult(0));
  SmallVector<Chain> bindings;
  bool redundant = false;
  for (const Chain &chain : chains) {
    Chain binding = getBinding(op, chain, axes);
    redundant |= isRedundant(op, binding, axes);
    if (!llvm::is_contained(bindings, binding))
      bindings.push_back(binding);
  }
  if (isWorthBuffer(op, bindings, redundant)) {
    Chain place = getPlace(op, bindings, axes);
    SmallVector<StringAttr> rest = getUnbound(axes, place);
    places[op] = {place.size(), rest, {}, {}};
    bindings = {extend(place, rest, op)};
  }
  for (Value operand : op->getOperands())
    if (isa<ValueType>(operand.getType()))
      for (const Chain &binding : bindings)
        demand(operand, binding);
}

bool Placement::isWorthBuffer(Operation *op, ArrayRef<Chain> chains, bool redundant) {
  unsigned cost = getCost(op->getResult(0));
  if (!isa<MapOp>(op) || !((redundant && cost >= 4) || (chains.size() > 1 && cost >= 8)))
    return false;
  ArrayRef<StringAttr> axes = axesOf(op->getResult(0));
  int64_t elements = 1;
  unsigned symbolic = 0;
  for (StringAttr axis : getUnbound(axes, getPlace(op, chains, axes))) {
    auto size = dyn_cast<AffineConstantExpr>(kernel.getAxis(axis).getSize());
    symbolic += !size;
    elements *= size ? std::clamp<int64_t>(size.getValue(), 1, 1 << 20) : 1;
  }
  return elements <= (1 << 20) && symbolic <= 1; // a larger buffer would cost more than the work it saves
}

/// The axis of the result along which all reads are contiguous; null where the reduced axis does as well.
static StringAttr chooseVectorAxis(KernelOp kernel, Operation *op, StringAttr reduced) {
  auto fits = [&](StringAttr axis) {
    return llvm::all_of(op->getOperands(), [&](Value v) { return getStride(kernel, v, axis) != Stride::Other; });
  };
  if (fits(reduced))
    return {};
  for (StringAttr axis : llvm::reverse(axesOf(op->getResult(0))))
    if (fits(axis))
      return axis;
  return {};
}

void Placement::placeAccumulation(Operation *op, ArrayRef<Chain> chains) {
  ArrayRef<StringAttr> axes = axesOf(op->getResult(0));
  SmallVector<StringAttr> order = toAxes(op->getAttrOfType<ArrayAttr>("over"));
  auto moves = [&](StringAttr axis, Stride stride) {
    return llvm::any_of(op->getOperands(), [&](Value v) { return getStride(kernel, v, axis) == stride; });
  };
  llvm::stable_sort(order, [&](StringAttr a, StringAttr b) { return moves(a, Stride::Other) > moves(b, Stride::Other); });
  Place place;
  place.order = order;
  place.vector = order.empty() ? StringAttr() : chooseVectorAxis(kernel, op, order.back());
  SmallVector<StringAttr> outer = llvm::filter_to_vector(axes, [&](StringAttr axis) { return axis != place.vector; });
  Chain chain = getPlace(op, chains, outer);
  if (place.vector && !llvm::is_contained(getUnbound(axes, chain), place.vector))
    place.vector = {}; // a fold around it binds the axis already
  place.depth = chain.size();
  place.rest = getUnbound(axes, chain);
  places[op] = place;
  SmallVector<StringAttr> loops = llvm::filter_to_vector(place.rest, [&](StringAttr axis) { return axis != place.vector; });
  chain = extend(extend(chain, loops, op), order, op);
  if (place.vector)
    chain.push_back(makeLoop(place.vector, op));
  for (Value operand : op->getOperands())
    demand(operand, chain);
}

SmallVector<StringAttr> Placement::getFoldLoops(FoldOp fold) const {
  return llvm::filter_to_vector(lookup(fold)->rest, [&](StringAttr axis) {
    return llvm::all_of(fold.getResults(), [&](Value result) { return llvm::is_contained(axesOf(result), axis); });
  });
}

void Placement::placeFold(FoldOp fold) {
  SmallVector<Chain> chains;
  SmallVector<StringAttr> shared, all;
  for (Value result : fold.getResults()) {
    llvm::append_range(chains, demands[result]);
    llvm::append_range(all, axesOf(result));
  }
  if (chains.empty())
    return;
  for (auto axis : kernel.orderAxes(all))
    if (llvm::all_of(fold.getResults(), [&](Value result) { return llvm::is_contained(axesOf(result), axis); }))
      shared.push_back(axis);
  Chain chain = getPlace(fold, chains, shared);
  places[fold] = {chain.size(), getUnbound(kernel.orderAxes(all), chain), {}, {}};
  chain = extend(chain, getFoldLoops(fold), fold);
  Chain block = chain;
  block.push_back({fold.getAxisAttr(), fold.getOperation(), 0, fold});
  Operation *yield = fold.getBody().front().getTerminator();
  for (auto [i, init, next] : llvm::enumerate(fold.getInits(), yield->getOperands())) {
    demand(init, extend(chain, getUnbound(axesOf(init), chain), fold, i + 1));
    demand(next, extend(block, getUnbound(axesOf(next), block), fold, i + 1));
  }
  placeBlock(fold.getBody().front());
}

} // namespace emmy::fuse
