// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions: a balanced tree over a thread's registers, a butterfly over the lanes that share a line, then shared memory where a
// line spans warps. All threads combine in one order, so replicas are equal to the bit.
#include "Registers.h"

using namespace mlir;

namespace emmy::tile {

static Value combine(KernelEmitter &e, ReduceOp op, Value a, Value b) { return evaluate(e, op.getBody().front(), {a, b}).front(); }

static Value combineTree(KernelEmitter &e, ReduceOp op, SmallVector<Value> values) {
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i < values.size(); i += 2)
      next.push_back(i + 1 < values.size() ? combine(e, op, values[i], values[i + 1]) : values[i]);
    values = next;
  }
  return values.front();
}

/// The value that the lane differing in `mask` holds, of any type.
static Value shuffle(KernelEmitter &e, Value value, int64_t mask) {
  NvvmBuilder &b = e.b;
  Type type = value.getType();
  int64_t width = type.getIntOrFloatBitWidth();
  if (type.isF32() || type.isInteger(32))
    return b.shuffleXor(value, mask);
  Value bits = b.bitcast(value, b.getIntegerType(width));
  if (width < 32)
    return b.bitcast(b.truncate(b.shuffleXor(b.zeroExtend(bits, b.getI32Type()), mask), b.getIntegerType(width)), type);
  Value low = b.zeroExtend(b.shuffleXor(b.truncate(bits, b.getI32Type()), mask), b.getI64Type());
  Value high = b.zeroExtend(b.shuffleXor(b.truncate(b.shiftRight(bits, 32), b.getI32Type()), mask), b.getI64Type());
  return b.bitcast(b.createOrFold<arith::OrIOp>(b.loc, low, b.shiftLeft(high, 32)), type);
}

namespace {
/// Warps of a unit by the part of a line that they hold.
struct WarpDigits {
  Value part;        // which part of the line this warp holds
  int64_t parts = 1; // of a line
};
} // namespace

static WarpDigits digitsAlong(KernelEmitter &e, LayoutAttr layout, int64_t dim) {
  WarpDigits digits;
  int64_t below = 1;
  for (size_t i = 0; i < layout.getWarp().size(); i += layout.getRank() + 1) {
    int64_t size = layout.getWarp()[i];
    if (size > 1 && layout.getWarp()[i + 1 + dim]) {
      Value digit = e.b.mul(e.b.rem(e.b.div(e.unit.warp, below), size), digits.parts);
      digits.part = digits.part ? e.b.add(digits.part, digit) : digit;
      digits.parts *= size;
    }
    below *= size;
  }
  return digits;
}

/// Exchanges partial results over shared memory, laid out as [part of the line][element of the result]: threads with neighbouring
/// elements then use neighbouring banks. The unit synchronises before reading. Scratch that others use too is guarded before and after;
/// scratch of this reduction alone only from its own trip before, in a loop.
static LogicalResult combineWarps(KernelEmitter &e, ReduceOp op, SmallVector<Value> &partial) {
  NvvmBuilder &b = e.b;
  FragType result = op.getType();
  WarpDigits digits = digitsAlong(e, op.getInput().getType().getLayout(), op.getDim());
  if (digits.parts == 1)
    return success();
  SharedType scratch = op.getScratch().getType();
  int64_t elements = 1, available = 1;
  for (int64_t size : result.getShape())
    elements *= size;
  for (int64_t size : scratch.getShape())
    available *= size;
  Type element = e.convertType(result.getElementType());
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  if (available < elements * digits.parts || scratch.getElementBytes() < bytes || scratch.getSwizzle() || !scratch.isContiguous())
    return op.emitOpError("expects scratch of at least ") << elements * digits.parts << " elements without swizzle, but got " << scratch;
  Value number; // of the thread's first result element, row-major
  int64_t pitch = 1;
  math::Layout layout = toMath(result.getLayout());
  SmallVector<int64_t> offsets(partial.size(), 0);
  for (int64_t dim = result.getShape().size(); dim-- > 0; pitch *= result.getShape()[dim]) {
    if (Value at = e.threadCoordinate(result.getLayout(), dim))
      number = number ? b.add(number, b.mul(at, pitch)) : b.mul(at, pitch);
    for (auto [i, offset] : llvm::enumerate(offsets))
      offset += layout.coordinates(i, 0, 0)[dim] * pitch;
  }
  SharedAddress base = e.address(op.getScratch());
  Value first = number ? b.mul(number, bytes) : b.i32(0);
  auto at = [&](int64_t offset, int64_t part) {
    SharedAddress where = base;
    where.bytes += (part * elements + offset) * bytes;
    return where;
  };
  bool isAlone = op.getScratch().getDefiningOp<AllocOp>() && op.getScratch().hasOneUse();
  if (!isAlone || op->getParentOfType<LoopLikeOpInterface>())
    e.syncUnit();
  bool boolean = element.isInteger(1);
  for (auto [value, offset] : llvm::zip(partial, offsets))
    b.store(boolean ? b.zeroExtend(value, b.getI8Type()) : value, e.pointer(at(offset, 0), b.add(first, b.mul(digits.part, elements * bytes))), bytes);
  e.syncUnit();
  for (auto [value, offset] : llvm::zip(partial, offsets)) {
    SmallVector<Value> parts;
    for (int64_t part = 0; part < digits.parts; ++part) {
      Value loaded = b.load(e.pointer(at(offset, part), first), boolean ? b.getI8Type() : element, bytes);
      parts.push_back(boolean ? b.truncate(loaded, element) : loaded);
    }
    value = combineTree(e, op, parts);
  }
  if (!isAlone)
    e.syncUnit();
  return success();
}

LogicalResult emit(KernelEmitter &e, ReduceOp op) {
  FragType from = op.getInput().getType();
  math::Layout layout = toMath(from.getLayout());
  for (Operation &inner : op.getBody().front().without_terminator())
    if (inner.getNumResults() != 1 || inner.getNumRegions())
      return inner.emitOpError("stands in a region that may hold arith and math operations only");
  SmallVector<SmallVector<Value>> lines(op.getType().getLayout().getNumRegisters());
  SmallVector<Value> elements = unpack(e, from, e.registers(op.getInput()));
  for (auto [element, line] : llvm::zip(elements, layout.slicedRegisters(op.getDim())))
    lines[line].push_back(element);
  SmallVector<Value> partial;
  for (SmallVector<Value> &line : lines)
    partial.push_back(combineTree(e, op, line));
  uint32_t lanes = layout.laneMaskAlong(op.getDim());
  for (int64_t bit = 1; bit < 32; bit *= 2)
    if (lanes & bit)
      for (Value &value : partial)
        value = combine(e, op, value, shuffle(e, value, bit));
  if (failed(combineWarps(e, op, partial)))
    return failure();
  e.set(op.getResult(), pack(e, op.getType(), partial));
  return success();
}

LogicalResult emit(KernelEmitter &e, AnyOp op) {
  NvvmBuilder &b = e.b;
  Value found;
  for (Value element : e.registers(op.getInput()))
    found = found ? b.createOrFold<arith::OrIOp>(b.loc, found, element) : element;
  if (e.unit.warps == 1)
    found = b.voteAny(found);
  else
    found = b.syncAny(e.unit.kind == Unit::Cta ? b.i32(0) : e.unit.barrier, e.unit.threads(), found);
  e.set(op.getResult(), found);
  return success();
}

} // namespace emmy::tile
