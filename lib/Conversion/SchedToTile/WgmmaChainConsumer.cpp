// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Consumers. A block's score products are issued before the value products of the block before it, so that the tensor cores work while
// the pointwise part runs: issue scores(i) → rescale the sums in their shadow → issue values(i-1) → pointwise part of scores(i) →
// sums(i-1) are done → round the weights of block i. Weights are rounded only after that wait: the tensor cores read the old ones until
// then, and the new ones must not land in their registers.
#include "WgmmaChain.h"
#include "emmy/Support/Elements.h"
#include "emmy/Tile/Layout.h"

using namespace mlir;
using emmy::tile::FragType;
using emmy::tile::SharedType;

namespace emmy {

constexpr int64_t kSpan = 64;

static tile::LayoutAttr accumulatorLayout(MLIRContext *context, int64_t columns) {
  return tile::toAttr(context, math::wgmmaAccumulator(columns));
}

FragmentPlace WgmmaChain::placeOf(StringAttr column, int64_t columns, Value columnStart) {
  KernelBuilder &k = *builder;
  FragmentPlace place{s.getRowAxis(), column, 64, columns, accumulatorLayout(k.getContext(), columns), starts};
  unsigned row = k.axisPosition(s.getRowAxis());
  place.starts[row] = k.add(starts[row], k.mul(unit, k.i32(64)));
  place.starts[k.axisPosition(column)] = columnStart;
  return place;
}

FragmentPlace WgmmaChain::placeOfBlock(Value index) {
  KernelBuilder &k = *builder;
  return placeOf(s.getFoldAxis(), s.getStep(), k.mul(k.add(firstBlockOfRange, index), k.i32(s.getStep())));
}

//===----------------------------------------------------------------------===//
// Rings and products
//===----------------------------------------------------------------------===//

Value WgmmaChain::acquire(ChainRing &ring, Value use) {
  KernelBuilder &k = *builder;
  auto slot = tile::RingSlotOp::create(k, k.loc, use, ring.stages);
  tile::BarrierWaitOp::create(k, k.loc, ring.full, slot.getStage(), slot.getParity());
  return slot.getStage();
}

void WgmmaChain::release(ChainRing &ring, Value use) {
  KernelBuilder &k = *builder;
  auto slot = tile::RingSlotOp::create(k, k.loc, use, ring.stages);
  tile::BarrierArriveOp::create(k, k.loc, ring.empty, slot.getStage(), Value(), UnitAttr());
}

SmallVector<Value> WgmmaChain::wait(int64_t pending, ValueRange fragments) {
  KernelBuilder &k = *builder;
  return tile::WgmmaWaitOp::create(k, k.loc, fragments.getTypes(), k.getI64IntegerAttr(pending), fragments).getResults();
}

/// The part of a staged tile that a warpgroup multiplies: its own rows, or all of a streamed tile.
Value WgmmaChain::operandOf(Value staged, Value stage) {
  KernelBuilder &k = *builder;
  for (ChainRing *ring : {&resident, &scoreRing, &valueRing})
    for (const ChainOperand &operand : ring->operands) {
      if (operand.stage != staged.getDefiningOp())
        continue;
      bool stays = ring == &resident;
      SmallVector<Value> offsets{stays ? k.i32(0) : stage, stays ? k.mul(unit, k.i32(64)) : k.i32(0), k.i32(0)};
      if (!stays)
        offsets.push_back(k.i32(0));
      SmallVector<int64_t> shape{stays ? 64 : operand.lines, kSpan};
      if (operand.panels > 1)
        shape.insert(shape.begin(), operand.panels);
      return subview(operand.buffer, offsets, shape);
    }
  llvm_unreachable("every staged tile has a buffer");
}

SmallVector<Value> WgmmaChain::multiplyScores(Value stage) {
  KernelBuilder &k = *builder;
  auto type = FragType::get(k.getContext(), {64, s.getStep()}, k.getF32Type(), accumulatorLayout(k.getContext(), s.getStep()));
  SmallVector<std::pair<Value, Value>> operands;
  SmallVector<Value> products;
  for (sched::MmaOp mma : scores)
    operands.push_back({operandOf(mma.getA(), stage), operandOf(mma.getB(), stage)});
  for (size_t i = 0; i < scores.size(); ++i)
    products.push_back(tile::UndefOp::create(k, k.loc, type));
  tile::WgmmaFenceOp::create(k, k.loc);
  for (auto [product, operand] : llvm::zip(products, operands))
    product = tile::WgmmaOp::create(k, k.loc, type, operand.first, operand.second, product, UnitAttr(), k.getUnitAttr());
  tile::WgmmaCommitOp::create(k, k.loc);
  return products;
}

/// Applies the last block's factors to the sums and issues its products onto them; the stage is number `use` of its ring.
SmallVector<Value> WgmmaChain::addValues(Value use, const State &state) {
  KernelBuilder &k = *builder;
  Block &body = pipeline.getBody().front();
  SmallVector<Value> sums;
  for (auto [value, sum] : llvm::zip(values, state.sums)) {
    FragmentBuilder fragments(k, placeOf(value.column, value.columns, k.i32(0)));
    fragments.set(body.getArgument(value.carried), sum);
    for (auto [tile, fragment] : llvm::zip(pendingTiles, state.pending))
      fragments.set(tile, fragment);
    sched::MmaOp mma = value.mma;
    sums.push_back(fragments.eval(mma.getAcc()));
  }
  Value stage = acquire(valueRing, use);
  SmallVector<Value> operands;
  for (const ChainValue &value : values) {
    sched::MmaOp mma = value.mma;
    operands.push_back(operandOf(mma.getB(), stage));
  }
  for (auto [value, sum, operand] : llvm::zip(values, sums, operands)) {
    tile::WgmmaFenceOp::create(k, k.loc); // LLVM copies equal registers apart right before their wgmma
    sum = tile::WgmmaOp::create(k, k.loc, sum.getType(), state.weights[value.weights], operand, sum, k.getUnitAttr(), UnitAttr());
  }
  tile::WgmmaCommitOp::create(k, k.loc);
  return sums;
}

//===----------------------------------------------------------------------===//
// Between the products
//===----------------------------------------------------------------------===//

/// Elements past the end of the fold's axis do not count.
Value WgmmaChain::reduce(FragmentBuilder &fragments, sched::ReduceOp op, bool isPlain) {
  KernelBuilder &k = *builder;
  sched::TileType type = op.getInput().getType();
  Value input = fragments.eval(op.getInput());
  if (!isPlain)
    input = fragments.clear(input, type, s.getFoldAxis(), identityElement(op.getKind(), type.getElementType()));
  auto made = tile::ReduceOp::create(k, k.loc, fragments.typeOf(op.getType()), input, k.getI64IntegerAttr(1), Value());
  OpBuilder::InsertionGuard guard(k);
  Block *block = k.createBlock(&made.getBody(), {}, {type.getElementType(), type.getElementType()}, {k.loc, k.loc});
  Value both = combineElements(k, k.loc, op.getKind(), block->getArgument(0), block->getArgument(1));
  tile::YieldOp::create(k, k.loc, both);
  return made;
}

SmallVector<Value> WgmmaChain::between(Value index, ValueRange products, State &state, bool isPlain) {
  KernelBuilder &k = *builder;
  Block &body = pipeline.getBody().front();
  FragmentBuilder fragments(k, placeOfBlock(index));
  if (isPlain)
    fragments.assumePlain();
  for (auto [carried, fragment] : llvm::zip(statistics, state.statistics))
    fragments.set(body.getArgument(carried), fragment);
  for (auto [mma, product] : llvm::zip(scores, products))
    fragments.set(mma.getResult(), product);
  for (auto reduction : body.getOps<sched::ReduceOp>())
    fragments.set(reduction.getResult(), reduce(fragments, reduction, isPlain));
  state.statistics.clear();
  state.pending.clear();
  for (unsigned carried : statistics)
    state.statistics.push_back(fragments.eval(body.getTerminator()->getOperand(carried)));
  for (Value tile : pendingTiles)
    state.pending.push_back(fragments.eval(tile));
  SmallVector<Value> unrounded;
  for (const ChainWeights &operand : weights) {
    Value fragment = fragments.eval(operand.unrounded);
    if (!isPlain)
      fragment = fragments.clear(fragment, cast<sched::TileType>(operand.unrounded.getType()), s.getFoldAxis());
    unrounded.push_back(fragment);
  }
  return unrounded;
}

void WgmmaChain::round(ValueRange unrounded, State &state) {
  FragmentBuilder fragments(*builder, placeOf(s.getFoldAxis(), s.getStep(), builder->i32(0)));
  state.weights.clear();
  for (auto [operand, fragment] : llvm::zip(weights, unrounded)) {
    fragments.set(operand.unrounded, fragment);
    state.weights.push_back(fragments.eval(operand.rounded));
  }
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

SmallVector<Value> WgmmaChain::flatten(const State &state) {
  SmallVector<Value> all;
  for (const auto *part : {&state.statistics, &state.sums, &state.pending, &state.weights})
    llvm::append_range(all, *part);
  return all;
}

WgmmaChain::State WgmmaChain::restore(ValueRange all, const State &like) {
  State state;
  auto take = [&](SmallVector<Value> &part, size_t count) {
    part.assign(all.begin(), all.begin() + count);
    all = all.drop_front(count);
  };
  take(state.statistics, like.statistics.size());
  take(state.sums, like.sums.size());
  take(state.pending, like.pending.size());
  take(state.weights, like.weights.size());
  return state;
}

WgmmaChain::State WgmmaChain::initialState() {
  KernelBuilder &k = *builder;
  State state;
  FragmentBuilder rows(k, placeOf(s.getFoldAxis(), s.getStep(), k.i32(0)));
  for (unsigned carried : statistics)
    state.statistics.push_back(rows.eval(pipeline.getInits()[carried]));
  for (const ChainValue &value : values) {
    FragmentBuilder fragments(k, placeOf(value.column, value.columns, k.i32(0)));
    state.sums.push_back(fragments.eval(pipeline.getInits()[value.carried]));
  }
  return state;
}

/// The first block has no block before it to overlap with.
WgmmaChain::State WgmmaChain::firstBlock(State state) {
  Value index = builder->i32(0);
  SmallVector<Value> products = wait(0, multiplyScores(acquire(scoreRing, index)));
  release(scoreRing, index);
  round(between(index, products, state, !mayBeMasked()), state);
  return state;
}

WgmmaChain::State WgmmaChain::step(State state, Value index, bool isPlain) {
  KernelBuilder &k = *builder;
  SmallVector<Value> products = multiplyScores(acquire(scoreRing, index));
  Value before = arith::SubIOp::create(k, k.loc, index, k.i32(1));
  SmallVector<Value> pending = addValues(before, state);
  size_t numSums = pending.size();
  products = wait(1, products);
  release(scoreRing, index);
  llvm::append_range(pending, between(index, products, state, isPlain));
  SmallVector<Value> done = wait(0, pending);
  release(valueRing, before);
  state.sums.assign(done.begin(), done.begin() + numSums);
  round(ArrayRef<Value>(done).drop_front(numSums), state);
  return state;
}

WgmmaChain::State WgmmaChain::loop(State state, Value from, Value to, bool isPlain) {
  KernelBuilder &k = *builder;
  auto loop = scf::ForOp::create(k, k.loc, from, to, k.i32(1), flatten(state));
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  State next = step(restore(loop.getRegionIterArgs(), state), loop.getInductionVar(), isPlain);
  scf::YieldOp::create(k, k.loc, flatten(next));
  return restore(loop.getResults(), state);
}

void WgmmaChain::consumer() {
  KernelBuilder &k = *builder;
  IntegerAttr registers = s.getConsumers() > 1 ? k.getI64IntegerAttr(s.getConsumerRegisters()) : IntegerAttr();
  auto role = tile::RoleOp::create(k, k.loc, k.getStringAttr("consumer"), k.getI64IntegerAttr(s.getConsumers()), k.getBoolAttr(true),
                                   registers);
  OpBuilder::InsertionGuard guard(k);
  Block *block = k.createBlock(&role.getBody(), {}, k.getI32Type(), k.loc);
  unit = block->getArgument(0);
  tile::BarrierWaitOp::create(k, k.loc, resident.full, k.i32(0), k.i32(0));
  State state = firstBlock(initialState());
  sched::RangeAttr range = pipeline.getRange().value_or(sched::RangeAttr());
  if (range && llvm::any_of(range.getPlainFrom(), [](AffineExpr from) { return from != 0; }))
    state = loop(state, k.i32(1), plainFrom, /*isPlain=*/false);
  state = loop(state, plainFrom, plainTo, /*isPlain=*/true);
  if (mayBeMasked())
    state = loop(state, plainTo, blocks, /*isPlain=*/false);
  Value last = arith::SubIOp::create(k, k.loc, blocks, k.i32(1));
  epilogue(state, wait(0, addValues(last, state)));
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

/// Evaluates what is written over the columns of one product, a panel at a time; with `withRows`, what has rows only too.
void WgmmaChain::writeColumns(unsigned which, const State &state, ValueRange sums, bool withRows) {
  KernelBuilder &k = *builder;
  const ChainValue &value = values[which];
  tile::LayoutAttr layout = accumulatorLayout(k.getContext(), kSpan);
  for (int64_t at = 0; at < value.columns; at += kSpan) {
    FragmentBuilder fragments(k, placeOf(value.column, kSpan, k.i32(at)));
    for (auto [carried, fragment] : llvm::zip(statistics, state.statistics))
      fragments.set(pipeline.getResult(carried), fragment);
    for (auto [other, sum] : llvm::zip(values, sums)) {
      if (other.column != value.column)
        continue;
      auto part = FragType::get(k.getContext(), {64, kSpan}, cast<FragType>(sum.getType()).getElementType(), layout);
      fragments.set(pipeline.getResult(other.carried), tile::ExtractOp::create(k, k.loc, part, sum, ArrayRef<int64_t>{0, at}));
    }
    for (auto write : program.getBody().getOps<sched::WriteOp>()) {
      sched::TileType tile = write.getValue().getType();
      auto *store = llvm::find_if(stores, [&](const Store &known) { return known.write == write; });
      if (store == stores.end()) {
        if (tile.hasAxis(value.column) || (withRows && at == 0 && tile.getAxes().size() == 1))
          fragments.write(write);
        continue;
      }
      if (store->value != which)
        continue;
      Value number = k.i32(store - stores.begin());
      Value buffer = subview(staging, {number, unit, k.i32(at / kSpan), k.i32(0), k.i32(0)}, {64, kSpan});
      tile::StoreSharedOp::create(k, k.loc, fragments.eval(write.getValue()), buffer, k.getUnitAttr(), UnitAttr());
    }
  }
}

void WgmmaChain::epilogue(const State &state, ValueRange sums) {
  KernelBuilder &k = *builder;
  for (unsigned i = 0; i < values.size(); ++i) {
    bool isFirstOfColumn = llvm::none_of(ArrayRef<ChainValue>(values).take_front(i), [&](auto &v) { return v.column == values[i].column; });
    if (isFirstOfColumn)
      writeColumns(i, state, sums, /*withRows=*/i == 0);
  }
  if (stores.empty())
    return;
  tile::FenceAsyncOp::create(k, k.loc);
  tile::SyncOp::create(k, k.loc, tile::SyncScope::unit);
  inOneThread([&]() {
    for (auto [i, store] : llvm::enumerate(stores)) {
      const ChainValue &value = values[store.value];
      AxisStarts at = placeOf(value.column, kSpan, k.i32(0)).starts;
      for (int64_t panel = 0; panel < value.columns / kSpan; ++panel) {
        at[k.axisPosition(value.column)] = k.i32(panel * kSpan);
        Value buffer = subview(staging, {k.i32(i), unit, k.i32(panel), k.i32(0), k.i32(0)}, {64, kSpan});
        tile::TmaStoreOp::create(k, k.loc, buffer, store.descriptor, k.coordinates(store.plan, store.write.getOver(), at), UnitAttr());
      }
    }
    tile::TmaCommitOp::create(k, k.loc);
    tile::TmaWaitOp::create(k, k.loc, k.getI64IntegerAttr(0), UnitAttr());
  });
}

} // namespace emmy
