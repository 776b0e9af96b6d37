// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arguments, constants and scalar arithmetic of the kernel under construction.
#include "KernelBuilder.h"

using namespace mlir;

namespace emmy {

KernelBuilder::KernelBuilder(sched::ProgramOp program, ArrayRef<AffineExpr> grid, int64_t cluster, int64_t warps)
    : OpBuilder(program.getContext()), loc(program.getLoc()), program(program) {
  setInsertionPoint(program);
  kernel = tile::KernelOp::create(*this, loc, program.getSymName(), DimsAttr::get(getContext(), grid), cluster, warps, /*pdl=*/false,
                                  /*argAttrs=*/ArrayAttr());
  setInsertionPointToEnd(&kernel.getBody().emplaceBlock());
}

tile::KernelOp KernelBuilder::finish() {
  SmallVector<Attribute> attrs;
  for (Attribute binding : bindings)
    attrs.push_back(getDictionaryAttr(getNamedAttr(kBindAttr, binding)));
  if (!attrs.empty())
    kernel.setArgAttrsAttr(getArrayAttr(attrs));
  return kernel;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value KernelBuilder::constant(Type type, int64_t number) {
  Value &known = constants[{type, number}];
  if (!known) {
    InsertionGuard guard(*this);
    setInsertionPointToStart(&kernel.getBody().front());
    known = arith::ConstantOp::create(*this, loc, getIntegerAttr(type, number));
  }
  return known;
}

Value KernelBuilder::argument(Type type, Attribute binding) {
  for (auto [i, known] : llvm::enumerate(bindings))
    if (known == binding && kernel.getBody().getArgument(i).getType() == type)
      return kernel.getBody().getArgument(i);
  bindings.push_back(binding);
  return kernel.getBody().addArgument(type, loc);
}

Value KernelBuilder::size(AffineExpr expr, Type type) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(type, number.getValue());
  return argument(type, BindSizeAttr::get(getContext(), expr));
}

Value KernelBuilder::add(Value a, Value b) {
  if (matchPattern(a, m_Zero()))
    return b;
  return matchPattern(b, m_Zero()) ? a : arith::AddIOp::create(*this, loc, a, b).getResult();
}

Value KernelBuilder::mul(Value a, Value b) {
  if (matchPattern(a, m_One()))
    return b;
  if (matchPattern(a, m_Zero()))
    return a;
  return matchPattern(b, m_One()) ? a : arith::MulIOp::create(*this, loc, a, b).getResult();
}

/// True if `expr` cannot be negative: dimensions and symbols are not.
static bool isNonNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (isNonNegative(binary.getLHS()) && isNonNegative(binary.getRHS()));
}

