// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the CUDA driver's binary interface that Emmy uses, so that no CUDA header is needed to build. Layouts and
// values are those of cuda.h 12 and 13; test/python/test_cuda_abi.py compares them where a toolkit is installed.

#ifndef EMMY_RUNTIME_CUDAABI_H
#define EMMY_RUNTIME_CUDAABI_H

#include <cstddef>
#include <cstdint>

namespace emmy::runtime::cuda {

using Result = int32_t; ///< CUresult; 0 is success.
using Device = int32_t;
using DevicePtr = uint64_t;
using Context = struct ContextOpaque *;
using Module = struct ModuleOpaque *;
using Function = struct FunctionOpaque *;
using Stream = struct StreamOpaque *;

enum DeviceAttribute : int32_t { kMultiprocessorCount = 16, kCapabilityMajor = 75, kCapabilityMinor = 76 };
enum FunctionAttribute : int32_t { kMaxDynamicSharedBytes = 8, kNonPortableClusterAllowed = 14 };
enum JitOption : int32_t { kErrorLogBuffer = 5, kErrorLogBufferBytes = 6 };
enum CaptureMode : int32_t { kCaptureRelaxed = 2 };
enum LaunchAttributeId : int32_t { kClusterDimension = 4, kProgrammaticStreamSerialization = 6 };

struct alignas(8) LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  union {
    char bytes[64];
    uint32_t clusterDim[3];
    int32_t programmaticStreamSerializationAllowed;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, value) == 8);

struct LaunchConfig {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  uint32_t numAttributes;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32 &&
              offsetof(LaunchConfig, numAttributes) == 48);

struct alignas(128) TensorMap {
  uint64_t opaque[16];
};
static_assert(sizeof(TensorMap) == 128);

} // namespace emmy::runtime::cuda

#endif // EMMY_RUNTIME_CUDAABI_H
