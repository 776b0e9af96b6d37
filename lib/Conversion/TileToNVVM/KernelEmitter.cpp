// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The frame of a kernel's function, and what the emitters of all groups share.
#include "KernelEmitter.h"
#include "Registers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace emmy::tile;

static constexpr StringLiteral kSharedSymbol = "emmy_shared";

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

/// Symbols of PTX have letters, digits and underscores only.
static std::string mangle(StringRef name) {
  std::string out = llvm::isDigit(name.front()) ? "_" : "";
  for (char c : name)
    out += llvm::isAlnum(c) ? c : '_';
  return out;
}

LogicalResult KernelEmitter::run() {
  b.setInsertionPoint(kernel);
  b.loc = kernel.getLoc();
  std::string name = mangle(kernel.getSymName());
  auto module = gpu::GPUModuleOp::create(b, b.loc, name);
  TargetAttr target = TargetAttr::of(kernel);
  b.setTarget(module, target.isCpu() ? StringRef("sm_90a") : target.getChip().getValue());
  b.setInsertionPointToStart(module.getBody());
  b.declareDynamicShared(kSharedSymbol);
  SmallVector<Parameter> parameters;
  for (Type type : kernel.getBody().getArgumentTypes()) {
    if (isa<SharedType, BarrierType, FragType>(type))
      return kernel.emitOpError("has an argument of type ") << type << ", which a launch cannot fill";
    parameters.push_back({convertType(type), isa<TmapType>(type)});
  }
  int32_t threads = static_cast<int32_t>(kernel.getWarps()) * 32;
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr("nvvm.kernel", b.getUnitAttr()),
      b.getNamedAttr("nvvm.reqntid", b.getDenseI32ArrayAttr({threads})),
      b.getNamedAttr("nvvm.minctasm", b.getI32IntegerAttr(1)),
  };
  if (kernel.getCluster() > 1)
    attributes.push_back(
        b.getNamedAttr("nvvm.cluster_dim", b.getDenseI32ArrayAttr({static_cast<int32_t>(kernel.getCluster()), 1, 1})));
  body = b.beginFunction(name, parameters, attributes);
  emitPrologue(body);
  if (failed(emitBlock(kernel.getBody().front())))
    return failure();
  emitEpilogue();
  // References to the kernel by launches stay valid where its name needed no change.
  kernel.erase();
  return success();
}

void KernelEmitter::emitPrologue(Region *function) {
  for (auto [from, to] : llvm::zip(kernel.getBody().getArguments(), function->getArguments()))
    values[from] = {to};
  shared = b.addressOfShared(kSharedSymbol);
  threadId = b.threadId();
  lane = b.bitAnd(threadId, 31);
  warp = b.shiftRight(threadId, 5);
  unit.warps = kernel.getWarps();
  unit.warp = warp;
  unit.thread = threadId;
  for (auto [alloc, bytes] : planShared(kernel).offsets)
    addresses[alloc.getResult()].bytes = bytes;
  auto isTmap = [](BlockArgument argument) { return isa<TmapType>(argument.getType()); };
  if (llvm::any_of(kernel.getBody().getArguments(), isTmap))
    guarded(b.equal(threadId, 0), [&] {
      for (BlockArgument argument : llvm::make_filter_range(kernel.getBody().getArguments(), isTmap))
        b.prefetchTmap(scalar(argument));
    });
}

