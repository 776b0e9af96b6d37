// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// wgmma with operands in shared memory or registers, its waits, and mma.sync.
#include "Registers.h"
#include "emmy/Support/Math/WgmmaDescriptor.h"
#include <map>

using namespace mlir;

namespace emmy::tile {

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {
/// A shared operand: the descriptor of its start, and where the k steps lie.
struct Operand {
  Value low;                    // bits 0 to 31 of the descriptor, which hold the address
  int32_t high = 0;             // the other bits
  int64_t stepBytes = 32;       // from one instruction's k to the next
  int64_t stepsPerPanel = 1000; // after which the next panel begins
  int64_t panelBytes = 0;

  Value at(NvvmBuilder &b, int64_t step) const {
    int64_t bytes = step / stepsPerPanel * panelBytes + step % stepsPerPanel * stepBytes;
    return b.bitcast(b.buildVector({b.add(low, static_cast<int64_t>(math::descriptorAdvance(bytes))), b.i32(high)}), b.getI64Type());
  }
};
} // namespace

/// The low word of a descriptor, with `bits` for all but the address; the high word is a constant. Sums are of 32 bits: from sums of 64
/// with one high word ptxas 13.0 makes instructions that read it from a register that nothing wrote. The parts are grouped so that what
/// depends on no loop is computed outside.
static Value lowWordOf(KernelEmitter &e, const SharedAddress &at, uint32_t bits) {
  NvvmBuilder &b = e.b;
  Value base = b.pointerToInt(e.shared, b.getI32Type());
  base = b.shiftRight(b.bitAnd(base, 0x3FFFF), 4);
  base = b.add(base, static_cast<int64_t>(bits) + at.bytes / 16);
  for (auto [index, bytes] : at.terms)
    base = b.add(base, bytes % 16 == 0 ? b.mul(index, bytes / 16) : b.shiftRight(b.mul(index, bytes), 4));
  return base;
}

static FailureOr<Operand> operandOf(KernelEmitter &e, WgmmaOp op, Value buffer, bool transpose) {
  auto type = cast<SharedType>(buffer.getType());
  int64_t bytes = type.getElementBytes(), rank = type.getShape().size();
  if (type.getStrides()[rank - 2] * bytes != 128)
    return op.emitOpError("expects lines 128 bytes apart, but got ") << type;
  int64_t panelBytes = rank == 3 ? type.getStrides()[0] * bytes : 0;
  math::WgmmaDescriptor descriptor;
  descriptor.leadingBytes = transpose && rank == 3 ? panelBytes : 16; // unused unless MN-major and wider than a panel
  descriptor.strideBytes = 1024;
  descriptor.swizzle = 128;
  Operand operand;
  uint64_t bits = descriptor.encode();
  operand.low = lowWordOf(e, e.address(buffer), static_cast<uint32_t>(bits));
  operand.high = static_cast<int32_t>(bits >> 32);
  if (transpose) {
    operand.stepBytes = 16 * 128;
  } else {
    operand.stepsPerPanel = 4;
    operand.panelBytes = panelBytes;
  }
  return operand;
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

/// wgmma with A in registers, which the NVVM op does not have.
static SmallVector<Value> registerWgmma(KernelEmitter &e, const WgmmaStep &step, ArrayRef<Value> a, Value b, ArrayRef<Value> acc) {
  int64_t count = acc.size();
  StringRef element = step.element.isBF16() ? "bf16" : "f16";
  InlineAsm code;
  std::string d, operandA;
  for (int64_t i = 0; i < count; ++i) {
    d += (i ? ", $" : "$") + std::to_string(i);
    code.constraints += "=f,";
    code.outputs.push_back(acc[i].getType());
  }
  for (int64_t i = 0; i < count; ++i)
    code.constraints += std::to_string(i) + ",";
  for (int64_t i = 0; i < 4; ++i)
    operandA += (i ? ", $" : "$") + std::to_string(2 * count + i);
  code.constraints += "r,r,r,r,l";
  code.text = ("wgmma.mma_async.sync.aligned.m64n" + Twine(step.n) + "k16.f32." + element + "." + element + " {" + d + "}, {" + operandA +
               "}, $" + Twine(2 * count + 4) + ", " + Twine(step.zero ? 0 : 1) + ", 1, 1, " + Twine(step.transposeB ? 1 : 0) + ";")
                  .str();
  code.inputs = llvm::to_vector(acc);
  for (Value pair : a)
    code.inputs.push_back(e.b.bitcast(pair, e.b.getI32Type()));
  code.inputs.push_back(b);
  return e.b.inlineAsm(code);
}

static LogicalResult checkWgmma(KernelEmitter &e, WgmmaOp op) {
  if (e.unit.kind != Unit::Warpgroup && !(e.unit.kind == Unit::Cta && e.unit.warps == 4))
    return op.emitOpError("needs a warpgroup as its unit");
  if (!TargetAttr::of(op).hasWgmma())
    return op.emitOpError("needs sm_90a, but the target is ") << TargetAttr::of(op).getChip();
  Type element = op.getB().getType().getElementType();
  Type elementA = isa<SharedType>(op.getA().getType()) ? cast<SharedType>(op.getA().getType()).getElementType()
                                                       : cast<FragType>(op.getA().getType()).getElementType();
  bool half = element.isBF16() || element.isF16();
  if (elementA != element || !(half || element.isF32() || isa<Float8E4M3FNType, Float8E5M2Type>(element)))
    return op.emitOpError("expects both operands in one of bf16, f16, f32 (as tf32) and f8, but got ") << elementA << " and " << element;
  if (!op.getAcc().getType().getElementType().isF32())
    return op.emitOpError("expects an f32 accumulator, but got ") << op.getAcc().getType();
  if (op.getTransposeB() && !half)
    return op.emitOpError("expects a K-major second operand for elements of ") << element;
  if (auto a = dyn_cast<FragType>(op.getA().getType()))
    if (!half || a.getShape()[1] % 16 || toMath(a.getLayout()) != math::wgmmaAccumulator(a.getShape()[1]))
      return op.emitOpError("expects a register operand of bf16 or f16 in the accumulator's layout, but got ") << a;
  return success();
}

LogicalResult emit(KernelEmitter &e, WgmmaOp op) {
  if (failed(checkWgmma(e, op)))
    return failure();
  SharedType type = op.getB().getType();
  FailureOr<Operand> b = operandOf(e, op, op.getB(), op.getTransposeB());
  if (failed(b))
    return failure();
  FragType acc = op.getAcc().getType();
  int64_t rank = type.getShape().size();
  int64_t k = op.getTransposeB() ? type.getShape()[rank - 2] : type.getShape()[rank - 1] * (rank == 3 ? type.getShape()[0] : 1);
  int64_t steps = k / math::instructionK(type.getElementBytes());
  WgmmaStep step{acc.getShape()[1], type.getElementType(), op.getTransposeB(), op.getZero()};
  SmallVector<Value> registers = llvm::to_vector(e.registers(op.getAcc()));
  if (isa<FragType>(op.getA().getType())) {
    for (int64_t i = 0; i < steps; ++i, step.zero = false)
      registers = registerWgmma(e, step, e.registers(op.getA()).slice(4 * i, 4), b->at(e.b, i), registers);
  } else {
    FailureOr<Operand> a = operandOf(e, op, op.getA(), /*transpose=*/false);
    if (failed(a))
      return failure();
    Value sum = e.b.buildStruct(registers);
    for (int64_t i = 0; i < steps; ++i, step.zero = false)
      sum = e.b.wgmma(step, a->at(e.b, i), b->at(e.b, i), sum);
    registers = e.b.splitStruct(sum);
  }
  e.set(op.getResult(), registers);
  return success();
}

LogicalResult emit(KernelEmitter &e, WgmmaFenceOp) {
  e.b.wgmmaFence();
  return success();
}

LogicalResult emit(KernelEmitter &e, WgmmaCommitOp) {
  e.b.wgmmaCommit();
  return success();
}

/// The NVVM op has no data edge, so the registers are tied through the instruction: nothing reads them before it, and nothing
/// overwrites those that a pending wgmma still reads.
LogicalResult emit(KernelEmitter &e, WgmmaWaitOp op) {
  NvvmBuilder &b = e.b;
  SmallVector<Value> registers = e.flatten(op.getFrags());
  InlineAsm code;
  code.text = "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";";
  SmallVector<Type> types;
  std::string ties;
  for (auto [i, value] : llvm::enumerate(registers)) {
    types.push_back(value.getType());
    if (isa<VectorType>(value.getType()))
      value = b.bitcast(value, b.getI32Type());
    Type type = value.getType();
    if (!type.isF32() && !type.isInteger(32))
      return op.emitOpError("expects fragments of f32, i32, bf16 or f16 with an even number of registers");
    code.constraints += type.isF32() ? "=f," : "=r,";
    ties += std::to_string(i) + ",";
    code.outputs.push_back(type);
  }
  code.inputs = registers;
  code.constraints += ties + "~{memory}";
  SmallVector<Value> defined = b.inlineAsm(code);
  for (auto [value, type] : llvm::zip(defined, types))
    value = b.bitcast(value, type);
  e.bind(op.getResults(), defined);
  return success();
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {
/// Registers of a fragment by the coordinates of lane 0 of warp 0.
struct RegisterMap {
  math::Layout layout;
  std::map<math::Coordinates, int64_t> at;
  explicit RegisterMap(FragType frag) : layout(toMath(frag.getLayout())) {
    for (int64_t i = 0; i < layout.registers(); ++i)
      at[layout.coordinates(i, 0, 0)] = i;
  }
  int64_t find(int64_t row, int64_t column) const {
    auto found = at.find({row, column});
    return found == at.end() ? -1 : found->second;
  }
};
} // namespace

/// True if lanes lie as the instruction wants and the warps of operands and accumulator agree.
static bool isMmaLayout(const RegisterMap &a, const RegisterMap &b, const RegisterMap &acc, int64_t perLane) {
  using math::Coordinates;
  Coordinates a0 = a.layout.coordinates(0, 0, 0), b0 = b.layout.coordinates(0, 0, 0), acc0 = acc.layout.coordinates(0, 0, 0);
  for (int64_t lane = 0; lane < 32; ++lane) {
    Coordinates operand{lane / 4, lane % 4 * perLane};
    if (a.layout.coordinates(0, lane, 0) != operand || b.layout.coordinates(0, lane, 0) != operand ||
        acc.layout.coordinates(0, lane, 0) != Coordinates{lane / 4, lane % 4 * 2})
      return false;
  }
  for (int64_t warp = 0; warp < acc.layout.warps(); ++warp) {
    Coordinates at = acc.layout.coordinates(0, 0, warp);
    if (a.layout.coordinates(0, 0, warp) != Coordinates{at[0], 0} || b.layout.coordinates(0, 0, warp) != Coordinates{at[1], 0})
      return false;
  }
  return true;
}

/// One register of an operand as the intrinsic takes it.
static Value operandWord(KernelEmitter &e, Value word) {
  Type type = word.getType();
  if (type.isF32())
    return e.b.callIntrinsic("llvm.nvvm.f2tf32.rna", e.b.getI32Type(), {word});
  return cast<VectorType>(type).getElementType().isBF16() ? e.b.bitcast(word, e.b.getI32Type()) : word;
}

LogicalResult emit(KernelEmitter &e, MmaOp op) {
  NvvmBuilder &b = e.b;
  FragType typeA = op.getA().getType();
  Type element = typeA.getElementType();
  bool half = element.isBF16() || element.isF16();
  if ((!half && !element.isF32()) || op.getB().getType().getElementType() != element || !op.getType().getElementType().isF32())
    return op.emitOpError("expects operands in one of bf16, f16 and f32 (as tf32) and an f32 accumulator");
  RegisterMap a(typeA), mapB(op.getB().getType()), acc(op.getType());
  int64_t perLane = half ? 2 : 1, k = half ? 16 : 8;
  if (!isMmaLayout(a, mapB, acc, perLane))
    return op.emitOpError("expects the layouts of m16n8k") << k << ", repeated in registers and warps";
  StringRef name = element.isBF16()  ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                   : element.isF16() ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                                     : "llvm.nvvm.mma.m16n8k8.row.col.tf32";
  Type four = b.structType(SmallVector<Type>(4, b.getF32Type()));
  SmallVector<Value> sums = llvm::to_vector(e.registers(op.getAcc()));
  ArrayRef<Value> registersA = e.registers(op.getA()), registersB = e.registers(op.getB());
  for (int64_t at = 0; at < typeA.getShape()[1]; at += k)
    for (auto &[place, first] : acc.at) {
      if (place[0] % 16 || place[1] % 8)
        continue;
      int64_t row = place[0], column = place[1];
      int64_t sources[] = {a.find(row, at),         a.find(row + 8, at),        a.find(row, at + k / 2), a.find(row + 8, at + k / 2),
                           mapB.find(column, at), mapB.find(column, at + k / 2)};
      int64_t targets[] = {first, acc.find(row, column + 1), acc.find(row + 8, column), acc.find(row + 8, column + 1)};
      if (llvm::is_contained(sources, -1) || llvm::is_contained(targets, -1))
        return op.emitOpError("expects the layouts of m16n8k") << k << ", repeated in registers and warps";
      SmallVector<Value> operands;
      for (auto [i, source] : llvm::enumerate(sources))
        operands.push_back(operandWord(e, (i < 4 ? registersA : registersB)[source / perLane]));
      for (int64_t target : targets)
        operands.push_back(sums[target]);
      SmallVector<Value> next = b.splitStruct(b.callIntrinsic(name, four, operands));
      for (auto [target, value] : llvm::zip(targets, next))
        sums[target] = value;
    }
  e.set(op.getResult(), sums);
  return success();
}

} // namespace emmy::tile
