// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA driver, found at run time.

#ifndef EMMY_RUNTIME_CUDADRIVER_H
#define EMMY_RUNTIME_CUDADRIVER_H

#include "emmy/Runtime/CudaAbi.h"

#include "llvm/Support/Error.h"

#include <string>

namespace emmy::runtime::cuda {

/// Entry points of libcuda.so.1, named after them without the `cu`.
struct Driver {
  Result (*init)(unsigned flags);
  Result (*driverGetVersion)(int *version);
  Result (*getErrorName)(Result result, const char **text);
  Result (*getErrorString)(Result result, const char **text);
  Result (*deviceGetCount)(int *count);
  Result (*deviceGet)(Device *device, int ordinal);
  Result (*deviceGetName)(char *name, int length, Device device);
  Result (*deviceGetAttribute)(int *value, DeviceAttribute attribute, Device device);
  Result (*devicePrimaryCtxRetain)(Context *context, Device device);
  Result (*ctxGetCurrent)(Context *context);
  Result (*ctxGetDevice)(Device *device);
  Result (*ctxPushCurrent)(Context context);
  Result (*ctxPopCurrent)(Context *context);
  Result (*moduleLoadDataEx)(Module *module, const void *image, unsigned numOptions, JitOption *options,
                             void **values);
  Result (*moduleGetFunction)(Function *function, Module module, const char *name);
  Result (*funcSetAttribute)(Function function, FunctionAttribute attribute, int value);
  Result (*launchKernelEx)(const LaunchConfig *config, Function function, void **params, void **extra);
  Result (*memcpyDtoDAsync)(DevicePtr target, DevicePtr source, size_t bytes, Stream stream);
  Result (*memsetD8Async)(DevicePtr target, unsigned char value, size_t bytes, Stream stream);
  Result (*threadExchangeStreamCaptureMode)(CaptureMode *mode);
  Result (*tensorMapEncodeTiled)(TensorMap *map, int dtype, uint32_t rank, void *address, const uint64_t *sizes,
                                 const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                                 int interleave, int swizzle, int l2Promotion, int outOfBoundsFill);

  /// The initialised driver. Loaded once per process; a failure is remembered, too.
  static llvm::Expected<const Driver *> get();

  /// `CUDA_ERROR_INVALID_VALUE (invalid argument)`.
  std::string describe(Result result) const;
};

struct DeviceInfo {
  std::string name;
  int capabilityMajor = 0, capabilityMinor = 0;
  int multiprocessors = 0;
  int driverVersion = 0; ///< 1000 · major + 10 · minor, as CUDA counts.
};

llvm::Expected<DeviceInfo> getDeviceInfo(int ordinal);

} // namespace emmy::runtime::cuda

#endif // EMMY_RUNTIME_CUDADRIVER_H
