// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parsed plan: what `--emmy-emit-plan` printed, checked, with every expression compiled. Immutable once parsed. The
// JSON format is described in docs/runtime.md; field names here follow it.

#ifndef EMMY_RUNTIME_PLAN_H
#define EMMY_RUNTIME_PLAN_H

#include "emmy/Runtime/DType.h"
#include "emmy/Runtime/Expr.h"

#include <array>
#include <string>
#include <variant>
#include <vector>

namespace emmy::runtime {

/// Most dimensions of a tensor in a plan.
inline constexpr unsigned kMaxRank = 16;
/// Most TMA descriptors of one launch: the kernel parameter space holds no more.
inline constexpr unsigned kMaxTensorMaps = 31;

/// Where a call finds the value of a symbol.
struct SymbolSource {
  enum Kind : uint8_t { Dim, Stride, Scalar };
  Kind kind = Dim;
  unsigned id = 0;
  unsigned arg = 0;
  unsigned dim = 0;
  int64_t low = INT64_MIN, high = INT64_MAX; ///< Inclusive range the plan was compiled for.
};

struct TensorSpec {
  DType dtype = DType::F32;
  std::vector<Expr> sizes;
  std::vector<Expr> strides; ///< In elements, one per size.
};

struct ArgSpec {
  enum Kind : uint8_t { Tensor, Int, Float };
  Kind kind = Tensor;
  std::string name;
  TensorSpec tensor;
  int64_t align = 1; ///< Bytes the base address is a multiple of.
};

struct BufferSpec {
  enum Kind : uint8_t { Arg, Output, Temp };
  Kind kind = Arg;
  unsigned index = 0; ///< Argument or output number.
  TensorSpec tensor;  ///< Of outputs.
  Expr offset, bytes; ///< Of temporaries: their place in the arena.
};

struct OutputSpec {
  unsigned buffer = 0;
  bool alias = false;
  TensorSpec view; ///< Of aliases; sizes are empty and `whole` is set for the argument itself.
  bool whole = false;
  Expr offset;     ///< Of aliases: bytes from the start of the buffer.
};

struct TensorMapSpec {
  unsigned buffer = 0;
  Expr offset; ///< Bytes.
  DType dtype = DType::BF16;
  // Innermost dimension first, as the driver wants them; the plan has it last.
  std::vector<Expr> sizes;
  std::vector<Expr> strides; ///< Bytes, of all dimensions but the innermost.
  std::vector<uint32_t> box;
  uint32_t swizzle = 0, l2Promotion = 0; ///< CUtensorMapSwizzle, CUtensorMapL2promotion.
};

struct ParamSpec {
  enum Kind : uint8_t { Pointer, I32, I64, F32, F64, TensorMap };
  Kind kind = I32;
  unsigned buffer = 0; ///< Of pointers.
  Expr value;          ///< Byte offset of pointers; value of integers.
  double number = 0;   ///< Of floats that come from no argument.
  int scalarArg = -1;  ///< Argument a float comes from.
  unsigned map = 0;    ///< Index in `Plan::tensorMaps`.
};

/// A kernel of the plan's code objects.
struct KernelRef {
  std::string module, symbol;
  int64_t sharedBytes = 0;  ///< Most dynamic shared memory of its launches.
  int64_t clusterSize = 1; ///< Largest cluster of its launches.
};

struct LaunchStep {
  unsigned kernel = 0;
  std::array<Expr, 3> grid{Expr(1), Expr(1), Expr(1)};
  std::array<uint32_t, 3> block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t sharedBytes = 0;
  bool dependent = false; ///< Programmatic dependent launch ("pdl").
  std::vector<ParamSpec> params;
};

/// Copies a whole buffer onto one of the same size.
struct CopyStep {
  unsigned target = 0, source = 0;
};

/// Sets bytes of a buffer.
struct FillStep {
  unsigned buffer = 0;
  Expr offset, bytes;
  uint8_t value = 0;
};

struct Step;

struct SwitchStep {
  struct Case {
    Expr when; ///< The constant 1 for the default.
    std::vector<Step> steps;
  };
  std::vector<Case> cases;
};

struct Step {
  std::variant<LaunchStep, CopyStep, FillStep, SwitchStep> action;
};

struct Plan {
  std::string target;
  std::vector<SymbolSource> symbols;
  unsigned numSymbols = 0; ///< One more than the largest symbol.
  std::vector<ArgSpec> args;
  std::vector<BufferSpec> buffers;
  Expr arenaBytes;
  std::vector<OutputSpec> outputs;
  std::vector<unsigned> outputBuffers; ///< Buffer of each freshly allocated output, by output number.
  std::vector<Step> steps;
  std::vector<KernelRef> kernels;
  std::vector<TensorMapSpec> tensorMaps;
  unsigned maxParams = 0;

  bool isCpu() const { return target == "cpu"; }

  static llvm::Expected<Plan> parse(llvm::StringRef json);
};

} // namespace emmy::runtime

#endif // EMMY_RUNTIME_PLAN_H
