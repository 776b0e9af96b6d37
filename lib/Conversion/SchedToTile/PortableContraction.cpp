// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A contraction for everything else: any addresses, any operand that pointwise work makes, fp32 and the older tensor cores. All warps
// of a CTA read one step of both operands into registers, put them into shared memory, and multiply from there by mma.sync or FMA.
#include "FragmentBuilder.h"
#include "ProgramClass.h"
#include "TileOrder.h"
#include "emmy/Tile/Layout.h"

using namespace mlir;
using emmy::tile::FragType;
using emmy::tile::SharedType;

namespace emmy {

namespace {
/// An operand's way through registers into shared memory.
struct OperandTile {
  sched::ShareOp share;
  StringAttr across; // the axis of the tile that it spans
  int64_t size;      // elements along it
  Value buffer;
};

class PortableContraction {
public:
  PortableContraction(sched::ProgramOp program, sched::ContractionAttr schedule);
  void build();

private:
  void allocate(OperandTile &operand, Value tile, StringAttr across);
  SmallVector<Value> loop(sched::PipelineOp pipeline, ValueRange carried);
  void fetch(OperandTile &operand);
  Value multiply(Value accumulator);
  Value multiplyByMma(Value accumulator);
  Value multiplyByFma(Value accumulator);
  math::Layout accumulatorLayout();
  bool usesMma() { return s.getMma() == sched::MmaKind::mma_sync; }

