// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of partial results, and of what combines them.
#include "ReductionParts.h"
#include "Streaming.h"
#include "emmy/Support/Elements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace emmy::streaming {

static fuse::ValueType typeOf(Value value) { return cast<fuse::ValueType>(value.getType()); }

static AffineMap identityMap(MLIRContext *context, unsigned dims) { return AffineMap::getMultiDimIdentityMap(dims, context); }

/// Symbols are global numbers, so a map declares as many as the largest it uses.
static AffineMap mapOf(unsigned dims, AffineExpr expr) {
  unsigned symbols = 0;
  expr.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      symbols = std::max(symbols, symbol.getPosition() + 1);
  });
  return AffineMap::get(dims, symbols, expr);
}

static bool isOne(AffineExpr expr) { return expr == 1; }

//===----------------------------------------------------------------------===//
// Reductions alone
//===----------------------------------------------------------------------===//

/// What `values` are computed from, in the order of the kernel.
static SmallVector<Operation *> collectSlice(fuse::KernelOp kernel, ValueRange values) {
  llvm::DenseSet<Operation *> needed;
  SmallVector<Value> open(values);
  while (!open.empty())
    if (Operation *op = open.pop_back_val().getDefiningOp(); op && needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  SmallVector<Operation *> slice;
  for (Operation &op : kernel.getBody().front())
    if (needed.contains(&op))
      slice.push_back(&op);
  return slice;
}

static DictionaryAttr attrsOf(fuse::KernelOp kernel, unsigned argument) {
  std::optional<ArrayAttr> all = kernel.getArgAttrs();
  return all && argument < all->size() ? cast<DictionaryAttr>((*all)[argument]) : DictionaryAttr::get(kernel.getContext());
}

/// The axes among `kernel`'s that some of `ops` vary over.
static SmallVector<Attribute> axesOf(fuse::KernelOp kernel, ArrayRef<Operation *> ops) {
  llvm::DenseSet<StringAttr> used;
  auto use = [&](ArrayRef<StringAttr> axes) { used.insert(axes.begin(), axes.end()); };
  for (Operation *top : ops)
    top->walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (auto type = dyn_cast<fuse::ValueType>(result.getType()))
          use(type.getAxes());
      if (auto store = dyn_cast<fuse::StoreOp>(op))
        use(toAxes(store.getOver()));
      if (auto fold = dyn_cast<fuse::FoldOp>(op))
        use(fold.getAxisAttr());
    });
  SmallVector<Attribute> axes;
  for (auto axis : kernel.getAxes().getAsRange<fuse::AxisAttr>())
    if (used.contains(axis.getName()))
      axes.push_back(axis);
  return axes;
}

/// A tensor of `leading` sizes, then those of the axes that `value` varies over.
static RankedTensorType tensorOver(fuse::KernelOp kernel, Value value, ArrayRef<int64_t> leading = {}) {
  SmallVector<AffineExpr> sizes;
  for (int64_t size : leading)
    sizes.push_back(getAffineConstantExpr(size, kernel.getContext()));
  for (StringAttr axis : typeOf(value).getAxes())
    sizes.push_back(kernel.getAxis(axis).getSize());
  return getTensorType(sizes, typeOf(value).getElementType());
}

