// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Turns one emmy_tile kernel into one LLVM function. Scalars become scalars, a fragment becomes one SSA value for each register of
// a thread (never an aggregate in memory, which ptxas could not keep in registers around wgmma), shared buffers become offsets.
#ifndef EMMY_LIB_CONVERSION_TILETONVVM_KERNELEMITTER_H
#define EMMY_LIB_CONVERSION_TILETONVVM_KERNELEMITTER_H

#include "NvvmBuilder.h"
#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace emmy::tile {

/// The threads that execute the code being emitted.
struct Unit {
  enum Kind { Cta, Warpgroup, Warp } kind = Cta;
  int64_t warps = 1;
  mlir::Value warp;               // number of this thread's warp in the unit, i32
  mlir::Value thread;             // number of this thread in the unit, i32
  mlir::Value barrier;            // named barrier of a warpgroup
  int64_t roleBarrier = 0;        // named barrier of the role
  int64_t roleWarps = 0;          // warps that run the role; 0 outside roles
  bool oneThread = false;

  int64_t threads() const { return 32 * warps; }
};

/// A place in the CTA's dynamic shared memory: a constant and multiples of scalars, so that addresses and wgmma descriptors can
/// both be formed with as little arithmetic as possible.
struct SharedAddress {
  int64_t bytes = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> terms; // i32, bytes each
};

/// A coordinate or offset that is `dynamic` (i32, may be null) plus `constant`.
struct Sum {
  mlir::Value dynamic;
  int64_t constant = 0;
};

class KernelEmitter {
public:
  explicit KernelEmitter(KernelOp kernel) : kernel(kernel), b(kernel.getContext()) {}

  /// Replaces the kernel by a `gpu.module` of its name.
  mlir::LogicalResult run();

  /// Emits the ops of `block` up to its terminator.
  mlir::LogicalResult emitBlock(mlir::Block &block);

  // Values of the kernel as values of the function.
  mlir::Value scalar(mlir::Value value) { return values.lookup(value).front(); }
  llvm::ArrayRef<mlir::Value> registers(mlir::Value frag);
  void set(mlir::Value value, llvm::ArrayRef<mlir::Value> emitted) { values[value] = llvm::to_vector(emitted); }
  SharedAddress address(mlir::Value buffer) { return addresses.lookup(buffer); }
  void setAddress(mlir::Value buffer, SharedAddress address) { addresses[buffer] = std::move(address); }
  /// What a block argument of this type, or a value of it passed to a block, consists of.
  llvm::SmallVector<mlir::Type> flatTypes(mlir::Type type);
  llvm::SmallVector<mlir::Value> flatten(mlir::ValueRange values);
  /// Binds `values` to the leading entries of `flat` and drops these.
  void bind(mlir::ValueRange values, mlir::ValueRange flat);
  /// `type` as the function has it: index is i64, small floats are bytes.
  mlir::Type convertType(mlir::Type type);

  // Blocks.
  mlir::Block *newBlock(mlir::TypeRange arguments = {});
  /// Goes on in `block`, which becomes the last of the function: blocks stand in the order of their code.
  void continueIn(mlir::Block *block);
  /// Emits `body` for the threads where `condition` holds.
  void guarded(mlir::Value condition, llvm::function_ref<void()> body);
  /// True in one thread of the unit; null if only one thread is running.
  mlir::Value onlyThread();

  // Shared memory.
  /// `extra` counts bytes and may be null.
  mlir::Value pointer(const SharedAddress &address, mlir::Value extra = {});
  SharedAddress offset(SharedAddress base, mlir::Value index, int64_t bytes);
  /// Address of an element of `type` at `at`, one entry for each dimension, with the swizzle.
  mlir::Value elementPointer(const SharedAddress &base, SharedType type, llvm::ArrayRef<Sum> at);
  void syncUnit();

  /// True if the chip has Hopper's instructions (elect, stmatrix); the portable path does without.
  bool isHopper();
  /// True if the kernel reads or writes other CTAs' shared memory, which its barriers must then order.
  bool sharesMemory();

