// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Programs from kernels, op by op.
#include "ProgramBuilder.h"

using namespace mlir;
using emmy::sched::AxisAttr;
using emmy::sched::Level;

namespace emmy {

ProgramBuilder::ProgramBuilder(const KernelView &view, ArrayRef<AxisCut> cuts, Attribute schedule)
    : view(view), builder(view.kernel.getContext()), loc(view.kernel.getLoc()) {
  fuse::KernelOp kernel = view.kernel;
  SmallVector<Attribute> axes;
  for (auto [axis, cut] : llvm::zip(view.axes, cuts))
    if (!axis.into)
      axes.push_back(AxisAttr::get(builder.getContext(), axis.name, axis.size, cut.block, cut.kind));
  builder.setInsertionPoint(kernel);
  program = sched::ProgramOp::create(builder, loc, kernel.getSymName(), kernel.getNumInputs(), builder.getArrayAttr(axes), schedule,
                                     kernel.getArgAttrsAttr());
  Block &block = program.getBody().emplaceBlock();
  for (BlockArgument argument : kernel.getBody().getArguments())
    block.addArgument(argument.getType(), argument.getLoc());
  builder.setInsertionPointToEnd(&block);
}

sched::TileType ProgramBuilder::tileType(ArrayRef<unsigned> axes, Type element, Level level) {
  SmallVector<StringAttr> names;
  for (unsigned axis : axes)
    names.push_back(view.axes[axis].name);
  return program.getTile(names, element, level);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static AffineMapAttr makeMap(MLIRContext *context, unsigned dims, ArrayRef<AffineExpr> exprs) {
  unsigned symbols = 0;
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        symbols = std::max(symbols, symbol.getPosition() + 1);
    });
  return AffineMapAttr::get(AffineMap::get(dims, symbols, exprs, context));
}

/// Replaces positions in the view by positions in `axes`; index values follow.
static SmallVector<AffineExpr> localDims(const KernelView &view, ArrayRef<unsigned> axes, unsigned indices, MLIRContext *context) {
  SmallVector<AffineExpr> dims(view.axes.size(), getAffineConstantExpr(0, context));
  for (auto [i, axis] : llvm::enumerate(axes))
    dims[axis] = getAffineDimExpr(i, context);
  for (unsigned i = 0; i < indices; ++i)
    dims.push_back(getAffineDimExpr(axes.size() + i, context));
  return dims;
}

static ArrayAttr axisNames(const KernelView &view, ArrayRef<unsigned> axes, OpBuilder &builder) {
  SmallVector<Attribute> names;
  for (unsigned axis : axes)
    names.push_back(view.axes[axis].name);
  return builder.getArrayAttr(names);
}

ProgramBuilder::Access ProgramBuilder::access(Operation *op, ArrayRef<unsigned> axes, ValueRange indices) {
  const Address &address = view.addressOf(op);
  Access made;
  for (Value index : indices)
    made.indices.push_back(tileOf(index));
  made.over = axisNames(view, axes, builder);
  SmallVector<AffineExpr> dims = localDims(view, axes, indices.size(), builder.getContext());
  unsigned count = axes.size() + indices.size();
  made.map = makeMap(builder.getContext(), count, address.offset.replaceDims(dims));
  if (address.guards.empty())
    return made;
  SmallVector<AffineExpr> guards;
  for (AffineExpr guard : address.guards)
    guards.push_back(guard.replaceDims(dims));
  made.guard = makeMap(builder.getContext(), count, guards);
  made.limits = DimsAttr::get(builder.getContext(), address.limits);
  return made;
}

Value ProgramBuilder::stage(fuse::LoadOp load, sched::Via via, bool multicast) {
  SmallVector<unsigned> axes = view.axesOf(load.getResult());
  Access at = access(load, axes, load.getIndices());
  return sched::StageOp::create(builder, load.getLoc(), tileType(axes, load.getType().getElementType(), Level::shared),
                                program.getBody().getArgument(view.addressOf(load).argument), at.indices, at.over, at.map, at.guard,
                                at.limits, sched::ViaAttr::get(builder.getContext(), via),
                                multicast ? builder.getUnitAttr() : UnitAttr());
}