Isolated isolate(fuse::KernelOp kernel, ArrayRef<fuse::ReduceOp> reductions, const Twine &name) {
  OpBuilder builder(kernel);
  SmallVector<Value> results;
  for (fuse::ReduceOp reduction : reductions)
    results.push_back(reduction.getResult());
  SmallVector<Operation *> slice = collectSlice(kernel, results);

  Isolated isolated;
  SmallVector<Attribute> attrs;
  for (BlockArgument input : kernel.getInputs())
    if (llvm::any_of(input.getUsers(), [&](Operation *user) { return llvm::is_contained(slice, user); })) {
      isolated.inputs.push_back(input.getArgNumber());
      attrs.push_back(attrsOf(kernel, input.getArgNumber()));
    }
  attrs.append(results.size(), builder.getDictionaryAttr({}));
  isolated.kernel = fuse::KernelOp::create(builder, kernel.getLoc(), builder.getStringAttr(name), isolated.inputs.size(),
                                           builder.getArrayAttr(axesOf(kernel, slice)), builder.getArrayAttr(attrs));
  Block &body = isolated.kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (unsigned input : isolated.inputs) {
    BlockArgument argument = kernel.getBody().getArgument(input);
    mapping.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
  }
  builder.setInsertionPointToEnd(&body);
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  for (Value result : results) {
    ArrayRef<StringAttr> axes = typeOf(result).getAxes();
    Value output = body.addArgument(tensorOver(kernel, result), result.getLoc());
    fuse::StoreOp::create(builder, result.getLoc(), mapping.lookup(result), output, ValueRange(), toArray(kernel.getContext(), axes),
                          AffineMapAttr::get(identityMap(kernel.getContext(), axes.size())), UnitAttr());
  }
  return isolated;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
/// A cut with the names of its digits, null where a digit has one value.
struct NamedCut : AxisParts {
  NamedCut(const AxisParts &cut) : AxisParts(cut) {
    auto nameOf = [&](StringRef digit, bool single) {
      return single ? StringAttr() : StringAttr::get(cut.axis.getContext(), cut.axis.getValue() + "_" + digit);
    };
    turn = nameOf("turn", isOne(turns));
    part = nameOf("part", parts == 1);
    item = nameOf("item", items == 1);
    lane = nameOf("lane", lanes == 1);
  }

  StringAttr turn, part, item, lane;

  SmallVector<StringAttr> digits() const {
    SmallVector<StringAttr> names;
    for (StringAttr name : {turn, part, item, lane})
      if (name)
        names.push_back(name);
    return names;
  }
};

class PartsEmitter {
public:
  PartsEmitter(fuse::KernelOp from, ArrayRef<AxisParts> cuts)
      : from(from), cuts(cuts.begin(), cuts.end()), context(from.getContext()), builder(from) {}

  fuse::KernelOp emit(const Twine &name, sched::StreamingAttr schedule);

private:
  SmallVector<Attribute> emitAxes();
  sched::StreamingAttr emitSchedule(sched::StreamingAttr schedule);
  void emit(Operation &op);
  void emitReduction(fuse::ReduceOp reduction);

  const NamedCut *cutOf(StringAttr axis) const {
    const auto *found = llvm::find_if(cuts, [&](const NamedCut &cut) { return cut.axis == axis; });
    return found == cuts.end() ? nullptr : found;
  }
  SmallVector<StringAttr> digitsOf(ArrayRef<StringAttr> axes);
  fuse::ValueType digitsOf(fuse::ValueType type) {
    return fuse::ValueType::get(context, digitsOf(type.getAxes()), type.getElementType());
  }
  AffineExpr indexOf(const NamedCut &cut, ArrayRef<StringAttr> over);
  AffineMap digitsOf(AffineMap map, ArrayRef<StringAttr> axes);
  Value reduce(fuse::Combiner kind, Value value, ArrayRef<StringAttr> over, Type element);
  Value dropOutside(Value value, fuse::ReduceOp reduction);

  fuse::KernelOp from, to;
  SmallVector<NamedCut> cuts;
  MLIRContext *context;
  OpBuilder builder;
  IRMapping mapping;
};
} // namespace

/// Digits before the kept axes: CTAs beside each other then read memory beside each other.
SmallVector<Attribute> PartsEmitter::emitAxes() {
  SmallVector<Attribute> axes;
  auto add = [&](StringAttr name, AffineExpr size) {
    if (name)
      axes.push_back(fuse::AxisAttr::get(context, name, size));
  };
  for (const NamedCut &cut : cuts) {
    add(cut.turn, cut.turns);
    add(cut.part, builder.getAffineConstantExpr(cut.parts));
    add(cut.item, builder.getAffineConstantExpr(cut.items));
    add(cut.lane, builder.getAffineConstantExpr(cut.lanes));
  }
  for (auto axis : from.getAxes().getAsRange<fuse::AxisAttr>())
    if (!cutOf(axis.getName()))
      axes.push_back(axis);
  return axes;
}

