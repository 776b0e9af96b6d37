// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fragments in registers: constants, coordinates, element-wise regions, and moves that need no other thread.
#include "Registers.h"
#include <map>

using namespace mlir;

namespace emmy::tile {

LogicalResult emit(KernelEmitter &e, SplatOp op) {
  Value value = e.scalar(op.getValue());
  FragType type = op.getType();
  if (isPacked(type))
    value = e.b.buildVector({value, value});
  e.set(op.getResult(), SmallVector<Value>(e.flatTypes(type).size(), value));
  return success();
}

LogicalResult emit(KernelEmitter &e, UndefOp op) {
  SmallVector<Type> types = e.flatTypes(op.getType());
  e.set(op.getResult(), SmallVector<Value>(types.size(), e.b.poison(types[0])));
  return success();
}

LogicalResult emit(KernelEmitter &e, CoordOp op) {
  LayoutAttr layout = op.getType().getLayout();
  math::Layout pure = toMath(layout);
  Value base = e.scalar(op.getBase());
  if (Value thread = e.threadCoordinate(layout, op.getDim()))
    base = e.b.add(base, thread);
  SmallVector<Value> registers;
  for (int64_t i = 0, n = layout.getNumRegisters(); i < n; ++i)
    registers.push_back(e.b.add(base, pure.coordinates(i, 0, 0)[op.getDim()]));
  e.set(op.getResult(), registers);
  return success();
}

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

namespace {
/// Element-wise evaluation of a region on one register, or on the two elements of a packed one: values of 16-bit floats stay
/// packed from where a conversion makes them to where one reads them.
class MapEvaluator {
public:
  MapEvaluator(KernelEmitter &e, MapOp op) : e(e), op(op), block(op.getBody().front()) {
    // Constants are emitted once for all registers.
    for (Operation &constant : block.without_terminator())
      if (constant.getNumOperands() == 0)
        e.set(constant.getResult(0), {emitElementwise(e, &constant, {})});
  }

  /// The results for elements [first, first + width).
  SmallVector<SmallVector<Value>> run(int64_t first, int64_t width) {
    lanes = width;
    elements.clear();
    pairs.clear();
    for (auto [argument, input] : llvm::zip(block.getArguments(), op.getInputs())) {
      auto frag = dyn_cast<FragType>(input.getType());
      if (!frag)
        elements[argument] = SmallVector<Value>(lanes, e.scalar(input));
      else if (isPacked(frag))
        pairs[argument] = e.registers(input)[first / 2];
      else
        elements[argument] = llvm::to_vector(e.registers(input).slice(first, lanes));
    }
    for (Operation &inner : block.without_terminator())
      if (inner.getNumOperands())
        emitOne(inner);
    SmallVector<SmallVector<Value>> results;
    for (auto [value, type] : llvm::zip(block.getTerminator()->getOperands(), op.getResultTypes())) {
      if (!isPacked(cast<FragType>(type)))
        results.push_back(scalars(value));
      else if (Value pair = pairs.lookup(value))
        results.push_back({pair});
      else
        results.push_back({e.b.buildVector(scalars(value))});
    }
    return results;
  }

private:
  /// The elements of `value`, taken apart once.
  SmallVector<Value> scalars(Value value) {
    if (auto found = elements.find(value); found != elements.end())
      return found->second;
    Value pair = pairs.lookup(value);
    if (!pair)
      return SmallVector<Value>(lanes, e.scalar(value)); // a constant or a scalar from outside
    return elements[value] = {e.b.extractElement(pair, 0), e.b.extractElement(pair, 1)};
  }

  void emitOne(Operation &inner) {
    Value result = inner.getResult(0);
    if (isa<arith::TruncFOp>(inner) && lanes == 2 && inner.getOperand(0).getType().isF32() &&
        (result.getType().isBF16() || result.getType().isF16())) {
      SmallVector<Value> from = scalars(inner.getOperand(0));
      pairs[result] = e.b.convertPair(from[0], from[1], result.getType());
      return;
    }
    if (isa<arith::ExtFOp>(inner) && result.getType().isF32())
      if (Value pair = pairs.lookup(inner.getOperand(0))) {
        elements[result] = {extendHalf(e, pair, 0), extendHalf(e, pair, 1)};
        return;
      }
    SmallVector<SmallVector<Value>> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(scalars(operand));
    SmallVector<Value> out;
    for (int64_t i = 0; i < lanes; ++i)
      out.push_back(emitElementwise(e, &inner, llvm::map_to_vector(operands, [&](ArrayRef<Value> all) { return all[i]; })));
    elements[result] = out;
  }

