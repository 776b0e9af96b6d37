// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs plans for the CPU: a kernel is a function `void(void **params, int64_t *fault)` that covers its whole iteration space. At an
// index outside its tensor it writes {1, index, size} to `fault` and goes on as if a zero lay there.

#include "emmy/Runtime/Backend.h"

#include <cstring>

using llvm::Twine;

namespace emmy::runtime {
namespace {

using KernelFunction = void (*)(void **params, int64_t *fault);

class CpuBackend : public Backend {
public:
  explicit CpuBackend(std::vector<KernelFunction> functions) : functions(std::move(functions)) {}

  CallStatus load(int32_t) override { return nullptr; }
  CallStatus enter(CallFrame &) override { return nullptr; }
  void leave(CallFrame &) override {}

  CallStatus launch(const LaunchRequest &request, CallFrame &) override {
    int64_t fault[3] = {};
    functions[request.step.kernel](request.params, fault);
    if (LLVM_LIKELY(!fault[0]))
      return nullptr;
    return makeFailure(CallFailure::Index, "index " + Twine(fault[1]) + " is out of bounds for a dimension of size " + Twine(fault[2]) +
                                               " in kernel '" + request.kernel.symbol + "'");
  }

  CallStatus copy(uintptr_t target, uintptr_t source, int64_t bytes, CallFrame &) override {
    std::memmove(reinterpret_cast<void *>(target), reinterpret_cast<void *>(source), bytes);
    return nullptr;
  }

  CallStatus fill(uintptr_t target, uint8_t value, int64_t bytes, CallFrame &) override {
    std::memset(reinterpret_cast<void *>(target), value, bytes);
    return nullptr;
  }

  CallStatus encode(unsigned, CallFrame &, cuda::TensorMap *) override {
    return makeFailure(CallFailure::Internal, "a plan for the CPU has no tensor maps");
  }

private:
  std::vector<KernelFunction> functions;
};

} // namespace

/// A code object holds one function, so it may be filed under the kernel's symbol, or under its module if the module has
/// no other kernel.
llvm::Expected<std::unique_ptr<Backend>> createCpuBackend(const Plan &plan, const CodeMap &code) {
  std::vector<KernelFunction> functions;
  for (const KernelRef &kernel : plan.kernels) {
    auto entry = code.find(kernel.symbol);
    auto isSibling = [&](const KernelRef &other) { return other.module == kernel.module; };
    if (entry == code.end() && llvm::count_if(plan.kernels, isSibling) == 1)
      entry = code.find(kernel.module);
    if (entry == code.end() || !entry->second.function)
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "plan: no function for kernel '" + Twine(kernel.symbol) + "'");
    functions.push_back(reinterpret_cast<KernelFunction>(entry->second.function));
  }
  return std::make_unique<CpuBackend>(std::move(functions));
}

} // namespace emmy::runtime
