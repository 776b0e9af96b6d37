// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: functions of linalg and tensor ops on static tensors, and of element-wise arith and math ops on tensors.
// Out: primitives of emmy_graph in their place.
// Refuses: dynamic sizes, windows (convolutions), scalar operands that are not constant, several results.
// Numerics: those of the input, but sums of bf16 and f16 accumulate in f32.
#include "Linalg/LinalgImport.h"
#include "emmy/Graph/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "emmy-import-linalg"

using namespace mlir;

namespace emmy::graph {
#define GEN_PASS_DEF_IMPORTLINALGPASS
#include "emmy/Graph/Passes.h.inc"

/// A known scalar as a tensor of no dimensions; null for others.
static Value getConstant(GraphBuilder &b, Value scalar) {
  Attribute number;
  if (!matchPattern(scalar, m_Constant(&number)))
    return {};
  auto type = RankedTensorType::get({}, scalar.getType());
  return arith::ConstantOp::create(b.getBuilder(), b.getLoc(), DenseElementsAttr::get(type, number));
}

static FailureOr<Value> importFill(GraphBuilder &b, linalg::FillOp op) {
  Value constant = getConstant(b, op.value());
  if (!constant)
    return refuseLinalg(op, "it fills with a value that is not constant");
  return b.expand(constant, sizesOf(op->getResult(0)));
}

static FailureOr<Value> importExtractSlice(GraphBuilder &b, tensor::ExtractSliceOp op) {
  if (!op.getOffsets().empty() || !op.getSizes().empty() || !op.getStrides().empty())
    return refuseLinalg(op, "its offsets, sizes or strides are not constant");
  Value value = op.getSource();
  for (auto [i, offset, size, stride] : llvm::enumerate(op.getStaticOffsets(), op.getStaticSizes(), op.getStaticStrides()))
    value = b.slice(value, i, b.sizeOf(offset), b.sizeOf(size), stride);
  return b.reshape(value, sizesOf(op.getResult()));
}

static FailureOr<Value> importPad(GraphBuilder &b, tensor::PadOp op) {
  Value scalar = op.getConstantPaddingValue(), constant = scalar ? getConstant(b, scalar) : Value();
  if (!constant || !op.getLow().empty() || !op.getHigh().empty())
    return refuseLinalg(op, "its value or widths are not constant");
  return PadOp::create(b.getBuilder(), b.getLoc(), op.getType(), op.getSource(), constant, op.getStaticLow()).getResult();
}

/// An op on tensors element by element as a map of the same op on scalars.
static FailureOr<Value> importElementwise(GraphBuilder &b, Operation *op) {
  Type element = getElementType(op->getResult(0));
  if (llvm::any_of(op->getOperandTypes(), [](Type type) { return !isa<RankedTensorType>(type); }))
    return refuseLinalg(op, "it has a scalar operand");
  return b.map(cast<RankedTensorType>(op->getResult(0).getType()), op->getOperands(), [&](ScalarBuilder &, ArrayRef<Value> x) {
    OperationState state(op->getLoc(), op->getName(), x, element, op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return b.getBuilder().create(state)->getResult(0);
  });
}

/// The replacement of the op's result; null where the op stays.
static FailureOr<Value> importOp(GraphBuilder &b, Operation *op) {
  for (Value value : op->getResults())
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !type.hasStaticShape())
      return refuseLinalg(op, "it has dynamic sizes");
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return importFill(b, fill);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (!structured.hasPureTensorSemantics())
      return refuseLinalg(op, "it works on buffers");
    return importStructured(b, structured);
  }
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return b.reshape(op->getOperand(0), sizesOf(op->getResult(0)));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return importExtractSlice(b, slice);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return importPad(b, pad);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return b.concat(concat.getInputs(), concat.getDim());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Attribute splat = isa<RankedTensorType>(constant.getType()) && !sizesOf(constant).empty() ? getSplat(constant) : Attribute();
    return splat ? b.expand(arith::ConstantOp::create(b.getBuilder(), b.getLoc(),
                                                      DenseElementsAttr::get(RankedTensorType::get({}, getElementType(constant)), splat)),
                            sizesOf(constant))
                 : Value();
  }
  bool isOnTensors = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
  if (isOnTensors && op->hasTrait<OpTrait::Elementwise>())
    return importElementwise(b, op);
  StringRef dialect = op->getName().getDialectNamespace();
  if ((dialect == "linalg" || dialect == "tensor") && !isa<tensor::EmptyOp>(op))
    return refuseLinalg(op, "it is not among the supported ops");
  return Value();
}

/// Replaces in order; what then has no use (empty tensors, scalar constants) goes.
static FailureOr<int64_t> importFunction(func::FuncOp func) {
  int64_t count = 0;
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().getOps())
    ops.push_back(&op);
  for (Operation *op : ops) {
    OpBuilder builder(op);
    GraphBuilder graph(builder, op->getLoc());
    FailureOr<Value> replacement = importOp(graph, op);
    if (failed(replacement))
      return failure();
    if (!*replacement)
      continue;
    op->getResult(0).replaceAllUsesWith(*replacement);
    ++count;
  }
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  return count;
}

namespace {
struct ImportLinalgPass : impl::ImportLinalgPassBase<ImportLinalgPass> {
  using Base::Base;
  void runOnOperation() override {
    auto isForeign = [](Operation &op) {
      StringRef dialect = op.getName().getDialectNamespace();
      return dialect == "linalg" || dialect == "tensor" ||
             (op.hasTrait<OpTrait::Elementwise>() && op.getNumResults() == 1 && isa<TensorType>(op.getResult(0).getType()));
    };
    if (getOperation().isExternal() || !getOperation().getBody().hasOneBlock() || llvm::none_of(getOperation().getOps(), isForeign))
      return;
    FailureOr<int64_t> count = importFunction(getOperation());
    if (failed(count))
      return signalPassFailure();
    numImported += *count;
  }
};
} // namespace
} // namespace emmy::graph
