// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: kernels in which a contraction reads a product. Out: a factor of that product which does not vary along the contraction is
// applied to its result instead: contract(x * r, w) is contract(x, w) * r. What is left of the product feeds the contraction, which is
// then a plain load if nothing else was done to it. Moves one rounding past the factor; refuses where the operand is f16, whose range
// the factor may keep.
#include "dialects/Fuse/Fuse.h"
#include "emmy/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "emmy-commute-scale"

using namespace mlir;

namespace emmy::fuse {
#define GEN_PASS_DEF_COMMUTESCALEPASS
#include "emmy/Fuse/Passes.h.inc"

namespace {
/// A product on the way to a contraction and the scalar in it that does not vary along the contraction.
struct Scale {
  Operation *product; // arith.mulf in the region of `map`
  unsigned factor;    // which of its operands
  MapOp map;
};
} // namespace

static bool variesOver(MapOp map, Value scalar, ArrayAttr over) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    auto type = cast<ValueType>(map.getInputs()[argument.getArgNumber()].getType());
    return llvm::any_of(over.getAsRange<StringAttr>(), [&](StringAttr axis) { return type.hasAxis(axis); });
  }
  return llvm::any_of(scalar.getDefiningOp()->getOperands(), [&](Value operand) { return variesOver(map, operand, over); });
}

static bool isConstant(Value scalar) {
  return !isa<BlockArgument>(scalar) && llvm::all_of(scalar.getDefiningOp()->getOperands(), isConstant);
}

/// The outermost product with a factor that may move; follows roundings and products only.
static std::optional<Scale> findScale(MapOp map, Value scalar, ArrayAttr over) {
  Operation *op = scalar.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::TruncFOp, arith::ExtFOp>(op))
    return findScale(map, op->getOperand(0), over);
  if (!isa<arith::MulFOp>(op))
    return std::nullopt;
  for (unsigned side : {1u, 0u})
    if (Value factor = op->getOperand(side); !isConstant(factor) && !variesOver(map, factor, over))
      return Scale{op, side, map};
  for (unsigned side : {0u, 1u})
    if (std::optional<Scale> scale = findScale(map, op->getOperand(side), over))
      return scale;
  return std::nullopt;
}

static Value cloneSlice(OpBuilder &builder, Value scalar, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(scalar))
    return known;
  Operation *op = scalar.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneSlice(builder, operand, mapping);
  return builder.clone(*op, mapping)->getResult(0);
}

/// The operand without the factor: a load where only a cast to and fro is left, else a map.
static Value emitUnscaled(OpBuilder &builder, const Scale &scale) {
  MapOp map = scale.map;
  auto copy = cast<MapOp>(builder.clone(*map));
  Block &block = copy.getBody().front();
  auto position = std::distance(map.getBody().front().begin(), scale.product->getIterator());
  Operation *product = &*std::next(block.begin(), position);
  product->getResult(0).replaceAllUsesWith(product->getOperand(1 - scale.factor));
  Value result = block.getTerminator()->getOperand(0);
  if (auto truncate = result.getDefiningOp<arith::TruncFOp>())
    if (auto extend = truncate.getIn().getDefiningOp<arith::ExtFOp>())
      if (auto argument = dyn_cast<BlockArgument>(extend.getIn()); argument && argument.getType() == result.getType()) {
        Value input = copy.getInputs()[argument.getArgNumber()];
        copy.erase();
        return input;
      }
  return copy;
}

static Value emitScaled(OpBuilder &builder, const Scale &scale, ContractOp contract, Value unscaled, bool onLeft) {
  MapOp map = scale.map;
  auto plain = cast<ContractOp>(builder.clone(*contract));
  plain->setOperand(onLeft ? 0 : 1, unscaled);
  SmallVector<Value> operands{plain};
  for (Value input : map.getInputs())
    if (llvm::none_of(contract.getOver().getAsRange<StringAttr>(),
                      [&](StringAttr axis) { return cast<ValueType>(input.getType()).hasAxis(axis); }))
      operands.push_back(input);
  auto result = MapOp::create(builder, contract.getLoc(), contract.getType(), operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&result.getBody());
  for (Value operand : operands)
    block->addArgument(cast<ValueType>(operand.getType()).getElementType(), contract.getLoc());
  IRMapping mapping;
  for (auto [argument, input] : llvm::zip(map.getBody().front().getArguments(), map.getInputs()))
    if (auto *it = llvm::find(operands, input); it != operands.end())
      mapping.map(argument, block->getArgument(it - operands.begin()));
  Value factor = cloneSlice(builder, scale.product->getOperand(scale.factor), mapping);
  Type element = contract.getType().getElementType();
  if (factor.getType() != element)
    factor = arith::ExtFOp::create(builder, contract.getLoc(), element, factor);
  Value scaled = arith::MulFOp::create(builder, contract.getLoc(), block->getArgument(0), factor);
  YieldOp::create(builder, contract.getLoc(), scaled);
  return result;
}

static bool commute(ContractOp contract) {
  for (bool onLeft : {true, false}) {
    auto map = (onLeft ? contract.getLhs() : contract.getRhs()).getDefiningOp<MapOp>();
    if (!map || !map->hasOneUse() || map.getType().getElementType().isF16())
      continue;
    std::optional<Scale> scale = findScale(map, map.getBody().front().getTerminator()->getOperand(0), contract.getOver());
    if (!scale)
      continue;
    OpBuilder builder(contract);
    Value unscaled = emitUnscaled(builder, *scale);
    contract.replaceAllUsesWith(emitScaled(builder, *scale, contract, unscaled, onLeft));
    contract.erase();
    map.erase();
    return true;
  }
  return false;
}

namespace {
struct CommuteScalePass : impl::CommuteScalePassBase<CommuteScalePass> {
  using Base::Base;
  void runOnOperation() override {
    bool changed = true;
    while (changed) {
      changed = false;
      SmallVector<ContractOp> contracts;
      getOperation().walk([&](ContractOp op) { contracts.push_back(op); });
      for (ContractOp contract : contracts) {
        Location loc = contract.getLoc();
        if (!commute(contract))
          continue;
        changed = true;
        ++numMoved;
        remark::passed(loc, remark::RemarkOpts::name("scale moved").category(DEBUG_TYPE))
            << remark::reason("the factor does not vary along the contraction");
      }
    }
  }
};
} // namespace
} // namespace emmy::fuse