sched::StreamingAttr PartsEmitter::emitSchedule(sched::StreamingAttr schedule) {
  SmallVector<StringAttr> axes, serial;
  SmallVector<int64_t> blocks, threads;
  auto add = [&](StringAttr name, int64_t block, int64_t along) {
    if (!name)
      return;
    axes.push_back(name);
    blocks.push_back(block);
    threads.push_back(along);
  };
  StringAttr vectorAxis = schedule.getVectorAxis();
  for (const NamedCut &cut : cuts) {
    add(cut.turn, 1, 1);
    add(cut.part, 1, 1);
    add(cut.item, cut.items, 1);
    add(cut.lane, cut.lanes, schedule.getThreads(cut.axis));
    if (cut.turn)
      serial.push_back(cut.turn);
    if (cut.axis == vectorAxis)
      vectorAxis = cut.lane;
  }
  for (auto axis : from.getAxes().getAsRange<fuse::AxisAttr>())
    if (!cutOf(axis.getName()))
      add(axis.getName(), schedule.getBlock(axis.getName()), schedule.getThreads(axis.getName()));
  return sched::StreamingAttr::get(context, axes, blocks, threads, serial, vectorAxis, schedule.getVector());
}

SmallVector<StringAttr> PartsEmitter::digitsOf(ArrayRef<StringAttr> axes) {
  SmallVector<StringAttr> names;
  for (StringAttr axis : axes)
    if (const NamedCut *cut = cutOf(axis))
      llvm::append_range(names, cut->digits());
    else
      names.push_back(axis);
  return to.orderAxes(names);
}

/// The index along the cut axis, over dimensions for `over`.
AffineExpr PartsEmitter::indexOf(const NamedCut &cut, ArrayRef<StringAttr> over) {
  auto digit = [&](StringAttr name) {
    return name ? builder.getAffineDimExpr(llvm::find(over, name) - over.begin()) : builder.getAffineConstantExpr(0);
  };
  return ((digit(cut.turn) * cut.parts + digit(cut.part)) * cut.items + digit(cut.item)) * cut.lanes + digit(cut.lane);
}

/// `map` over `axes`, and whatever dimensions follow them, as one over their digits.
AffineMap PartsEmitter::digitsOf(AffineMap map, ArrayRef<StringAttr> axes) {
  SmallVector<StringAttr> over = digitsOf(axes);
  SmallVector<AffineExpr> dims;
  for (StringAttr axis : axes) {
    const NamedCut *cut = cutOf(axis);
    dims.push_back(cut ? indexOf(*cut, over) : builder.getAffineDimExpr(llvm::find(over, axis) - over.begin()));
  }
  unsigned indices = map.getNumDims() - axes.size();
  for (unsigned i = 0; i < indices; ++i)
    dims.push_back(builder.getAffineDimExpr(over.size() + i));
  return map.replaceDimsAndSymbols(dims, {}, over.size() + indices, map.getNumSymbols());
}

void PartsEmitter::emit(Operation &op) {
  Location loc = op.getLoc();
  if (auto load = dyn_cast<fuse::LoadOp>(op)) {
    ArrayRef<StringAttr> axes = load.getType().getAxes();
    bool reachesOutside = llvm::any_of(axes, [&](StringAttr axis) { return cutOf(axis) && !cutOf(axis)->isExact(); });
    SmallVector<Value> indices = llvm::map_to_vector(load.getIndices(), [&](Value index) { return mapping.lookup(index); });
    auto guarded = load.getGuarded() || reachesOutside ? builder.getUnitAttr() : UnitAttr();
    Value result = fuse::LoadOp::create(builder, loc, digitsOf(load.getType()), mapping.lookup(load.getSource()), indices,
                                        AffineMapAttr::get(digitsOf(load.getMap(), axes)), guarded);
    return mapping.map(load.getResult(), result);
  }
  if (auto index = dyn_cast<fuse::IndexOp>(op)) {
    Value result = fuse::IndexOp::create(builder, loc, digitsOf(index.getType()),
                                         AffineMapAttr::get(digitsOf(index.getMap(), index.getType().getAxes())));
    return mapping.map(index.getResult(), result);
  }
  if (auto reduction = dyn_cast<fuse::ReduceOp>(op);
      reduction && llvm::any_of(toAxes(reduction.getOver()), [&](StringAttr axis) { return cutOf(axis); }))
    return emitReduction(reduction);
  Operation *clone = builder.clone(op, mapping);
  for (Value result : clone->getResults())
    result.setType(digitsOf(typeOf(result)));
}