Value KernelBuilder::compute(AffineExpr expr, ValueRange dims, Type type) {
  if (expr.isSymbolicOrConstant())
    return size(expr, type);
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    Value value = dims[dim.getPosition()];
    if (value.getType() == type)
      return value;
    if (value.getType().isInteger(64))
      return arith::TruncIOp::create(*this, loc, type, value);
    return arith::ExtSIOp::create(*this, loc, type, value);
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = compute(binary.getLHS(), dims, type), rhs = compute(binary.getRHS(), dims, type);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(lhs, rhs);
  case AffineExprKind::Mul:
    return mul(lhs, rhs);
  case AffineExprKind::FloorDiv:
    if (isNonNegative(binary.getLHS()))
      return arith::DivUIOp::create(*this, loc, lhs, rhs);
    return arith::FloorDivSIOp::create(*this, loc, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(*this, loc, lhs, rhs);
  default:
    if (isNonNegative(binary.getLHS()))
      return arith::RemUIOp::create(*this, loc, lhs, rhs);
    return arith::SubIOp::create(*this, loc, lhs, mul(arith::FloorDivSIOp::create(*this, loc, lhs, rhs), rhs));
  }
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static RankedTensorType tensorType(sched::ProgramOp program, unsigned tensor) {
  return cast<RankedTensorType>(program.getBody().getArgument(tensor).getType());
}

Value KernelBuilder::pointer(unsigned tensor) {
  Type element = storedType(tensorType(program, tensor).getElementType());
  return argument(tile::PtrType::get(getContext(), element), BindPointerAttr::get(getContext(), tensor));
}

Value KernelBuilder::descriptor(unsigned tensor, const sched::TmaPlan &plan, ArrayRef<int64_t> box, int64_t swizzle) {
  SmallVector<AffineExpr> sizes, strides;
  for (const sched::TmaDim &dim : plan.dims) {
    sizes.push_back(dim.size);
    strides.push_back(dim.strideBytes);
  }
  strides.pop_back();
  // Rows that do not start on a 128-byte line would waste half of a wider fetch.
  bool straddles = llvm::any_of(strides, [](AffineExpr stride) { return !stride.isMultipleOf(128); });
  auto binding = BindTmaAttr::get(getContext(), tensor, sizes, strides, plan.offsetBytes, straddles ? 128 : 256);
  return argument(tile::TmapType::get(getContext(), box, tensorType(program, tensor).getElementType(), swizzle), binding);
}

int64_t KernelBuilder::elementBytes(unsigned tensor) {
  return llvm::divideCeil(tensorType(program, tensor).getElementType().getIntOrFloatBitWidth(), 8);
}

int64_t KernelBuilder::alignOf(unsigned tensor) {
  LayoutAttr layout = program.getLayout(tensor);
  return layout ? layout.getAlign() : 16;
}

sched::TmaPlan KernelBuilder::planTma(unsigned tensor, ArrayAttr over, AffineMap map) {
  SmallVector<sched::AddressDim> dims;
  for (auto name : over.getAsRange<StringAttr>()) {
    sched::AxisAttr axis = program.getAxis(name);
    dims.push_back({axis.getSize(), axis.getBlock()});
  }
  int64_t bytes = tensorType(program, tensor).getElementType().getIntOrFloatBitWidth() / 8;
  return sched::planTma(map.getResult(0), dims, bytes, alignOf(tensor));
}

unsigned KernelBuilder::axisPosition(StringAttr name) {
  for (auto [i, axis] : llvm::enumerate(program.getAxes().getAsRange<sched::AxisAttr>()))
    if (axis.getName() == name)
      return i;
  llvm_unreachable("the verifier knows the axes of every access");
}

SmallVector<StringAttr> KernelBuilder::sharedAxes(sched::WriteOp write) {
  SmallVector<StringAttr> shared;
  for (auto axis : write->getParentOfType<sched::ProgramOp>().getAxes().getAsRange<sched::AxisAttr>()) {
    auto blocks = dyn_cast<AffineConstantExpr>(axis.getSize().ceilDiv(axis.getBlock()));
    bool isMany = axis.getKind() == sched::AxisKind::grid && !(blocks && blocks.getValue() <= 1);
    if (isMany && !llvm::is_contained(write.getOver(), axis.getName()))
      shared.push_back(axis.getName());
  }
  return shared;
}

bool KernelBuilder::isRagged(StringAttr name) {
  sched::AxisAttr axis = program.getAxis(name);
  int64_t blocks = name == stacked ? kernel.getCluster() : 1;
  return !axis.getSize().isMultipleOf(axis.getBlock() * blocks);
}

SmallVector<Value> KernelBuilder::startsOf(ArrayAttr over, const AxisStarts &starts) {
  SmallVector<Value> values;
  for (auto name : over.getAsRange<StringAttr>())
    values.push_back(starts[axisPosition(name)]);
  return values;
}

SmallVector<Value> KernelBuilder::coordinates(const sched::TmaPlan &plan, ArrayAttr over, const AxisStarts &starts) {
  SmallVector<Value> at = startsOf(over, starts), coordinates;
  for (const sched::TmaDim &dim : plan.dims)
    coordinates.push_back(compute(dim.coordinate, at, getI32Type()));
  return coordinates;
}

} // namespace emmy
