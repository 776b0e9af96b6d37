// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fragments of reads, maps, indices and numbers, and writes from them.
#include "FragmentBuilder.h"
#include "emmy/Tile/Layout.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace emmy {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

SmallVector<StringAttr> FragmentBuilder::axesOf(sched::TileType tile) {
  SmallVector<StringAttr> axes;
  for (StringAttr axis : {place.row, place.column})
    if (tile.hasAxis(axis))
      axes.push_back(axis);
  return axes;
}

Type FragmentBuilder::typeOf(sched::TileType tile) {
  SmallVector<StringAttr> axes = axesOf(tile);
  if (axes.empty())
    return tile.getElementType();
  SmallVector<int64_t> shape;
  for (StringAttr axis : axes)
    shape.push_back(extent(axis));
  tile::LayoutAttr layout = place.layout;
  if (axes.size() == 1)
    layout = tile::toAttr(b.getContext(), tile::toLayout(layout).sliced(axes[0] == place.row ? 1 : 0));
  return tile::FragType::get(b.getContext(), shape, tile.getElementType(), layout);
}

static sched::TileType withElement(sched::TileType tile, Type element) {
  return sched::TileType::get(tile.getContext(), tile.getAxes(), tile.getSizes(), element, tile.getLevel());
}

Value FragmentBuilder::spread(Value value, sched::TileType from, sched::TileType tile) {
  if (axesOf(from).size() == axesOf(tile).size() || axesOf(from).empty())
    return value; // of the same axes, or a scalar, which maps take as it is
  int64_t missing = from.hasAxis(place.row) ? 1 : 0;
  return tile::BroadcastOp::create(b, b.loc, typeOf(withElement(tile, from.getElementType())), value, missing);
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Element type of a fragment, the type of a scalar.
static Type elementOf(Type type) {
  auto frag = dyn_cast<tile::FragType>(type);
  return frag ? frag.getElementType() : type;
}

/// A map whose region `body` fills; constants it uses are cloned inside, other scalars become operands. Scalars alone are computed in
/// place.
Value FragmentBuilder::mapOp(ValueRange inputs, Type result, Body body) {
  if (!isa<tile::FragType>(result))
    return body(inputs);
  auto map = tile::MapOp::create(b, b.loc, result, inputs);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(elementOf(input.getType()));
  Block *block = b.createBlock(&map.getBody(), {}, types, SmallVector<Location>(types.size(), b.loc));
  Value made = body(block->getArguments());
  tile::YieldOp::create(b, b.loc, made);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(map.getBody(), captured);
  for (Value value : captured) {
    Operation *constant = value.getDefiningOp<arith::ConstantOp>();
    b.setInsertionPointToStart(block);
    Value inside = constant ? Value(b.clone(*constant)->getResult(0)) : Value(block->addArgument(value.getType(), b.loc));
    if (!constant)
      map.getInputsMutable().append(value);
    replaceAllUsesInRegionWith(value, inside, map.getBody());
  }
  return map.getResult(0);
}

Value FragmentBuilder::evalMap(sched::MapOp op) {
  sched::TileType type = op.getType();
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(spread(eval(input), cast<sched::TileType>(input.getType()), type));
  return mapOp(inputs, typeOf(type), [&](ValueRange arguments) {
    IRMapping mapping;
    Block &block = op.getBody().front();
    mapping.map(block.getArguments(), arguments);
    for (Operation &inner : block.without_terminator()) {
      if (isPlain && inner.hasAttr(sched::kPlainAttr))
        mapping.map(inner.getResult(0), arith::ConstantOp::create(b, b.loc, b.getBoolAttr(true)).getResult());
      else
        b.clone(inner, mapping)->removeAttr(sched::kPlainAttr);
    }
    return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
  });
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

SmallVector<Value> FragmentBuilder::coordinates(ArrayAttr over, sched::TileType tile) {
  SmallVector<StringAttr> axes = axesOf(tile);
  SmallVector<Value> values = b.startsOf(over, place.starts);
  for (auto [name, value] : llvm::zip(over.getAsRange<StringAttr>(), values))
    if (auto *at = llvm::find(axes, name); at != axes.end())
      value = tile::CoordOp::create(b, b.loc, typeOf(withElement(tile, b.getI32Type())), at - axes.begin(), value);
  return values;
}

Value FragmentBuilder::evalIndex(sched::IndexOp op) {
  AffineExpr expr = op.getMap().getResult(0);
  return mapOp(coordinates(op.getOver(), op.getType()), typeOf(op.getType()),
               [&](ValueRange dims) { return b.compute(expr, dims, b.getI64Type()); });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Whether the rectangle is rows and columns of fixed strides with nothing to guard but its ends.
template <typename Op> bool FragmentBuilder::isStrided(Op op, sched::TileType tile) {
  if (!op.getIndices().empty() || op.getGuard())
    return false;
  std::optional<sched::AddressSum> sum = sched::splitAddress(op.getMap().getResult(0));
  for (auto [i, name] : llvm::enumerate(op.getOver().template getAsRange<StringAttr>()))
    if (!sum || (tile.hasAxis(name) && sum->isNested(i)))
      return false;
  return true;
}

/// Position of `axis` among the axes of an access.
static unsigned positionOf(StringAttr axis, ArrayAttr over) {
  return llvm::find(over.getValue(), axis) - over.begin();
}

/// The widest vector that the layout has and that every term of the address, the end of the axis and the base keep aligned.
template <typename Op> int64_t FragmentBuilder::vectorWidth(Op op, sched::TileType tile, unsigned tensor) {
  if (!isStrided(op, tile))
    return 1;
  sched::AddressSum sum = *sched::splitAddress(op.getMap().getResult(0));
  SmallVector<StringAttr> axes = axesOf(tile);
  StringAttr inner = axes.back();
  AffineExpr dim = getAffineDimExpr(positionOf(inner, op.getOver()), b.getContext());
  AffineExpr stride = sum.coefficientOf(cast<AffineDimExpr>(dim).getPosition());
  if (!stride || stride != 1)
    return 1;
  int64_t bytes = std::max<int64_t>(1, tile.getElementType().getIntOrFloatBitWidth() / 8); // a boolean takes one
  int64_t width = tile::toLayout(cast<tile::FragType>(typeOf(tile)).getLayout()).vectorWidth(axes.size() - 1), vector = 1;
  auto fits = [&](int64_t wide) {
    return wide * bytes <= 16 && b.alignOf(tensor) % (wide * bytes) == 0 && sum.constant.isMultipleOf(wide) &&
           b.program.getAxis(inner).getSize().isMultipleOf(wide) &&
           llvm::all_of(sum.terms, [&](const auto &term) { return term.atom == dim || term.coefficient.isMultipleOf(wide); });
  };
  while (vector * 2 <= width && fits(vector * 2))
    vector *= 2;
  return vector;
}

int64_t FragmentBuilder::vectorOf(sched::ReadOp op) {
  return vectorWidth(op, op.getType(), cast<BlockArgument>(op.getTensor()).getArgNumber());
}

template <typename Op> FragmentBuilder::Strided FragmentBuilder::strided(Op op, sched::TileType tile, unsigned tensor) {
  AffineExpr expr = op.getMap().getResult(0);
  sched::AddressSum sum = *sched::splitAddress(expr);
  SmallVector<StringAttr> axes = axesOf(tile);
  Strided made;
  made.offset = b.compute(expr, b.startsOf(op.getOver(), place.starts), b.getI64Type());
  bool ragged = llvm::any_of(axes, [&](StringAttr axis) { return b.isRagged(axis); });
  for (StringAttr axis : axes) {
    AffineExpr stride = sum.coefficientOf(positionOf(axis, op.getOver()));
    made.strides.push_back(stride ? b.size(stride, b.getI64Type()) : b.i64(0));
    if (ragged)
      made.limits.push_back(arith::SubIOp::create(b, b.loc, b.size(b.program.getAxis(axis).getSize(), b.getI32Type()),
                                                  place.starts[b.axisPosition(axis)]));
  }
  made.vector = vectorWidth(op, tile, tensor);
  return made;
}

/// Offsets and validity of every element.
template <typename Op> FragmentBuilder::Gathered FragmentBuilder::gathered(Op op, sched::TileType tile) {
  SmallVector<Value> inputs = coordinates(op.getOver(), tile);
  for (Value index : op.getIndices())
    inputs.push_back(spread(eval(index), cast<sched::TileType>(index.getType()), tile));
  size_t count = inputs.size();
  Gathered made;
  made.offsets = mapOp(inputs, typeOf(withElement(tile, b.getI64Type())), [&](ValueRange dims) {
    return b.compute(op.getMap().getResult(0), dims.take_front(count), b.getI64Type());
  });
  SmallVector<std::pair<AffineExpr, AffineExpr>> checks; // 0 <= first < second
  for (auto [i, name] : llvm::enumerate(op.getOver().template getAsRange<StringAttr>()))
    if (tile.hasAxis(name) && b.isRagged(name))
      checks.push_back({getAffineDimExpr(i, b.getContext()), b.program.getAxis(name).getSize()});
  if (op.getGuard())
    for (auto [guard, limit] : llvm::zip(op.getGuard()->getResults(), op.getLimits()->getSizes()))
      checks.push_back({guard, limit});
  if (checks.empty())
    return made;
  made.mask = mapOp(inputs, typeOf(withElement(tile, b.getI1Type())), [&](ValueRange dims) {
    Value all;
    for (auto [expr, limit] : checks) { // unsigned: a negative index is a large one
      Value in = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ult, b.compute(expr, dims.take_front(count), b.getI64Type()),
                                       b.size(limit, b.getI64Type()));
      all = all ? arith::AndIOp::create(b, b.loc, all, in).getResult() : in;
    }
    return all;
  });
  return made;
}

Value FragmentBuilder::evalRead(sched::ReadOp op) {
  sched::TileType tile = op.getType();
  Type stored = storedType(tile.getElementType());
  Value loaded = readElements(op, typeOf(withElement(tile, stored)));
  if (stored == tile.getElementType())
    return loaded;
  return mapOp(loaded, typeOf(tile), [&](ValueRange bytes) -> Value {
    Value zero = arith::ConstantOp::create(b, b.loc, b.getZeroAttr(stored));
    return arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ne, bytes[0], zero);
  });
}

Value FragmentBuilder::readElements(sched::ReadOp op, Type type) {
  sched::TileType tile = op.getType();
  unsigned tensor = cast<BlockArgument>(op.getTensor()).getArgNumber();
  Value pointer = b.pointer(tensor);
  if (!isa<tile::FragType>(type)) {
    SmallVector<Value> dims = b.startsOf(op.getOver(), place.starts);
    for (Value index : op.getIndices())
      dims.push_back(eval(index));
    Value offset = b.compute(op.getMap().getResult(0), dims, b.getI64Type());
    return tile::LoadScalarOp::create(b, b.loc, type, pointer, offset);
  }
  if (isStrided(op, tile)) {
    Strided at = strided(op, tile, tensor);
    return tile::LoadOp::create(b, b.loc, type, pointer, at.offset, at.strides, at.limits, Value(),
                                  b.getI64IntegerAttr(at.vector), UnitAttr());
  }
  Gathered at = gathered(op, tile);
  return tile::GatherOp::create(b, b.loc, type, pointer, at.offsets, at.mask);
}

void FragmentBuilder::write(sched::WriteOp op) {
  sched::TileType tile = op.getValue().getType();
  unsigned tensor = cast<BlockArgument>(op.getTensor()).getArgNumber();
  Value value = eval(op.getValue()), pointer = b.pointer(tensor);
  if (Type stored = storedType(tile.getElementType()); stored != tile.getElementType())
    value = mapOp(value, typeOf(withElement(tile, stored)),
                  [&](ValueRange bits) -> Value { return arith::ExtUIOp::create(b, b.loc, stored, bits[0]); });
  if (isStrided(op, tile)) {
    Strided at = strided(op, tile, tensor);
    tile::StoreOp::create(b, b.loc, value, pointer, at.offset, at.strides, at.limits, b.getI64IntegerAttr(at.vector));
    return;
  }
  Gathered at = gathered(op, tile);
  tile::ScatterOp::create(b, b.loc, value, pointer, at.offsets, at.mask);
}

Value FragmentBuilder::clear(Value fragment, sched::TileType tile, StringAttr axis, TypedAttr number) {
  if (!b.isRagged(axis))
    return fragment;
  int64_t dim = axesOf(tile)[0] == axis ? 0 : 1;
  Value at = tile::CoordOp::create(b, b.loc, typeOf(withElement(tile, b.getI32Type())), dim, place.starts[b.axisPosition(axis)]);
  Value end = b.size(b.program.getAxis(axis).getSize(), b.getI32Type());
  return mapOp(ValueRange{fragment, at, end}, fragment.getType(), [&](ValueRange arguments) -> Value {
    Value inside = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::slt, arguments[1], arguments[2]);
    Value zero = arith::ConstantOp::create(b, b.loc, number ? number : b.getZeroAttr(arguments[0].getType()));
    return arith::SelectOp::create(b, b.loc, inside, arguments[0], zero);
  });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value FragmentBuilder::eval(Value tile) {
  if (Value known = values.lookup(tile))
    return known;
  Operation *op = tile.getDefiningOp();
  assert(op && "carried tiles are set by the lowering");
  Value made;
  if (auto read = dyn_cast<sched::ReadOp>(op)) {
    made = evalRead(read);
  } else if (auto map = dyn_cast<sched::MapOp>(op)) {
    made = evalMap(map);
  } else if (auto index = dyn_cast<sched::IndexOp>(op)) {
    made = evalIndex(index);
  } else {
    auto fill = cast<sched::FillOp>(op);
    Value number = arith::ConstantOp::create(b, b.loc, fill.getValue());
    Type type = typeOf(fill.getType());
    made = isa<tile::FragType>(type) ? tile::SplatOp::create(b, b.loc, type, number).getResult() : number;
  }
  values[tile] = made;
  return made;
}

} // namespace emmy