Value PartsEmitter::reduce(fuse::Combiner kind, Value value, ArrayRef<StringAttr> over, Type element) {
  if (over.empty())
    return value;
  SmallVector<StringAttr> kept =
      llvm::filter_to_vector(typeOf(value).getAxes(), [&](StringAttr axis) { return !llvm::is_contained(over, axis); });
  return fuse::ReduceOp::create(builder, value.getLoc(), fuse::ValueType::get(context, kept, element),
                                fuse::CombinerAttr::get(context, kind), value, toArray(context, over));
}

/// Whether `value` is zero where what it was loaded from reads as zero.
static bool isZeroOutside(Value value) {
  if (auto map = value.getDefiningOp<fuse::MapOp>())
    return map.getInputs().size() == 1 && isZeroOutside(map.getInputs()[0]) &&
           llvm::all_of(map.getBody().front().without_terminator(), [](Operation &op) {
             return isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp>(op);
           });
  return isa_and_nonnull<fuse::LoadOp>(value.getDefiningOp());
}

/// The operand of `reduction` with elements that change nothing past the ends of the cut axes.
Value PartsEmitter::dropOutside(Value value, fuse::ReduceOp reduction) {
  Location loc = reduction.getLoc();
  Type element = typeOf(value).getElementType();
  bool zero = reduction.getKind() == fuse::Combiner::add || reduction.getKind() == fuse::Combiner::any;
  if (zero && isZeroOutside(reduction.getInput()))
    return value;
  SmallVector<Value> inputs{value};
  for (const NamedCut &cut : cuts) {
    if (cut.isExact() || !llvm::is_contained(toAxes(reduction.getOver()), cut.axis))
      continue;
    SmallVector<StringAttr> over = to.orderAxes(cut.digits());
    AffineExpr past = indexOf(cut, over) - cut.size;
    inputs.push_back(fuse::IndexOp::create(builder, loc, fuse::ValueType::get(context, over, builder.getI64Type()),
                                           AffineMapAttr::get(mapOf(over.size(), past))));
  }
  if (inputs.size() == 1)
    return value;
  auto map = fuse::MapOp::create(builder, loc, value.getType(), inputs);
  Block &body = map.getBody().emplaceBlock();
  for (Value input : inputs)
    body.addArgument(typeOf(input).getElementType(), loc);
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Value result = body.getArgument(0), end = arith::ConstantIntOp::create(inside, loc, 0, 64);
  Value neutral = arith::ConstantOp::create(inside, loc, identityElement(reduction.getKind(), element));
  for (Value past : body.getArguments().drop_front()) {
    Value counts = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, past, end);
    result = arith::SelectOp::create(inside, loc, counts, result, neutral);
  }
  fuse::YieldOp::create(inside, loc, result);
  return map.getResult();
}

/// Turns and items first: what is left when threads combine is one element for each of them.
void PartsEmitter::emitReduction(fuse::ReduceOp reduction) {
  Value value = dropOutside(mapping.lookup(reduction.getInput()), reduction);
  SmallVector<StringAttr> own, across;
  for (StringAttr axis : toAxes(reduction.getOver())) {
    const NamedCut *cut = cutOf(axis);
    if (!cut)
      across.push_back(axis);
    else if (cut->lane)
      across.push_back(cut->lane);
    for (StringAttr name : {cut ? cut->turn : StringAttr(), cut ? cut->item : StringAttr()})
      if (name)
        own.push_back(name);
  }
  Type element = reduction.getType().getElementType();
  value = reduce(reduction.getKind(), value, own, element);
  value = reduce(reduction.getKind(), value, across, element);
  mapping.map(reduction.getResult(), value);
}

fuse::KernelOp PartsEmitter::emit(const Twine &name, sched::StreamingAttr schedule) {
  to = fuse::KernelOp::create(builder, from.getLoc(), builder.getStringAttr(name), from.getNumInputs(), builder.getArrayAttr(emitAxes()),
                              from.getArgAttrsAttr());
  to->setAttr(sched::kScheduleAttr, emitSchedule(schedule));
  Block &body = to.getBody().emplaceBlock();
  for (BlockArgument input : from.getInputs())
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (Operation &op : from.getBody().front()) {
    auto store = dyn_cast<fuse::StoreOp>(op);
    if (!store) {
      emit(op);
      continue;
    }
    SmallVector<int64_t> leading;
    for (const NamedCut &cut : cuts)
      if (cut.part)
        leading.push_back(cut.parts);
    // Parts stand before the kept axes in the kernel's order, so that the store is plain.
    Value value = mapping.lookup(store.getValue());
    ArrayRef<StringAttr> axes = typeOf(value).getAxes();
    Value output = body.addArgument(tensorOver(from, store.getValue(), leading), store.getLoc());
    fuse::StoreOp::create(builder, store.getLoc(), value, output, ValueRange(), toArray(context, axes),
                          AffineMapAttr::get(identityMap(context, axes.size())), UnitAttr());
  }
  return to;
}

