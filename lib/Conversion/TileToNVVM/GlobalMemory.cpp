// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fragments from and to global memory. Accesses that a limit or mask may forbid are predicated instructions, not branches, so that
// all of a tile's loads are in flight before the first use.
#include "Registers.h"
#include <map>

using namespace mlir;

namespace emmy::tile {

//===----------------------------------------------------------------------===//
// One access
//===----------------------------------------------------------------------===//

namespace {
struct Access {
  Value pointer;
  Value inside; // null: always
  Type element;
  int64_t count; // elements side by side
};
} // namespace

/// `.v4.b32` and the constraint of one word's register.
static std::pair<std::string, char> suffixOf(Words words) {
  int64_t width = words.type.getIntOrFloatBitWidth();
  std::string suffix = (words.count > 1 ? ".v" + std::to_string(words.count) : std::string()) + ".b" + std::to_string(width);
  return {suffix, width == 64 ? 'l' : width == 32 ? 'r' : 'h'};
}

static std::string operandList(int64_t first, int64_t count) {
  std::string list;
  for (int64_t i = first; i < first + count; ++i)
    list += (i > first ? ", $" : "$") + std::to_string(i);
  return count > 1 ? "{" + list + "}" : list;
}

static Type wordVector(KernelEmitter &e, Words words) {
  return words.count > 1 ? VectorType::get(words.count, words.type) : words.type;
}

/// Loads by inline PTX: a predicate that leaves zeros, or a cache hint.
static SmallVector<Value> loadByAsm(KernelEmitter &e, const Access &access, Words words, bool evictFirst) {
  NvvmBuilder &b = e.b;
  auto [suffix, constraint] = suffixOf(words);
  bool narrow = words.type.getIntOrFloatBitWidth() == 8; // no register is that small
  Type type = narrow ? b.getIntegerType(16) : words.type;
  InlineAsm code;
  for (int64_t i = 0; i < words.count; ++i) {
    code.constraints += std::string("=") + constraint + ",";
    code.outputs.push_back(type);
  }
  code.constraints += "l";
  code.inputs = {access.pointer};
  std::string address = std::to_string(words.count);
  if (access.inside) {
    code.text = "@$" + std::to_string(words.count + 1) + " ";
    code.constraints += ",b";
    code.inputs.push_back(access.inside);
    for (int64_t i = 0; i < words.count; ++i) { // what a false predicate leaves
      code.constraints += "," + std::to_string(i);
      code.inputs.push_back(b.constant(type, 0));
    }
  }
  code.text += std::string("ld.global") + (evictFirst ? ".L1::no_allocate" : "") + suffix + " " + operandList(0, words.count) + ", [$" +
               address + "];";
  SmallVector<Value> loaded = b.inlineAsm(code);
  if (narrow)
    loaded[0] = b.truncate(loaded[0], words.type);
  return loaded;
}

static SmallVector<Value> loadWords(KernelEmitter &e, const Access &access, bool evictFirst = false) {
  Words words = wordsOf(e, access.element, access.count);
  if (access.inside || evictFirst)
    return loadByAsm(e, access, words, evictFirst);
  int64_t align = words.count * words.type.getIntOrFloatBitWidth() / 8;
  Value loaded = e.b.load(access.pointer, wordVector(e, words), align);
  if (words.count == 1)
    return {loaded};
  SmallVector<Value> out;
  for (int64_t i = 0; i < words.count; ++i)
    out.push_back(e.b.extractElement(loaded, i));
  return out;
}

static void storeWords(KernelEmitter &e, const Access &access, SmallVector<Value> data) {
  NvvmBuilder &b = e.b;
  Words words = wordsOf(e, access.element, access.count);
  if (!access.inside) {
    int64_t align = words.count * words.type.getIntOrFloatBitWidth() / 8;
    b.store(words.count > 1 ? b.buildVector(data) : data[0], access.pointer, align);
    return;
  }
  auto [suffix, constraint] = suffixOf(words);
  if (words.type.getIntOrFloatBitWidth() == 8)
    data[0] = b.zeroExtend(data[0], b.getIntegerType(16));
  InlineAsm code;
  code.text = "@$1 st.global" + suffix + " [$0], " + operandList(2, words.count) + ";";
  code.constraints = "l,b";
  code.inputs = {access.pointer, access.inside};
  for (Value word : data) {
    code.constraints += std::string(",") + constraint;
    code.inputs.push_back(word);
  }
  b.inlineAsm(code);
}

/// Adds each element to what is there; several 32-bit floats at once where the chip can.
static void addElements(KernelEmitter &e, const Access &access, ArrayRef<Value> elements) {
  bool isFloat = isa<FloatType>(access.element);
  int64_t bits = access.element.getIntOrFloatBitWidth();
  int64_t width = access.element.isF32() && e.isHopper() ? access.count : 1;
  std::string type = (width > 1 ? ".v" + std::to_string(width) : std::string()) + (isFloat ? ".f" : ".u") + std::to_string(bits);
  for (int64_t i = 0; i < access.count; i += width) {
    InlineAsm code;
    int64_t first = access.inside ? 2 : 1;
    code.text = std::string(access.inside ? "@$1 " : "") + "red.relaxed.gpu.global.add" + type + " [$0], " + operandList(first, width) + ";";
    code.constraints = access.inside ? "l,b" : "l";
    code.inputs = {e.b.gep(access.pointer, i * bits / 8)};
    if (access.inside)
      code.inputs.push_back(access.inside);
    for (Value element : elements.slice(i, width)) {
      code.constraints += isFloat ? (bits == 32 ? ",f" : ",d") : (bits == 32 ? ",r" : ",l");
      code.inputs.push_back(element);
    }
    e.b.inlineAsm(code);
  }
}

//===----------------------------------------------------------------------===//
// Strided tiles
//===----------------------------------------------------------------------===//

namespace {
/// The accesses that a thread makes for a strided tile, one for each vector of registers.
class StridedAccesses {
public:
  StridedAccesses(KernelEmitter &e, FragType frag, Value source, Value offset, ValueRange strides, ValueRange limits)
      : e(e), frag(frag), layout(toMath(frag.getLayout())), bytes(std::max<int64_t>(1, frag.getElementType().getIntOrFloatBitWidth() / 8)) {
    NvvmBuilder &b = e.b;
    Value start = e.scalar(offset);
    for (int64_t dim = 0, rank = frag.getShape().size(); dim < rank; ++dim) {
      threadAt.push_back(e.threadCoordinate(frag.getLayout(), dim));
      this->strides.push_back(e.scalar(strides[dim]));
      Value limit = limits.empty() ? Value() : e.scalar(limits[dim]);
      APInt known;
      if (limit && matchPattern(limit, m_ConstantInt(&known)) && known.getSExtValue() >= frag.getShape()[dim])
        limit = {}; // the whole tile is inside
      this->limits.push_back(limit);
      if (threadAt[dim])
        start = b.add(start, b.mul(b.zeroExtend(threadAt[dim], b.getI64Type()), this->strides[dim]));
    }
    pointer = b.gep(e.scalar(source), b.mul(start, bytes));
  }

