// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers and folds of the primitives; each branch names its constraint in GraphPrimitives.td.
#include "dialects/Graph/GraphBuilder.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace emmy::graph;

/// A region whose names are its own: a failure inside leaves nothing outside that waits for them.
static ParseResult parseIsolatedRegion(OpAsmParser &parser, Region &region) {
  return parser.parseRegion(region, {}, /*enableNameShadowing=*/true);
}
static void printIsolatedRegion(OpAsmPrinter &printer, Operation *, Region &region) { printer.printRegion(region); }

#define GET_OP_CLASSES
#include "dialects/Graph/GraphOps.cpp.inc"

LogicalResult MapOp::verify() {
  for (auto [i, input] : llvm::enumerate(getInputs())) // map_c1
    if (!broadcasts(cast<RankedTensorType>(input.getType()), cast<RankedTensorType>(getType())))
      return emitOpError("expects operand #") << i << " to broadcast to " << getType() << ", but got " << input.getType();
  Block &block = getBody().front(); // map_c2
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("expects ") << getInputs().size() << " block arguments, but got " << block.getNumArguments();
  for (auto [i, argument, input] : llvm::enumerate(block.getArguments(), getInputs()))
    if (Type element = getElementTypeOrSelf(input.getType()); argument.getType() != element)
      return emitOpError("expects block argument #") << i << " of type " << element << ", but got " << argument.getType();
  auto yield = getYield<YieldOp>(block);
  if (!yield || yield.getValue().getType() != getElementTypeOrSelf(getType()))
    return emitOpError("expects its region to yield one ") << getElementTypeOrSelf(getType());
  return success();
}

LogicalResult ReduceOp::verify() {
  SmallVector<AffineExpr> sizes = emmy::getSizes(cast<RankedTensorType>(getInput().getType())), kept;
  int64_t last = -1;
  for (int64_t dim : getDims()) { // reduce_c1
    if (dim <= last || dim >= static_cast<int64_t>(sizes.size()))
      return emitOpError("expects ascending dimensions below ") << sizes.size() << ", but got " << dim;
    last = dim;
  }
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(i)))
      kept.push_back(size);
  bool isLogical = getKind() == Combiner::any || getKind() == Combiner::all;
  if (isLogical && !(getElementType(getInput()).isInteger(1) && getElementType(getResult()).isInteger(1))) // reduce_c3
    return emitOpError("expects i1 elements for ") << stringifyCombiner(getKind()) << ", but got " << getInput().getType();
  return verifySizes(*this, kept, getResult()); // reduce_c2
}

LogicalResult ContractOp::verify() {
  SmallVector<AffineExpr> lhs = emmy::getSizes(cast<RankedTensorType>(getLhs().getType()));
  SmallVector<AffineExpr> rhs = emmy::getSizes(cast<RankedTensorType>(getRhs().getType())), expected;
  llvm::SmallSet<int64_t, 8> usedLhs, usedRhs;
  for (ArrayRef<int64_t> pairs : {getBatch(), getOver()}) { // contract_c1
    if (pairs.size() % 2)
      return emitOpError("expects pairs of dimensions, but got ") << pairs.size() << " numbers";
    for (size_t i = 0; i < pairs.size(); i += 2) {
      int64_t l = pairs[i], r = pairs[i + 1];
      if (l < 0 || r < 0 || l >= static_cast<int64_t>(lhs.size()) || r >= static_cast<int64_t>(rhs.size()))
        return emitOpError("pairs dimensions ") << l << " and " << r << ", which are out of range";
      if (!usedLhs.insert(l).second || !usedRhs.insert(r).second || !isSameSize(lhs[l], rhs[r]))
        return emitOpError("pairs dimensions ") << l << " and " << r << ", which are used twice or differ in size";
    }
  }
  for (size_t i = 0; i < getBatch().size(); i += 2)
    expected.push_back(lhs[getBatch()[i]]);
  for (auto [i, size] : llvm::enumerate(lhs))
    if (!usedLhs.contains(i))
      expected.push_back(size);
  for (auto [i, size] : llvm::enumerate(rhs))
    if (!usedRhs.contains(i))
      expected.push_back(size);
  return verifySizes(*this, expected, getResult()); // contract_c2
}

LogicalResult IotaOp::verify() {
  if (getDim() >= sizesOf(getResult()).size()) // iota_c1
    return emitOpError("expects a dimension of ") << getType() << ", but got " << getDim();
  if (!getElementType(getResult()).isInteger(64)) // iota_c2
    return emitOpError("expects i64 elements, but got ") << getType();
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType()), to = cast<RankedTensorType>(getType());
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements()) // reshape_c1
    return emitOpError("expects ") << from.getNumElements() << " elements, but got " << to;
  return success();
}

LogicalResult PermuteOp::verify() {
  SmallVector<AffineExpr> sizes = emmy::getSizes(cast<RankedTensorType>(getInput().getType())), expected;
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t dim : getDims()) { // permute_c1
    if (dim < 0 || dim >= static_cast<int64_t>(sizes.size()) || !seen.insert(dim).second)
      return emitOpError("expects a permutation of ") << sizes.size() << " dimensions, but got " << dim;
    expected.push_back(sizes[dim]);
  }
  if (expected.size() != sizes.size())
    return emitOpError("expects a permutation of ") << sizes.size() << " dimensions, but got " << expected.size();
  return verifySizes(*this, expected, getResult());
}