  KernelEmitter &e;
  MapOp op;
  Block &block;
  int64_t lanes = 1;
  DenseMap<Value, SmallVector<Value>> elements;
  DenseMap<Value, Value> pairs;
};
} // namespace

static LogicalResult checkRegion(Operation *op, Block &block) {
  for (Operation &inner : block.without_terminator()) {
    StringRef dialect = inner.getName().getDialectNamespace();
    if (inner.getNumResults() != 1 || inner.getNumRegions() || (dialect != "arith" && dialect != "math"))
      return inner.emitOpError("stands in a region that may hold arith and math operations only");
    for (Type type : inner.getOperandTypes())
      if (auto real = dyn_cast<FloatType>(type); real && real.getWidth() < 16)
        return inner.emitOpError("has no lowering for ") << type;
  }
  return success();
}

LogicalResult emit(KernelEmitter &e, MapOp op) {
  if (failed(checkRegion(op, op.getBody().front())))
    return failure();
  if (op.getNumResults() == 0)
    return success();
  int64_t count = cast<FragType>(op.getResult(0).getType()).getLayout().getNumRegisters();
  int64_t width = count % 2 == 0 ? 2 : 1;
  MapEvaluator evaluator(e, op);
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  for (int64_t first = 0; first < count; first += width)
    for (auto [all, some] : llvm::zip(results, evaluator.run(first, width)))
      llvm::append_range(all, some);
  for (auto [result, registers] : llvm::zip(op.getResults(), results))
    e.set(result, registers);
  return success();
}

//===----------------------------------------------------------------------===//
// Moves between registers of a thread
//===----------------------------------------------------------------------===//

LogicalResult emit(KernelEmitter &e, BroadcastOp op) {
  SmallVector<Value> from = unpack(e, op.getInput().getType(), e.registers(op.getInput())), to;
  for (int64_t source : toMath(op.getType().getLayout()).slicedRegisters(op.getDim()))
    to.push_back(from[source]);
  e.set(op.getResult(), pack(e, op.getType(), to));
  return success();
}

LogicalResult emit(KernelEmitter &e, ExtractOp op) {
  math::Layout from = toMath(op.getInput().getType().getLayout()), to = toMath(op.getType().getLayout());
  std::map<math::Coordinates, int64_t> registerAt;
  for (int64_t i = 0; i < from.registers(); ++i)
    registerAt[from.coordinates(i, 0, 0)] = i;
  SmallVector<int64_t> sources;
  for (int64_t i = 0; i < to.registers(); ++i) {
    math::Coordinates at = to.coordinates(i, 0, 0);
    for (auto [coordinate, offset] : llvm::zip(at, op.getOffsets()))
      coordinate += offset;
    auto found = registerAt.find(at);
    if (found == registerAt.end()) // extract_c1
      return op.emitOpError("expects every element of the result in a register of the same thread of the operand");
    sources.push_back(found->second);
  }
  ArrayRef<Value> registers = e.registers(op.getInput());
  SmallVector<Value> out;
  if (isPacked(op.getInput().getType()) && isPacked(op.getType())) {
    bool whole = true; // pairs stay pairs
    for (size_t i = 0; i < sources.size(); i += 2)
      whole &= sources[i] % 2 == 0 && sources[i + 1] == sources[i] + 1;
    if (whole) {
      for (size_t i = 0; i < sources.size(); i += 2)
        out.push_back(registers[sources[i] / 2]);
      e.set(op.getResult(), out);
      return success();
    }
  }
  SmallVector<Value> elements = unpack(e, op.getInput().getType(), registers);
  for (int64_t source : sources)
    out.push_back(elements[source]);
  e.set(op.getResult(), pack(e, op.getType(), out));
  return success();
}

} // namespace emmy::tile
