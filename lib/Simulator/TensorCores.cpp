// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// wgmma, asynchronous until waited for, and mma.sync.
#include "Interpreter.h"
#include "TensorCore.h"
#include "emmy/Support/Math/WgmmaDescriptor.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;

using Matrix = std::vector<Number>;

/// The row-major matrix that a fragment holds.
static Matrix toMatrix(const Fragment &fragment) {
  Matrix matrix(fragment.data.size());
  for (auto [value, element] : llvm::zip(fragment.data, fragment.table->element))
    matrix[element] = value;
  return matrix;
}

static void fromMatrix(const Matrix &matrix, Fragment &fragment) {
  for (auto [value, element] : llvm::zip(fragment.data, fragment.table->element))
    value = matrix[element];
}

namespace {
/// An operand in shared memory and how wgmma sees it.
struct SharedOperand {
  emmy::math::OperandTile tile;
  Format format;
  /// Rows of A or columns of B, and the length along k.
  int64_t mn, k;
};
} // namespace

static SharedOperand describeOperand(const SharedRef &shared, bool transpose) {
  ArrayRef<int64_t> shape = shared.type.getShape();
  const int64_t bytes = shared.type.getElementBytes(), panels = shape.size() == 3 ? shape[0] : 1;
  const int64_t lines = shape[shape.size() - 2], across = panels * shape.back();
  SharedOperand operand;
  operand.tile = {shared.base, transpose ? emmy::math::Major::MN : emmy::math::Major::K, shared.type.getSwizzle(), bytes,
                  shape.size() == 3 ? shared.type.getStrides()[0] * bytes : 0};
  operand.format = *formatOf(shared.type.getElementType());
  operand.mn = transpose ? across : lines;
  operand.k = transpose ? lines : across;
  return operand;
}

/// Reads the operand through descriptors, one instruction's k at a time, 16 bytes at once.
static FailureOr<Matrix> readOperand(Machine &machine, Cta &cta, const SharedOperand &operand, const Access &access,
                                     const VectorClock &clock) {
  Matrix matrix(operand.mn * operand.k);
  const int64_t bytes = operand.tile.elementBytes, step = emmy::math::instructionK(bytes), chunk = 16 / bytes;
  const bool alongK = operand.tile.major == emmy::math::Major::K;
  for (int64_t k0 = 0; k0 < operand.k; k0 += step) {
    // Through the encoded bits, which is what the hardware gets.
    const auto descriptor = emmy::math::WgmmaDescriptor::decode(emmy::math::operandDescriptor(operand.tile, 0, k0).encode());
    for (int64_t mn = 0; mn < operand.mn; mn += alongK ? 1 : chunk)
      for (int64_t k = 0; k < step; k += alongK ? chunk : 1) {
        const int64_t at = emmy::math::operandAddress(descriptor, operand.tile.major, bytes, mn, k);
        if (failed(machine.touchShared(cta, access, clock, at, 16)))
          return failure();
        for (int64_t i = 0; i < chunk; ++i) {
          const int64_t row = mn + (alongK ? 0 : i), column = k0 + k + (alongK ? i : 0);
          matrix[row * operand.k + column] = load(operand.format, &cta.shared->bytes[at + i * bytes]);
        }
      }
  }
  return matrix;
}

