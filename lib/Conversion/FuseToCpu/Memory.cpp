// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elements are moved as integers of their width, so that types without arithmetic on the machine need no load of their own.
#include "Memory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace emmy::fuse {

static constexpr int64_t kStackBytes = 8192; // largest temporary on the stack

Operation *createFunction(OpBuilder &builder, Operation *anchor, StringRef name) {
  Location loc = anchor->getLoc();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer});
  builder.setInsertionPoint(anchor);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  builder.setInsertionPointToEnd(function.addEntryBlock(builder));
  auto end = LLVM::ReturnOp::create(builder, loc, ValueRange());
  builder.setInsertionPoint(end);
  return function;
}

static Value loadParameter(OpBuilder &builder, Location loc, unsigned index, Type type) {
  auto function = builder.getInsertionBlock()->getParent()->getParentOfType<LLVM::LLVMFuncOp>();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value cell = LLVM::GEPOp::create(builder, loc, pointer, pointer, function.getArgument(0), LLVM::GEPArg(index));
  Value address = LLVM::LoadOp::create(builder, loc, pointer, cell);
  return LLVM::LoadOp::create(builder, loc, type, address);
}

Value loadPointerParameter(OpBuilder &builder, Location loc, unsigned index) {
  return loadParameter(builder, loc, index, LLVM::LLVMPointerType::get(builder.getContext()));
}

Value loadSizeParameter(OpBuilder &builder, Location loc, unsigned index) {
  return loadParameter(builder, loc, index, builder.getI64Type());
}

void reportIndex(OpBuilder &builder, Location loc, Value index, Value size) {
  auto function = builder.getInsertionBlock()->getParent()->getParentOfType<LLVM::LLVMFuncOp>();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value numbers[] = {arith::ConstantIntOp::create(builder, loc, 1, 64), index, size};
  for (auto [i, number] : llvm::enumerate(numbers)) {
    Value cell = LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), function.getArgument(1), LLVM::GEPArg(i));
    LLVM::StoreOp::create(builder, loc, number, cell);
  }
}

/// What `type` is in memory.
static Type getMemoryType(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  bool asInteger = isa<FloatType>(type) && width < 32;
  return width == 1 ? IntegerType::get(type.getContext(), 8) : asInteger ? IntegerType::get(type.getContext(), width) : type;
}

static Value getAddress(OpBuilder &builder, Location loc, Value pointer, Value index, Type type) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), type, pointer, LLVM::GEPArg(index), LLVM::GEPNoWrapFlags::inbounds);
}

Value loadElement(OpBuilder &builder, Location loc, Value pointer, Value index, Type type) {
  Type memory = getMemoryType(type);
  Value address = getAddress(builder, loc, pointer, index, memory);
  Value loaded = LLVM::LoadOp::create(builder, loc, memory, address);
  if (memory == type)
    return loaded;
  if (isa<FloatType>(type))
    return arith::BitcastOp::create(builder, loc, type, loaded);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(memory, 0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, loaded, zero);
}

void storeElement(OpBuilder &builder, Location loc, Value value, Value pointer, Value index) {
  Type type = value.getType(), memory = getMemoryType(type);
  if (memory != type && isa<FloatType>(type))
    value = arith::BitcastOp::create(builder, loc, memory, value);
  else if (memory != type)
    value = arith::ExtUIOp::create(builder, loc, memory, value);
  LLVM::StoreOp::create(builder, loc, value, getAddress(builder, loc, pointer, index, memory));
}

static LLVM::LLVMFuncOp getLibraryFunction(OpBuilder &builder, StringRef name, Type result, Type parameter) {
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (auto found = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return found;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, LLVM::LLVMFunctionType::get(result, {parameter}));
}

Allocation allocate(OpBuilder &builder, Location loc, Value count, Type type) {
  Type memory = getMemoryType(type);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  int64_t width = memory.getIntOrFloatBitWidth() / 8;
  APInt constant;
  if (matchPattern(count, m_ConstantInt(&constant)) && constant.getSExtValue() * width <= kStackBytes)
    return {LLVM::AllocaOp::create(builder, loc, pointer, memory, count, /*alignment=*/64), false};
  auto function = getLibraryFunction(builder, "malloc", pointer, builder.getI64Type());
  Value bytes = arith::MulIOp::create(builder, loc, count, arith::ConstantIntOp::create(builder, loc, width, 64));
  return {LLVM::CallOp::create(builder, loc, function, bytes).getResult(), true};
}

void deallocate(OpBuilder &builder, Location loc, Value pointer) {
  auto voidType = LLVM::LLVMVoidType::get(builder.getContext());
  LLVM::CallOp::create(builder, loc, getLibraryFunction(builder, "free", voidType, pointer.getType()), pointer);
}

} // namespace emmy::fuse
