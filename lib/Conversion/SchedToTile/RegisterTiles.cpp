// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layouts of register tiles, and the ops that only compute.
#include "RegisterTiles.h"
#include "emmy/Support/Elements.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace emmy {

RegisterTiles::RegisterTiles(KernelBuilder &builder, ArrayRef<RegisterDim> dims, int64_t warps)
    : b(builder), dims(dims), warps(warps) {}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// A dimension without an axis is part of every tile.
SmallVector<unsigned> RegisterTiles::dimsOf(ArrayRef<StringAttr> axes) {
  SmallVector<unsigned> out;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (!dim.axis || llvm::is_contained(axes, dim.axis))
      out.push_back(i);
  return out;
}

/// The layout restricted to `kept`: vectors first, then threads from the last dimension outwards, then the rest of the registers.
tile::FragType RegisterTiles::fragType(ArrayRef<unsigned> kept, Type element) {
  int64_t rank = kept.size();
  SmallVector<int64_t> shape, reg, lane, warp;
  for (unsigned dim : kept)
    shape.push_back(dims[dim].block);
  auto addMode = [&](SmallVectorImpl<int64_t> &modes, int64_t size, unsigned dim, int64_t stride) {
    modes.push_back(size);
    for (int64_t i = 0; i < rank; ++i)
      modes.push_back(kept[i] == dim ? stride : 0);
  };
  auto isKept = [&](unsigned dim) { return llvm::is_contained(kept, dim); };
  auto addRegisters = [&](int64_t size, unsigned dim, int64_t stride) {
    if (size > 1 && isKept(dim))
      addMode(reg, size, dim, stride);
  };
  unsigned last = dims.size() - 1;
  addRegisters(dims[last].vector, last, 1);
  int64_t lanes = 1, usedWarps = 1;
  for (unsigned i = dims.size(); i-- > 0;) {
    const RegisterDim &dim = dims[i];
    int64_t inLanes = std::min(dim.threads, 32 / lanes), inWarps = dim.threads / inLanes;
    if (inLanes > 1)
      addMode(lane, inLanes, i, isKept(i) ? dim.vector : 0);
    if (inWarps > 1)
      addMode(warp, inWarps, i, isKept(i) ? dim.vector * inLanes : 0);
    lanes *= inLanes;
    usedWarps *= inWarps;
  }
  if (lanes < 32)
    addMode(lane, 32 / lanes, ~0u, 0);
  if (usedWarps < warps)
    addMode(warp, warps / usedWarps, ~0u, 0);
  for (unsigned i = dims.size(); i-- > 0;)
    addRegisters(dims[i].block / (dims[i].threads * dims[i].vector), i, dims[i].threads * dims[i].vector);
  return tile::FragType::get(b.getContext(), shape, element, tile::LayoutAttr::get(b.getContext(), rank, reg, lane, warp));
}

/// Repeats a fragment over the dimensions of `to` that it lacks.
Value RegisterTiles::widen(Value frag, ArrayRef<unsigned> from, ArrayRef<unsigned> to) {
  SmallVector<unsigned> have(from);
  Type element = cast<tile::FragType>(frag.getType()).getElementType();
  for (auto [position, dim] : llvm::enumerate(to)) {
    if (llvm::is_contained(have, dim))
      continue;
    have.insert(have.begin() + position, dim);
    frag = tile::BroadcastOp::create(b, b.loc, fragType(have, element), frag, position);
  }
  return frag;
}

