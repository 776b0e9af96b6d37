// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The operations of LlvmBuilder.
#include "LlvmBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace emmy::tile;

Type LlvmBuilder::pointerType(AddressSpace space) { return LLVM::LLVMPointerType::get(getContext(), space); }

Type LlvmBuilder::structType(ArrayRef<Type> types) { return LLVM::LLVMStructType::getLiteral(getContext(), types); }

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value LlvmBuilder::constant(Type type, int64_t value) {
  return arith::ConstantOp::create(*this, loc, getIntegerAttr(type, value));
}

Value LlvmBuilder::f32(double value) { return arith::ConstantOp::create(*this, loc, getF32FloatAttr(value)); }

Value LlvmBuilder::zero(Type type) {
  return LLVM::ZeroOp::create(*this, loc, type);
}

Value LlvmBuilder::div(Value a, int64_t b) {
  if (b == 1)
    return a;
  if (llvm::isPowerOf2_64(b))
    return shiftRight(a, llvm::Log2_64(b));
  return createOrFold<arith::DivUIOp>(loc, a, constant(a.getType(), b));
}

Value LlvmBuilder::rem(Value a, int64_t b) {
  if (llvm::isPowerOf2_64(b))
    return bitAnd(a, b - 1);
  return createOrFold<arith::RemUIOp>(loc, a, constant(a.getType(), b));
}

Value LlvmBuilder::bitAnd(Value a, int64_t b) {
  return b == 0 ? constant(a.getType(), 0) : createOrFold<arith::AndIOp>(loc, a, constant(a.getType(), b));
}

Value LlvmBuilder::shiftLeft(Value a, int64_t bits) {
  return bits == 0 ? a : createOrFold<arith::ShLIOp>(loc, a, constant(a.getType(), bits));
}

Value LlvmBuilder::shiftRight(Value a, int64_t bits) {
  return bits == 0 ? a : createOrFold<arith::ShRUIOp>(loc, a, constant(a.getType(), bits));
}

Value LlvmBuilder::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return createOrFold<arith::AndIOp>(loc, a, b);
}

Value LlvmBuilder::signExtend(Value a, Type type) {
  return a.getType() == type ? a : createOrFold<arith::ExtSIOp>(loc, type, a);
}

Value LlvmBuilder::zeroExtend(Value a, Type type) {
  return a.getType() == type ? a : createOrFold<arith::ExtUIOp>(loc, type, a);
}

Value LlvmBuilder::truncate(Value a, Type type) {
  return a.getType() == type ? a : createOrFold<arith::TruncIOp>(loc, type, a);
}

//===----------------------------------------------------------------------===//
// Values of other shapes
//===----------------------------------------------------------------------===//

Value LlvmBuilder::poison(Type type) { return LLVM::PoisonOp::create(*this, loc, type); }

Value LlvmBuilder::bitcast(Value a, Type type) {
  return a.getType() == type ? a : LLVM::BitcastOp::create(*this, loc, type, a).getResult();
}

Value LlvmBuilder::extractElement(Value vector, int64_t index) {
  return LLVM::ExtractElementOp::create(*this, loc, vector, i32(index));
}

Value LlvmBuilder::buildVector(ArrayRef<Value> elements) {
  Value vector = poison(VectorType::get(static_cast<int64_t>(elements.size()), elements[0].getType()));
  for (auto [i, element] : llvm::enumerate(elements))
    vector = LLVM::InsertElementOp::create(*this, loc, vector, element, i32(i));
  return vector;
}

Value LlvmBuilder::buildStruct(ArrayRef<Value> fields) {
  Value aggregate = poison(structType(llvm::to_vector(llvm::map_range(fields, [](Value v) { return v.getType(); }))));
  for (auto [i, field] : llvm::enumerate(fields))
    aggregate = LLVM::InsertValueOp::create(*this, loc, aggregate, field, static_cast<int64_t>(i));
  return aggregate;
}

