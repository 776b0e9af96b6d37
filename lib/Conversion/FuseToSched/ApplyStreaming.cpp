// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Turns an emmy_fuse kernel and its streaming schedule into a tile program.
//
// In: a kernel and a legal schedule. Out: a program whose tiles have the schedule's blocks. Each reduction over a serial axis becomes
// a pipeline that carries its partial results; reductions that do not depend on each other share one. A value over a serial axis is
// computed anew in every pass that needs it; any other value once, before the pass. Contractions become products and sums.
// Numerics: sums are reordered, nothing is rounded more or less often.
#include "Streaming.h"
#include "emmy/Support/Elements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace emmy::streaming {
namespace {

/// A place in the program: outside all passes, or inside the body of one.
struct Scope {
  Scope *parent = nullptr;
  SmallVector<StringAttr> open;   // serial axes of the passes around
  fuse::FoldOp fold;              // whose body this is, if any
  DenseMap<Value, Value> tiles;   // of fuse values
  Block *block = nullptr;
};

class Applier {
public:
  Applier(fuse::KernelOp kernel, sched::StreamingAttr schedule)
      : kernel(kernel), schedule(schedule), builder(kernel.getContext()), loc(kernel.getLoc()) {}

  FailureOr<sched::ProgramOp> run();

private:
  void createProgram();
  void hoistReads(Block &block);
  LogicalResult emitStores(Scope &scope);

  // Values.
  SmallVector<StringAttr> serialAxesOf(Value value);
  Scope &homeOf(Value value, Scope &scope);
  FailureOr<Value> emit(Value value, Scope &scope);
  FailureOr<SmallVector<Value>> emitAll(ValueRange values, Scope &scope);
  FailureOr<Value> emitAt(Value value, Scope &scope);
  LogicalResult prepare(Value value, Scope &scope, ArrayRef<StringAttr> opening);

  /// Where an access reads or writes: the offset from the tensor's first element, and what guards it.
  struct Place {
    AffineMap offset;
    AffineMapAttr guard;
    DimsAttr limits;
  };
  template <typename Op> Place placeOf(Op access, Value tensor);

  // Ops; each inserts at the end of `scope`.
  FailureOr<Value> emitLoad(fuse::LoadOp load, Scope &scope);
  FailureOr<Value> emitMap(fuse::MapOp map, Scope &scope);
  FailureOr<Value> emitReduction(Operation *op, Scope &scope);
  LogicalResult emitFold(fuse::FoldOp fold, Scope &scope);

  // Passes.
  FailureOr<SmallVector<Value>> emitPass(Scope &scope, ArrayRef<StringAttr> axes, ValueRange inits,
                                         function_ref<FailureOr<SmallVector<Value>>(Scope &, ValueRange)> body);
  SmallVector<Operation *> passMates(Operation *op, Scope &scope, ArrayRef<StringAttr> axes);
  unsigned depthOf(Value value, ArrayRef<StringAttr> axes);
  FailureOr<Value> emitOperand(Operation *reduction, Scope &scope);

  // Pieces.
  sched::TileType tileOf(Value value);
  sched::TileType tileOf(ArrayRef<StringAttr> axes, Type element);
  Value fill(TypedAttr number, sched::TileType type);
  Value combine(Value a, Value b, fuse::Combiner kind);
  Value mapTiles(ValueRange inputs, sched::TileType type, function_ref<Value(OpBuilder &, ValueRange)> body);

  fuse::KernelOp kernel;
  sched::StreamingAttr schedule;
  OpBuilder builder;
  Location loc;
  sched::ProgramOp program;
  IRMapping tensors;
};

} // namespace

static ArrayAttr reducedBy(Operation *op) {
  if (auto reduce = dyn_cast<fuse::ReduceOp>(op))
    return reduce.getOver();
  if (auto contract = dyn_cast<fuse::ContractOp>(op))
    return contract.getOver();
  return {};
}