  sched::ProgramOp program;
  sched::ContractionAttr s;
  sched::MmaOp mma;
  StringAttr depth; // the contracted axis that is cut into steps
  TileOrder order;
  std::unique_ptr<KernelBuilder> builder;
  OperandTile a, b;
  AxisStarts starts; // of the step at hand
};
} // namespace

PortableContraction::PortableContraction(sched::ProgramOp program, sched::ContractionAttr schedule) : program(program), s(schedule) {
  program.getBody().walk([&](sched::MmaOp op) { mma = op; });
  depth = mma->getParentOfType<sched::PipelineOp>().getAxisAttr();
  order = {s.getRowAxis(), s.getColumnAxis(), 1, true, s.getRaster()};
}

/// For FMA each thread has four neighbouring columns, a warp 8 rows of 16 columns; warps follow each other down the rows.
math::Layout PortableContraction::accumulatorLayout() {
  int64_t warps = s.getConsumers();
  if (usesMma())
    return math::mmaAccumulator(s.getRows(), s.getColumns(), {warps, 1});
  return math::Layout(2, {{4, {0, 1}}, {s.getColumns() / 16, {0, 16}}, {s.getRows() / (8 * warps), {8 * warps, 0}}},
                      {{4, {0, 4}}, {8, {1, 0}}}, {{warps, {8, 0}}});
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// mma.sync reads rows of steps, FMA one step across all rows at a time.
void PortableContraction::allocate(OperandTile &operand, Value tile, StringAttr across) {
  KernelBuilder &k = *builder;
  operand.share = tile.getDefiningOp<sched::ShareOp>();
  operand.across = across;
  sched::TileType type = operand.share.getType();
  operand.size = type.getSize(across);
  Type element = type.getElementType();
  int64_t span = s.getStep() * element.getIntOrFloatBitWidth() / 8;
  SharedType shared = usesMma() ? SharedType::get({operand.size, s.getStep()}, element, span == 128 || span == 64 || span == 32 ? span : 0)
                                : SharedType::get({s.getStep(), operand.size}, element);
  operand.buffer = tile::AllocOp::create(k, k.loc, shared);
}

/// The axis along which neighbouring threads should read: where the first read under `value` is contiguous.
static bool isContiguousAlong(Value value, StringAttr axis) {
  if (auto map = value.getDefiningOp<sched::MapOp>())
    return llvm::any_of(map.getInputs(), [&](Value input) { return isContiguousAlong(input, axis); });
  auto read = value.getDefiningOp<sched::ReadOp>();
  std::optional<sched::AddressSum> sum = read ? sched::splitAddress(read.getMap().getResult(0)) : std::nullopt;
  if (!sum)
    return false;
  for (auto [i, name] : llvm::enumerate(read.getOver().getAsRange<StringAttr>()))
    if (AffineExpr stride = sum->coefficientOf(i); name == axis && stride && stride == 1)
      return true;
  return false;
}

void PortableContraction::fetch(OperandTile &operand) {
  KernelBuilder &k = *builder;
  Value value = operand.share.getValue();
  bool acrossFirst = !isContiguousAlong(value, depth) && isContiguousAlong(value, operand.across);
  StringAttr row = acrossFirst ? depth : operand.across, column = acrossFirst ? operand.across : depth;
  int64_t rows = acrossFirst ? s.getStep() : operand.size, columns = acrossFirst ? operand.size : s.getStep();
  auto type = operand.share.getType();
  auto layout = [&](int64_t vector) {
    int64_t threads = std::min<int64_t>(columns / vector, 32 * s.getConsumers());
    return tile::toAttr(k.getContext(), math::blockedRows(rows, columns, threads, vector, s.getConsumers()));
  };
  // Wide where one read does it; else neighbouring threads read neighbouring elements.
  int64_t wide = std::min<int64_t>(16 / std::max<int64_t>(1, type.getElementType().getIntOrFloatBitWidth() / 8), columns);
  FragmentPlace place{row, column, rows, columns, layout(wide), starts};
  auto read = value.getDefiningOp<sched::ReadOp>();
  if (!read || FragmentBuilder(k, place).vectorOf(read) < wide)
    place.layout = layout(1);
  FragmentBuilder fragments(k, place);
  Value fragment = fragments.eval(value);
  if (!read) // what was computed from zeros past the end need not be zero
    fragment = fragments.clear(fragment, type, depth);
  bool transpose = acrossFirst == usesMma();
  tile::StoreSharedOp::create(k, k.loc, fragment, operand.buffer, UnitAttr(), transpose ? k.getUnitAttr() : UnitAttr());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value PortableContraction::multiplyByMma(Value accumulator) {
  KernelBuilder &k = *builder;
  auto load = [&](OperandTile &operand, const math::Layout &layout) -> Value {
    auto type = cast<SharedType>(operand.buffer.getType());
    auto frag = FragType::get(k.getContext(), type.getShape(), type.getElementType(), tile::toAttr(k.getContext(), layout));
    return tile::LoadSharedOp::create(k, k.loc, frag, operand.buffer, k.getUnitAttr(), UnitAttr());
  };
  math::WarpGrid grid{s.getConsumers(), 1};
  Value rows = load(a, math::mmaOperandA(s.getRows(), s.getStep(), 16, grid));
  Value columns = load(b, math::mmaOperandB(s.getColumns(), s.getStep(), 16, grid));
  return tile::MmaOp::create(k, k.loc, accumulator.getType(), rows, columns, accumulator);
}

/// `value` in the type of accumulation.
static Value widen(OpBuilder &b, Location loc, Value value, Type to) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (isa<FloatType>(from))
    return arith::ExtFOp::create(b, loc, to, value);
  return isa<FloatType>(to) ? arith::SIToFPOp::create(b, loc, to, value).getResult() : arith::ExtSIOp::create(b, loc, to, value);
}

Value PortableContraction::multiplyByFma(Value accumulator) {
  KernelBuilder &k = *builder;
  auto type = cast<FragType>(accumulator.getType());
  math::Layout layout = accumulatorLayout();
  auto line = [&](OperandTile &operand, Value at, int64_t dropped) -> Value {
    auto whole = cast<SharedType>(operand.buffer.getType());
    auto part = SharedType::get({operand.size}, whole.getElementType());
    Value view = tile::SubviewOp::create(k, k.loc, part, operand.buffer, ValueRange{at, k.i32(0)});
    auto frag = FragType::get(k.getContext(), {operand.size}, whole.getElementType(),
                              tile::toAttr(k.getContext(), layout.sliced(dropped)));
    Value loaded = tile::LoadSharedOp::create(k, k.loc, frag, view, UnitAttr(), UnitAttr());
    auto spread = FragType::get(k.getContext(), type.getShape(), whole.getElementType(), type.getLayout());
    return tile::BroadcastOp::create(k, k.loc, spread, loaded, dropped);
  };
  auto loop = scf::ForOp::create(k, k.loc, k.i32(0), k.i32(s.getStep()), k.i32(1), ValueRange{accumulator});
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value rows = line(a, at, 1), columns = line(b, at, 0);
  auto map = tile::MapOp::create(k, k.loc, type, ValueRange{rows, columns, loop.getRegionIterArgs()[0]});
  Type sum = type.getElementType();
  {
    OpBuilder::InsertionGuard inner(k);
    SmallVector<Type> types{cast<FragType>(rows.getType()).getElementType(), cast<FragType>(columns.getType()).getElementType(), sum};
    Block *block = k.createBlock(&map.getBody(), {}, types, SmallVector<Location>(3, k.loc));
    Value x = widen(k, k.loc, block->getArgument(0), sum), y = widen(k, k.loc, block->getArgument(1), sum), z = block->getArgument(2);
    Value next = isa<FloatType>(sum) ? mlir::math::FmaOp::create(k, k.loc, x, y, z).getResult()
                                     : arith::AddIOp::create(k, k.loc, arith::MulIOp::create(k, k.loc, x, y), z).getResult();
    tile::YieldOp::create(k, k.loc, next);
  }
  scf::YieldOp::create(k, k.loc, map.getResults());
  return loop.getResult(0);
}

Value PortableContraction::multiply(Value accumulator) {
  KernelBuilder &k = *builder;
  fetch(a);
  fetch(b);
  tile::SyncOp::create(k, k.loc, tile::SyncScope::cta);
  Value next = usesMma() ? multiplyByMma(accumulator) : multiplyByFma(accumulator);
  tile::SyncOp::create(k, k.loc, tile::SyncScope::cta);
  return next;
}

/// Contracted axes nest; the innermost pipeline holds the product.
SmallVector<Value> PortableContraction::loop(sched::PipelineOp pipeline, ValueRange carried) {
  KernelBuilder &k = *builder;
  sched::AxisAttr axis = program.getAxis(pipeline.getAxisAttr());
  Value blocks = k.size(axis.getSize().ceilDiv(axis.getBlock()), k.getI32Type());
  auto loop = scf::ForOp::create(k, k.loc, k.i32(0), blocks, k.i32(1), carried);
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  starts[k.axisPosition(axis.getName())] = k.mul(loop.getInductionVar(), k.i32(axis.getBlock()));
  auto inner = pipeline.getBody().getOps<sched::PipelineOp>();
  SmallVector<Value> next;
  if (inner.empty())
    next.push_back(multiply(loop.getRegionIterArgs()[0]));
  else
    next = this->loop(*inner.begin(), loop.getRegionIterArgs());
  scf::YieldOp::create(k, k.loc, next);
  return loop.getResults();
}

void PortableContraction::build() {
  MLIRContext *context = program.getContext();
  AffineExpr one = getAffineConstantExpr(1, context);
  builder = std::make_unique<KernelBuilder>(program, ArrayRef<AffineExpr>{order.tiles(program), one, one}, 1, s.getConsumers());
  KernelBuilder &k = *builder;
  allocate(a, mma.getA(), s.getRowAxis());
  allocate(b, mma.getB(), s.getColumnAxis());
  Value number = tile::ReadOp::create(k, k.loc, tile::SpecialRegister::cta_x);
  starts = order.starts(k, number, k.i32(0));
  sched::TileType tile = mma.getType();
  tile::LayoutAttr layout = tile::toAttr(context, accumulatorLayout());
  auto type = FragType::get(context, {s.getRows(), s.getColumns()}, tile.getElementType(), layout);
  auto pipeline = *program.getBody().getOps<sched::PipelineOp>().begin();
  auto fill = pipeline.getInits()[0].getDefiningOp<sched::FillOp>();
  Value zero = arith::ConstantOp::create(k, k.loc, fill.getValue());
  SmallVector<Value> sums = loop(pipeline, ValueRange{tile::SplatOp::create(k, k.loc, type, zero)});
  FragmentBuilder fragments(k, {s.getRowAxis(), s.getColumnAxis(), s.getRows(), s.getColumns(), layout, starts});
  fragments.set(pipeline.getResult(0), sums[0]);
  for (auto write : program.getBody().getOps<sched::WriteOp>())
    fragments.write(write);
  k.finish();
}

LogicalResult lowerPortableContraction(sched::ProgramOp program, TargetAttr) {
  PortableContraction(program, cast<sched::ContractionAttr>(*program.getSchedule())).build();
  return success();
}

} // namespace emmy
