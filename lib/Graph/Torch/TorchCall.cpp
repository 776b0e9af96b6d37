// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operands and results of one torch op, and types of the torch dialect read off their text.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

Item Item::of(Value tensor) {
  Item item;
  item.kind = Kind::Tensor;
  item.tensor = tensor;
  return item;
}

Item Item::of(AffineExpr size) {
  Item item;
  item.kind = Kind::Size;
  item.size = size;
  return item;
}

Item Item::unused() {
  Item item;
  item.kind = Kind::Unused;
  return item;
}

std::optional<int64_t> Item::getInteger() const {
  auto constant = kind == Kind::Size ? dyn_cast<AffineConstantExpr>(size) : AffineConstantExpr();
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::string torch::describe(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

bool torch::isTorchType(Type type, StringRef prefix) {
  auto opaque = dyn_cast<OpaqueType>(type);
  return opaque && opaque.getDialectNamespace() == "torch" && opaque.getTypeData().starts_with(prefix);
}

static Type convertElementType(MLIRContext *context, StringRef text) {
  Builder b(context);
  return llvm::StringSwitch<Type>(text)
      .Case("f64", b.getF64Type())
      .Case("f32", b.getF32Type())
      .Case("f16", b.getF16Type())
      .Case("bf16", b.getBF16Type())
      .Case("f8E4M3FN", Float8E4M3FNType::get(context))
      .Case("f8E5M2", Float8E5M2Type::get(context))
      .Case("si64", b.getIntegerType(64))
      .Case("si32", b.getIntegerType(32))
      .Case("si16", b.getIntegerType(16))
      .Case("si8", b.getIntegerType(8))
      .Case("i1", b.getI1Type())
      .Default(Type());
}

RankedTensorType torch::convertType(Type type, DimsAttr dims, std::string &reason) {
  if (!isTorchType(type, "vtensor<[")) {
    reason = "is not a tensor with a known shape";
    return {};
  }
  auto [shape, rest] = cast<OpaqueType>(type).getTypeData().drop_front(StringRef("vtensor<[").size()).split(']');
  rest.consume_front(",");
  rest.consume_back(">");
  Type element = convertElementType(type.getContext(), rest.trim());
  if (!element) {
    reason = ("has elements of type '" + rest.trim() + "', which Emmy does not have").str();
    return {};
  }
  SmallVector<StringRef> parts;
  shape.split(parts, ',', -1, /*KeepEmpty=*/false);
  if (dims && dims.getSizes().size() != parts.size()) {
    reason = "has another number of dimensions than its 'emmy.dims'";
    return {};
  }
  Sizes sizes;
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t size;
    if (!part.trim().getAsInteger(10, size) && size >= 0) {
      sizes.push_back(getAffineConstantExpr(size, type.getContext()));
    } else if (dims) {
      sizes.push_back(dims.getSizes()[i]);
    } else {
      reason = "has a dynamic dimension, but no 'emmy.dims' says its size";
      return {};
    }
  }
  return emmy::getTensorType(sizes, element);
}

FailureOr<RankedTensorType> torch::getDeclaredType(OpResult result) {
  Operation *op = result.getOwner();
  DimsAttr dims;
  if (auto all = op->getAttrOfType<ArrayAttr>("emmy.dims"); all && result.getResultNumber() < all.size())
    dims = dyn_cast<DimsAttr>(all[result.getResultNumber()]);
  std::string reason;
  if (RankedTensorType type = convertType(result.getType(), dims, reason))
    return type;
  return op->emitError() << "'" << op->getName() << "' has result #" << result.getResultNumber() << " of type " << result.getType()
                         << ", which " << reason;
}

FailureOr<int64_t> torch::normalizeDim(Operation *op, int64_t dim, int64_t rank) {
  int64_t normal = dim < 0 ? dim + rank : dim;
  if (normal < 0 || normal >= rank)
    return op->emitError() << "'" << op->getName() << "' names dimension " << dim << " of a tensor with " << rank << " dimensions";
  return normal;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

double Call::number(size_t i, double otherwise) const {
  if (!has(i))
    return otherwise;
  const Item &item = operands[i];
  if (item.kind == Item::Kind::Float)
    return item.number;
  return item.kind == Item::Kind::Bool ? item.flag : item.getInteger().value_or(0);
}

Sizes Call::sizes(size_t i) const {
  Sizes result;
  if (has(i))
    for (const Item &item : operands[i].items)
      result.push_back(item.size);
  return result;
}

SmallVector<Value> Call::tensors(size_t i) const {
  return llvm::map_to_vector(operands[i].items, [](const Item &item) { return item.tensor; });
}

Value Call::value(size_t i) const {
  const Item &item = operands[i];
  OpBuilder &builder = b.getBuilder();
  switch (item.kind) {
  case Item::Kind::Size:
    return b.size(item.size);
  case Item::Kind::Float:
    return b.constant(builder.getF64Type(), item.number);
  case Item::Kind::Bool:
    return b.integer(builder.getI1Type(), item.flag);
  default:
    return item.tensor;
  }
}

FailureOr<int64_t> Call::dim(size_t i, int64_t rank) const { return normalizeDim(op, integer(i), rank); }

FailureOr<SmallVector<int64_t>> Call::integers(size_t i) const {
  SmallVector<int64_t> result;
  if (has(i))
    for (const Item &item : operands[i].items) {
      if (!item.getInteger())
        return fail("needs known integers in operand #" + Twine(i));
      result.push_back(*item.getInteger());
    }
  return result;
}

FailureOr<SmallVector<int64_t>> Call::dims(size_t i, int64_t rank) const {
  SmallVector<int64_t> result;
  FailureOr<SmallVector<int64_t>> listed = SmallVector<int64_t>();
  if (has(i) && operands[i].kind == Item::Kind::Size)
    listed->push_back(integer(i));
  else if (listed = integers(i); failed(listed))
    return failure();
  if (rank == 0)
    return result;
  for (int64_t dim : *listed) {
    FailureOr<int64_t> normal = normalizeDim(op, dim, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(result, *normal))
      return fail("names a dimension twice");
    result.push_back(*normal);
  }
  if (result.empty())
    llvm::append_range(result, llvm::seq<int64_t>(0, rank));
  llvm::sort(result);
  return result;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

FailureOr<RankedTensorType> Call::type(size_t result) const {
  if (result >= op->getNumResults())
    return fail("has no result #" + Twine(result));
  return getDeclaredType(op->getResult(result));
}

FailureOr<SmallVector<RankedTensorType>> Call::listTypes() const {
  SmallVector<RankedTensorType> types;
  if (op->getNumResults() != 1 || !op->getResult(0).hasOneUse())
    return fail("makes a list that is not unpacked once");
  Operation *user = *op->getResult(0).getUsers().begin();
  if (user->getName().getStringRef() != "torch.prim.ListUnpack")
    return fail("makes a list that is not unpacked by torch.prim.ListUnpack");
  for (OpResult result : user->getResults()) {
    FailureOr<RankedTensorType> type = getDeclaredType(result);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  return types;
}

LogicalResult Call::done(ArrayRef<Value> values) {
  for (auto [i, value] : llvm::enumerate(values)) {
    FailureOr<RankedTensorType> declared = type(i);
    if (failed(declared))
      return failure();
    Value result = b.convert(value, declared->getElementType());
    Sizes sizes = sizesOf(result), expected = emmy::getSizes(*declared);
    if (sizes.size() != expected.size() || !llvm::all_of_zip(sizes, expected, isSameSize))
      return fail("gives " + describe(result.getType()) + ", but declares " + describe(*declared));
    results.push_back(Item::of(result));
  }
  results.resize(op->getNumResults(), Item::unused());
  return success();
}

LogicalResult Call::done(Item item) {
  results.push_back(std::move(item));
  return success();
}

LogicalResult Call::fail(const Twine &reason) const {
  return op->emitError() << "'" << op->getName() << "' " << reason;
}
