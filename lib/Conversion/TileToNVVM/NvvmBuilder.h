// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits NVVM-dialect operations without their users having to include that dialect, whose header takes half a minute.
#ifndef EMMY_LIB_CONVERSION_TILETONVVM_NVVMBUILDER_H
#define EMMY_LIB_CONVERSION_TILETONVVM_NVVMBUILDER_H

#include "LlvmBuilder.h"

namespace emmy::tile {

/// A box of a tensor in global memory, innermost coordinate first as the hardware counts.
struct TmaBox {
  mlir::Value map;
  llvm::SmallVector<mlir::Value> coordinates;
};

/// What a TMA load does beside the copy; zero means absent.
struct TmaHints {
  int64_t multicast = 0;
  int64_t cachePolicy = 0;
};

/// One asynchronous m64nNk step of a warpgroup.
struct WgmmaStep {
  int64_t n;
  mlir::Type element;     // of both operands
  bool transposeB;        // B is MN-major
  bool zero;              // do not read the accumulator
};

class NvvmBuilder : public LlvmBuilder {
public:
  using LlvmBuilder::LlvmBuilder;

  // Numbers of the running thread and CTA.
  mlir::Value threadId();
  mlir::Value ctaId(int dim);
  mlir::Value gridSize(int dim);
  mlir::Value clusterRank();
  mlir::Value clusterId();

  // Barriers.
  void barrierInit(mlir::Value barrier, int64_t arrivals);
  void fenceBarrierInit();
  void arrive(mlir::Value barrier);
  /// The same address in another CTA of the cluster.
  mlir::Value mapShared(mlir::Value pointer, mlir::Value rank);
  /// Arrives at the barrier of the CTA `rank` of the cluster. With `ofCluster` it publishes writes to other CTAs' shared memory, too, and
  /// the wait learns of them; that costs a quarter of a GEMM.
  void arriveRemote(mlir::Value barrier, mlir::Value rank, bool ofCluster);
  void arriveExpect(mlir::Value barrier, int64_t bytes);
  mlir::Value tryWait(mlir::Value barrier, mlir::Value parity, bool ofCluster);
  void syncCta();
  void syncWarp();
  void syncNamed(mlir::Value id, int64_t threads);
  /// Whether any of the warp's, or of the threads that meet at a barrier, found something.
  mlir::Value voteAny(mlir::Value found);
  mlir::Value syncAny(mlir::Value id, int64_t threads, mlir::Value found);
  void syncCluster();
  void fenceProxyAsync();

  // Threads.
  mlir::Value elect();
  void setMaxRegisters(int64_t count, bool increase);
  void waitForPrerequisites();
  void launchDependents();
  /// The value of the lane whose number differs in `mask`; i32 or f32.
  mlir::Value shuffleXor(mlir::Value value, int64_t mask);

  // Copies.
  void prefetchTmap(mlir::Value map);
  void tmaLoad(const TmaBox &box, mlir::Value target, mlir::Value barrier, TmaHints hints);
  void tmaStore(mlir::Value source, const TmaBox &box, bool add);
  void bulkCommit();
  void bulkWait(int64_t pending, bool read);
  /// Copies `bytes`; those past `present` (an i32, may be null) are zeros.
  void cpAsync(mlir::Value target, mlir::Value source, int64_t bytes, mlir::Value present);
  void cpAsyncCommit();
  void cpAsyncWait(int64_t pending);
  void storeMatrices(mlir::Value pointer, llvm::ArrayRef<mlir::Value> words, bool transpose);
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value pointer, int64_t count, bool transpose);

  /// Names the chip that `--gpu-module-to-binary` compiles for.
  void setTarget(mlir::Operation *gpuModule, llvm::StringRef chip);

  // Arithmetic.
  /// Two f32 as one register of bf16 or f16.
  mlir::Value convertPair(mlir::Value low, mlir::Value high, mlir::Type element);
  void wgmmaFence();
  mlir::Value wgmma(const WgmmaStep &step, mlir::Value descriptorA, mlir::Value descriptorB, mlir::Value accumulator);
  void wgmmaCommit();
};

/// The dialects of what the builders emit.
void registerEmittedDialects(mlir::DialectRegistry &registry);

} // namespace emmy::tile

#endif // EMMY_LIB_CONVERSION_TILETONVVM_NVVMBUILDER_H
