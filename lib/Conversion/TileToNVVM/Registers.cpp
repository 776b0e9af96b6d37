// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Packing of elements into registers and memory words.
#include "Registers.h"

using namespace mlir;

namespace emmy::tile {

math::Layout toMath(LayoutAttr layout) {
  unsigned rank = layout.getRank();
  auto convert = [&](ArrayRef<int64_t> flat) {
    math::Modes modes;
    for (size_t i = 0; i < flat.size(); i += rank + 1) {
      ArrayRef<int64_t> strides = flat.slice(i + 1, rank);
      modes.push_back({flat[i], {strides.begin(), strides.end()}});
    }
    return modes;
  };
  return math::Layout(rank, convert(layout.getReg()), convert(layout.getLane()), convert(layout.getWarp()));
}

static bool isHalf(Type type) { return type.isBF16() || type.isF16(); }

bool isPacked(FragType frag) { return isHalf(frag.getElementType()) && frag.getLayout().getNumRegisters() % 2 == 0; }

SmallVector<Value> unpack(KernelEmitter &e, FragType type, ArrayRef<Value> registers) {
  if (!isPacked(type))
    return llvm::to_vector(registers);
  SmallVector<Value> elements;
  for (Value pair : registers) {
    elements.push_back(e.b.extractElement(pair, 0));
    elements.push_back(e.b.extractElement(pair, 1));
  }
  return elements;
}

SmallVector<Value> pack(KernelEmitter &e, FragType type, ArrayRef<Value> elements) {
  if (!isPacked(type))
    return llvm::to_vector(elements);
  SmallVector<Value> registers;
  for (size_t i = 0; i < elements.size(); i += 2)
    registers.push_back(e.b.buildVector({elements[i], elements[i + 1]}));
  return registers;
}

Value extendHalf(KernelEmitter &e, Value register_, int64_t half) {
  NvvmBuilder &b = e.b;
  auto vector = dyn_cast<VectorType>(register_.getType());
  Type element = vector ? vector.getElementType() : register_.getType();
  if (!element.isBF16())
    return b.createOrFold<arith::ExtFOp>(b.loc, b.getF32Type(), vector ? b.extractElement(register_, half) : register_);
  // A bf16 is the upper half of the f32.
  Value bits = vector ? b.bitcast(register_, b.getI32Type())
                      : b.zeroExtend(b.bitcast(register_, b.getIntegerType(16)), b.getI32Type());
  bits = half ? b.bitAnd(bits, 0xFFFF0000) : b.shiftLeft(bits, 16);
  return b.bitcast(bits, b.getF32Type());
}

//===----------------------------------------------------------------------===//
// Memory words
//===----------------------------------------------------------------------===//

/// i1 takes a byte in memory.
static int64_t bytesOf(Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

Words wordsOf(KernelEmitter &e, Type element, int64_t count) {
  int64_t bytes = bytesOf(element);
  if (bytes == 8)
    return {e.b.getI64Type(), count};
  if (bytes * count >= 4)
    return {e.b.getI32Type(), bytes * count / 4};
  return {e.b.getIntegerType(8 * bytes * count), 1};
}

/// The element of type `element` in the lowest bits of `bits`.
static Value fromBits(KernelEmitter &e, Value bits, Type element) {
  NvvmBuilder &b = e.b;
  int64_t width = 8 * bytesOf(element);
  bits = b.truncate(bits, b.getIntegerType(width));
  if (element.isInteger(1))
    return b.truncate(bits, element);
  return b.bitcast(bits, e.convertType(element));
}

static Value toBits(KernelEmitter &e, Value element) {
  if (element.getType().isInteger(1))
    return e.b.zeroExtend(element, e.b.getI8Type());
  return e.b.bitcast(element, e.b.getIntegerType(element.getType().getIntOrFloatBitWidth()));
}

SmallVector<Value> fromWords(KernelEmitter &e, ArrayRef<Value> words, Type element, int64_t count, bool packed) {
  NvvmBuilder &b = e.b;
  SmallVector<Value> registers;
  int64_t perWord = count / static_cast<int64_t>(words.size()), width = 8 * bytesOf(element);
  if (packed && perWord == 2) {
    for (Value word : words)
      registers.push_back(b.bitcast(word, VectorType::get(2, element)));
    return registers;
  }
  for (Value word : words)
    for (int64_t i = 0; i < perWord; ++i)
      registers.push_back(fromBits(e, b.shiftRight(word, i * width), element));
  return registers;
}

SmallVector<Value> toWords(KernelEmitter &e, ArrayRef<Value> registers, Type element, bool packed) {
  NvvmBuilder &b = e.b;
  SmallVector<Value> words;
  if (packed) {
    for (Value pair : registers)
      words.push_back(b.bitcast(pair, b.getI32Type()));
    return words;
  }
  int64_t count = registers.size(), width = 8 * bytesOf(element);
  Words shape = wordsOf(e, element, count);
  int64_t perWord = count / shape.count;
  for (int64_t i = 0; i < count; i += perWord) {
    Value word = b.zeroExtend(toBits(e, registers[i]), shape.type);
    for (int64_t j = 1; j < perWord; ++j)
      word = b.createOrFold<arith::OrIOp>(b.loc, word,
                                          b.shiftLeft(b.zeroExtend(toBits(e, registers[i + j]), shape.type), j * width));
    words.push_back(word);
  }
  return words;
}

} // namespace emmy::tile
