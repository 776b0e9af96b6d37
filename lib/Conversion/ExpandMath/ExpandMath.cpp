// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Expands elementary functions on scalars into arithmetic.
//
// In:  math ops on f32, bf16 or f16 scalars, in regions of any level. Out: arith ops, and of math only fma, absf, sqrt, trunc,
// copysign and what machines have as instructions (floor, ceil, roundeven). bf16 and f16 are computed in f32 and rounded once.
// Ops on f64 and on vectors stay. Bounds are beside each function; infinities, NaN, signed zeros and denormals as in C.
#include "Scalar.h"
#include "emmy/Conversion/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#define DEBUG_TYPE "emmy-expand-math"

using namespace mlir;

namespace emmy {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "emmy/Conversion/Passes.h.inc"

static bool isExpanded(Type type) { return type.isF32() || type.isBF16() || type.isF16(); }

static Value toF32(ImplicitLocOpBuilder &b, Value value) {
  return value.getType().isF32() ? value : arith::ExtFOp::create(b, b.getF32Type(), value).getResult();
}

static Value fromF32(ImplicitLocOpBuilder &b, Value value, Type type) {
  return type.isF32() ? value : arith::TruncFOp::create(b, type, value).getResult();
}

namespace {
template <typename OpTy, UnaryExpansion expand>
struct ExpandUnary : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isExpanded(op.getType()))
      return rewriter.notifyMatchFailure(op, "neither f32, bf16 nor f16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Scalar s{b};
    rewriter.replaceOp(op, fromF32(b, expand(s, toF32(b, op.getOperand())), op.getType()));
    return success();
  }
};

template <typename OpTy, BinaryExpansion expand>
struct ExpandBinary : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isExpanded(op.getType()))
      return rewriter.notifyMatchFailure(op, "neither f32, bf16 nor f16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Scalar s{b};
    rewriter.replaceOp(op, fromF32(b, expand(s, toF32(b, op.getLhs()), toF32(b, op.getRhs())), op.getType()));
    return success();
  }
};

/// Square and multiply over the exponent's bits; a negative exponent gives what 1/x^|y| rounds to towards zero.
struct ExpandIntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IPowIOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<IntegerType>(op.getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "not a scalar");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto number = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, b.getIntegerAttr(type, value)); };
    auto test = [&](arith::CmpIPredicate predicate, Value x, int64_t y) -> Value {
      return arith::CmpIOp::create(b, predicate, x, number(y));
    };
    auto select = [&](Value condition, Value x, Value y) -> Value { return arith::SelectOp::create(b, condition, x, y); };
    Value base = op.getLhs(), exponent = op.getRhs(), power = number(1), square = base;
    auto isOdd = [&](unsigned bit) -> Value {
      Value at = arith::AndIOp::create(b, arith::ShRUIOp::create(b, exponent, number(bit)), number(1));
      return test(arith::CmpIPredicate::ne, at, 0);
    };
    for (unsigned bit = 0; bit + 1 < type.getWidth(); ++bit) {
      power = select(isOdd(bit), arith::MulIOp::create(b, power, square), power);
      square = arith::MulIOp::create(b, square, square);
    }
    Value sign = select(isOdd(0), number(-1), number(1));
    Value inverse = select(test(arith::CmpIPredicate::eq, base, 1), number(1),
                           select(test(arith::CmpIPredicate::eq, base, -1), sign, number(0)));
    rewriter.replaceOp(op, select(test(arith::CmpIPredicate::slt, exponent, 0), inverse, power));
    return success();
  }
};

/// e^x as 2^(x·log2 e), of which the machine has an instruction. The error grows with |x|: about 2 + |x|/2 ulp.
struct ExpToExp2 : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!isExpanded(op.getType()))
      return rewriter.notifyMatchFailure(op, "neither f32, bf16 nor f16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Scalar s{b};
    Value scaled = s.mul(toF32(b, op.getOperand()), s.num(0x1.715476p+0f));
    rewriter.replaceOp(op, fromF32(b, math::Exp2Op::create(b, scaled), op.getType()));
    return success();
  }
};

struct ExpandMathPass : impl::ExpandMathPassBase<ExpandMathPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<ExpandUnary<math::ExpM1Op, expandExpm1>, ExpandUnary<math::LogOp, expandLog>, ExpandUnary<math::Log2Op, expandLog2>,
            ExpandUnary<math::Log10Op, expandLog10>, ExpandUnary<math::Log1pOp, expandLog1p>, ExpandUnary<math::SinOp, expandSin>,
            ExpandUnary<math::CosOp, expandCos>, ExpandUnary<math::TanOp, expandTan>, ExpandUnary<math::AsinOp, expandAsin>,
            ExpandUnary<math::AcosOp, expandAcos>, ExpandUnary<math::AtanOp, expandAtan>, ExpandUnary<math::SinhOp, expandSinh>,
            ExpandUnary<math::CoshOp, expandCosh>, ExpandUnary<math::TanhOp, expandTanh>, ExpandUnary<math::AsinhOp, expandAsinh>,
            ExpandUnary<math::AcoshOp, expandAcosh>, ExpandUnary<math::AtanhOp, expandAtanh>, ExpandUnary<math::ErfcOp, expandErfc>,
            ExpandUnary<math::RoundOp, expandRound>, ExpandBinary<math::PowFOp, expandPow>, ExpandBinary<math::Atan2Op, expandAtan2>,
            ExpandIntegerPower>(context);
    if (approx)
      set.add<ExpToExp2, ExpandUnary<math::ErfOp, approximateErf>>(context);
    else
      set.add<ExpandUnary<math::ExpOp, expandExp>, ExpandUnary<math::Exp2Op, expandExp2>, ExpandUnary<math::ErfOp, expandErf>,
              ExpandUnary<math::RsqrtOp, expandRsqrt>>(context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override { walkAndApplyPatterns(getOperation(), patterns); }

  FrozenRewritePatternSet patterns;
};
} // namespace
} // namespace emmy