bool RegisterTiles::isRagged(unsigned dim) {
  if (!dims[dim].axis)
    return false;
  sched::AxisAttr axis = b.axis(b.axisPosition(dims[dim].axis));
  return !axis.getSize().isMultipleOf(axis.getBlock());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult RegisterTiles::emit(Operation *op, const AxisStarts &starts) {
  if (auto read = dyn_cast<sched::ReadOp>(op))
    return emitRead(read, starts);
  if (auto write = dyn_cast<sched::WriteOp>(op))
    return emitWrite(write, starts);
  if (auto pipeline = dyn_cast<sched::PipelineOp>(op))
    return emitPipeline(pipeline, starts);
  if (auto map = dyn_cast<sched::MapOp>(op))
    return emitMap(map), success();
  if (auto reduce = dyn_cast<sched::ReduceOp>(op))
    return emitReduce(reduce, starts), success();
  if (auto index = dyn_cast<sched::IndexOp>(op))
    return emitIndex(index, starts), success();
  if (auto fill = dyn_cast<sched::FillOp>(op)) {
    Value scalar = arith::ConstantOp::create(b, b.loc, cast<TypedAttr>(fill.getValue()));
    set(fill.getResult(), tile::SplatOp::create(b, b.loc, fragType(fill.getType()), scalar));
    return success();
  }
  return op->emitOpError("has no form in registers");
}

Value RegisterTiles::mapFrags(ValueRange inputs, ArrayRef<unsigned> kept, Type element,
                              function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto map = tile::MapOp::create(b, b.loc, TypeRange(fragType(kept, element)), inputs);
  Block &block = map.getBody().emplaceBlock();
  for (Value input : inputs) {
    auto frag = dyn_cast<tile::FragType>(input.getType());
    block.addArgument(frag ? frag.getElementType() : input.getType(), b.loc);
  }
  OpBuilder inside = OpBuilder::atBlockEnd(&block);
  Value result = body(inside, block.getArguments());
  tile::YieldOp::create(inside, b.loc, result);
  return map.getResult(0);
}

void RegisterTiles::emitMap(sched::MapOp op) {
  SmallVector<unsigned> to = dimsOf(op.getType().getAxes());
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(widen(fragOf(input), dimsOf(cast<sched::TileType>(input.getType()).getAxes()), to));
  auto map = tile::MapOp::create(b, b.loc, TypeRange(fragType(to, op.getType().getElementType())), inputs);
  IRMapping mapping;
  op.getBody().cloneInto(&map.getBody(), mapping);
  Operation *yield = map.getBody().front().getTerminator();
  OpBuilder inside(yield);
  tile::YieldOp::create(inside, yield->getLoc(), yield->getOperands());
  yield->erase();
  set(op.getResult(), map.getResult(0));
}

/// Extends to the type of accumulation, makes what lies past the end neutral, then combines one dimension after the other. Shared
/// memory has no bits, so that i1 travels as i32.
void RegisterTiles::emitReduce(sched::ReduceOp op, const AxisStarts &starts) {
  auto input = cast<sched::TileType>(op.getInput().getType());
  SmallVector<unsigned> have = dimsOf(input.getAxes());
  Type result = op.getType().getElementType(), element = result.isInteger(1) ? b.getI32Type() : result;
  SmallVector<Value> inputs{fragOf(op.getInput())}, sizes;
  SmallVector<unsigned> over;
  for (auto axis : op.getOver().getAsRange<StringAttr>())
    for (unsigned dim : have)
      if (dims[dim].axis == axis)
        over.push_back(dim);
  for (unsigned dim : over)
    if (isRagged(dim)) {
      inputs.push_back(coordinate(dim, have, starts));
      inputs.push_back(b.size(b.axis(b.axisPosition(dims[dim].axis)).getSize(), b.getI32Type()));
    }
  Value frag = inputs[0];
  if (inputs.size() > 1 || input.getElementType() != element)
    frag = mapFrags(inputs, have, element, [&](OpBuilder &i, ValueRange e) {
      Value value = extendElement(i, b.loc, e[0], element);
      Value neutral = inputs.size() > 1
                          ? arith::ConstantOp::create(i, b.loc, identityElement(op.getKind(), element)).getResult()
                          : Value();
      for (size_t n = 1; n < e.size(); n += 2) {
        Value inside = arith::CmpIOp::create(i, b.loc, arith::CmpIPredicate::slt, e[n], e[n + 1]);
        value = arith::SelectOp::create(i, b.loc, inside, value, neutral);
      }
      return value;
    });
  llvm::sort(over);
  for (unsigned dim : llvm::reverse(over)) {
    size_t position = llvm::find(have, dim) - have.begin();
    SmallVector<unsigned> rest(have);
    rest.erase(rest.begin() + position);
    tile::FragType type = fragType(rest, element);
    Value scratch;
    auto from = cast<tile::FragType>(frag.getType());
    ArrayRef<int64_t> warpModes = from.getLayout().getWarp();
    for (size_t m = 0; m < warpModes.size(); m += have.size() + 1)
      if (warpModes[m + 1 + position] && !scratch) {
        int64_t elements = warps;
        for (int64_t size : type.getShape())
          elements *= size;
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(&b.getKernel().getBody().front());
        scratch = tile::AllocOp::create(b, b.loc, tile::SharedType::get({elements}, element));
      }
    auto reduce = tile::ReduceOp::create(b, b.loc, type, frag, position, scratch);
    Block &block = reduce.getBody().emplaceBlock();
    block.addArguments({element, element}, {b.loc, b.loc});
    OpBuilder inside = OpBuilder::atBlockEnd(&block);
    Value combined = combineElements(inside, b.loc, op.getKind(), block.getArgument(0), block.getArgument(1));
    tile::YieldOp::create(inside, b.loc, combined);
    frag = reduce.getResult();
    have = rest;
  }
  if (element != result)
    frag = mapFrags({frag}, have, result, [&](OpBuilder &i, ValueRange e) -> Value {
      return arith::TruncIOp::create(i, b.loc, result, e[0]);
    });
  set(op.getResult(), frag);
}

LogicalResult RegisterTiles::emitPipeline(sched::PipelineOp op, const AxisStarts &starts) {
  unsigned position = b.axisPosition(op.getAxisAttr());
  sched::AxisAttr axis = b.axis(position);
  SmallVector<Value> inits;
  for (Value init : op.getInits())
    inits.push_back(fragOf(init));
  Value end = b.size(axis.getSize(), b.getI32Type());
  auto loop = scf::ForOp::create(b, b.loc, b.i32(0), end, b.i32(axis.getBlock()), inits);
  OpBuilder::InsertionGuard guard(b);
  if (inits.empty())
    loop.getBody()->getTerminator()->erase();
  b.setInsertionPointToEnd(loop.getBody());
  AxisStarts inner(starts);
  inner[position] = loop.getInductionVar();
  for (auto [argument, frag] : llvm::zip(op.getBody().front().getArguments(), loop.getRegionIterArgs()))
    set(argument, frag);
  for (Operation &nested : op.getBody().front().without_terminator())
    if (failed(emit(&nested, inner)))
      return failure();
  SmallVector<Value> next;
  for (Value tile : op.getBody().front().getTerminator()->getOperands())
    next.push_back(fragOf(tile));
  scf::YieldOp::create(b, b.loc, next);
  for (auto [result, frag] : llvm::zip(op.getResults(), loop.getResults()))
    set(result, frag);
  return success();
}

} // namespace emmy