void KernelEmitter::emitEpilogue() {
  // Shared memory must outlive the stores that read it, and the arrivals of other CTAs.
  bool stores = false;
  kernel.walk([&](TmaStoreOp) { stores = true; });
  if (stores)
    b.bulkWait(0, /*read=*/false);
  Block &block = kernel.getBody().front();
  auto last = block.empty() ? SyncOp() : dyn_cast<SyncOp>(block.back());
  if (kernel.getCluster() > 1 && !(last && last.getScope() == SyncScope::cluster))
    b.syncCluster();
  b.functionReturn();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>() && op.getNumSuccessors() == 0)
      break;
    b.loc = op.getLoc();
    if (failed(emitOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult KernelEmitter::emitOp(Operation *op) {
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()), SmallVector<Type>(op->getResultTypes())))
    if (auto frag = dyn_cast<FragType>(type); frag && failed(checkUnit(op, frag)))
      return failure();
  auto emitted = [&](auto concrete) { return emit(*this, concrete); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<WarpSpecializeOp, OneThreadOp, ReadOp, RingSlotOp, scf::ForOp, scf::IfOp, scf::WhileOp>(emitted)
      .Case<AllocOp, SubviewOp, BarrierInitOp, FenceBarrierInitOp, BarrierArriveOp, BarrierExpectOp, BarrierWaitOp, SyncOp,
            FenceAsyncOp, PdlWaitOp, PdlLaunchOp>(emitted)
      .Case<TmaLoadOp, TmaStoreOp, TmaCommitOp, TmaWaitOp, CpAsyncOp, CpAsyncCommitOp, CpAsyncWaitOp>(emitted)
      .Case<SplatOp, UndefOp, CoordOp, MapOp, BroadcastOp, ExtractOp, ReduceOp, AnyOp>(emitted)
      .Case<LoadOp, StoreOp, GatherOp, ScatterOp, LoadScalarOp, AtomicAddOp, PutOp, GetOp, LoadSharedOp, StoreSharedOp>(emitted)
      .Case<WgmmaFenceOp, WgmmaOp, WgmmaCommitOp, WgmmaWaitOp, MmaOp>(emitted)
      .Default([&](Operation *other) { return emitScalar(*this, other); });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Type KernelEmitter::convertType(Type type) {
  if (isa<IndexType>(type))
    return b.getI64Type();
  if (isa<PtrType>(type))
    return b.pointerType(kGlobal);
  if (isa<TmapType>(type))
    return b.pointerType(kGeneric);
  if (auto real = dyn_cast<FloatType>(type); real && real.getWidth() == 8)
    return b.getI8Type();
  return type;
}

ArrayRef<Value> KernelEmitter::registers(Value frag) { return values.find(frag)->second; }

SmallVector<Type> KernelEmitter::flatTypes(Type type) {
  if (isa<SharedType, BarrierType>(type))
    return {b.getI32Type()};
  auto frag = dyn_cast<FragType>(type);
  if (!frag)
    return {convertType(type)};
  Type element = convertType(frag.getElementType());
  int64_t count = frag.getLayout().getNumRegisters();
  if (isPacked(frag))
    return SmallVector<Type>(count / 2, VectorType::get(2, element));
  return SmallVector<Type>(count, element);
}

SmallVector<Value> KernelEmitter::flatten(ValueRange range) {
  SmallVector<Value> flat;
  for (Value value : range) {
    if (!isa<SharedType, BarrierType>(value.getType())) {
      llvm::append_range(flat, registers(value));
      continue;
    }
    SharedAddress at = address(value);
    Value sum = b.i32(at.bytes);
    for (auto [index, bytes] : at.terms)
      sum = b.add(sum, b.mul(index, bytes));
    flat.push_back(sum);
  }
  return flat;
}

void KernelEmitter::bind(ValueRange range, ValueRange flat) {
  for (Value value : range) {
    size_t count = flatTypes(value.getType()).size();
    if (isa<SharedType, BarrierType>(value.getType()))
      addresses[value] = {0, {{flat.front(), 1}}};
    else
      values[value] = llvm::to_vector(flat.take_front(count));
    flat = flat.drop_front(count);
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Block *KernelEmitter::newBlock(TypeRange arguments) {
  OpBuilder::InsertionGuard guard(b);
  return b.createBlock(body, body->end(), arguments, SmallVector<Location>(arguments.size(), b.loc));
}

void KernelEmitter::continueIn(Block *block) {
  block->moveBefore(body, body->end());
  b.setInsertionPointToEnd(block);
}

void KernelEmitter::guarded(Value condition, llvm::function_ref<void()> emitBody) {
  if (!condition)
    return emitBody();
  Block *inside = newBlock(), *after = newBlock();
  b.branch(condition, inside, {}, after, {});
  continueIn(inside);
  emitBody();
  b.branch(after);
  continueIn(after);
}

Value KernelEmitter::onlyThread() {
  if (unit.oneThread)
    return {};
  return unit.kind == Unit::Warp && isHopper() ? b.elect() : b.equal(unit.thread, 0);
}

bool KernelEmitter::isHopper() {
  StringRef chip = TargetAttr::of(kernel).getChip().getValue();
  int64_t version = 0;
  return !chip.consume_front("sm_") || chip.consumeInteger(10, version) || version >= 90;
}

/// An access of another CTA's shared memory.
static bool isRemote(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<PutOp, GetOp, LoadSharedOp, StoreSharedOp>([](auto access) { return !!access.getRank(); })
      .Default(false);
}

bool KernelEmitter::sharesMemory() {
  if (!sharing)
    sharing = kernel.walk([](Operation *op) { return isRemote(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
  return *sharing;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

SharedAddress KernelEmitter::offset(SharedAddress base, Value index, int64_t bytes) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    base.bytes += constant.getSExtValue() * bytes;
  else
    base.terms.emplace_back(index, bytes);
  return base;
}

Value KernelEmitter::pointer(const SharedAddress &at, Value extra) {
  Value pointer = shared;
  for (auto [index, bytes] : at.terms)
    pointer = b.gep(pointer, b.mul(index, bytes));
  if (extra)
    pointer = b.gep(pointer, extra);
  // Last, so that it becomes the immediate of the instruction.
  return b.gep(pointer, at.bytes);
}

Value KernelEmitter::elementPointer(const SharedAddress &base, SharedType type, ArrayRef<Sum> at) {
  int64_t elementBytes = type.getElementBytes();
  Sum row; // bytes of all dimensions but the innermost
  for (auto [sum, stride] : llvm::zip(at.drop_back(), type.getStrides().drop_back())) {
    row.constant += sum.constant * stride * elementBytes;
    if (sum.dynamic) {
      Value bytes = b.mul(sum.dynamic, stride * elementBytes);
      row.dynamic = row.dynamic ? b.add(row.dynamic, bytes) : bytes;
    }
  }
  Value column = at.back().dynamic ? b.mul(at.back().dynamic, elementBytes) : b.i32(0);
  int64_t columnConstant = at.back().constant * elementBytes;
  Value rowDynamic = row.dynamic ? row.dynamic : b.i32(0);
  SharedAddress where = base;
  if (type.getSwizzle() == 0) {
    where.bytes += row.constant + columnConstant;
    return pointer(where, b.add(rowDynamic, column));
  }
  // The pattern repeats every eight spans, so whole repetitions stay out of the address bits it mixes.
  int64_t span = type.getSwizzle(), inside = row.constant % (8 * span);
  where.bytes += row.constant - inside;
  Value line = b.add(rowDynamic, inside);
  Value flips = b.shiftLeft(b.bitAnd(b.shiftRight(line, 7), span / 16 - 1), 4);
  return pointer(where, b.add(line, b.bitXor(b.add(column, columnConstant), flips)));
}

void KernelEmitter::syncUnit() {
  if (unit.warps == 1)
    b.syncWarp();
  else if (unit.kind == Unit::Cta)
    b.syncCta();
  else
    b.syncNamed(unit.barrier, unit.threads());
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// `number`'s digit of one mode times the mode's stride, summed over the modes.
static Value sumDigits(NvvmBuilder &b, ArrayRef<int64_t> modes, int64_t rank, int64_t dim, Value number, Value sum) {
  int64_t below = 1, total = 1;
  for (size_t i = 0; i < modes.size(); i += rank + 1)
    total *= modes[i];
  for (size_t i = 0; i < modes.size(); i += rank + 1) {
    int64_t size = modes[i], stride = modes[i + 1 + dim];
    if (size > 1 && stride) {
      Value digit = b.div(number, below);
      if (below * size < total) // the last digit needs no remainder
        digit = b.rem(digit, size);
      Value step = b.mul(digit, stride);
      sum = sum ? b.add(sum, step) : step;
    }
    below *= size;
  }
  return sum;
}

Value KernelEmitter::threadCoordinate(LayoutAttr layout, int64_t dim) {
  Value sum = sumDigits(b, layout.getLane(), layout.getRank(), dim, lane, Value());
  return sumDigits(b, layout.getWarp(), layout.getRank(), dim, unit.warp, sum);
}

LogicalResult KernelEmitter::checkUnit(Operation *op, FragType frag) {
  if (frag.getLayout().getNumWarps() == unit.warps)
    return success();
  return op->emitOpError("has a fragment over ") << frag.getLayout().getNumWarps() << " warps, but runs in a unit of " << unit.warps
                                                 << ": " << frag;
}

Value KernelEmitter::isPrimary(LayoutAttr layout) {
  Value primary;
  auto requireZero = [&](ArrayRef<int64_t> modes, Value number) {
    int64_t below = 1;
    for (size_t i = 0; i < modes.size(); i += layout.getRank() + 1) {
      ArrayRef<int64_t> strides = modes.slice(i + 1, layout.getRank());
      if (modes[i] > 1 && llvm::all_of(strides, [](int64_t stride) { return stride == 0; }))
        primary = b.both(primary, b.equal(b.rem(b.div(number, below), modes[i]), 0));
      below *= modes[i];
    }
  };
  requireZero(layout.getLane(), lane);
  requireZero(layout.getWarp(), unit.warp);
  return primary;
}
