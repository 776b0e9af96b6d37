// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The operations of NvvmBuilder; the only source that includes the NVVM dialect.
#include "NvvmBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace emmy::tile;

//===----------------------------------------------------------------------===//
// Numbers of the running thread and CTA
//===----------------------------------------------------------------------===//

Value NvvmBuilder::threadId() { return NVVM::ThreadIdXOp::create(*this, loc, getI32Type()); }

Value NvvmBuilder::ctaId(int dim) {
  if (dim == 0)
    return NVVM::BlockIdXOp::create(*this, loc, getI32Type());
  if (dim == 1)
    return NVVM::BlockIdYOp::create(*this, loc, getI32Type());
  return NVVM::BlockIdZOp::create(*this, loc, getI32Type());
}

Value NvvmBuilder::gridSize(int dim) {
  if (dim == 0)
    return NVVM::GridDimXOp::create(*this, loc, getI32Type());
  if (dim == 1)
    return NVVM::GridDimYOp::create(*this, loc, getI32Type());
  return NVVM::GridDimZOp::create(*this, loc, getI32Type());
}

Value NvvmBuilder::clusterRank() { return NVVM::ClusterId::create(*this, loc, getI32Type()); }
Value NvvmBuilder::clusterId() { return NVVM::ClusterIdXOp::create(*this, loc, getI32Type()); }

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void NvvmBuilder::barrierInit(Value barrier, int64_t arrivals) {
  NVVM::MBarrierInitOp::create(*this, loc, barrier, i32(arrivals), /*predicate=*/Value());
}

void NvvmBuilder::fenceBarrierInit() { NVVM::FenceMbarrierInitOp::create(*this, loc); }

void NvvmBuilder::arrive(Value barrier) { NVVM::MBarrierArriveOp::create(*this, loc, TypeRange(), barrier, /*count=*/Value()); }

Value NvvmBuilder::mapShared(Value pointer, Value rank) {
  return NVVM::MapaOp::create(*this, loc, pointerType(kSharedCluster), pointer, rank);
}

static NVVM::MemScopeKind scopeOf(bool ofCluster) { return ofCluster ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA; }

void NvvmBuilder::arriveRemote(Value barrier, Value rank, bool ofCluster) {
  NVVM::MBarrierArriveOp::create(*this, loc, TypeRange(), mapShared(barrier, rank), /*count=*/Value(), scopeOf(ofCluster));
}

void NvvmBuilder::arriveExpect(Value barrier, int64_t bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(*this, loc, TypeRange(), barrier, i32(bytes), NVVM::MemScopeKind::CTA, /*relaxed=*/false,
                                         /*predicate=*/Value());
}

Value NvvmBuilder::tryWait(Value barrier, Value parity, bool ofCluster) {
  return NVVM::MBarrierTryWaitOp::create(*this, loc, getI1Type(), barrier, parity, /*ticks=*/Value(), scopeOf(ofCluster));
}

void NvvmBuilder::syncCta() { NVVM::BarrierOp::create(*this, loc); }
void NvvmBuilder::syncWarp() { NVVM::SyncWarpOp::create(*this, loc, i32(-1)); }

void NvvmBuilder::syncNamed(Value id, int64_t threads) {
  NVVM::BarrierOp::create(*this, loc, TypeRange(), id, i32(threads), NVVM::BarrierReductionAttr(), /*reductionPredicate=*/Value());
}

Value NvvmBuilder::voteAny(Value found) {
  return NVVM::VoteSyncOp::create(*this, loc, getI1Type(), i32(-1), found, NVVM::VoteSyncKind::any);
}

Value NvvmBuilder::syncAny(Value id, int64_t threads, Value found) {
  // The dialect's op reduces at barrier 0 only.
  return callIntrinsic("llvm.nvvm.barrier.cta.red.or.aligned.count", getI1Type(), {id, i32(threads), found});
}

void NvvmBuilder::syncCluster() {
  NVVM::ClusterArriveOp::create(*this, loc, getUnitAttr());
  NVVM::ClusterWaitOp::create(*this, loc, getUnitAttr());
}

