// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The ring and its two sides. The structure is that of the fastest GEMM measured: the producer runs ahead over tile borders, so that
// the next tile's loads hide under this one's epilogue; the first step of a tile overwrites the accumulators; a stage is released as
// soon as the wgmma group that read it is known to be done.
#include "WgmmaContraction.h"
#include "ProgramClass.h"
#include "emmy/Tile/Layout.h"

using namespace mlir;
using emmy::sched::Multicast;
using emmy::tile::FragType;
using emmy::tile::SharedType;

namespace emmy {

/// Elements of a 16-bit type in one 128-byte span: the step of the contracted axis, and the width of an MN-major panel.
constexpr int64_t kSpan = 64;

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

WgmmaContraction::WgmmaContraction(sched::ProgramOp program, sched::ContractionAttr schedule, TargetAttr target)
    : program(program), s(schedule), target(target) {
  program.getBody().walk([&](sched::MmaOp op) { mma = op; });
  pipeline = mma->getParentOfType<sched::PipelineOp>();
  order = {s.getRowAxis(), s.getColumnAxis(), s.getCluster(), s.getMulticast() != Multicast::a, s.getRaster()};
  blocksPerUnit = s.getRows() / (64 * s.getConsumers());
}

Value WgmmaContraction::subview(Value buffer, ValueRange offsets, ArrayRef<int64_t> shape) {
  auto type = cast<SharedType>(buffer.getType());
  auto part = SharedType::get(type.getContext(), shape, type.getElementType(), type.getStrides().take_back(shape.size()),
                              type.getSwizzle());
  return tile::SubviewOp::create(*builder, builder->loc, part, buffer, offsets);
}

tile::LayoutAttr WgmmaContraction::accumulatorLayout(int64_t columns) {
  return tile::toAttr(program.getContext(), math::wgmmaAccumulator(columns));
}

void WgmmaContraction::allocate() {
  KernelBuilder &k = *builder;
  auto ring = [&](OperandRing &made, Value operand, StringAttr across, bool shared) {
    made.stage = operand.getDefiningOp<sched::StageOp>();
    made.across = across;
    made.size = made.stage.getType().getSize(across);
    made.share = shared ? s.getCluster() : 1;
    unsigned tensor = cast<BlockArgument>(made.stage.getTensor()).getArgNumber();
    made.plan = k.planTma(tensor, made.stage.getOver(), made.stage.getMap());
    Type element = made.stage.getType().getElementType();
    auto innermost = made.stage.getOver()[*made.plan.dims.back().dim];
    made.kMajor = innermost == pipeline.getAxisAttr();
    SmallVector<int64_t> box(made.plan.dims.size() - 2, 1);
    SmallVector<int64_t> shape{s.getStages()};
    if (made.kMajor) {
      box.append({made.size / made.share, kSpan});
      shape.append({made.size, kSpan});
    } else {
      box.append({s.getStep(), kSpan});
      shape.append({made.size / kSpan, s.getStep(), kSpan});
    }
    made.descriptor = k.descriptor(tensor, made.plan, box, 128);
    made.buffer = tile::AllocOp::create(k, k.loc, SharedType::get(shape, element, 128));
  };
  ring(a, mma.getA(), s.getRowAxis(), s.getMulticast() == Multicast::a);
  ring(b, mma.getB(), s.getColumnAxis(), s.getMulticast() == Multicast::b);

  // Panels are as wide as the widest element allows in one span, so that all results are cut alike.
  int64_t widest = 1;
  for (auto write : program.getBody().getOps<sched::WriteOp>())
    widest = std::max<int64_t>(widest, write.getValue().getType().getElementType().getIntOrFloatBitWidth() / 8);
  panel = sched::panelColumns(s.getColumns(), widest);
  for (auto write : program.getBody().getOps<sched::WriteOp>()) {
    if (write.getVia() != sched::Via::tma)
      continue;
    unsigned tensor = cast<BlockArgument>(write.getTensor()).getArgNumber();
    Type element = write.getValue().getType().getElementType();
    int64_t span = panel * element.getIntOrFloatBitWidth() / 8;
    PanelStore made{write, k.planTma(tensor, write.getOver(), write.getMap()), {}, {}};
    SmallVector<int64_t> box(made.plan.dims.size() - 2, 1);
    box.append({64, panel});
    made.descriptor = k.descriptor(tensor, made.plan, box, span);
    made.buffer = tile::AllocOp::create(k, k.loc, SharedType::get({s.getConsumers(), 2, 64, panel}, element, span));
    panels.push_back(made);
  }
  auto barriers = tile::BarrierType::get(k.getContext(), s.getStages());
  full = tile::AllocOp::create(k, k.loc, barriers);
  empty = tile::AllocOp::create(k, k.loc, barriers);
}

void WgmmaContraction::initBarriers() {
  KernelBuilder &k = *builder;
  auto once = tile::OneThreadOp::create(k, k.loc);
  {
    OpBuilder::InsertionGuard guard(k);
    k.createBlock(&once.getBody());
    tile::BarrierInitOp::create(k, k.loc, full, 1);
    // Consumers of every CTA that receives a stage release it in every CTA that sends it.
    tile::BarrierInitOp::create(k, k.loc, empty, s.getConsumers() * s.getCluster());
    tile::FenceBarrierInitOp::create(k, k.loc);
  }
  tile::SyncOp::create(k, k.loc, s.getCluster() > 1 ? tile::SyncScope::cluster : tile::SyncScope::cta);
}

void WgmmaContraction::build() {
  AffineExpr tiles = order.tiles(program);
  MLIRContext *context = program.getContext();
  AffineExpr one = getAffineConstantExpr(1, context), ctas = tiles * s.getCluster();
  if (s.getPersistent()) {
    persistentCtas = target.getSms() / s.getCluster() * s.getCluster();
    if (auto known = dyn_cast<AffineConstantExpr>(ctas))
      persistentCtas = std::min(persistentCtas, known.getValue());
    ctas = getAffineConstantExpr(persistentCtas, context);
  }
  bool setsRegisters = s.getConsumers() > 1;
  int64_t warps = 4 * s.getConsumers() + (setsRegisters ? 4 : 1);
  builder = std::make_unique<KernelBuilder>(program, ArrayRef<AffineExpr>{ctas, one, one}, s.getCluster(), warps);
  KernelBuilder &k = *builder;
  k.stacked = order.stackRows ? order.row : order.column;
  allocate();
  initBarriers();
  bool clustered = s.getCluster() > 1;
  firstTile = tile::ReadOp::create(k, k.loc, clustered ? tile::SpecialRegister::cluster_id : tile::SpecialRegister::cta_x);
  rank = clustered ? tile::ReadOp::create(k, k.loc, tile::SpecialRegister::cluster_rank).getResult() : k.i32(0);
  sched::AxisAttr serial = program.getAxis(pipeline.getAxisAttr());
  steps = k.size(serial.getSize().ceilDiv(serial.getBlock()), k.getI32Type());
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
  if (clustered) // a CTA's barriers and stages must outlive the other's arrivals
    tile::SyncOp::create(k, k.loc, tile::SyncScope::cluster);
  k.finish();
}

void WgmmaContraction::forTiles(function_ref<Value(Value, Value)> body) {
  KernelBuilder &k = *builder;
  if (!persistentCtas) {
    body(firstTile, k.i32(0));
    return;
  }
  Value total = k.size(order.tiles(program), k.getI32Type());
  auto loop = scf::ForOp::create(k, k.loc, firstTile, total, k.i32(persistentCtas / s.getCluster()), ValueRange{k.i32(0)});
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  Value uses = body(loop.getInductionVar(), loop.getRegionIterArgs()[0]);
  scf::YieldOp::create(k, k.loc, uses);
}

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

void WgmmaContraction::load(OperandRing &ring, const AxisStarts &starts, Value kStart, Value stage) {
  KernelBuilder &k = *builder;
  // With a shared operand each CTA loads its part for all, to the same place in each.
  int64_t part = ring.size / ring.share;
  Value offset = ring.share > 1 ? k.mul(rank, k.i32(part)) : k.i32(0);
  IntegerAttr mask = ring.share > 1 ? k.getI64IntegerAttr((1 << ring.share) - 1) : IntegerAttr();
  AxisStarts at = starts;
  at[k.axisPosition(pipeline.getAxisAttr())] = kStart;
  Value first = k.add(at[k.axisPosition(ring.across)], offset);
  auto copy = [&](Value from, Value target) {
    at[k.axisPosition(ring.across)] = from;
    tile::TmaLoadOp::create(k, k.loc, ring.descriptor, k.coordinates(ring.plan, ring.stage.getOver(), at), target, full, stage, mask,
                            UnitAttr(), UnitAttr());
  };
  if (ring.kMajor)
    return copy(first, subview(ring.buffer, {stage, offset, k.i32(0)}, {part, kSpan}));
  for (int64_t column = 0; column < part; column += kSpan) {
    Value which = ring.share > 1 ? k.add(k.mul(rank, k.i32(part / kSpan)), k.i32(column / kSpan)) : k.i32(column / kSpan);
    copy(k.add(first, k.i32(column)), subview(ring.buffer, {stage, which, k.i32(0), k.i32(0)}, {s.getStep(), kSpan}));
  }
}

void WgmmaContraction::producer() {
  KernelBuilder &k = *builder;
  bool setsRegisters = s.getConsumers() > 1;
  IntegerAttr registers;
  if (setsRegisters)
    registers = k.getI64IntegerAttr(s.getConsumers() == 3 ? 32 : blocksPerUnit * s.getColumns() > 352 ? 24 : 40);
  auto role = tile::RoleOp::create(k, k.loc, k.getStringAttr("producer"), k.getI64IntegerAttr(1), k.getBoolAttr(false), registers);
  OpBuilder::InsertionGuard guard(k);
  k.createBlock(&role.getBody());
  auto elected = tile::OneThreadOp::create(k, k.loc);
  k.createBlock(&elected.getBody());
  int64_t bytes = (a.size + b.size) * s.getStep() * cast<SharedType>(a.buffer.getType()).getElementBytes();
  forTiles([&](Value number, Value uses) -> Value {
    AxisStarts starts = order.starts(k, number, rank);
    auto loop = scf::ForOp::create(k, k.loc, k.i32(0), steps, k.i32(1));
    OpBuilder::InsertionGuard inner(k);
    k.setInsertionPointToStart(loop.getBody());
    Value use = k.add(uses, loop.getInductionVar());
    auto slot = tile::RingSlotOp::create(k, k.loc, use, s.getStages());
    Value free = arith::XOrIOp::create(k, k.loc, slot.getParity(), k.i32(1));
    tile::BarrierWaitOp::create(k, k.loc, empty, slot.getStage(), free);
    tile::BarrierExpectOp::create(k, k.loc, full, slot.getStage(), bytes);
    Value kStart = k.mul(loop.getInductionVar(), k.i32(s.getStep()));
    load(a, starts, kStart, slot.getStage());
    load(b, starts, kStart, slot.getStage());
    k.setInsertionPointAfter(loop);
    return k.add(uses, steps);
  });
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

SmallVector<Value> WgmmaContraction::multiply(Value stage, Value unit, ValueRange accumulators, bool first) {
  KernelBuilder &k = *builder;
  SmallVector<int64_t> shape = b.kMajor ? SmallVector<int64_t>{b.size, kSpan} : SmallVector<int64_t>{b.size / kSpan, s.getStep(), kSpan};
  if (!b.kMajor && b.size == kSpan)
    shape = {s.getStep(), kSpan};
  SmallVector<Value> offsets(cast<SharedType>(b.buffer.getType()).getShape().size(), k.i32(0));
  offsets[0] = stage;
  Value columns = subview(b.buffer, offsets, shape);
  Value firstRow = k.mul(unit, k.i32(64 * blocksPerUnit));
  UnitAttr zero = first ? k.getUnitAttr() : UnitAttr(), transpose = b.kMajor ? UnitAttr() : k.getUnitAttr();
  SmallVector<Value> rows, next;
  for (int64_t i = 0; i < blocksPerUnit; ++i)
    rows.push_back(subview(a.buffer, {stage, k.add(firstRow, k.i32(64 * i)), k.i32(0)}, {64, kSpan}));
  tile::WgmmaFenceOp::create(k, k.loc);
  for (auto [row, accumulator] : llvm::zip(rows, accumulators))
    next.push_back(tile::WgmmaOp::create(k, k.loc, accumulator.getType(), row, columns, accumulator, transpose, zero));
  tile::WgmmaCommitOp::create(k, k.loc);
  return next;
}

void WgmmaContraction::release(Value stage) {
  KernelBuilder &k = *builder;
  UnitAttr all = s.getCluster() > 1 ? k.getUnitAttr() : UnitAttr();
  tile::BarrierArriveOp::create(k, k.loc, empty, stage, Value(), all);
}

SmallVector<Value> WgmmaContraction::mainLoop(Value unit, Value uses) {
  KernelBuilder &k = *builder;
  auto acc = FragType::get(k.getContext(), {64, s.getColumns()}, k.getF32Type(), accumulatorLayout(s.getColumns()));
  auto wait = [&](int64_t pending, ValueRange frags) -> SmallVector<Value> {
    return tile::WgmmaWaitOp::create(k, k.loc, frags.getTypes(), k.getI64IntegerAttr(pending), frags).getResults();
  };
  auto acquire = [&](Value use) -> Value {
    auto slot = tile::RingSlotOp::create(k, k.loc, use, s.getStages());
    tile::BarrierWaitOp::create(k, k.loc, full, slot.getStage(), slot.getParity());
    return slot.getStage();
  };
  SmallVector<Value> carried;
  for (int64_t i = 0; i < blocksPerUnit; ++i)
    carried.push_back(tile::UndefOp::create(k, k.loc, acc));
  Value stage = acquire(uses);
  carried = multiply(stage, unit, carried, /*first=*/true);
  if (s.getWait() == 0) {
    carried = wait(0, carried);
    release(stage);
  }
  carried.push_back(stage);
  auto loop = scf::ForOp::create(k, k.loc, k.i32(1), steps, k.i32(1), carried);
  {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPointToStart(loop.getBody());
    Value before = loop.getRegionIterArgs().back();
    Value now = acquire(k.add(uses, loop.getInductionVar()));
    SmallVector<Value> next = wait(s.getWait(), multiply(now, unit, loop.getRegionIterArgs().drop_back(), /*first=*/false));
    release(s.getWait() ? before : now);
    next.push_back(now);
    scf::YieldOp::create(k, k.loc, next);
  }
  SmallVector<Value> sums(loop.getResults().drop_back());
  if (s.getWait()) {
    sums = wait(0, sums);
    release(loop.getResults().back());
  }
  return sums;
}

void WgmmaContraction::consumer() {
  KernelBuilder &k = *builder;
  IntegerAttr registers;
  if (s.getConsumers() > 1)
    registers = k.getI64IntegerAttr(s.getConsumers() == 3 ? 160 : blocksPerUnit * s.getColumns() > 352 ? 240 : 232);
  auto role = tile::RoleOp::create(k, k.loc, k.getStringAttr("consumer"), k.getI64IntegerAttr(s.getConsumers()), k.getBoolAttr(true),
                                   registers);
  OpBuilder::InsertionGuard guard(k);
  Block *block = k.createBlock(&role.getBody(), {}, k.getI32Type(), k.loc);
  Value unit = block->getArgument(0);
  forTiles([&](Value number, Value uses) -> Value {
    SmallVector<Value> sums = mainLoop(unit, uses);
    epilogue(sums, order.starts(k, number, rank), unit);
    return k.add(uses, steps);
  });
  if (panels.empty())
    return;
  k.setInsertionPointToEnd(block);
  auto once = tile::OneThreadOp::create(k, k.loc);
  k.createBlock(&once.getBody());
  tile::TmaWaitOp::create(k, k.loc, 0, false);
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

void WgmmaContraction::storePanels(FragmentBuilder &fragments, const AxisStarts &starts, Value unit, int64_t step) {
  KernelBuilder &k = *builder;
  auto inOneThread = [&](function_ref<void()> body) {
    auto once = tile::OneThreadOp::create(k, k.loc);
    OpBuilder::InsertionGuard guard(k);
    k.createBlock(&once.getBody());
    body();
  };
  SmallVector<Value> made;
  for (PanelStore &store : panels)
    made.push_back(fragments.eval(store.write.getValue()));
  // The panel written two steps ago must have been read.
  inOneThread([&]() { tile::TmaWaitOp::create(k, k.loc, 1, true); });
  tile::SyncOp::create(k, k.loc, tile::SyncScope::unit);
  SmallVector<Value> buffers;
  for (auto [store, value] : llvm::zip(panels, made)) {
    buffers.push_back(subview(store.buffer, {unit, k.i32(step % 2), k.i32(0), k.i32(0)}, {64, panel}));
    bool matrix = cast<FragType>(value.getType()).getElementType().getIntOrFloatBitWidth() == 16;
    tile::StoreSharedOp::create(k, k.loc, value, buffers.back(), matrix ? k.getUnitAttr() : UnitAttr(), UnitAttr());
  }
  tile::FenceAsyncOp::create(k, k.loc);
  tile::SyncOp::create(k, k.loc, tile::SyncScope::unit);
  inOneThread([&]() {
    for (auto [store, buffer] : llvm::zip(panels, buffers))
      tile::TmaStoreOp::create(k, k.loc, buffer, store.descriptor, k.coordinates(store.plan, store.write.getOver(), starts), UnitAttr());
    tile::TmaCommitOp::create(k, k.loc);
  });
}

void WgmmaContraction::epilogue(ValueRange accumulators, const AxisStarts &starts, Value unit) {
  KernelBuilder &k = *builder;
  tile::LayoutAttr layout = accumulatorLayout(panel);
  auto part = FragType::get(k.getContext(), {64, panel}, k.getF32Type(), layout);
  unsigned row = k.axisPosition(s.getRowAxis()), column = k.axisPosition(s.getColumnAxis());
  Value firstRow = k.add(starts[row], k.mul(unit, k.i32(64 * blocksPerUnit)));
  int64_t step = 0;
  for (auto [i, accumulator] : llvm::enumerate(accumulators))
    for (int64_t at = 0; at < s.getColumns(); at += panel) {
      FragmentPlace place{s.getRowAxis(), s.getColumnAxis(), 64, panel, layout, starts};
      place.starts[row] = k.add(firstRow, k.i32(64 * i));
      place.starts[column] = k.add(starts[column], k.i32(at));
      FragmentBuilder fragments(k, place);
      fragments.set(pipeline.getResult(0), tile::ExtractOp::create(k, k.loc, part, accumulator, ArrayRef<int64_t>{0, at}));
      if (!panels.empty())
        storePanels(fragments, place.starts, unit, step++);
      for (auto write : program.getBody().getOps<sched::WriteOp>())
        if (write.getVia() != sched::Via::tma && (at == 0 || write.getValue().getType().hasAxis(s.getColumnAxis())))
          fragments.write(write);
    }
}

LogicalResult lowerWgmmaContraction(sched::ProgramOp program, TargetAttr target) {
  WgmmaContraction(program, cast<sched::ContractionAttr>(*program.getSchedule()), target).build();
  return success();
}

} // namespace emmy
