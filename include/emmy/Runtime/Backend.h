// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan needs from the machine it runs on. Two implementations: the CUDA driver, and plain function pointers.

#ifndef EMMY_RUNTIME_BACKEND_H
#define EMMY_RUNTIME_BACKEND_H

#include "emmy/Runtime/Call.h"
#include "emmy/Runtime/CudaAbi.h"
#include "emmy/Runtime/Plan.h"

#include "llvm/ADT/StringMap.h"

namespace emmy::runtime {

/// A code object: the bytes of a cubin or of PTX, or the address of a function.
struct CodeObject {
  std::string bytes;
  void *function = nullptr;
};
using CodeMap = llvm::StringMap<CodeObject>;

struct LaunchRequest {
  const LaunchStep &step;
  const KernelRef &kernel;
  std::array<int64_t, 3> grid;
  void **params;
};

class Backend {
public:
  virtual ~Backend() = default;

  /// Makes the code runnable on a device; later calls for the device are cheap.
  virtual CallStatus load(int32_t device) = 0;

  // Between `enter` and `leave` the calling thread launches on `frame.device`.
  virtual CallStatus enter(CallFrame &frame) = 0;
  virtual void leave(CallFrame &frame) = 0;

  virtual CallStatus launch(const LaunchRequest &request, CallFrame &frame) = 0;
  virtual CallStatus copy(uintptr_t target, uintptr_t source, int64_t bytes, CallFrame &frame) = 0;
  virtual CallStatus fill(uintptr_t target, uint8_t value, int64_t bytes, CallFrame &frame) = 0;

  /// Writes the TMA descriptor of tensor map `map` of the plan.
  virtual CallStatus encode(unsigned map, CallFrame &frame, cuda::TensorMap *result) = 0;
};

llvm::Expected<std::unique_ptr<Backend>> createCpuBackend(const Plan &plan, const CodeMap &code);

/// Fails without a driver. Keeps references to `plan`.
llvm::Expected<std::unique_ptr<Backend>> createCudaBackend(const Plan &plan, CodeMap code);

} // namespace emmy::runtime

#endif // EMMY_RUNTIME_BACKEND_H
