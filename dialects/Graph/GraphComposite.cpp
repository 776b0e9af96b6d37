// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of the composite ops; each branch names its constraint in GraphComposite.td.
#include "dialects/Graph/GraphBuilder.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

LogicalResult LinearOp::verify() {
  Sizes input = sizesOf(getInput()), weight = sizesOf(getWeight());
  if (input.empty() || weight.size() != 2 || !isSameSize(weight[1], input.back())) // linear_c1
    return emitOpError("expects a weight whose dimension 1 is the operand's last, but got ") << getWeight().getType();
  if (Value bias = getBias()) // linear_c2
    if (Sizes sizes = sizesOf(bias); sizes.size() != 1 || !isSameSize(sizes[0], weight[0]))
      return emitOpError("expects a bias with the weight's dimension 0, but got ") << bias.getType();
  input.back() = weight[0];
  return verifySizes(*this, input, getResult()); // linear_c3
}

LogicalResult MatmulOp::verify() {
  Sizes lhs = sizesOf(getLhs()), rhs = sizesOf(getRhs()), expected;
  if (lhs.empty() || rhs.empty()) // matmul_c1
    return emitOpError("expects operands with a dimension, but got ") << (lhs.empty() ? getLhs() : getRhs()).getType();
  bool isRow = lhs.size() == 1, isColumn = rhs.size() == 1;
  AffineExpr summed = rhs[isColumn ? 0 : rhs.size() - 2];
  if (!isSameSize(lhs.back(), summed)) // matmul_c2
    return emitOpError("expects equal summed sizes, but got ") << getLhs().getType() << " and " << getRhs().getType();
  auto left = ArrayRef(lhs).drop_back(isRow ? 1 : 2), right = ArrayRef(rhs).drop_back(isColumn ? 1 : 2);
  bool isLeftLonger = left.size() > right.size();
  expected.assign((isLeftLonger ? left : right).begin(), (isLeftLonger ? left : right).end());
  for (auto [mine, other] : llvm::zip(llvm::reverse(expected), llvm::reverse(isLeftLonger ? right : left))) {
    if (isSize(mine, 1))
      mine = other;
    else if (!isSize(other, 1) && !isSameSize(mine, other)) // matmul_c3
      return emitOpError("expects leading sizes that broadcast, but got ") << getLhs().getType() << " and " << getRhs().getType();
  }
  if (!isRow)
    expected.push_back(lhs[lhs.size() - 2]);
  if (!isColumn)
    expected.push_back(rhs.back());
  return verifySizes(*this, expected, getResult()); // matmul_c4
}

static LogicalResult verifySoftmax(Operation *op, Value input, uint64_t dim) {
  Sizes sizes = sizesOf(input);
  if (dim >= sizes.size()) // softmax_c1
    return op->emitOpError("expects a dimension below ") << sizes.size() << ", but got " << dim;
  return verifySizes(op, sizes, op->getResult(0)); // softmax_c2
}

LogicalResult SoftmaxOp::verify() { return verifySoftmax(*this, getInput(), getDim()); }
LogicalResult LogSoftmaxOp::verify() { return verifySoftmax(*this, getInput(), getDim()); }

static LogicalResult verifyNorm(Operation *op, Value input, ArrayRef<Value> factors, uint64_t rank) {
  Sizes sizes = sizesOf(input);
  if (rank == 0 || rank > sizes.size()) // norm_c1
    return op->emitOpError("expects a 'rank' between 1 and ") << sizes.size() << ", but got " << rank;
  for (Value factor : factors) { // norm_c2
    if (factor && !llvm::equal(sizesOf(factor), ArrayRef(sizes).take_back(rank)))
      return op->emitOpError("expects a weight and bias with the operand's last ") << rank << " sizes, but got " << factor.getType();
  }
  return verifySizes(op, sizes, op->getResult(0)); // norm_c3
}

LogicalResult RmsNormOp::verify() { return verifyNorm(*this, getInput(), {getWeight()}, getRank()); }
LogicalResult LayerNormOp::verify() { return verifyNorm(*this, getInput(), {getWeight(), getBias()}, getRank()); }

LogicalResult GroupNormOp::verify() {
  Sizes sizes = sizesOf(getInput());
  auto channels = sizes.size() < 2 ? AffineConstantExpr() : dyn_cast_or_null<AffineConstantExpr>(sizes[1]);
  if (!channels || getGroups() == 0 || channels.getValue() % getGroups()) // group_norm_c1
    return emitOpError("expects channels that ") << getGroups() << " groups divide, but got " << getInput().getType();
  for (Value factor : {getWeight(), getBias()}) // group_norm_c2
    if (factor && !llvm::equal(sizesOf(factor), ArrayRef(sizes).slice(1, 1)))
      return emitOpError("expects a weight and bias of ") << channels.getValue() << " elements, but got " << factor.getType();
  return verifySizes(*this, sizes, getResult()); // group_norm_c3
}

LogicalResult EmbeddingOp::verify() {
  Sizes table = sizesOf(getTable()), expected = sizesOf(getIndices());
  if (table.size() != 2 || !isa<IntegerType>(getElementType(getIndices()))) // embedding_c1
    return emitOpError("expects a matrix and integers, but got ") << getTable().getType() << " and " << getIndices().getType();
  expected.push_back(table[1]);
  return verifySizes(*this, expected, getResult()); // embedding_c2
}