SmallVector<Value> LlvmBuilder::splitStruct(Value aggregate) {
  SmallVector<Value> fields;
  for (size_t i = 0, e = cast<LLVM::LLVMStructType>(aggregate.getType()).getBody().size(); i < e; ++i)
    fields.push_back(LLVM::ExtractValueOp::create(*this, loc, aggregate, static_cast<int64_t>(i)));
  return fields;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value LlvmBuilder::gep(Value base, Value bytes) {
  return LLVM::GEPOp::create(*this, loc, base.getType(), getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

Value LlvmBuilder::gep(Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  if (!llvm::isInt<32>(bytes)) // more than a constant of the op holds
    return gep(base, i64(bytes));
  return LLVM::GEPOp::create(*this, loc, base.getType(), getI8Type(), base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value LlvmBuilder::castPointer(Value pointer, AddressSpace space) {
  return LLVM::AddrSpaceCastOp::create(*this, loc, pointerType(space), pointer);
}

Value LlvmBuilder::pointerToInt(Value pointer, Type type) { return LLVM::PtrToIntOp::create(*this, loc, type, pointer); }

Value LlvmBuilder::load(Value pointer, Type type, int64_t align) { return LLVM::LoadOp::create(*this, loc, type, pointer, align); }

void LlvmBuilder::store(Value value, Value pointer, int64_t align) { LLVM::StoreOp::create(*this, loc, value, pointer, align); }

Value LlvmBuilder::atomicAdd(Value pointer, Value value, bool acquireRelease) {
  auto kind = isa<FloatType>(value.getType()) ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
  // LLVM's NVPTX drops the ordering of read-modify-writes, so fences carry it.
  const auto fence = [&] {
    if (acquireRelease)
      LLVM::FenceOp::create(*this, loc, LLVM::AtomicOrdering::acq_rel, "device");
  };
  fence();
  Value old = LLVM::AtomicRMWOp::create(*this, loc, kind, pointer, value, LLVM::AtomicOrdering::monotonic);
  fence();
  return old;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

SmallVector<Value> LlvmBuilder::inlineAsm(const InlineAsm &code) {
  SmallVector<Type> results;
  if (code.outputs.size() == 1)
    results.push_back(code.outputs[0]);
  else if (!code.outputs.empty())
    results.push_back(structType(code.outputs));
  auto dialect = LLVM::AsmDialectAttr::get(getContext(), LLVM::AsmDialect::AD_ATT);
  auto op = LLVM::InlineAsmOp::create(*this, loc, results, code.inputs, code.text, code.constraints, /*has_side_effects=*/true,
                                      /*is_align_stack=*/false, LLVM::TailCallKind::None, dialect, /*operand_attrs=*/ArrayAttr());
  if (code.outputs.size() > 1)
    return splitStruct(op.getResult(0));
  return SmallVector<Value>(op->getResults());
}

Value LlvmBuilder::callIntrinsic(StringRef name, Type result, ArrayRef<Value> operands) {
  return LLVM::CallIntrinsicOp::create(*this, loc, result, getStringAttr(name), operands).getResult(0);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void LlvmBuilder::branch(Block *target, ValueRange operands) { LLVM::BrOp::create(*this, loc, operands, target); }

void LlvmBuilder::branchBack(Block *header, ValueRange operands) {
  auto branch = LLVM::BrOp::create(*this, loc, operands, header);
  auto unroll = LLVM::LoopUnrollAttr::get(getContext(), /*disable=*/getBoolAttr(true), {}, {}, {}, {}, {}, {});
  branch.setLoopAnnotationAttr(
      LLVM::LoopAnnotationAttr::get(getContext(), {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

void LlvmBuilder::branch(Value condition, Block *yes, ValueRange yesOperands, Block *no, ValueRange noOperands) {
  LLVM::CondBrOp::create(*this, loc, condition, yes, yesOperands, no, noOperands);
}

void LlvmBuilder::functionReturn() { LLVM::ReturnOp::create(*this, loc, ValueRange()); }

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

void LlvmBuilder::declareDynamicShared(StringRef name) {
  LLVM::GlobalOp::create(*this, loc, LLVM::LLVMArrayType::get(getI8Type(), 0), /*isConstant=*/false, LLVM::Linkage::External, name,
                         Attribute(), /*alignment=*/1024, kShared);
}

Value LlvmBuilder::addressOfShared(StringRef name) {
  return LLVM::AddressOfOp::create(*this, loc, pointerType(kShared), name);
}

Region *LlvmBuilder::beginFunction(StringRef name, ArrayRef<Parameter> parameters, ArrayRef<NamedAttribute> attributes) {
  SmallVector<Type> types;
  for (const Parameter &parameter : parameters)
    types.push_back(parameter.type);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), types);
  auto function = LLVM::LLVMFuncOp::create(*this, loc, name, type);
  for (NamedAttribute attribute : attributes)
    function->setAttr(attribute.getName(), attribute.getValue());
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    if (!parameter.isTmap)
      continue;
    function.setArgAttr(i, "llvm.byval", TypeAttr::get(LLVM::LLVMArrayType::get(getI8Type(), 128)));
    function.setArgAttr(i, "llvm.align", getI64IntegerAttr(64));
    function.setArgAttr(i, "nvvm.grid_constant", getUnitAttr());
  }
  setInsertionPointToStart(function.addEntryBlock(*this));
  return &function.getBody();
}
