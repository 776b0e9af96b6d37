// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Addresses of a kernel's accesses, and the merging of axes.
#include "KernelView.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace emmy {

int64_t ViewAxis::getSize(int64_t unknown) const {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant ? constant.getValue() : unknown;
}

unsigned KernelView::find(StringAttr name) const {
  for (auto [i, axis] : llvm::enumerate(kernel.getAxes().getAsRange<fuse::AxisAttr>()))
    if (axis.getName() == name) {
      unsigned at = i;
      while (axes[at].into)
        at = *axes[at].into;
      return at;
    }
  llvm_unreachable("the verifier knows the axes of every value");
}

SmallVector<unsigned> KernelView::axesOf(ArrayRef<StringAttr> names) const {
  SmallVector<unsigned> found;
  for (StringAttr name : names)
    if (unsigned at = find(name); !llvm::is_contained(found, at))
      found.push_back(at);
  llvm::sort(found);
  return found;
}

SmallVector<unsigned> KernelView::axesOf(Value value) const { return axesOf(cast<fuse::ValueType>(value.getType()).getAxes()); }

sched::TmaPlan KernelView::planTma(Operation *access, ArrayRef<int64_t> blocks) const {
  const Address &address = addressOf(access);
  auto tensor = cast<RankedTensorType>(kernel.getBody().getArgument(address.argument).getType());
  // Axes that the access does not vary over are not of its tile.
  auto store = dyn_cast<fuse::StoreOp>(access);
  SmallVector<unsigned> over =
      store ? axesOf(llvm::to_vector(store.getOver().getAsRange<StringAttr>())) : axesOf(access->getResult(0));
  SmallVector<sched::AddressDim> dims;
  for (auto [i, axis] : llvm::enumerate(axes))
    dims.push_back({axis.size, llvm::is_contained(over, i) ? blocks[i] : 1});
  sched::TmaPlan plan;
  if (!address.guards.empty()) {
    plan.whyNot = "it is guarded";
    return plan;
  }
  return sched::planTma(address.offset, dims, tensor.getElementType().getIntOrFloatBitWidth() / 8, address.align);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Dimensions of an access' map in terms of the view: its axes by position, then its indices.
static SmallVector<AffineExpr> dimsOf(const KernelView &view, ArrayRef<StringAttr> over, unsigned indices) {
  MLIRContext *context = view.kernel.getContext();
  SmallVector<AffineExpr> dims;
  for (StringAttr axis : over)
    dims.push_back(getAffineDimExpr(view.find(axis), context));
  for (unsigned i = 0; i < indices; ++i)
    dims.push_back(getAffineDimExpr(view.axes.size() + i, context));
  return dims;
}

static std::optional<Address> addressOf(KernelView &view, Value tensor, AffineMap map, ArrayRef<StringAttr> over, unsigned indices,
                                        bool guarded) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<AffineExpr> sizes = getSizes(type);
  LayoutAttr layout = argument ? view.kernel.getLayout(argument.getArgNumber()) : LayoutAttr();
  if (!argument || (llvm::is_contained(sizes, AffineExpr()) && (!layout || guarded)))
    return std::nullopt;
  MLIRContext *context = tensor.getContext();
  SmallVector<AffineExpr> strides = layout ? llvm::to_vector(layout.getStrides()) : getContiguousStrides(sizes, context);
  Address address;
  address.argument = argument.getArgNumber();
  address.align = layout ? layout.getAlign() : 16;
  address.offset = getAffineConstantExpr(0, context);
  SmallVector<AffineExpr> dims = dimsOf(view, over, indices);
  for (auto [index, stride, size] : llvm::zip(map.getResults(), strides, sizes)) {
    AffineExpr at = index.replaceDims(dims);
    address.offset = address.offset + at * stride;
    if (guarded) {
      address.guards.push_back(at);
      address.limits.push_back(size);
    }
  }
  if (std::optional<sched::AddressSum> sum = sched::splitAddress(address.offset))
    address.offset = sum->toExpr();
  return address;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// True if `names` has all or none of the two axes.
static bool hasBothOrNone(const KernelView &view, ArrayRef<StringAttr> names, unsigned outer, unsigned inner) {
  SmallVector<unsigned> axes = view.axesOf(names);
  return llvm::is_contained(axes, outer) == llvm::is_contained(axes, inner);
}

static bool canMerge(const KernelView &view, unsigned outer, unsigned inner) {
  // 1. Every access walks the outer axis in steps of the whole inner one.
  for (auto &[op, address] : view.addresses) {
    std::optional<sched::AddressSum> sum = sched::splitAddress(address.offset);
    if (!sum || sum->isNested(outer) || sum->isNested(inner))
      return false;
    AffineExpr a = sum->coefficientOf(outer), b = sum->coefficientOf(inner);
    if (static_cast<bool>(a) != static_cast<bool>(b) || (a && a != b * view.axes[inner].size))
      return false;
    for (AffineExpr guard : address.guards)
      if (guard.isFunctionOfDim(outer) || guard.isFunctionOfDim(inner))
        return false;
    if (auto store = dyn_cast<fuse::StoreOp>(op);
        store && !hasBothOrNone(view, llvm::to_vector(store.getOver().getAsRange<StringAttr>()), outer, inner))
      return false;
  }
  // 2. Every value varies over both or neither, no reduction or fold takes one alone, and no index is asked for.
  WalkResult walk = view.kernel.getBody().walk([&](Operation *op) -> WalkResult {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<fuse::ValueType>(result.getType()); type && !hasBothOrNone(view, type.getAxes(), outer, inner))
        return WalkResult::interrupt();
    if (auto over = op->getAttrOfType<ArrayAttr>("over");
        over && !hasBothOrNone(view, llvm::to_vector(over.getAsRange<StringAttr>()), outer, inner))
      return WalkResult::interrupt();
    if (auto fold = dyn_cast<fuse::FoldOp>(op); fold && !hasBothOrNone(view, {fold.getAxisAttr()}, outer, inner))
      return WalkResult::interrupt();
    if (auto index = dyn_cast<fuse::IndexOp>(op))
      for (unsigned axis : view.axesOf(index.getResult()))
        if (axis == outer || axis == inner)
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return !walk.wasInterrupted();
}

static void merge(KernelView &view, unsigned outer, unsigned inner) {
  MLIRContext *context = view.kernel.getContext();
  ViewAxis &kept = view.axes[inner], &gone = view.axes[outer];
  kept.name = StringAttr::get(context, gone.name.getValue() + "_" + kept.name.getValue());
  kept.size = gone.size * kept.size;
  gone.into = inner;
  // The outer axis' share of the address is what the inner one reaches past its old end.
  for (auto &[op, address] : view.addresses)
    address.offset = address.offset.replace(getAffineDimExpr(outer, context), getAffineConstantExpr(0, context));
}

/// Merges the first pair of axes that can be; false if none can.
static bool mergeOnce(KernelView &view) {
  for (unsigned inner = 0; inner < view.axes.size(); ++inner)
    for (unsigned outer = 0; outer < view.axes.size(); ++outer)
      if (outer != inner && !view.axes[outer].into && !view.axes[inner].into && canMerge(view, outer, inner)) {
        merge(view, outer, inner);
        return true;
      }
  return false;
}

std::optional<KernelView> viewKernel(fuse::KernelOp kernel) {
  KernelView view;
  view.kernel = kernel;
  for (Type type : kernel.getBody().getArgumentTypes())
    if (!cast<RankedTensorType>(type).getElementType().isIntOrFloat())
      return std::nullopt;
  for (auto axis : kernel.getAxes().getAsRange<fuse::AxisAttr>())
    view.axes.push_back({axis.getName(), axis.getSize(), std::nullopt});
  WalkResult walk = kernel.getBody().walk([&](Operation *op) -> WalkResult {
    std::optional<Address> address;
    if (auto load = dyn_cast<fuse::LoadOp>(op))
      address = addressOf(view, load.getSource(), load.getMap(), load.getType().getAxes(), load.getIndices().size(), load.getGuarded());
    else if (auto store = dyn_cast<fuse::StoreOp>(op))
      address = addressOf(view, store.getTarget(), store.getMap(), llvm::to_vector(store.getOver().getAsRange<StringAttr>()),
                          store.getIndices().size(), store.getGuarded());
    else
      return WalkResult::advance();
    if (!address)
      return WalkResult::interrupt();
    view.addresses.insert({op, *address});
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return std::nullopt;
  while (mergeOnce(view))
    ;
  return view;
}

} // namespace emmy
