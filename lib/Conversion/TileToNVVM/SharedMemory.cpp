// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fragments from and to shared memory: by elements and vectors of up to 16 bytes, or by ldmatrix and stmatrix.
#include "Registers.h"
#include "emmy/Support/Math/MatrixMoves.h"

using namespace mlir;

namespace emmy::tile {

namespace {
/// While it lives, addresses are those of another CTA's shared memory.
class InCta {
public:
  InCta(KernelEmitter &e, Value rank) : e(e), own(e.shared) {
    if (rank)
      e.shared = e.b.mapShared(own, e.scalar(rank));
  }
  ~InCta() { e.shared = own; }

private:
  KernelEmitter &e;
  Value own;
};
} // namespace

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

static FailureOr<Value> elementOf(KernelEmitter &e, Operation *op, SharedType type, Value buffer, Value index) {
  if (type.getSwizzle() || !type.isContiguous())
    return op->emitOpError("expects a row-major buffer without swizzle, but got ") << type;
  return e.pointer(e.offset(e.address(buffer), e.scalar(index), type.getElementBytes()));
}

LogicalResult emit(KernelEmitter &e, PutOp op) {
  SharedType type = op.getTarget().getType();
  InCta where(e, op.getRank());
  FailureOr<Value> pointer = elementOf(e, op, type, op.getTarget(), op.getIndex());
  if (failed(pointer))
    return failure();
  e.guarded(e.onlyThread(), [&] { e.b.store(e.scalar(op.getValue()), *pointer, type.getElementBytes()); });
  return success();
}

LogicalResult emit(KernelEmitter &e, GetOp op) {
  SharedType type = op.getSource().getType();
  InCta where(e, op.getRank());
  FailureOr<Value> pointer = elementOf(e, op, type, op.getSource(), op.getIndex());
  if (failed(pointer))
    return failure();
  e.set(op.getResult(), {e.b.load(*pointer, e.convertType(type.getElementType()), type.getElementBytes())});
  return success();
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

namespace {
/// A fragment and the buffer it is staged in; with `transpose` the buffer's dimensions are the fragment's in reverse.
struct Staged {
  FragType frag;
  SharedType buffer;
  SharedAddress address;
  bool transpose;
  math::Layout layout;
  SmallVector<Value> threadAt; // of each dimension of the fragment

  Staged(KernelEmitter &e, FragType frag, SharedType buffer, SharedAddress address, bool transpose)
      : frag(frag), buffer(buffer), address(std::move(address)), transpose(transpose), layout(toMath(frag.getLayout())) {
    for (size_t dim = 0; dim < frag.getShape().size(); ++dim)
      threadAt.push_back(e.threadCoordinate(frag.getLayout(), dim));
  }

  /// Places in the buffer, from coordinates in the fragment.
  SmallVector<Sum> place(ArrayRef<Sum> at) const {
    SmallVector<Sum> out(at);
    if (transpose)
      std::reverse(out.begin(), out.end());
    return out;
  }

  Value pointer(KernelEmitter &e, int64_t reg) const {
    SmallVector<Sum> at;
    for (auto [thread, constant] : llvm::zip(threadAt, layout.coordinates(reg, 0, 0)))
      at.push_back({thread, constant});
    return e.elementPointer(address, buffer, place(at));
  }

  /// Elements that one access can move: side by side in registers and in the buffer, and aligned there.
  int64_t vectorWidth() const {
    unsigned dim = transpose ? 0 : layout.rank() - 1;
    int64_t width = layout.vectorWidth(dim), bytes = buffer.getElementBytes();
    while (width > 1 && !isAligned(dim, width, bytes))
      width /= 2;
    return width;
  }

private:
  bool isAligned(unsigned dim, int64_t width, int64_t bytes) const {
    if ((width & (width - 1)) || width * bytes > 16 || layout.vectorWidth(dim) % width)
      return false;
    for (const math::Modes *modes : {&layout.lane(), &layout.warp()})
      for (const math::Mode &mode : *modes)
        if (mode.size > 1 && mode.strides[dim] % width)
          return false;
    for (int64_t reg = 0; reg < layout.registers(); reg += width)
      if (layout.coordinates(reg, 0, 0)[dim] % width)
        return false;
    auto whole = [&](int64_t distance) { return distance % (width * bytes) == 0; };
    return llvm::all_of(buffer.getStrides().drop_back(), [&](int64_t stride) { return whole(stride * bytes); }) &&
           whole(address.bytes) && llvm::all_of(address.terms, [&](auto &term) { return whole(term.second); });
  }
};
} // namespace

static Type wordsType(KernelEmitter &e, Words words) {
  return words.count > 1 ? VectorType::get(words.count, words.type) : words.type;
}

static void loadVectors(KernelEmitter &e, LoadSharedOp op, const Staged &staged) {
  NvvmBuilder &b = e.b;
  Type element = staged.frag.getElementType();
  int64_t width = staged.vectorWidth();
  bool direct = isPacked(staged.frag) && width > 1;
  SmallVector<Value> registers;
  for (int64_t reg = 0; reg < staged.layout.registers(); reg += width) {
    Words words = wordsOf(e, element, width);
    Value loaded = b.load(staged.pointer(e, reg), wordsType(e, words), width * staged.buffer.getElementBytes());
    SmallVector<Value> parts = {loaded};
    if (words.count > 1) {
      parts.clear();
      for (int64_t i = 0; i < words.count; ++i)
        parts.push_back(b.extractElement(loaded, i));
    }
    llvm::append_range(registers, fromWords(e, parts, element, width, direct));
  }
  e.set(op.getResult(), direct ? registers : pack(e, staged.frag, registers));
}

static void storeVectors(KernelEmitter &e, StoreSharedOp op, const Staged &staged) {
  NvvmBuilder &b = e.b;
  int64_t width = staged.vectorWidth();
  bool direct = isPacked(staged.frag) && width > 1;
  SmallVector<Value> elements = llvm::to_vector(e.registers(op.getValue()));
  if (!direct)
    elements = unpack(e, staged.frag, elements);
  int64_t perElement = direct ? 2 : 1;
  for (int64_t reg = 0; reg < staged.layout.registers(); reg += width) {
    ArrayRef<Value> some = ArrayRef<Value>(elements).slice(reg / perElement, width / perElement);
    SmallVector<Value> words = toWords(e, some, staged.frag.getElementType(), direct);
    b.store(words.size() > 1 ? b.buildVector(words) : words[0], staged.pointer(e, reg), width * staged.buffer.getElementBytes());
  }
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// The instructions for a fragment; those of four matrices have their origins on a grid, or are split.
static FailureOr<std::vector<math::MatrixMove>> planMoves(Operation *op, const Staged &staged) {
  std::optional<std::vector<math::MatrixMove>> moves = math::planMatrixMoves(staged.layout, staged.transpose);
  if (!moves)
    return op->emitOpError("expects a layout made of 8 by 8 matrices for a matrix move, but got ") << staged.frag.getLayout();
  if (staged.buffer.getStrides().drop_back().back() * 2 % 16 || staged.address.bytes % 16)
    return op->emitOpError("expects lines that start at multiples of 16 bytes, but got ") << staged.buffer;
  std::vector<math::MatrixMove> out;
  for (math::MatrixMove &move : *moves) {
    auto onGrid = [&](int64_t dim) {
      return move.origins[3][dim] - move.origins[2][dim] == move.origins[1][dim] - move.origins[0][dim];
    };
    if (move.count < 4 || (onGrid(0) && onGrid(1))) {
      out.push_back(std::move(move));
      continue;
    }
    for (int64_t i = 0; i < 4; i += 2)
      out.push_back({2, {move.registers[i], move.registers[i + 1]}, {move.origins[i], move.origins[i + 1]}});
  }
  return out;
}

/// Address of the line that this lane supplies to `move`.
static Value linePointer(KernelEmitter &e, const Staged &staged, const math::MatrixMove &move) {
  NvvmBuilder &b = e.b;
  Value matrix = b.shiftRight(e.lane, 3), line = b.bitAnd(e.lane, 7);
  LayoutAttr layout = staged.frag.getLayout();
  SmallVector<Sum> at;
  for (int64_t dim = 0; dim < 2; ++dim) {
    Value sum = dim == (staged.transpose ? 1 : 0) ? line : Value();
    auto addStep = [&](int64_t bit, int64_t step) {
      if (!step)
        return;
      Value moved = b.mul(b.bitAnd(b.shiftRight(matrix, bit), 1), step);
      sum = sum ? b.add(sum, moved) : moved;
    };
    if (move.count > 1)
      addStep(0, move.origins[1][dim] - move.origins[0][dim]);
    if (move.count > 2)
      addStep(1, move.origins[2][dim] - move.origins[0][dim]);
    // Lanes are accounted for; what is left of the thread's coordinate is its warp's.
    auto warps = LayoutAttr::get(layout.getContext(), layout.getRank(), {}, {32, 0, 0}, layout.getWarp());
    if (Value warp = e.threadCoordinate(warps, dim))
      sum = sum ? b.add(sum, warp) : warp;
    at.push_back({sum, move.origins[0][dim]});
  }
  return e.elementPointer(staged.address, staged.buffer, staged.place(at));
}

static LogicalResult loadMatrices(KernelEmitter &e, LoadSharedOp op, const Staged &staged) {
  FailureOr<std::vector<math::MatrixMove>> moves = planMoves(op, staged);
  if (failed(moves))
    return failure();
  SmallVector<Value> registers(staged.layout.registers() / 2);
  for (const math::MatrixMove &move : *moves) {
    SmallVector<Value> words = e.b.loadMatrices(linePointer(e, staged, move), move.count, staged.transpose);
    for (auto [reg, word] : llvm::zip(move.registers, words))
      registers[reg / 2] = e.b.bitcast(word, VectorType::get(2, staged.frag.getElementType()));
  }
  e.set(op.getResult(), registers);
  return success();
}

static LogicalResult storeMatrices(KernelEmitter &e, StoreSharedOp op, const Staged &staged) {
  FailureOr<std::vector<math::MatrixMove>> moves = planMoves(op, staged);
  if (failed(moves))
    return failure();
  for (const math::MatrixMove &move : *moves) {
    SmallVector<Value> words;
    for (int64_t reg : move.registers)
      words.push_back(e.b.bitcast(e.registers(op.getValue())[reg / 2], e.b.getI32Type()));
    e.b.storeMatrices(linePointer(e, staged, move), words, staged.transpose);
  }
  return success();
}

/// 16-bit integers are no pairs in registers, so the matrix instructions are for floats.
static LogicalResult checkMatrix(Operation *op, FragType frag) {
  if (isPacked(frag) && frag.getShape().size() == 2)
    return success();
  return op->emitOpError("expects a two-dimensional fragment of bf16 or f16 for a matrix move, but got ") << frag;
}

LogicalResult emit(KernelEmitter &e, LoadSharedOp op) {
  Staged staged(e, op.getType(), op.getSource().getType(), e.address(op.getSource()), op.getTranspose());
  if (op.getMatrix())
    return failed(checkMatrix(op, op.getType())) ? failure() : loadMatrices(e, op, staged);
  InCta where(e, op.getRank());
  loadVectors(e, op, staged);
  return success();
}

LogicalResult emit(KernelEmitter &e, StoreSharedOp op) {
  Staged staged(e, op.getValue().getType(), op.getTarget().getType(), e.address(op.getTarget()), op.getTranspose());
  if (op.getMatrix() && failed(checkMatrix(op, op.getValue().getType())))
    return failure();
  if (op.getMatrix() && e.isHopper())
    return storeMatrices(e, op, staged);
  InCta where(e, op.getRank());
  storeVectors(e, op, staged);
  return success();
}

} // namespace emmy::tile
