// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads libcuda.so.1 and resolves the entry points that Emmy uses.

#include "emmy/Runtime/CudaDriver.h"

#include "llvm/ADT/Twine.h"

#include <dlfcn.h>

namespace emmy::runtime::cuda {

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Fills `driver`; returns what went wrong, or nothing.
static std::string loadDriver(Driver &driver) {
  // Never closed: other libraries of the process use the driver, too.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "no CUDA driver: libcuda.so.1 could not be loaded";
  struct Entry {
    const char *name;
    void *slot;
  };
  // The suffixes are those that cuda.h maps the plain names to.
  const Entry entries[] = {
      {"cuInit", &driver.init},
      {"cuDriverGetVersion", &driver.driverGetVersion},
      {"cuGetErrorName", &driver.getErrorName},
      {"cuGetErrorString", &driver.getErrorString},
      {"cuDeviceGetCount", &driver.deviceGetCount},
      {"cuDeviceGet", &driver.deviceGet},
      {"cuDeviceGetName", &driver.deviceGetName},
      {"cuDeviceGetAttribute", &driver.deviceGetAttribute},
      {"cuDevicePrimaryCtxRetain", &driver.devicePrimaryCtxRetain},
      {"cuCtxGetCurrent", &driver.ctxGetCurrent},
      {"cuCtxGetDevice", &driver.ctxGetDevice},
      {"cuCtxPushCurrent_v2", &driver.ctxPushCurrent},
      {"cuCtxPopCurrent_v2", &driver.ctxPopCurrent},
      {"cuModuleLoadDataEx", &driver.moduleLoadDataEx},
      {"cuModuleGetFunction", &driver.moduleGetFunction},
      {"cuFuncSetAttribute", &driver.funcSetAttribute},
      {"cuLaunchKernelEx", &driver.launchKernelEx},
      {"cuMemcpyDtoDAsync_v2", &driver.memcpyDtoDAsync},
      {"cuMemsetD8Async", &driver.memsetD8Async},
      {"cuThreadExchangeStreamCaptureMode", &driver.threadExchangeStreamCaptureMode},
      {"cuTensorMapEncodeTiled", &driver.tensorMapEncodeTiled},
  };
  for (const Entry &entry : entries) {
    void *symbol = dlsym(library, entry.name);
    if (!symbol)
      return std::string("the CUDA driver is too old: it has no ") + entry.name;
    *static_cast<void **>(entry.slot) = symbol;
  }
  if (Result result = driver.init(0))
    return "the CUDA driver does not start: " + driver.describe(result);
  return "";
}

llvm::Expected<const Driver *> Driver::get() {
  struct Loaded {
    Driver driver;
    std::string fault = loadDriver(driver);
  };
  static const Loaded loaded{};
  if (!loaded.fault.empty())
    return fail(loaded.fault);
  return &loaded.driver;
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName(result, &name) || getErrorString(result, &text) || !name || !text)
    return "CUDA error " + std::to_string(result);
  return std::string(name) + " (" + text + ")";
}

llvm::Expected<DeviceInfo> getDeviceInfo(int ordinal) {
  llvm::Expected<const Driver *> driver = Driver::get();
  if (!driver)
    return driver.takeError();
  const Driver &api = **driver;
  DeviceInfo info;
  Device device = 0;
  int count = 0;
  char name[256] = {};
  Result result = api.deviceGetCount(&count);
  if (!result && ordinal >= count)
    return fail("there is no CUDA device " + llvm::Twine(ordinal) + ": the driver lists " + llvm::Twine(count));
  if (!result)
    result = api.deviceGet(&device, ordinal);
  if (!result)
    result = api.deviceGetName(name, sizeof(name) - 1, device);
  if (!result)
    result = api.deviceGetAttribute(&info.capabilityMajor, kCapabilityMajor, device);
  if (!result)
    result = api.deviceGetAttribute(&info.capabilityMinor, kCapabilityMinor, device);
  if (!result)
    result = api.deviceGetAttribute(&info.multiprocessors, kMultiprocessorCount, device);
  if (!result)
    result = api.driverGetVersion(&info.driverVersion);
  if (result)
    return fail("CUDA device " + llvm::Twine(ordinal) + ": " + api.describe(result));
  info.name = name;
  return info;
}

} // namespace emmy::runtime::cuda