static fuse::Combiner combinerOf(Operation *op) {
  auto reduce = dyn_cast<fuse::ReduceOp>(op);
  return reduce ? reduce.getKind() : fuse::Combiner::add;
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

void Applier::createProgram() {
  SmallVector<Attribute> axes;
  SmallVector<StringAttr> reduced = reducedAxes(kernel);
  for (auto axis : kernel.getAxes().getAsRange<fuse::AxisAttr>()) {
    StringAttr name = axis.getName();
    auto kind = schedule.isSerial(name)                ? sched::AxisKind::serial
                : llvm::is_contained(reduced, name) ? sched::AxisKind::whole
                                                       : sched::AxisKind::grid;
    axes.push_back(sched::AxisAttr::get(builder.getContext(), name, axis.getSize(), schedule.getBlock(name), kind));
  }
  builder.setInsertionPoint(kernel);
  program = sched::ProgramOp::create(builder, loc, kernel.getSymName(), kernel.getNumInputs(), builder.getArrayAttr(axes), schedule,
                                     kernel.getArgAttrsAttr());
  Block &body = program.getBody().emplaceBlock();
  for (BlockArgument argument : kernel.getBody().getArguments())
    tensors.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
}

FailureOr<sched::ProgramOp> Applier::run() {
  createProgram();
  Scope top;
  top.block = &program.getBody().front();
  if (failed(emitStores(top))) {
    program.erase();
    return failure();
  }
  hoistReads(*top.block);
  return program;
}

/// Reads that need no other tile come first if registers hold all of them: all are in flight before a reduction makes threads wait.
/// Otherwise each stays before its use, and the registers serve more CTAs.
void Applier::hoistReads(Block &block) {
  constexpr int64_t mostBytes = 128; // of a thread
  SmallVector<sched::ReadOp> reads;
  int64_t bytes = 0;
  for (auto read : block.getOps<sched::ReadOp>()) {
    if (!read.getIndices().empty())
      continue;
    int64_t bits = read.getType().getElementType().getIntOrFloatBitWidth();
    for (int64_t size : read.getType().getSizes())
      bits *= size;
    bytes += bits / 8 / std::max<int64_t>(1, schedule.getNumThreads());
    reads.push_back(read);
  }
  if (bytes > mostBytes)
    return;
  for (sched::ReadOp read : llvm::reverse(reads))
    read->moveBefore(&block.front());
}

/// Stores over the same serial axes share a pass.
LogicalResult Applier::emitStores(Scope &scope) {
  llvm::MapVector<ArrayAttr, SmallVector<fuse::StoreOp>> groups;
  for (auto store : kernel.getBody().getOps<fuse::StoreOp>()) {
    SmallVector<StringAttr> serial = llvm::filter_to_vector(toAxes(store.getOver()), [&](StringAttr a) { return schedule.isSerial(a); });
    groups[toArray(builder.getContext(), serial)].push_back(store);
  }
  for (auto &[key, stores] : groups) {
    SmallVector<StringAttr> axes = toAxes(key);
    for (fuse::StoreOp store : stores)
      for (Value operand : store->getOperands())
        if (isa<fuse::ValueType>(operand.getType()) && failed(prepare(operand, scope, axes)))
          return failure();
    auto body = [&](Scope &inner, ValueRange) -> FailureOr<SmallVector<Value>> {
      for (fuse::StoreOp store : stores) {
        FailureOr<Value> value = emit(store.getValue(), inner);
        FailureOr<SmallVector<Value>> indices = emitAll(store.getIndices(), inner);
        if (failed(value) || failed(indices))
          return failure();
        Place place = placeOf(store, store.getTarget());
        builder.setInsertionPointToEnd(inner.block);
        sched::WriteOp::create(builder, store.getLoc(), *value, tensors.lookup(store.getTarget()), *indices, store.getOver(),
                               place.offset, place.guard, place.limits, sched::Via::direct);
      }
      return SmallVector<Value>();
    };
    if (failed(emitPass(scope, axes, {}, body)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<StringAttr> Applier::serialAxesOf(Value value) {
  return llvm::filter_to_vector(cast<fuse::ValueType>(value.getType()).getAxes(), [&](StringAttr a) { return schedule.isSerial(a); });
}

/// The outermost place from `scope` outwards where `value` can stand.
Scope &Applier::homeOf(Value value, Scope &scope) {
  SmallVector<StringAttr> needed = serialAxesOf(value);
  auto fold = dyn_cast_or_null<fuse::FoldOp>(value.getParentBlock()->getParentOp());
  Scope *home = &scope;
  for (Scope *at = &scope; at; at = at->parent) {
    bool covers = llvm::all_of(needed, [&](StringAttr axis) { return llvm::is_contained(at->open, axis); });
    bool inside = !fold;
    for (Scope *around = at; around && !inside; around = around->parent)
      inside = around->fold == fold;
    if (covers && inside)
      home = at;
  }
  return *home;
}

FailureOr<Value> Applier::emit(Value value, Scope &scope) {
  Scope &home = homeOf(value, scope);
  if (Value known = home.tiles.lookup(value))
    return known;
  FailureOr<Value> tile = emitAt(value, home);
  if (succeeded(tile))
    home.tiles[value] = *tile;
  return tile;
}

FailureOr<SmallVector<Value>> Applier::emitAll(ValueRange values, Scope &scope) {
  SmallVector<Value> tiles;
  for (Value value : values) {
    FailureOr<Value> tile = emit(value, scope);
    if (failed(tile))
      return failure();
    tiles.push_back(*tile);
  }
  return tiles;
}

FailureOr<Value> Applier::emitAt(Value value, Scope &scope) {
  Operation *op = value.getDefiningOp();
  for (StringAttr axis : serialAxesOf(value))
    if (!llvm::is_contained(scope.open, axis))
      return kernel.emitOpError("needs axis '") << axis.getValue() << "' outside a pass over it; make it one block";
  if (auto load = dyn_cast<fuse::LoadOp>(op))
    return emitLoad(load, scope);
  if (auto map = dyn_cast<fuse::MapOp>(op))
    return emitMap(map, scope);
  if (auto index = dyn_cast<fuse::IndexOp>(op)) {
    builder.setInsertionPointToEnd(scope.block);
    return sched::IndexOp::create(builder, op->getLoc(), tileOf(value), toArray(builder.getContext(), index.getType().getAxes()), index.getMap())
        .getResult();
  }
  if (auto fold = dyn_cast<fuse::FoldOp>(op)) {
    if (failed(emitFold(fold, scope)))
      return failure();
    return scope.tiles.lookup(value);
  }
  if (reducedBy(op))
    return emitReduction(op, scope);
  return op->emitOpError("has no streaming form");
}

/// Emits what `value` needs and what can stand in `scope`, before a pass over `opening` begins there.
LogicalResult Applier::prepare(Value value, Scope &scope, ArrayRef<StringAttr> opening) {
  Operation *op = value.getDefiningOp();
  if (!op || scope.tiles.count(value))
    return success();
  bool inFold = isa<fuse::FoldOp>(op->getParentOp());
  bool opens = llvm::any_of(cast<fuse::ValueType>(value.getType()).getAxes(), [&](StringAttr a) { return llvm::is_contained(opening, a); });
  bool isOpen = llvm::all_of(serialAxesOf(value), [&](StringAttr a) { return llvm::is_contained(scope.open, a); });
  if (!opens && !inFold && isOpen)
    return emit(value, scope);
  for (Value operand : op->getOperands())
    if (isa<fuse::ValueType>(operand.getType()) && failed(prepare(operand, scope, opening)))
      return failure();
  return success();
}

/// Symbols are global numbers: a map declares enough for any of them.
template <typename Op> Applier::Place Applier::placeOf(Op access, Value tensor) {
  AffineMap map = access.getMap();
  Place place{AffineMap::get(map.getNumDims(), map.getNumSymbols() + 256, flatOffset(kernel, tensor, map)), {}, {}};
  if (access.getGuarded() || !access.getIndices().empty()) { // indices are whatever the user gives
    place.guard = AffineMapAttr::get(map);
    place.limits = DimsAttr::get(builder.getContext(), getSizes(cast<RankedTensorType>(tensor.getType())));
  }
  return place;
}

FailureOr<Value> Applier::emitLoad(fuse::LoadOp load, Scope &scope) {
  FailureOr<SmallVector<Value>> indices = emitAll(load.getIndices(), scope);
  if (failed(indices))
    return failure();
  Place place = placeOf(load, load.getSource());
  builder.setInsertionPointToEnd(scope.block);
  return sched::ReadOp::create(builder, load.getLoc(), tileOf(load.getResult()), tensors.lookup(load.getSource()), *indices,
                               toArray(builder.getContext(), load.getType().getAxes()), place.offset, place.guard, place.limits)
      .getResult();
}

FailureOr<Value> Applier::emitMap(fuse::MapOp map, Scope &scope) {
  FailureOr<SmallVector<Value>> inputs = emitAll(map.getInputs(), scope);
  if (failed(inputs))
    return failure();
  builder.setInsertionPointToEnd(scope.block);
  auto result = sched::MapOp::create(builder, map.getLoc(), tileOf(map.getResult()), *inputs);
  IRMapping mapping;
  map.getBody().cloneInto(&result.getBody(), mapping);
  auto yield = cast<fuse::YieldOp>(result.getBody().front().getTerminator());
  builder.setInsertionPoint(yield);
  sched::YieldOp::create(builder, yield.getLoc(), yield.getValues());
  yield.erase();
  return result.getResult();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// What a reduction sums up: its operand, or the products of a contraction in the type of accumulation.
FailureOr<Value> Applier::emitOperand(Operation *op, Scope &scope) {
  if (auto reduce = dyn_cast<fuse::ReduceOp>(op))
    return emit(reduce.getInput(), scope);
  auto contract = cast<fuse::ContractOp>(op);
  FailureOr<Value> lhs = emit(contract.getLhs(), scope), rhs = emit(contract.getRhs(), scope);
  if (failed(lhs) || failed(rhs))
    return failure();
  llvm::SetVector<StringAttr> axes;
  for (Value side : {contract.getLhs(), contract.getRhs()})
    axes.insert_range(cast<fuse::ValueType>(side.getType()).getAxes());
  Type element = contract.getType().getElementType();
  builder.setInsertionPointToEnd(scope.block);
  return mapTiles({*lhs, *rhs}, tileOf(axes.getArrayRef(), element), [&](OpBuilder &b, ValueRange e) -> Value {
    Value x = extendElement(b, loc, e[0], element), y = extendElement(b, loc, e[1], element);
    return isa<FloatType>(element) ? arith::MulFOp::create(b, loc, x, y).getResult() : arith::MulIOp::create(b, loc, x, y).getResult();
  });
}

/// Passes over `axes` that must come before `value` can be known.
unsigned Applier::depthOf(Value value, ArrayRef<StringAttr> axes) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return 0;
  unsigned depth = 0;
  for (Value operand : op->getOperands())
    if (isa<fuse::ValueType>(operand.getType()))
      depth = std::max(depth, depthOf(operand, axes));
  ArrayAttr over = reducedBy(op);
  auto fold = dyn_cast<fuse::FoldOp>(op);
  bool passes = (over && llvm::any_of(toAxes(over), [&](StringAttr a) { return llvm::is_contained(axes, a); })) ||
                (fold && llvm::is_contained(axes, fold.getAxisAttr()));
  return depth + passes;
}

/// Reductions over the same serial axes, as deep as `op` and with the same home, that can share its pass.
SmallVector<Operation *> Applier::passMates(Operation *op, Scope &scope, ArrayRef<StringAttr> axes) {
  SmallVector<Operation *> mates;
  unsigned depth = depthOf(op->getResult(0), axes);
  for (Operation &other : *op->getBlock()) {
    ArrayAttr over = reducedBy(&other);
    if (!over)
      continue;
    SmallVector<StringAttr> serial = llvm::filter_to_vector(toAxes(over), [&](StringAttr a) { return schedule.isSerial(a); });
    if (ArrayRef<StringAttr>(serial) == axes && &homeOf(other.getResult(0), scope) == &scope &&
        !scope.tiles.count(other.getResult(0)) && depthOf(other.getResult(0), axes) == depth)
      mates.push_back(&other);
  }
  return mates;
}

FailureOr<Value> Applier::emitReduction(Operation *op, Scope &scope) {
  SmallVector<StringAttr> over = toAxes(reducedBy(op));
  SmallVector<StringAttr> serial = llvm::filter_to_vector(over, [&](StringAttr a) { return schedule.isSerial(a) && !llvm::is_contained(scope.open, a); });
  auto reduceTile = [&](Operation *reduction, Scope &at) -> FailureOr<Value> {
    FailureOr<Value> operand = emitOperand(reduction, at);
    if (failed(operand))
      return failure();
    builder.setInsertionPointToEnd(at.block);
    sched::TileType type = tileOf(reduction->getResult(0));
    SmallVector<StringAttr> along = llvm::filter_to_vector(
        toAxes(reducedBy(reduction)), [&](StringAttr a) { return cast<sched::TileType>(operand->getType()).hasAxis(a); });
    if (along.empty()) // one element of each reduced axis at a time
      return mapTiles(*operand, type, [&](OpBuilder &b, ValueRange e) { return extendElement(b, loc, e[0], type.getElementType()); });
    auto kind = static_cast<sched::Combiner>(combinerOf(reduction));
    return sched::ReduceOp::create(builder, reduction->getLoc(), type, kind, *operand, toArray(builder.getContext(), along)).getResult();
  };
  if (serial.empty())
    return reduceTile(op, scope);

  SmallVector<Operation *> mates = passMates(op, scope, serial);
  SmallVector<Value> inits;
  for (Operation *mate : mates)
    for (Value operand : mate->getOperands())
      if (failed(prepare(operand, scope, serial)))
        return failure();
  builder.setInsertionPointToEnd(scope.block);
  for (Operation *mate : mates) {
    sched::TileType type = tileOf(mate->getResult(0));
    inits.push_back(fill(identityElement(combinerOf(mate), type.getElementType()), type));
  }
  auto body = [&](Scope &inner, ValueRange carried) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> next;
    for (auto [mate, before] : llvm::zip(mates, carried)) {
      FailureOr<Value> part = reduceTile(mate, inner);
      if (failed(part))
        return failure();
      builder.setInsertionPointToEnd(inner.block);
      next.push_back(combine(before, *part, combinerOf(mate)));
    }
    return next;
  };
  FailureOr<SmallVector<Value>> results = emitPass(scope, serial, inits, body);
  if (failed(results))
    return failure();
  for (auto [mate, result] : llvm::zip(mates, *results))
    scope.tiles[mate->getResult(0)] = result;
  return scope.tiles.lookup(op->getResult(0));
}

LogicalResult Applier::emitFold(fuse::FoldOp fold, Scope &scope) {
  bool serial = schedule.isSerial(fold.getAxisAttr());
  SmallVector<StringAttr> axes;
  if (serial)
    axes.push_back(fold.getAxisAttr());
  WalkResult prepared = fold.getBody().walk([&](Operation *op) -> WalkResult {
    if (op->getParentOp() != fold)
      return WalkResult::advance();
    for (Value operand : op->getOperands())
      if (isa<fuse::ValueType>(operand.getType()) && operand.getParentBlock() != &fold.getBody().front() &&
          failed(prepare(operand, scope, axes)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (prepared.wasInterrupted())
    return failure();
  FailureOr<SmallVector<Value>> inits = emitAll(fold.getInits(), scope);
  if (failed(inits))
    return failure();
  auto body = [&](Scope &inner, ValueRange carried) -> FailureOr<SmallVector<Value>> {
    inner.fold = fold;
    for (auto [argument, tile] : llvm::zip(fold.getBody().front().getArguments(), carried))
      inner.tiles[argument] = tile;
    return emitAll(fold.getBody().front().getTerminator()->getOperands(), inner);
  };
  FailureOr<SmallVector<Value>> results = emitPass(scope, axes, *inits, body);
  if (failed(results))
    return failure();
  for (auto [result, tile] : llvm::zip(fold.getResults(), *results))
    scope.tiles[result] = tile;
  return success();
}

//===----------------------------------------------------------------------===//
// Passes and pieces
//===----------------------------------------------------------------------===//

/// Nested pipelines over `axes` around `body`; with no axes, the body once in place.
FailureOr<SmallVector<Value>> Applier::emitPass(Scope &scope, ArrayRef<StringAttr> axes, ValueRange inits,
                                                function_ref<FailureOr<SmallVector<Value>>(Scope &, ValueRange)> body) {
  Scope inner;
  inner.parent = &scope;
  inner.open = scope.open;
  inner.block = scope.block;
  if (axes.empty())
    return body(inner, inits);
  builder.setInsertionPointToEnd(scope.block);
  auto pipeline = sched::PipelineOp::create(builder, loc, inits.getTypes(), axes[0], inits, sched::RangeAttr());
  inner.block = &pipeline.getBody().emplaceBlock();
  inner.block->addArguments(inits.getTypes(), SmallVector<Location>(inits.size(), loc));
  inner.open.push_back(axes[0]);
  FailureOr<SmallVector<Value>> next = emitPass(inner, axes.drop_front(), inner.block->getArguments(), body);
  if (failed(next))
    return failure();
  builder.setInsertionPointToEnd(inner.block);
  sched::YieldOp::create(builder, loc, *next);
  return SmallVector<Value>(pipeline.getResults());
}

sched::TileType Applier::tileOf(ArrayRef<StringAttr> axes, Type element) { return program.getTile(axes, element); }

sched::TileType Applier::tileOf(Value value) {
  auto type = cast<fuse::ValueType>(value.getType());
  return tileOf(type.getAxes(), type.getElementType());
}

Value Applier::fill(TypedAttr number, sched::TileType type) { return sched::FillOp::create(builder, loc, type, number); }

Value Applier::mapTiles(ValueRange inputs, sched::TileType type, function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto map = sched::MapOp::create(builder, loc, type, inputs);
  Block &block = map.getBody().emplaceBlock();
  for (Value input : inputs)
    block.addArgument(cast<sched::TileType>(input.getType()).getElementType(), loc);
  OpBuilder inside = OpBuilder::atBlockEnd(&block);
  Value element = body(inside, block.getArguments());
  sched::YieldOp::create(inside, loc, element);
  return map.getResult();
}

Value Applier::combine(Value a, Value b, fuse::Combiner kind) {
  return mapTiles({a, b}, cast<sched::TileType>(a.getType()),
                  [&](OpBuilder &inside, ValueRange e) { return combineElements(inside, loc, kind, e[0], e[1]); });
}

FailureOr<sched::ProgramOp> applySchedule(fuse::KernelOp kernel, sched::StreamingAttr schedule) {
  return Applier(kernel, schedule).run();
}

} // namespace emmy::streaming
