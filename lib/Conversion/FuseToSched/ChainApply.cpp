// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The program of a chain schedule.
#include "Chain.h"
#include "ProgramBuilder.h"

using namespace mlir;
using emmy::sched::ChainAttr;
using emmy::sched::Via;

namespace emmy::chain {

namespace {
class ChainProgram {
public:
  ChainProgram(const Chain &chain, const KernelView &view, ChainAttr schedule)
      : chain(chain), view(view), schedule(schedule), program(view, cuts(), schedule) {}
  sched::ProgramOp build();

private:
  SmallVector<AxisCut> cuts() const;
  Value stage(fuse::LoadOp load);
  void emitOutside();
  SmallVector<Value> emitBody(ValueRange carried);
  Value emitBase(const ValueProduct &product);

  const Chain &chain;
  const KernelView &view;
  ChainAttr schedule;
  ProgramBuilder program;
  llvm::DenseMap<Operation *, Value> staged;
};
} // namespace

SmallVector<AxisCut> ChainProgram::cuts() const {
  SmallVector<AxisCut> cuts;
  for (int64_t block : blocksOf(chain, view, schedule))
    cuts.push_back({block, sched::AxisKind::grid});
  cuts[chain.over].kind = sched::AxisKind::serial;
  for (const ScoreProduct &product : chain.scores)
    cuts[product.depth].kind = sched::AxisKind::whole;
  for (const ValueProduct &product : chain.values)
    cuts[product.column].kind = sched::AxisKind::whole;
  return cuts;
}

Value ChainProgram::stage(fuse::LoadOp load) {
  Value &known = staged[load];
  if (!known)
    known = program.stage(load, Via::tma, /*multicast=*/false);
  return known;
}

/// What the body uses from outside and needs once.
void ChainProgram::emitOutside() {
  for (const ScoreProduct &product : chain.scores)
    stage(product.rows);
  for (Operation &op : chain.fold.getBody().front())
    for (Value operand : op.getOperands()) {
      Operation *outside = operand.getDefiningOp();
      bool isOperand = llvm::any_of(chain.scores, [&](const ScoreProduct &p) { return outside == p.rows; });
      if (outside && outside->getBlock() != op.getBlock() && !isOperand && !llvm::is_contained(view.axesOf(operand), chain.over))
        program.tileOf(operand);
    }
}

/// What the product is added to: the merging map without its last addition.
Value ChainProgram::emitBase(const ValueProduct &product) {
  fuse::MapOp merge = product.merge;
  Block &region = merge.getBody().front();
  if (auto argument = dyn_cast<BlockArgument>(product.base))
    return program.tileOf(merge.getInputs()[argument.getArgNumber()]);
  SmallVector<Value> inputs;
  OpBuilder &b = program.getBuilder();
  sched::TileType type = program.tileType(view.axesOf(merge.getResult()), merge.getType().getElementType());
  SmallVector<BlockArgument> arguments;
  for (auto [input, argument] : llvm::zip(merge.getInputs(), region.getArguments()))
    if (input != product.op.getResult()) {
      inputs.push_back(program.tileOf(input));
      arguments.push_back(argument);
    }
  auto map = sched::MapOp::create(b, merge.getLoc(), type, inputs);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&map.getBody());
  IRMapping mapping;
  for (BlockArgument argument : arguments)
    mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
  Operation *sum = region.getTerminator()->getOperand(0).getDefiningOp();
  for (Operation &op : region.without_terminator())
    if (&op != sum)
      b.clone(op, mapping);
  sched::YieldOp::create(b, merge.getLoc(), mapping.lookup(product.base));
  return map;
}

SmallVector<Value> ChainProgram::emitBody(ValueRange carried) {
  OpBuilder &b = program.getBuilder();
  Block &body = chain.fold.getBody().front();
  for (auto [argument, tile] : llvm::zip(body.getArguments(), carried))
    program.set(argument, tile);
  for (const ScoreProduct &product : chain.scores) {
    Value rows = stage(product.rows), streamed = stage(product.streamed);
    Value zero = program.fill(b.getZeroAttr(b.getF32Type()), view.axesOf(product.op.getResult()));
    program.set(product.op.getResult(), sched::MmaOp::create(b, product.op.getLoc(), zero.getType(), rows, streamed, zero));
  }
  SmallVector<Value> next(carried.size());
  Operation *yield = body.getTerminator();
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    if (llvm::none_of(chain.values, [&](const ValueProduct &p) { return p.carried == i; }))
      next[i] = program.tileOf(value);
  for (const ValueProduct &product : chain.values) {
    Value weights = program.tileOf(product.weights), streamed = stage(product.streamed), base = emitBase(product);
    next[product.carried] = sched::MmaOp::create(b, product.op.getLoc(), base.getType(), weights, streamed, base);
  }
  return next;
}

sched::ProgramOp ChainProgram::build() {
  sched::RangeAttr range = rangeOf(chain, view, schedule, /*marks=*/true);
  emitOutside();
  SmallVector<Value> inits;
  for (Value init : chain.fold.getInits())
    inits.push_back(program.tileOf(init));
  auto pipeline = program.pipeline(chain.over, inits, [&](ValueRange carried) { return emitBody(carried); }, range);
  for (auto [result, tile] : llvm::zip(chain.fold.getResults(), pipeline.getResults()))
    program.set(result, tile);
  for (fuse::StoreOp store : chain.stores)
    program.write(store, storesByTma(chain, view, store, schedule) ? Via::tma : Via::direct);
  return program.getProgram();
}

sched::ProgramOp apply(const KernelView &view, Attribute attribute, TargetAttr) {
  Chain chain = *analyze(view);
  sched::ProgramOp program = ChainProgram(chain, view, cast<ChainAttr>(attribute)).build();
  simplifyMaps(program);
  return program;
}

} // namespace emmy::chain