fuse::KernelOp cutIntoParts(fuse::KernelOp isolated, const Twine &name, ArrayRef<AxisParts> cuts, sched::StreamingAttr schedule) {
  return PartsEmitter(isolated, cuts).emit(name, schedule);
}

//===----------------------------------------------------------------------===//
// What is left
//===----------------------------------------------------------------------===//

/// Erases what no store needs, then axes that nothing varies over and, unless `keepInputs`, inputs that nothing loads.
static SmallVector<unsigned> dropUnused(fuse::KernelOp kernel, unsigned oldInputs, bool keepInputs) {
  Block &body = kernel.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!isa<fuse::StoreOp>(op) && op.use_empty())
      op.erase();
  SmallVector<Operation *> ops;
  for (Operation &op : body)
    ops.push_back(&op);
  kernel.setAxesAttr(ArrayAttr::get(kernel.getContext(), axesOf(kernel, ops)));
  SmallVector<unsigned> left;
  SmallVector<Attribute> attrs;
  llvm::BitVector unused(body.getNumArguments());
  for (BlockArgument argument : body.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (!keepInputs && number < oldInputs && argument.use_empty()) {
      unused.set(number);
      continue;
    }
    if (number < oldInputs)
      left.push_back(number);
    attrs.push_back(attrsOf(kernel, number));
  }
  kernel.setArgAttrsAttr(ArrayAttr::get(kernel.getContext(), attrs));
  kernel.setNumInputs(kernel.getNumInputs() - unused.count());
  body.eraseArguments(unused);
  return left;
}

SmallVector<unsigned> combineParts(fuse::KernelOp kernel, ArrayRef<fuse::ReduceOp> reductions, ArrayRef<AxisParts> cuts, bool keepInputs) {
  MLIRContext *context = kernel.getContext();
  OpBuilder builder(context);
  unsigned oldInputs = kernel.getNumInputs();
  SmallVector<Attribute> axes;
  SmallVector<StringAttr> partAxes;
  SmallVector<int64_t> leading;
  for (NamedCut cut : cuts)
    if (cut.part) {
      axes.push_back(fuse::AxisAttr::get(context, cut.part, builder.getAffineConstantExpr(cut.parts)));
      partAxes.push_back(cut.part);
      leading.push_back(cut.parts);
    }
  llvm::append_range(axes, kernel.getAxes());
  kernel.setAxesAttr(builder.getArrayAttr(axes));
  SmallVector<Attribute> attrs;
  for (BlockArgument argument : kernel.getBody().getArguments())
    attrs.push_back(attrsOf(kernel, argument.getArgNumber()));
  for (fuse::ReduceOp reduction : reductions) {
    Location loc = reduction.getLoc();
    unsigned number = kernel.getNumInputs();
    Value partial = kernel.getBody().insertArgument(number, tensorOver(kernel, reduction.getResult(), leading), loc);
    attrs.insert(attrs.begin() + number, builder.getDictionaryAttr({}));
    kernel.setNumInputs(number + 1);
    builder.setInsertionPoint(reduction);
    SmallVector<StringAttr> over(partAxes);
    llvm::append_range(over, reduction.getType().getAxes());
    auto type = fuse::ValueType::get(context, over, reduction.getType().getElementType());
    Value value = fuse::LoadOp::create(builder, loc, type, partial, ValueRange(), AffineMapAttr::get(identityMap(context, over.size())),
                                       UnitAttr());
    if (!partAxes.empty())
      value = fuse::ReduceOp::create(builder, loc, reduction.getType(), fuse::CombinerAttr::get(context, reduction.getKind()), value,
                                     toArray(context, partAxes));
    reduction.getResult().replaceAllUsesWith(value);
  }
  kernel.setArgAttrsAttr(builder.getArrayAttr(attrs));
  return dropUnused(kernel, oldInputs, keepInputs);
}

} // namespace emmy::streaming