LogicalResult ExpandOp::verify() {
  if (!broadcasts(cast<RankedTensorType>(getInput().getType()), cast<RankedTensorType>(getType()))) // expand_c1
    return emitOpError("expects an operand that broadcasts to ") << getType() << ", but got " << getInput().getType();
  return success();
}

LogicalResult SliceOp::verify() {
  size_t rank = cast<RankedTensorType>(getInput().getType()).getRank();
  if (getStarts().getSizes().size() != rank || getSteps().size() != rank) // slice_c1
    return emitOpError("expects ") << rank << " starts and steps";
  if (llvm::is_contained(getSteps(), 0)) // slice_c2
    return emitOpError("expects no step of 0");
  return success();
}

LogicalResult ConcatOp::verify() {
  SmallVector<AffineExpr> expected;
  for (Value input : getInputs()) { // concat_c1
    SmallVector<AffineExpr> sizes = emmy::getSizes(cast<RankedTensorType>(input.getType()));
    if (expected.empty()) {
      expected = sizes;
      continue;
    }
    if (sizes.size() != expected.size())
      return emitOpError("expects operands of rank ") << expected.size() << ", but got " << input.getType();
    for (auto [i, size] : llvm::enumerate(sizes)) {
      if (i == getDim())
        expected[i] = expected[i] && size ? expected[i] + size : AffineExpr();
      else if (!isSameSize(size, expected[i]))
        return emitOpError("expects operands that agree but along dimension ") << getDim() << ", but got " << input.getType();
    }
  }
  return verifySizes(*this, expected, getResult());
}

LogicalResult PadOp::verify() {
  if (cast<RankedTensorType>(getValue().getType()).getRank())
    return emitOpError("expects a padding value of no dimensions, but got ") << getValue().getType();
  if (getLow().size() != static_cast<size_t>(cast<RankedTensorType>(getInput().getType()).getRank()))
    return emitOpError("expects one number in 'low' for each dimension, but got ") << getLow().size();
  return success();
}

LogicalResult TakeOp::verify() {
  SmallVector<AffineExpr> sizes = emmy::getSizes(cast<RankedTensorType>(getInput().getType())), expected;
  if (getDim() >= sizes.size()) // take_c1
    return emitOpError("expects a dimension below ") << sizes.size() << ", but got " << getDim();
  if (!isa<IntegerType>(getElementType(getIndices()))) // take_c2
    return emitOpError("expects integer indices, but got ") << getIndices().getType();
  for (auto [i, size] : llvm::enumerate(sizes)) { // take_c3
    if (i == getDim())
      llvm::append_range(expected, emmy::getSizes(cast<RankedTensorType>(getIndices().getType())));
    else
      expected.push_back(size);
  }
  return verifySizes(*this, expected, getResult());
}

LogicalResult GatherOp::verify() {
  auto indices = cast<RankedTensorType>(getIndices().getType());
  if (indices.getRank() != cast<RankedTensorType>(getInput().getType()).getRank()) // gather_c1
    return emitOpError("expects indices of the operand's rank, but got ") << indices;
  if (getDim() >= static_cast<uint64_t>(indices.getRank())) // gather_c2
    return emitOpError("expects a dimension below ") << indices.getRank() << ", but got " << getDim();
  if (!isa<IntegerType>(indices.getElementType())) // gather_c3
    return emitOpError("expects integer indices, but got ") << indices;
  return verifySizes(*this, emmy::getSizes(indices), getResult());
}

LogicalResult ScatterOp::verify() {
  Sizes sizes = sizesOf(getInput()), indices = sizesOf(getIndices()), updates = sizesOf(getUpdates());
  if (getDim() >= sizes.size()) // scatter_c1
    return emitOpError("expects a dimension below ") << sizes.size() << ", but got " << getDim();
  if (indices.size() != 1 || !isa<IntegerType>(getElementType(getIndices()))) // scatter_c2
    return emitOpError("expects a vector of integer indices, but got ") << getIndices().getType();
  sizes[getDim()] = indices[0];
  if (sizes.size() != updates.size() || !llvm::all_of_zip(sizes, updates, isSameSize)) // scatter_c3
    return emitOpError("expects updates of type ") << emmy::getTensorType(sizes, getElementType(getInput())) << ", but got "
                                                   << getUpdates().getType();
  if (getType() != getInput().getType()) // scatter_c4
    return emitOpError("expects a result of the operand's type, but got ") << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Folds: a view that changes nothing is its operand
//===----------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor) { return getInput().getType() == getType() ? getInput() : Value(); }
OpFoldResult ExpandOp::fold(FoldAdaptor) { return getInput().getType() == getType() ? getInput() : Value(); }

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (dim != static_cast<int64_t>(i))
      return {};
  return getInput();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto isZero = [](AffineExpr start) { return isa<AffineConstantExpr>(start) && cast<AffineConstantExpr>(start).getValue() == 0; };
  bool whole = llvm::all_of(getStarts().getSizes(), isZero) && llvm::all_of(getSteps(), [](int64_t s) { return s == 1; });
  return whole && getInput().getType() == getType() ? getInput() : Value();
}
