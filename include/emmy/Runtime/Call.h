// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one call of a plan works on. Everything here lives on the calling thread's stack and refers to no shared state.

#ifndef EMMY_RUNTIME_CALL_H
#define EMMY_RUNTIME_CALL_H

#include "emmy/Runtime/DType.h"
#include "emmy/Runtime/Expr.h"

#include "llvm/ADT/Twine.h"

#include <memory>
#include <string>

namespace emmy::runtime {

/// Why a call stopped; null means that it did not.
struct CallFailure {
  enum Kind : uint8_t {
    Mismatch, ///< The arguments do not fit the plan; another plan may fit them.
    Usage,    ///< Wrong number or kind of arguments.
    Device,   ///< The driver refused.
    Index,    ///< A kernel met an index outside its tensor.
    Internal  ///< The plan is inconsistent.
  };
  Kind kind;
  std::string message;
};
using CallStatus = std::unique_ptr<CallFailure>;

CallStatus makeFailure(CallFailure::Kind kind, const llvm::Twine &message);

/// One argument. Sizes and strides are borrowed and read by `PlanRunner::bind` only.
struct ArgValue {
  enum Kind : uint8_t { Tensor, Int, Float };
  Kind kind = Tensor;
  bool onGpu = false;
  std::optional<DType> dtype; ///< None for a type that plans cannot name.
  int32_t device = 0;         ///< GPU number.
  int32_t rank = 0;
  const int64_t *sizes = nullptr;
  const int64_t *strides = nullptr;
  void *data = nullptr;
  int64_t integer = 0;
  double real = 0;
};

/// Sizes and strides of a tensor to create, in elements.
struct TensorLayout {
  DType dtype = DType::F32;
  llvm::SmallVector<int64_t, 8> sizes, strides;
};

struct CallFrame {
  llvm::SmallVector<int64_t, 16> symbols;
  llvm::SmallVector<double, 8> reals;            ///< One per argument; set for f64 scalars.
  llvm::SmallVector<uintptr_t, 32> addresses;    ///< One per buffer.
  int32_t device = -1;                           ///< GPU number; -1 on the CPU.
  void *stream = nullptr;                        ///< CUstream.
  bool pushedContext = false; ///< Whether `Backend::leave` has a context to pop.
  EvalContext eval;

  CallFrame() = default;
  CallFrame(const CallFrame &) = delete;
  CallFrame &operator=(const CallFrame &) = delete;
};

} // namespace emmy::runtime

#endif // EMMY_RUNTIME_CALL_H
