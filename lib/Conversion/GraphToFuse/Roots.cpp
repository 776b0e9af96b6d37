// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The first cut: what must be in memory, before any kernels are merged.
#include "Plan.h"

using namespace mlir;

namespace emmy {

IndexMath getIndexMath(func::FuncOp func) {
  IndexMath math(func.getContext());
  auto symbols = func->getAttrOfType<DictionaryAttr>(kSymbolsAttr);
  if (!symbols)
    if (auto module = func->getParentOfType<ModuleOp>())
      symbols = module->getAttrOfType<DictionaryAttr>(kSymbolsAttr);
  for (NamedAttribute symbol : symbols ? symbols.getValue() : ArrayRef<NamedAttribute>()) {
    unsigned position;
    auto range = dyn_cast<ArrayAttr>(symbol.getValue());
    if (symbol.getName().strref().drop_front().getAsInteger(10, position) || !range || range.size() < 2)
      continue;
    auto low = dyn_cast<IntegerAttr>(range[0]), high = dyn_cast<IntegerAttr>(range[1]);
    if (low && high)
      math.setSymbolRange(position, low.getInt(), high.getInt());
  }
  return math;
}

/// Whether every element of the map's result comes from one of `input`'s and is as many as they.
static bool keepsShape(graph::MapOp map, Value input) { return sizesOf(map.getResult()) == sizesOf(input); }

/// Whether `views`, in order from `value`, leave addresses without quotients and remainders.
static bool arePlain(const IndexMath &math, Value value, ArrayRef<Operation *> views) {
  IndexMath local = math;
  SmallVector<AffineExpr> index;
  for (auto [i, size] : llvm::enumerate(sizesOf(value))) {
    local.addDim(size);
    index.push_back(getAffineDimExpr(i, math.getContext()));
  }
  for (Operation *view : views)
    index = pushIndex(local, view, index);
  return isPlain(index);
}

Value extendViews(const IndexMath &math, Value value) {
  SmallVector<Operation *> views;
  Value last = value;
  while (last.hasOneUse() && isa<graph::ReshapeOp, graph::PermuteOp>(*last.getUsers().begin())) {
    views.push_back(*last.getUsers().begin());
    if (!arePlain(math, value, views))
      break;
    last = views.back()->getResult(0);
  }
  return last;
}

Value extendEpilogue(const IndexMath &math, Value anchor, const llvm::SetVector<Value> &materialised,
                     const llvm::DenseSet<Operation *> &taken) {
  Value at = anchor, last = anchor, made = anchor; // `made` is what the views follow
  SmallVector<Operation *> views;
  while (at.hasOneUse() && (at == anchor || !materialised.contains(at))) {
    Operation *user = *at.getUsers().begin();
    if (auto map = dyn_cast<graph::MapOp>(user)) {
      if (!keepsShape(map, at) || taken.contains(map))
        break;
      views.clear();
      made = map.getResult();
    } else if (isa<graph::ReshapeOp, graph::PermuteOp>(user)) {
      // A view belongs to the store while addresses stay plain: heads joined are addressing, one dimension cut in two is not.
      views.push_back(user);
      if (!arePlain(math, made, views))
        break;
    } else {
      break;
    }
    at = user->getResult(0);
    if (views.empty() || isa<graph::ContractOp>(anchor.getDefiningOp()) || materialised.contains(at))
      last = at;
  }
  return last;
}

} // namespace emmy