  Access at(int64_t reg, int64_t count, Value alsoInside = {}) {
    NvvmBuilder &b = e.b;
    Access access{pointer, alsoInside, frag.getElementType(), count};
    math::Coordinates place = layout.coordinates(reg, 0, 0);
    for (size_t dim = 0; dim < place.size(); ++dim) {
      if (limits[dim])
        access.inside = b.both(isBelow(dim, place[dim]), access.inside);
      if (!place[dim])
        continue;
      APInt known;
      if (matchPattern(strides[dim], m_ConstantInt(&known)))
        access.pointer = b.gep(access.pointer, known.getSExtValue() * place[dim] * bytes);
      else
        access.pointer = b.gep(access.pointer, b.mul(strides[dim], place[dim] * bytes));
    }
    return access;
  }

private:
  Value isBelow(size_t dim, int64_t place) {
    Value &known = below[{dim, place}];
    if (known)
      return known;
    Value index = threadAt[dim] ? e.b.add(threadAt[dim], place) : e.b.i32(place);
    return known = e.b.compare(arith::CmpIPredicate::slt, index, limits[dim]);
  }

  KernelEmitter &e;
  FragType frag;
  math::Layout layout;
  int64_t bytes;
  Value pointer;
  SmallVector<Value> threadAt, strides, limits;
  std::map<std::pair<size_t, int64_t>, Value> below;
};
} // namespace

/// What the type of `vector` promises: groups of registers side by side, and aligned to their number.
static LogicalResult checkVector(Operation *op, FragType frag, int64_t vector) {
  LayoutAttr layout = frag.getLayout();
  int64_t rank = layout.getRank();
  for (ArrayRef<int64_t> modes : {layout.getReg(), layout.getLane(), layout.getWarp()})
    for (size_t i = 0; i < modes.size(); i += rank + 1) {
      bool first = modes.data() == layout.getReg().data() && i == 0;
      if (vector > 1 && modes[i] > 1 && !first && modes[i + rank] % vector)
        return op->emitOpError("expects every stride of the innermost dimension to be a multiple of the vector of ") << vector
               << " elements in " << layout;
    }
  return success();
}

LogicalResult emit(KernelEmitter &e, LoadOp op) {
  FragType frag = op.getType();
  int64_t vector = op.getVector();
  if (failed(checkVector(op, frag, vector)))
    return failure();
  StridedAccesses accesses(e, frag, op.getSource(), op.getOffset(), op.getStrides(), op.getLimits());
  bool direct = isPacked(frag) && vector > 1;
  SmallVector<Value> registers;
  for (int64_t reg = 0, n = frag.getLayout().getNumRegisters(); reg < n; reg += vector) {
    Access access = accesses.at(reg, vector, op.getMask() ? e.registers(op.getMask())[reg] : Value());
    llvm::append_range(registers, fromWords(e, loadWords(e, access, op.getEvictFirst()), frag.getElementType(), vector, direct));
  }
  e.set(op.getResult(), direct ? registers : pack(e, frag, registers));
  return success();
}

LogicalResult emit(KernelEmitter &e, StoreOp op) {
  FragType frag = op.getValue().getType();
  int64_t vector = op.getVector();
  if (failed(checkVector(op, frag, vector)))
    return failure();
  StridedAccesses accesses(e, frag, op.getTarget(), op.getOffset(), op.getStrides(), op.getLimits());
  bool direct = isPacked(frag) && vector > 1;
  SmallVector<Value> elements = direct ? llvm::to_vector(e.registers(op.getValue())) : unpack(e, frag, e.registers(op.getValue()));
  int64_t perElement = direct ? 2 : 1;
  Value primary = e.isPrimary(frag.getLayout());
  for (int64_t reg = 0, n = frag.getLayout().getNumRegisters(); reg < n; reg += vector) {
    ArrayRef<Value> some = ArrayRef<Value>(elements).slice(reg / perElement, vector / perElement);
    if (op.getAdd())
      addElements(e, accesses.at(reg, vector, primary), some);
    else
      storeWords(e, accesses.at(reg, vector, primary), toWords(e, some, frag.getElementType(), direct));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Gather, scatter, scalars
//===----------------------------------------------------------------------===//

static Access elementAccess(KernelEmitter &e, Value source, Value offset, Type element, Value inside) {
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  return {e.b.gep(e.scalar(source), e.b.mul(offset, bytes)), inside, element, 1};
}

LogicalResult emit(KernelEmitter &e, GatherOp op) {
  Type element = op.getType().getElementType();
  SmallVector<Value> elements;
  for (auto [i, offset] : llvm::enumerate(e.registers(op.getOffsets()))) {
    Value inside = op.getMask() ? e.registers(op.getMask())[i] : Value();
    Access access = elementAccess(e, op.getSource(), offset, element, inside);
    elements.push_back(fromWords(e, loadWords(e, access), element, 1, /*packed=*/false).front());
  }
  e.set(op.getResult(), pack(e, op.getType(), elements));
  return success();
}

LogicalResult emit(KernelEmitter &e, ScatterOp op) {
  FragType frag = op.getValue().getType();
  SmallVector<Value> elements = unpack(e, frag, e.registers(op.getValue()));
  Value primary = e.isPrimary(frag.getLayout());
  for (auto [i, offset] : llvm::enumerate(e.registers(op.getOffsets()))) {
    Value inside = e.b.both(op.getMask() ? e.registers(op.getMask())[i] : Value(), primary);
    Access access = elementAccess(e, op.getTarget(), offset, frag.getElementType(), inside);
    if (op.getAdd())
      addElements(e, access, {elements[i]});
    else
      storeWords(e, access, toWords(e, {elements[i]}, frag.getElementType(), /*packed=*/false));
  }
  return success();
}

LogicalResult emit(KernelEmitter &e, LoadScalarOp op) {
  Type element = op.getSource().getType().getElementType();
  Access access = elementAccess(e, op.getSource(), e.scalar(op.getOffset()), element, {});
  e.set(op.getResult(), fromWords(e, loadWords(e, access), element, 1, /*packed=*/false));
  return success();
}

LogicalResult emit(KernelEmitter &e, AtomicAddOp op) {
  Type element = op.getTarget().getType().getElementType();
  if (!e.unit.oneThread)
    return op.emitOpError("expects to stand in 'emmy_tile.one_thread'");
  Access access = elementAccess(e, op.getTarget(), e.scalar(op.getOffset()), element, {});
  e.set(op.getOld(), {e.b.atomicAdd(access.pointer, e.scalar(op.getValue()), op.getAcqRel())});
  return success();
}

} // namespace emmy::tile