  // Layouts.
  /// The part of an element's coordinate along `dim` that the thread decides.
  mlir::Value threadCoordinate(LayoutAttr layout, int64_t dim);
  mlir::LogicalResult checkUnit(mlir::Operation *op, FragType frag);
  /// True in one of the threads that hold the same elements; null if no two do.
  mlir::Value isPrimary(LayoutAttr layout);

  KernelOp kernel;
  NvvmBuilder b;
  Unit unit;
  mlir::Value threadId, lane, warp, shared; // i32 numbers in the CTA; the start of dynamic shared memory

private:
  mlir::LogicalResult emitOp(mlir::Operation *op);
  void emitPrologue(mlir::Region *function);
  void emitEpilogue();

  mlir::Region *body = nullptr;
  std::optional<bool> sharing;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> values;
  llvm::DenseMap<mlir::Value, SharedAddress> addresses;
};

// One function for each op, in the file of its group.
#define EMMY_EMITTED(OP) mlir::LogicalResult emit(KernelEmitter &e, OP op)
// Structure.cpp
EMMY_EMITTED(WarpSpecializeOp);
EMMY_EMITTED(OneThreadOp);
EMMY_EMITTED(ReadOp);
EMMY_EMITTED(RingSlotOp);
EMMY_EMITTED(mlir::scf::ForOp);
EMMY_EMITTED(mlir::scf::IfOp);
EMMY_EMITTED(mlir::scf::WhileOp);
// Synchronise.cpp
EMMY_EMITTED(AllocOp);
EMMY_EMITTED(SubviewOp);
EMMY_EMITTED(BarrierInitOp);
EMMY_EMITTED(FenceBarrierInitOp);
EMMY_EMITTED(BarrierArriveOp);
EMMY_EMITTED(BarrierExpectOp);
EMMY_EMITTED(BarrierWaitOp);
EMMY_EMITTED(SyncOp);
EMMY_EMITTED(FenceAsyncOp);
EMMY_EMITTED(PdlWaitOp);
EMMY_EMITTED(PdlLaunchOp);
// Copies.cpp
EMMY_EMITTED(TmaLoadOp);
EMMY_EMITTED(TmaStoreOp);
EMMY_EMITTED(TmaCommitOp);
EMMY_EMITTED(TmaWaitOp);
EMMY_EMITTED(CpAsyncOp);
EMMY_EMITTED(CpAsyncCommitOp);
EMMY_EMITTED(CpAsyncWaitOp);
// Fragments.cpp
EMMY_EMITTED(SplatOp);
EMMY_EMITTED(UndefOp);
EMMY_EMITTED(CoordOp);
EMMY_EMITTED(MapOp);
EMMY_EMITTED(BroadcastOp);
EMMY_EMITTED(ExtractOp);
// Reduce.cpp
EMMY_EMITTED(ReduceOp);
EMMY_EMITTED(AnyOp);
// GlobalMemory.cpp
EMMY_EMITTED(LoadOp);
EMMY_EMITTED(StoreOp);
EMMY_EMITTED(GatherOp);
EMMY_EMITTED(ScatterOp);
EMMY_EMITTED(LoadScalarOp);
EMMY_EMITTED(AtomicAddOp);
// SharedMemory.cpp
EMMY_EMITTED(PutOp);
EMMY_EMITTED(GetOp);
EMMY_EMITTED(LoadSharedOp);
EMMY_EMITTED(StoreSharedOp);
// TensorCores.cpp
EMMY_EMITTED(WgmmaFenceOp);
EMMY_EMITTED(WgmmaOp);
EMMY_EMITTED(WgmmaCommitOp);
EMMY_EMITTED(WgmmaWaitOp);
EMMY_EMITTED(MmaOp);
#undef EMMY_EMITTED

/// Scalar arithmetic outside of regions (Scalars.cpp): arith and math ops stay what they are, on converted types.
mlir::LogicalResult emitScalar(KernelEmitter &e, mlir::Operation *op);

} // namespace emmy::tile

#endif // EMMY_LIB_CONVERSION_TILETONVVM_KERNELEMITTER_H
