// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rewrites arithmetic on bf16 and f16 to f32 and integers, for machines whose compiler would call a library for it.
//
// In:  scalar arith and math ops. Out: the same with conversions to and from bf16 and f16 as integer operations, and all other
// operations on these types carried out in f32 and rounded. Conversions round to nearest even; NaN stays NaN, denormals and
// infinities are exact. f64 goes through f32, as PyTorch's conversions do. Select works on the bits; bitcast and constants stay.
#include "emmy/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "emmy-expand-small-floats"

using namespace mlir;

namespace emmy {
#define GEN_PASS_DEF_EXPANDSMALLFLOATSPASS
#include "emmy/Conversion/Passes.h.inc"

static bool isSmall(Type type) { return type.isBF16() || type.isF16(); }

namespace {
/// Integer and f32 operations, as short as the formulas below are in C.
struct Bits {
  ImplicitLocOpBuilder &b;
  Value constant(int64_t value) { return arith::ConstantIntOp::create(b, value, 32); }
  Value number(float value) { return arith::ConstantFloatOp::create(b, b.getF32Type(), APFloat(value)); }
  Value toBits(Value x) { return arith::BitcastOp::create(b, b.getI32Type(), x); }
  Value toFloat(Value x) { return arith::BitcastOp::create(b, b.getF32Type(), x); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value both(Value x, int64_t mask) { return arith::AndIOp::create(b, x, constant(mask)); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value left(Value x, int64_t by) { return arith::ShLIOp::create(b, x, constant(by)); }
  Value right(Value x, int64_t by) { return arith::ShRUIOp::create(b, x, constant(by)); }
  Value less(Value x, int64_t than) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, constant(than)); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, condition, x, y); }
};
} // namespace

static Value extendBf16(Bits &e, Value bits) { return e.toFloat(e.left(bits, 16)); }

/// The exponent is moved by a multiplication, which normalises denormals on the way.
static Value extendF16(Bits &e, Value bits) {
  Value magnitude = e.left(e.both(bits, 0x7fff), 13);
  Value scaled = e.toBits(arith::MulFOp::create(e.b, e.toFloat(magnitude), e.number(0x1p112f)));
  Value finite = e.less(magnitude, 0x7c00 << 13);
  Value result = e.select(finite, scaled, e.either(magnitude, e.constant(0x7f800000)));
  return e.toFloat(e.either(result, e.left(e.both(bits, 0x8000), 16)));
}

static Value truncateBf16(Bits &e, Value bits) {
  Value odd = e.both(e.right(bits, 16), 1);
  Value rounded = e.right(e.add(bits, e.add(odd, e.constant(0x7fff))), 16);
  Value quiet = e.either(e.right(bits, 16), e.constant(0x40));
  return e.select(e.less(e.both(bits, 0x7fffffff), 0x7f800001), rounded, quiet);
}

static Value truncateF16(Bits &e, Value bits) {
  constexpr int64_t kTooLarge = (127 + 16) << 23, kNormal = (127 - 14) << 23, kDenormalUnit = (127 - 15 + 23 - 10 + 1) << 23;
  Value magnitude = e.both(bits, 0x7fffffff);
  Value special = e.select(e.less(magnitude, 0x7f800001), e.constant(0x7c00), e.constant(0x7e00));
  // Adding a number whose unit in the last place is f16's smallest denormal rounds there.
  Value shifted = arith::AddFOp::create(e.b, e.toFloat(magnitude), e.toFloat(e.constant(kDenormalUnit)));
  Value denormal = arith::SubIOp::create(e.b, e.toBits(shifted), e.constant(kDenormalUnit));
  Value odd = e.both(e.right(magnitude, 13), 1);
  Value normal = e.right(e.add(magnitude, e.add(odd, e.constant(0xfff - ((127ll - 15) << 23)))), 13);
  Value result = e.select(e.less(magnitude, kNormal), denormal, normal);
  result = e.select(e.less(magnitude, kTooLarge), result, special);
  return e.either(result, e.both(e.right(bits, 16), 0x8000));
}

static Value extend(ImplicitLocOpBuilder &b, Value small) {
  Bits e{b};
  Value narrow = arith::BitcastOp::create(b, b.getI16Type(), small);
  Value bits = arith::ExtUIOp::create(b, b.getI32Type(), narrow);
  return small.getType().isBF16() ? extendBf16(e, bits) : extendF16(e, bits);
}

static Value truncate(ImplicitLocOpBuilder &b, Value wide, Type type) {
  Bits e{b};
  Value bits = e.toBits(wide);
  Value narrow = arith::TruncIOp::create(b, b.getI16Type(), type.isBF16() ? truncateBf16(e, bits) : truncateF16(e, bits));
  return arith::BitcastOp::create(b, type, narrow);
}

namespace {
struct ExpandExtend : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!isSmall(op.getIn().getType()))
      return rewriter.notifyMatchFailure(op, "not from bf16 or f16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value wide = extend(b, op.getIn());
    if (op.getType() != b.getF32Type())
      wide = arith::ExtFOp::create(b, op.getType(), wide);
    rewriter.replaceOp(op, wide);
    return success();
  }
};

struct ExpandTruncate : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!isSmall(op.getType()))
      return rewriter.notifyMatchFailure(op, "not to bf16 or f16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value wide = op.getIn();
    if (wide.getType() != b.getF32Type())
      wide = arith::TruncFOp::create(b, b.getF32Type(), wide);
    rewriter.replaceOp(op, truncate(b, wide, op.getType()));
    return success();
  }
};

/// LLVM would widen vectors of selects to f32 and round them back.
struct SelectBits : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    if (!isSmall(op.getType()))
      return rewriter.notifyMatchFailure(op, "not of bf16 or f16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto bits = [&](Value value) { return arith::BitcastOp::create(b, b.getI16Type(), value); };
    Value chosen = arith::SelectOp::create(b, op.getCondition(), bits(op.getTrueValue()), bits(op.getFalseValue()));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), chosen);
    return success();
  }
};

/// Any other operation on these types.
struct ComputeInF32 : RewritePattern {
  ComputeInF32(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
        isa<arith::SelectOp, arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::TruncFOp>(op))
      return rewriter.notifyMatchFailure(op, "not an operation on floats");
    if (llvm::none_of(op->getOperandTypes(), isSmall) && llvm::none_of(op->getResultTypes(), isSmall))
      return rewriter.notifyMatchFailure(op, "not on bf16 or f16");
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    Operation *wide = rewriter.clone(*op);
    b.setInsertionPoint(wide);
    for (OpOperand &operand : wide->getOpOperands())
      if (isSmall(operand.get().getType()))
        operand.set(extend(b, operand.get()));
    b.setInsertionPointAfter(wide);
    SmallVector<Value> results;
    for (OpResult result : wide->getResults()) {
      Type type = result.getType();
      if (isSmall(type))
        result.setType(b.getF32Type());
      results.push_back(isSmall(type) ? truncate(b, result, type) : Value(result));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ExpandSmallFloatsPass : impl::ExpandSmallFloatsPassBase<ExpandSmallFloatsPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtend, ExpandTruncate, SelectBits, ComputeInF32>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace emmy
