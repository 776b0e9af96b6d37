// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products. A bias is added before the result is rounded.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

static LogicalResult importLinear(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  if (call.rank(1) != 2) // a vector as the weight leaves no dimension
    return call.fail("expects a matrix as the weight");
  return call.done(LinearOp::create(call.b.getBuilder(), call.b.getLoc(), *type, call.tensor(0), call.tensor(1), call.tensor(2)));
}

static LogicalResult importMatmul(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  return call.done(MatmulOp::create(call.b.getBuilder(), call.b.getLoc(), *type, call.tensor(0), call.tensor(1)));
}

/// beta·bias + alpha·(a × b). The plain form with a vector is a linear layer.
static LogicalResult importAddProduct(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  GraphBuilder &b = call.b;
  OpBuilder &builder = b.getBuilder();
  double beta = call.number(3, 1), alpha = call.number(4, 1);
  Value bias = call.tensor(0), lhs = call.tensor(1), rhs = call.tensor(2);
  bool isLayer = call.rank(1) == 2 && call.rank(2) == 2 && call.rank(0) == 1 && isSameSize(sizesOf(bias)[0], sizesOf(rhs)[1]);
  if (isLayer && beta == 1 && alpha == 1)
    return call.done(LinearOp::create(builder, b.getLoc(), *type, lhs, b.transpose(rhs, 0, 1), bias));
  Type wide = getAccumulatorType(type->getElementType());
  auto wideType = emmy::getTensorType(emmy::getSizes(*type), wide);
  if (!broadcasts(cast<RankedTensorType>(bias.getType()), *type))
    return call.fail("has a bias that does not broadcast to its result");
  Value product = MatmulOp::create(builder, b.getLoc(), wideType, lhs, rhs);
  return call.done(b.map(*type, {product, bias}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value scaled = alpha == 1 ? x[0] : s.mul(x[0], s.constant(wide, alpha));
    if (beta == 0)
      return s.convert(scaled, type->getElementType());
    Value offset = s.convert(x[1], wide);
    offset = beta == 1 ? offset : s.mul(offset, s.constant(wide, beta));
    return s.convert(s.add(scaled, offset), type->getElementType());
  }));
}

void torch::addProducts(Table &table) {
  table["aten.linear"] = {"TT/t", importLinear};
  for (StringRef name : {"mm", "bmm", "matmul", "mv", "dot"})
    table[("aten." + name).str()] = {"TT", importMatmul};
  table["aten.addmm"] = {"TTT/nn", importAddProduct};
  table["aten.baddbmm"] = {"TTT/nn", importAddProduct};
}
