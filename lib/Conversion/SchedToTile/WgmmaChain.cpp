// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Set-up and producer. The producer walks the blocks in order and fills both rings; consumers release a stage of a ring once the wgmma
// group that read it is done, which no warp of theirs can pass before all have issued it.
#include "WgmmaChain.h"
#include "ProgramClass.h"
#include "emmy/Tile/Layout.h"

using namespace mlir;
using emmy::tile::SharedType;

namespace emmy {

/// Elements of a 16-bit type in one 128-byte span.
constexpr int64_t kSpan = 64;

WgmmaChain::WgmmaChain(sched::ProgramOp program, sched::ChainAttr schedule) : program(program), s(schedule) {
  pipeline = *program.getBody().getOps<sched::PipelineOp>().begin();
}

/// Sorts the body's products, and finds what the carried sums wait for.
void WgmmaChain::analyze() {
  Block &body = pipeline.getBody().front();
  Operation *yield = body.getTerminator();
  for (auto mma : body.getOps<sched::MmaOp>()) {
    if (mma.getA().getDefiningOp<sched::StageOp>()) {
      scores.push_back(mma);
      continue;
    }
    ChainValue value{mma, 0, {}, 0, 0};
    ChainWeights operand{mma.getA(), mma.getA()};
    value.carried = llvm::find(yield->getOperands(), mma.getResult()) - yield->getOperands().begin();
    for (StringAttr axis : mma.getType().getAxes())
      if (axis != s.getRowAxis())
        value.column = axis, value.columns = mma.getType().getSize(axis);
    auto map = mma.getA().getDefiningOp<sched::MapOp>();
    Operation *rounding = map ? map.getBody().front().getTerminator()->getOperand(0).getDefiningOp() : nullptr;
    if (map && map.getInputs().size() == 1 && isa_and_nonnull<arith::TruncFOp>(rounding) && isa<BlockArgument>(rounding->getOperand(0)))
      operand.unrounded = map.getInputs()[0];
    value.weights = llvm::find_if(weights, [&](const ChainWeights &w) { return w.rounded == operand.rounded; }) - weights.begin();
    if (value.weights == weights.size())
      weights.push_back(operand);
    values.push_back(value);
    if (auto base = mma.getAcc().getDefiningOp<sched::MapOp>())
      for (Value input : base.getInputs())
        if (input != body.getArgument(value.carried) && !llvm::is_contained(pendingTiles, input))
          pendingTiles.push_back(input);
  }
  for (unsigned i = 0; i < body.getNumArguments(); ++i)
    if (llvm::none_of(values, [&](const ChainValue &value) { return value.carried == i; }))
      statistics.push_back(i);
}

Value WgmmaChain::subview(Value buffer, ValueRange offsets, ArrayRef<int64_t> shape) {
  auto type = cast<SharedType>(buffer.getType());
  auto part = SharedType::get(type.getContext(), shape, type.getElementType(), type.getStrides().take_back(shape.size()),
                              type.getSwizzle());
  return tile::SubviewOp::create(*builder, builder->loc, part, buffer, offsets);
}

void WgmmaChain::inOneThread(function_ref<void()> body) {
  auto once = tile::OneThreadOp::create(*builder, builder->loc);
  OpBuilder::InsertionGuard guard(*builder);
  builder->createBlock(&once.getBody());
  body();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

void WgmmaChain::addOperand(ChainRing &ring, sched::StageOp stage) {
  if (llvm::any_of(ring.operands, [&](const ChainOperand &known) { return known.stage == stage; }))
    return;
  KernelBuilder &k = *builder;
  unsigned tensor = cast<BlockArgument>(stage.getTensor()).getArgNumber();
  ChainOperand operand{stage, k.planTma(tensor, stage.getOver(), stage.getMap()), {}, 0, 0, {}, {}};
  operand.inner = cast<StringAttr>(stage.getOver()[*operand.plan.dims.back().dim]);
  operand.panels = stage.getType().getSize(operand.inner) / kSpan;
  operand.lines = stage.getType().getSize(&ring == &resident ? s.getRowAxis() : s.getFoldAxis());
  SmallVector<int64_t> box(operand.plan.dims.size() - 2, 1), shape;
  box.append({operand.lines, kSpan});
  if (&ring != &resident)
    shape.push_back(ring.stages);
  shape.append({operand.panels, operand.lines, kSpan});
  operand.descriptor = k.descriptor(tensor, operand.plan, box, 128);
  operand.buffer = tile::AllocOp::create(k, k.loc, SharedType::get(shape, stage.getType().getElementType(), 128));
  ring.operands.push_back(operand);
}

void WgmmaChain::allocate() {
  KernelBuilder &k = *builder;
  scoreRing.stages = s.getScoreStages(), valueRing.stages = s.getValueStages();
  for (sched::MmaOp mma : scores) {
    addOperand(resident, mma.getA().getDefiningOp<sched::StageOp>());
    addOperand(scoreRing, mma.getB().getDefiningOp<sched::StageOp>());
  }
  for (const ChainValue &value : values) {
    sched::MmaOp mma = value.mma;
    addOperand(valueRing, mma.getB().getDefiningOp<sched::StageOp>());
  }
  int64_t panels = 0;
  Type element;
  for (auto write : program.getBody().getOps<sched::WriteOp>()) {
    if (write.getVia() != sched::Via::tma)
      continue;
    unsigned tensor = cast<BlockArgument>(write.getTensor()).getArgNumber();
    Store store{write, k.planTma(tensor, write.getOver(), write.getMap()), {}, 0};
    SmallVector<int64_t> box(store.plan.dims.size() - 2, 1);
    box.append({64, kSpan});
    store.descriptor = k.descriptor(tensor, store.plan, box, 128);
    StringAttr column = cast<StringAttr>(write.getOver()[*store.plan.dims.back().dim]);
    store.value = llvm::find_if(values, [&](const ChainValue &value) { return value.column == column; }) - values.begin();
    panels = std::max(panels, values[store.value].columns / kSpan);
    element = write.getValue().getType().getElementType();
    stores.push_back(store);
  }
  if (panels) {
    int64_t count = stores.size();
    staging = tile::AllocOp::create(k, k.loc, SharedType::get({count, s.getConsumers(), panels, 64, kSpan}, element, 128));
  }
  for (ChainRing *ring : {&resident, &scoreRing, &valueRing}) {
    auto barriers = tile::BarrierType::get(k.getContext(), ring->stages);
    ring->full = tile::AllocOp::create(k, k.loc, barriers);
    if (ring != &resident)
      ring->empty = tile::AllocOp::create(k, k.loc, barriers);
  }
}

void WgmmaChain::initBarriers() {
  KernelBuilder &k = *builder;
  inOneThread([&]() {
    for (ChainRing *ring : {&resident, &scoreRing, &valueRing}) {
      tile::BarrierInitOp::create(k, k.loc, ring->full, 1);
      if (ring->empty)
        tile::BarrierInitOp::create(k, k.loc, ring->empty, s.getConsumers());
    }
    tile::FenceBarrierInitOp::create(k, k.loc);
  });
  tile::SyncOp::create(k, k.loc, tile::SyncScope::cta);
}

//===----------------------------------------------------------------------===//
// Where this CTA works
//===----------------------------------------------------------------------===//

/// Grid axes beside the rows, innermost first.
static SmallVector<sched::AxisAttr> outerAxes(sched::ProgramOp program, StringAttr row) {
  SmallVector<sched::AxisAttr> outer;
  auto all = llvm::to_vector(program.getAxes().getAsRange<sched::AxisAttr>());
  for (sched::AxisAttr axis : llvm::reverse(all))
    if (axis.getKind() == sched::AxisKind::grid && axis.getName() != row)
      outer.push_back(axis);
  return outer;
}

AffineExpr WgmmaChain::outerTiles() {
  AffineExpr count = getAffineConstantExpr(1, program.getContext());
  for (sched::AxisAttr axis : outerAxes(program, s.getRowAxis()))
    count = count * axis.getSize().ceilDiv(axis.getBlock());
  return count;
}

/// CTAs take sections of the outer axes one after the other; in a section all outer points of one row block, then of the next.
void WgmmaChain::placeTile() {
  KernelBuilder &k = *builder;
  Type i32 = k.getI32Type();
  auto div = [&](Value x, Value y) -> Value { return arith::DivUIOp::create(k, k.loc, x, y); };
  auto rem = [&](Value x, Value y) -> Value { return arith::RemUIOp::create(k, k.loc, x, y); };
  auto sub = [&](Value x, Value y) -> Value { return arith::SubIOp::create(k, k.loc, x, y); };
  sched::AxisAttr rows = program.getAxis(s.getRowAxis());
  Value rowTiles = k.size(rows.getSize().ceilDiv(rows.getBlock()), i32), total = k.size(outerTiles(), i32);
  Value number = tile::ReadOp::create(k, k.loc, tile::SpecialRegister::cta_x);
  Value perSection = k.mul(rowTiles, k.i32(s.getSection()));
  Value first = k.mul(div(number, perSection), k.i32(s.getSection())), within = rem(number, perSection);
  Value width = arith::MinUIOp::create(k, k.loc, sub(total, first), k.i32(s.getSection()));
  Value row = div(within, width), outer = k.add(first, rem(within, width));
  if (s.getLastFirst())
    row = sub(sub(rowTiles, k.i32(1)), row);
  starts.assign(program.getAxes().size(), k.i32(0));
  starts[k.axisPosition(s.getRowAxis())] = k.mul(row, k.i32(rows.getBlock()));
  for (sched::AxisAttr axis : outerAxes(program, s.getRowAxis())) {
    Value count = k.size(axis.getSize().ceilDiv(axis.getBlock()), i32);
    starts[k.axisPosition(axis.getName())] = k.mul(rem(outer, count), k.i32(axis.getBlock()));
    outer = div(outer, count);
  }
}

bool WgmmaChain::mayBeMasked() {
  sched::AxisAttr axis = program.getAxis(s.getFoldAxis());
  bool ragged = !axis.getSize().isMultipleOf(axis.getBlock());
  bool conditional = false;
  pipeline.getBody().walk([&](Operation *op) { conditional |= op->hasAttr(sched::kPlainAttr); });
  return ragged || conditional;
}

/// Turns the range into blocks. At least one block is visited: past the end of the axis none of its elements counts.
void WgmmaChain::placeRange() {
  KernelBuilder &k = *builder;
  Value zero = k.i32(0), one = k.i32(1), step = k.i32(s.getStep());
  auto most = [&](Value a, Value b) -> Value { return arith::MaxSIOp::create(k, k.loc, a, b); };
  auto least = [&](Value a, Value b) -> Value { return arith::MinSIOp::create(k, k.loc, a, b); };
  auto sub = [&](Value x, Value y) -> Value { return arith::SubIOp::create(k, k.loc, x, y); };
  auto div = [&](Value x) -> Value { return arith::DivUIOp::create(k, k.loc, x, step); };
  auto ceil = [&](Value x) -> Value { return div(k.add(x, k.i32(s.getStep() - 1))); };
  sched::RangeAttr range = pipeline.getRange().value_or(sched::RangeAttr());
  AffineExpr size = program.getAxis(s.getFoldAxis()).getSize(), start = getAffineConstantExpr(0, k.getContext());
  auto bound = [&](ArrayRef<AffineExpr> exprs, AffineExpr otherwise, auto combine) {
    Value at;
    for (AffineExpr expr : exprs.empty() ? ArrayRef<AffineExpr>(otherwise) : exprs) {
      Value value = range ? k.compute(expr, k.startsOf(range.getOver(), starts), k.getI32Type()) : k.size(expr, k.getI32Type());
      at = at ? combine(at, value) : value;
    }
    return most(at, zero);
  };
  Value from = bound(range ? range.getFrom() : ArrayRef<AffineExpr>(), start, most);
  Value to = bound(range ? range.getTo() : ArrayRef<AffineExpr>(), size, least);
  firstBlockOfRange = div(from);
  blocks = most(sub(ceil(to), firstBlockOfRange), one);
  if (!mayBeMasked()) {
    plainFrom = one, plainTo = blocks;
    return;
  }
  Value allFrom = bound(range ? range.getPlainFrom() : ArrayRef<AffineExpr>(), start, most);
  Value allTo = bound(range ? range.getPlainTo() : ArrayRef<AffineExpr>(), size, least);
  // The first block is visited on its own, masked.
  plainFrom = least(most(sub(ceil(allFrom), firstBlockOfRange), one), blocks);
  plainTo = least(most(sub(div(allTo), firstBlockOfRange), plainFrom), blocks);
}

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

void WgmmaChain::copy(ChainRing &ring, Value stage, const AxisStarts &from) {
  KernelBuilder &k = *builder;
  int64_t bytes = 0;
  for (const ChainOperand &operand : ring.operands)
    bytes += operand.panels * operand.lines * kSpan * 2;
  tile::BarrierExpectOp::create(k, k.loc, ring.full, stage, bytes);
  for (const ChainOperand &operand : ring.operands) {
    sched::StageOp source = operand.stage;
    for (int64_t panel = 0; panel < operand.panels; ++panel) {
      AxisStarts at = from;
      at[k.axisPosition(operand.inner)] = k.i32(panel * kSpan);
      SmallVector<Value> offsets{k.i32(panel), k.i32(0), k.i32(0)};
      if (&ring != &resident)
        offsets.insert(offsets.begin(), stage);
      Value target = subview(operand.buffer, offsets, {operand.lines, kSpan});
      tile::TmaLoadOp::create(k, k.loc, operand.descriptor, k.coordinates(operand.plan, source.getOver(), at), target, ring.full, stage,
                              IntegerAttr(), UnitAttr(), UnitAttr());
    }
  }
}

void WgmmaChain::producer() {
  KernelBuilder &k = *builder;
  IntegerAttr registers = s.getConsumers() > 1 ? k.getI64IntegerAttr(s.getProducerRegisters()) : IntegerAttr();
  auto role = tile::RoleOp::create(k, k.loc, k.getStringAttr("producer"), k.getI64IntegerAttr(1), k.getBoolAttr(false), registers);
  OpBuilder::InsertionGuard guard(k);
  k.createBlock(&role.getBody());
  inOneThread([&]() {
    copy(resident, k.i32(0), starts);
    auto loop = scf::ForOp::create(k, k.loc, k.i32(0), blocks, k.i32(1));
    OpBuilder::InsertionGuard inner(k);
    k.setInsertionPointToStart(loop.getBody());
    AxisStarts at = starts;
    at[k.axisPosition(s.getFoldAxis())] = k.mul(k.add(firstBlockOfRange, loop.getInductionVar()), k.i32(s.getStep()));
    for (ChainRing *ring : {&scoreRing, &valueRing}) {
      auto slot = tile::RingSlotOp::create(k, k.loc, loop.getInductionVar(), ring->stages);
      Value free = arith::XOrIOp::create(k, k.loc, slot.getParity(), k.i32(1));
      tile::BarrierWaitOp::create(k, k.loc, ring->empty, slot.getStage(), free);
      copy(*ring, slot.getStage(), at);
    }
  });
}

void WgmmaChain::build() {
  analyze();
  MLIRContext *context = program.getContext();
  AffineExpr one = getAffineConstantExpr(1, context);
  sched::AxisAttr rows = program.getAxis(s.getRowAxis());
  AffineExpr ctas = rows.getSize().ceilDiv(rows.getBlock()) * outerTiles();
  bool setsRegisters = s.getConsumers() > 1;
  int64_t warps = 4 * s.getConsumers() + (setsRegisters ? 4 : 1);
  builder = std::make_unique<KernelBuilder>(program, ArrayRef<AffineExpr>{ctas, one, one}, /*cluster=*/1, warps);
  KernelBuilder &k = *builder;
  allocate();
  initBarriers();
  placeTile();
  placeRange();
  auto roles = tile::WarpSpecializeOp::create(k, k.loc);
  {
    OpBuilder::InsertionGuard guard(k);
    k.createBlock(&roles.getBody());
    // Registers are set for whole warpgroups; without that, consumers come first so that no warp idles.
    if (setsRegisters)
      producer();
    consumer();
    if (!setsRegisters)
      producer();
  }
  k.finish();
}

LogicalResult lowerWgmmaChain(sched::ProgramOp program, TargetAttr) {
  WgmmaChain(program, cast<sched::ChainAttr>(*program.getSchedule())).build();
  return success();
}

} // namespace emmy