void ProgramBuilder::write(fuse::StoreOp store, sched::Via via) {
  SmallVector<StringAttr> over = llvm::to_vector(store.getOver().getAsRange<StringAttr>());
  Value tile = tileOf(store.getValue());
  Access at = access(store, view.axesOf(over), store.getIndices());
  sched::WriteOp::create(builder, store.getLoc(), tile, program.getBody().getArgument(view.addressOf(store).argument), at.indices,
                         at.over, at.map, at.guard, at.limits, sched::ViaAttr::get(builder.getContext(), via));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value ProgramBuilder::tileOf(Value value) {
  if (Value known = tiles.lookup(value))
    return known;
  Value tile = emit(value.getDefiningOp());
  tiles[value] = tile;
  return tile;
}

Value ProgramBuilder::emit(Operation *op) {
  Value value = op->getResult(0);
  SmallVector<unsigned> axes = view.axesOf(value);
  sched::TileType type = tileType(axes, cast<fuse::ValueType>(value.getType()).getElementType());
  if (auto load = dyn_cast<fuse::LoadOp>(op)) {
    Access at = access(load, axes, load.getIndices());
    return sched::ReadOp::create(builder, op->getLoc(), type, program.getBody().getArgument(view.addressOf(op).argument), at.indices,
                                 at.over, at.map, at.guard, at.limits);
  }
  if (auto index = dyn_cast<fuse::IndexOp>(op)) {
    SmallVector<AffineExpr> dims;
    for (StringAttr name : index.getType().getAxes())
      dims.push_back(getAffineDimExpr(llvm::find(axes, view.find(name)) - axes.begin(), builder.getContext()));
    return sched::IndexOp::create(builder, op->getLoc(), type, axisNames(view, axes, builder),
                                  makeMap(builder.getContext(), axes.size(), index.getMap().getResult(0).replaceDims(dims)));
  }
  if (auto reduce = dyn_cast<fuse::ReduceOp>(op)) {
    SmallVector<unsigned> over = view.axesOf(llvm::to_vector(reduce.getOver().getAsRange<StringAttr>()));
    auto kind = *sched::symbolizeCombiner(fuse::stringifyCombiner(reduce.getKind()));
    Value input = tileOf(reduce.getInput());
    return sched::ReduceOp::create(builder, op->getLoc(), type, kind, input, axisNames(view, over, builder));
  }
  auto map = cast<fuse::MapOp>(op);
  SmallVector<Value> inputs;
  for (Value input : map.getInputs())
    inputs.push_back(tileOf(input));
  auto made = sched::MapOp::create(builder, op->getLoc(), type, inputs);
  IRMapping mapping;
  map.getBody().cloneInto(&made.getBody(), mapping);
  Operation *end = made.getBody().front().getTerminator();
  OpBuilder inner(end);
  sched::YieldOp::create(inner, end->getLoc(), end->getOperands());
  end->erase();
  return made;
}

Value ProgramBuilder::share(Value value) {
  Value tile = tileOf(value);
  auto type = cast<sched::TileType>(tile.getType());
  auto shared = sched::TileType::get(type.getContext(), type.getAxes(), type.getSizes(), type.getElementType(), Level::shared);
  return sched::ShareOp::create(builder, value.getLoc(), shared, tile);
}

Value ProgramBuilder::fill(TypedAttr number, ArrayRef<unsigned> axes) {
  return sched::FillOp::create(builder, loc, tileType(axes, number.getType()), number);
}

sched::PipelineOp ProgramBuilder::pipeline(unsigned axis, ValueRange inits, function_ref<SmallVector<Value>(ValueRange)> body,
                                           sched::RangeAttr range) {
  auto made = sched::PipelineOp::create(builder, loc, inits.getTypes(), view.axes[axis].name, inits, range);
  OpBuilder::InsertionGuard guard(builder);
  llvm::DenseMap<Value, Value> outside = tiles;
  SmallVector<Location> locs(inits.size(), loc);
  Block *block = builder.createBlock(&made.getBody(), {}, inits.getTypes(), locs);
  SmallVector<Value> next = body(block->getArguments());
  sched::YieldOp::create(builder, loc, next);
  tiles = std::move(outside);
  return made;
}

} // namespace emmy