LogicalResult Interpreter::execWgmma(tile::WgmmaOp op) {
  if (unit.warps != 4 || unit.oneThread)
    return fail(op, "warpgroup", unit.name + " is not a warpgroup");
  const FragmentRef accumulator = as<FragmentRef>(op.getAcc());
  FragmentRef registerA;
  SharedOperand a{}, b = describeOperand(as<SharedRef>(op.getB()), op.getTransposeB());
  // 1. Operands that the tensor cores can read.
  if (isa<tile::FragType>(op.getA().getType())) {
    FailureOr<FragmentRef> fragment = readable(op, op.getA());
    if (failed(fragment))
      return failure();
    registerA = *fragment;
  } else {
    a = describeOperand(as<SharedRef>(op.getA()), false);
    if (auto error = emmy::math::operandError(a.tile))
      return fail(op, "wgmma-operand", *error);
  }
  if (auto error = emmy::math::operandError(b.tile))
    return fail(op, "wgmma-operand", *error);
  // 2. A defined accumulator.
  if (!op.getZero() && accumulator->undefined)
    return machine.report(op, {"uninitialized", unit.name + " accumulates onto a fragment that nothing has defined",
                               accumulator->definedBy, "undefined here"});
  // 3. Registers that ordinary instructions wrote are fenced.
  const auto unfenced = [&](const Fragment &fragment) {
    return !fragment.undefined && !fragment.pendingGroup && fragment.definedAt > unit.fencedAt;
  };
  const Fragment *stale = registerA && unfenced(*registerA) ? registerA.get()
                          : !op.getZero() && unfenced(*accumulator) ? accumulator.get() : nullptr;
  if (stale || unit.fencedAt == 0)
    return machine.report(op, {"wgmma-fence", unit.name + " issues wgmma without a wgmma_fence after its registers were written",
                               stale ? stale->definedBy : nullptr, "written here"});
  if (failed(giveWay()))
    return failure();
  // 4. Issue. All warps take part, so the tensor cores know what each of them knows.
  VectorClock clock = unit.warp(0).clock;
  for (int64_t i = 1; i < unit.warps; ++i)
    clock.meet(unit.warp(i).clock);
  for (int64_t i = 0; i < unit.warps; ++i)
    unit.issueClocks[unit.openGroup].join(unit.warp(i).clock);
  FragmentRef result = machine.newFragment(op.getType());
  const uint64_t group = unit.openGroup;
  result->pendingGroup = group;
  result->definedBy = op;
  ++unit.pendingInGroup[group];
  set(op.getResult(), result);
  Access access = machine.genericAccess(op, unit, unit.leader(), false);
  access.agent = unit.leader().agent(WarpSlot::Wgmma);
  access.clock = static_cast<uint32_t>(group);
  access.async = access.deferred = true;
  access.issued = machine.log.size();
  for (int64_t i = 0; i < unit.warps; ++i)
    unit.warp(i).tick();
  if (!unit.queue)
    unit.queue = machine.nextQueue++;
  machine.scheduler.post(unit.queue, [&machine = machine, &unit = unit, a, b, registerA, accumulator, result, group, clock, access,
                                      zero = op.getZero()] {
    FailureOr<Matrix> left = registerA ? FailureOr<Matrix>(toMatrix(*registerA)) : readOperand(machine, *unit.cta, a, access, clock);
    if (failed(left))
      return;
    FailureOr<Matrix> right = readOperand(machine, *unit.cta, b, access, clock);
    if (failed(right))
      return;
    Matrix sum = zero ? Matrix(result->data.size()) : toMatrix(*accumulator);
    multiplyAccumulate(*left, *right, sum, 64, b.mn, b.k, emmy::math::instructionK(b.tile.elementBytes), result->format);
    fromMatrix(sum, *result);
    --unit.pendingInGroup[group];
  });
  return success();
}

LogicalResult Interpreter::execWgmmaFence(tile::WgmmaFenceOp) {
  unit.fencedAt = unit.step;
  return success();
}

LogicalResult Interpreter::execWgmmaCommit(tile::WgmmaCommitOp) {
  ++unit.openGroup;
  return success();
}

LogicalResult Interpreter::execWgmmaWait(tile::WgmmaWaitOp op) {
  const uint64_t committed = unit.openGroup - 1;
  const uint64_t due = committed > op.getPending() ? committed - op.getPending() : 0;
  const auto done = [&unit = unit, due] {
    return llvm::all_of(unit.pendingInGroup, [due](auto &entry) { return entry.first > due || entry.second == 0; });
  };
  if (failed(giveWay()) || !machine.scheduler.wait(op, done, [] { return std::string("its tensor-core work"); }))
    return failure();
  // No warp leaves before all have issued what it waits for.
  VectorClock issued;
  while (!unit.issueClocks.empty() && unit.issueClocks.begin()->first <= due) {
    issued.join(unit.issueClocks.begin()->second);
    unit.issueClocks.erase(unit.issueClocks.begin());
  }
  unit.pendingInGroup.erase(unit.pendingInGroup.begin(), unit.pendingInGroup.upper_bound(due));
  for (int64_t i = 0; i < unit.warps; ++i) {
    unit.warp(i).clock.join(issued);
    unit.warp(i).clock.raise(unit.leader().agent(WarpSlot::Wgmma), static_cast<uint32_t>(due));
  }
  for (auto [operand, result] : llvm::zip(op.getFrags(), op.getResults())) {
    FragmentRef fragment = as<FragmentRef>(operand);
    if (fragment->pendingGroup && fragment->pendingGroup <= due) {
      auto defined = std::make_shared<Fragment>(*fragment);
      // The tensor cores' own registers need no fence before the next wgmma.
      defined->pendingGroup = 0;
      defined->definedAt = 0;
      fragment = std::move(defined);
    }
    set(result, fragment);
  }
  return success();
}

LogicalResult Interpreter::execMma(tile::MmaOp op) {
  FailureOr<FragmentRef> a = readable(op, op.getA()), b = readable(op, op.getB()), acc = readable(op, op.getAcc());
  if (failed(a) || failed(b) || failed(acc))
    return failure();
  const int64_t m = op.getA().getType().getShape()[0], k = op.getA().getType().getShape()[1], n = op.getB().getType().getShape()[0];
  Matrix sum = toMatrix(**acc);
  FragmentRef result = machine.newFragment(op.getType());
  multiplyAccumulate(toMatrix(**a), toMatrix(**b), sum, m, n, k, emmy::math::instructionK(byteSize((*a)->format)), result->format);
  fromMatrix(sum, *result);
  define(op, op.getResult(), std::move(result));
  return success();
}
