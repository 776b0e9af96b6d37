// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scalar arithmetic, on its own and in regions. Approximations stand where their error is a few units in the last place of f32:
// ex2.approx for exponentials, rsqrt.approx, rcp.approx for quotients with `arcp`, div.full (2 ulp) for others that no discontinuous
// operation reads.
#include "Registers.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace emmy::tile {

/// True if a last-place error of `value` could move a result by more than that.
static bool feedsDiscontinuity(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<mlir::math::FloorOp, mlir::math::CeilOp, mlir::math::RoundOp, mlir::math::RoundEvenOp, mlir::math::TruncOp, arith::CmpFOp, arith::FPToSIOp,
               arith::FPToUIOp, arith::RemFOp>(user);
  });
}

static Value approximate(KernelEmitter &e, Operation *op, ArrayRef<Value> operands) {
  NvvmBuilder &b = e.b;
  Type f32 = b.getF32Type();
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return {};
  auto contract = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
  if (isa<mlir::math::ExpOp>(op)) {
    Value scaled = arith::MulFOp::create(b, b.loc, operands[0], b.f32(1.4426950408889634), contract);
    return b.callIntrinsic("llvm.nvvm.ex2.approx.ftz.f32", f32, {scaled});
  }
  if (isa<mlir::math::Exp2Op>(op))
    return b.callIntrinsic("llvm.nvvm.ex2.approx.ftz.f32", f32, operands);
  if (isa<mlir::math::RsqrtOp>(op)) // without ftz, which would make infinities of denormals
    return b.callIntrinsic("llvm.nvvm.rsqrt.approx.f", f32, operands);
  if (auto quotient = dyn_cast<arith::DivFOp>(op);
      quotient && arith::bitEnumContainsAny(quotient.getFastmath(), arith::FastMathFlags::arcp)) {
    Value inverse = b.callIntrinsic("llvm.nvvm.rcp.approx.ftz.f", f32, {operands[1]});
    return arith::MulFOp::create(b, b.loc, operands[0], inverse, contract);
  }
  if (isa<arith::DivFOp>(op) && !feedsDiscontinuity(op->getResult(0)))
    return b.callIntrinsic("llvm.nvvm.div.full", f32, operands);
  return {};
}

/// `op` on `operands`, with converted types; multiplications and additions of floats may contract.
static Operation *copyOp(KernelEmitter &e, Operation *op, ArrayRef<Value> operands) {
  NvvmBuilder &b = e.b;
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(e.convertType(type));
  OperationState state(b.loc, op->getName(), operands, types, llvm::to_vector(op->getDiscardableAttrs()));
  Operation *copy = b.create(state);
  copy->copyProperties(op->getPropertiesStorage());
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op)) {
    auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue() | arith::FastMathFlags::contract;
    copy->setAttr("fastmath", arith::FastMathFlagsAttr::get(b.getContext(), flags));
  }
  return copy;
}

Value emitElementwise(KernelEmitter &e, Operation *op, ArrayRef<Value> operands) {
  NvvmBuilder &b = e.b;
  if (Value value = approximate(e, op, operands))
    return value;
  if (isa<arith::ExtFOp>(op) && operands[0].getType().isBF16() && op->getResult(0).getType().isF32())
    return extendHalf(e, operands[0], 0);
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isa<IndexType>(constant.getType()))
    return b.i64(cast<IntegerAttr>(constant.getValue()).getInt());
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Type to = e.convertType(op->getResult(0).getType());
    if (to.getIntOrFloatBitWidth() < operands[0].getType().getIntOrFloatBitWidth())
      return b.truncate(operands[0], to);
    return isa<arith::IndexCastOp>(op) ? b.signExtend(operands[0], to) : b.zeroExtend(operands[0], to);
  }
  return copyOp(e, op, operands)->getResult(0);
}

SmallVector<Value> evaluate(KernelEmitter &e, Block &block, ArrayRef<Value> arguments) {
  DenseMap<Value, Value> known;
  auto lookup = [&](Value value) {
    auto found = known.find(value);
    return found != known.end() ? found->second : e.scalar(value);
  };
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    known[argument] = value;
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), lookup);
    known[op.getResult(0)] = emitElementwise(e, &op, operands);
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(), lookup);
}

/// A uniform choice between two values of any type: pointers, buffers, fragments register by register.
static LogicalResult emitSelect(KernelEmitter &e, arith::SelectOp op) {
  SmallVector<Value> yes = e.flatten(op.getTrueValue()), no = e.flatten(op.getFalseValue()), chosen;
  for (auto [a, b] : llvm::zip(yes, no))
    chosen.push_back(arith::SelectOp::create(e.b, e.b.loc, e.scalar(op.getCondition()), a, b));
  e.bind(op.getResult(), chosen);
  return success();
}

LogicalResult emitScalar(KernelEmitter &e, Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (op->getNumRegions() || op->getNumResults() != 1 || (dialect != "arith" && dialect != "math"))
    return op->emitOpError("has no lowering to NVVM: a kernel holds emmy_tile, scf, arith and math operations");
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return emitSelect(e, select);
  if (!op->getResult(0).getType().isIntOrIndexOrFloat())
    return op->emitOpError("expects scalars, but gives ") << op->getResult(0).getType();
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value value) { return e.scalar(value); });
  e.set(op->getResult(0), {emitElementwise(e, op, operands)});
  return success();
}

} // namespace emmy::tile