void NvvmBuilder::fenceProxyAsync() {
  NVVM::FenceProxyOp::create(*this, loc, NVVM::ProxyKindAttr::get(getContext(), NVVM::ProxyKind::async_shared),
                             NVVM::SharedSpaceAttr::get(getContext(), NVVM::SharedSpace::shared_cta));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value NvvmBuilder::elect() { return NVVM::ElectSyncOp::create(*this, loc, getI1Type(), /*membermask=*/Value()); }

void NvvmBuilder::setMaxRegisters(int64_t count, bool increase) {
  NVVM::SetMaxRegisterOp::create(*this, loc, count,
                                 increase ? NVVM::SetMaxRegisterAction::increase : NVVM::SetMaxRegisterAction::decrease);
}

void NvvmBuilder::waitForPrerequisites() { NVVM::GriddepcontrolOp::create(*this, loc, NVVM::GridDepActionKind::wait); }
void NvvmBuilder::launchDependents() { NVVM::GriddepcontrolOp::create(*this, loc, NVVM::GridDepActionKind::launch_dependents); }

Value NvvmBuilder::shuffleXor(Value value, int64_t mask) {
  return NVVM::ShflOp::create(*this, loc, value.getType(), i32(-1), value, i32(mask), i32(31), NVVM::ShflKind::bfly, UnitAttr());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void NvvmBuilder::prefetchTmap(Value map) {
  NVVM::PrefetchOp::create(*this, loc, /*cacheLevel=*/NVVM::PrefetchCacheLevelAttr(), NVVM::CacheEvictionPriorityAttr(), map,
                           /*predicate=*/Value(), /*tensormap=*/getUnitAttr(), /*uniform=*/UnitAttr(), /*in_param_space=*/UnitAttr());
}

void NvvmBuilder::tmaLoad(const TmaBox &box, Value target, Value barrier, TmaHints hints) {
  Value mask = hints.multicast ? constant(getIntegerType(16), hints.multicast) : Value();
  Value policy = hints.cachePolicy ? i64(hints.cachePolicy) : Value();
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(*this, loc, castPointer(target, kSharedCluster), box.map, box.coordinates,
                                                         barrier, /*im2colOffsets=*/ValueRange(), mask, policy,
                                                         NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(),
                                                         /*predicate=*/Value());
}

void NvvmBuilder::tmaStore(Value source, const TmaBox &box, bool add) {
  if (add) {
    NVVM::CpAsyncBulkTensorReduceOp::create(*this, loc, box.map, source, NVVM::TMAReduxKind::ADD, NVVM::TMAStoreMode::TILE,
                                            box.coordinates, /*l2CacheHint=*/Value());
    return;
  }
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(*this, loc, box.map, source, box.coordinates, /*l2CacheHint=*/Value(),
                                                     NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
}

void NvvmBuilder::bulkCommit() { NVVM::CpAsyncBulkCommitGroupOp::create(*this, loc); }

void NvvmBuilder::bulkWait(int64_t pending, bool read) {
  NVVM::CpAsyncBulkWaitGroupOp::create(*this, loc, static_cast<uint32_t>(pending), read ? getUnitAttr() : UnitAttr());
}

void NvvmBuilder::cpAsync(Value target, Value source, int64_t bytes, Value present) {
  auto modifier = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(*this, loc, target, source, static_cast<uint32_t>(bytes), modifier, present);
}

void NvvmBuilder::cpAsyncCommit() { NVVM::CpAsyncCommitGroupOp::create(*this, loc); }
void NvvmBuilder::cpAsyncWait(int64_t pending) { NVVM::CpAsyncWaitGroupOp::create(*this, loc, static_cast<uint32_t>(pending)); }

void NvvmBuilder::storeMatrices(Value pointer, ArrayRef<Value> words, bool transpose) {
  NVVM::StMatrixOp::create(*this, loc, pointer, words, transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                           NVVM::LdStMatrixShapeAttr::get(getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
}

SmallVector<Value> NvvmBuilder::loadMatrices(Value pointer, int64_t count, bool transpose) {
  Type type = count == 1 ? getI32Type() : structType(SmallVector<Type>(count, getI32Type()));
  Value loaded = NVVM::LdMatrixOp::create(*this, loc, type, pointer, static_cast<uint32_t>(count),
                                          transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                                          NVVM::LdStMatrixShapeAttr::get(getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
  return count == 1 ? SmallVector<Value>{loaded} : splitStruct(loaded);
}

void NvvmBuilder::setTarget(Operation *gpuModule, StringRef chip) {
  Attribute target = NVVM::NVVMTargetAttr::get(getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", chip, "+ptx86");
  cast<gpu::GPUModuleOp>(gpuModule).setTargetsAttr(getArrayAttr({target}));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value NvvmBuilder::convertPair(Value low, Value high, Type element) {
  Type type = VectorType::get(2, element);
  if (element.isBF16())
    return NVVM::ConvertF32x2ToBF16x2Op::create(*this, loc, type, high, low, /*random_bits=*/Value(), NVVM::FPRoundingMode::RN);
  return NVVM::ConvertF32x2ToF16x2Op::create(*this, loc, type, high, low, /*random_bits=*/Value(), NVVM::FPRoundingMode::RN);
}

void NvvmBuilder::wgmmaFence() { NVVM::WgmmaFenceAlignedOp::create(*this, loc); }

static NVVM::WGMMATypes wgmmaType(Type element) {
  if (element.isBF16())
    return NVVM::WGMMATypes::bf16;
  if (element.isF16())
    return NVVM::WGMMATypes::f16;
  if (element.isF32())
    return NVVM::WGMMATypes::tf32;
  return isa<Float8E5M2Type>(element) ? NVVM::WGMMATypes::e5m2 : NVVM::WGMMATypes::e4m3;
}

Value NvvmBuilder::wgmma(const WgmmaStep &step, Value descriptorA, Value descriptorB, Value accumulator) {
  MLIRContext *context = getContext();
  int64_t k = 256 / step.element.getIntOrFloatBitWidth();
  auto type = NVVM::WGMMATypesAttr::get(context, wgmmaType(step.element));
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  return NVVM::WgmmaMmaAsyncOp::create(
      *this, loc, accumulator.getType(), accumulator, descriptorA, descriptorB, NVVM::MMAShapeAttr::get(context, 64, step.n, k), type,
      type, NVVM::WGMMATypesAttr::get(context, NVVM::WGMMATypes::f32),
      NVVM::WGMMAScaleOutAttr::get(context, step.zero ? NVVM::WGMMAScaleOut::zero : NVVM::WGMMAScaleOut::one), one, one,
      NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
      NVVM::MMALayoutAttr::get(context, step.transposeB ? NVVM::MMALayout::row : NVVM::MMALayout::col), NVVM::MMAIntOverflowAttr());
}

void NvvmBuilder::wgmmaCommit() { NVVM::WgmmaGroupSyncAlignedOp::create(*this, loc); }

void emmy::tile::registerEmittedDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
}
