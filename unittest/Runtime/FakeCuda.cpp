// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libcuda.so.1 with two devices that writes down what it is asked to do. Kernels are named after their parameters:
// `k_pit` takes a pointer, an i32 and a tensor map.

#include "FakeCuda.h"

#include "emmy/Runtime/CudaAbi.h"

#include <cstring>
#include <mutex>
#include <sstream>

using namespace emmy::runtime::cuda;

namespace {
std::mutex mutex;
std::vector<std::string> lines;
thread_local std::vector<uintptr_t> contexts;

void write(const std::string &line) {
  std::lock_guard<std::mutex> guard(mutex);
  lines.push_back(line);
}

std::string showParam(char kind, const void *param) {
  uint64_t wide = 0;
  uint32_t narrow = 0;
  switch (kind) {
  case 'p': std::memcpy(&wide, param, 8); return std::to_string(wide);
  case 'i': std::memcpy(&narrow, param, 4); return std::to_string(static_cast<int32_t>(narrow));
  case 't': std::memcpy(&wide, param, 8); return "map" + std::to_string(wide);
  }
  return "?";
}
} // namespace

std::vector<std::string> takeFakeCudaLog() {
  std::lock_guard<std::mutex> guard(mutex);
  return std::move(lines);
}

extern "C" {
Result cuInit(unsigned) { return 0; }
Result cuDriverGetVersion(int *version) { return *version = 13000, 0; }
Result cuGetErrorName(Result, const char **text) { return *text = "CUDA_ERROR_FAKE", 0; }
Result cuGetErrorString(Result, const char **text) { return *text = "as asked", 0; }
Result cuDeviceGetCount(int *count) { return *count = 2, 0; }
Result cuDeviceGet(Device *device, int ordinal) { return *device = ordinal, ordinal < 2 ? 0 : 101; }
Result cuDeviceGetName(char *name, int, Device) { return std::strcpy(name, "Fake"), 0; }
Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute, Device) { return *value = attribute, 0; }
Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  return *context = reinterpret_cast<Context>(uintptr_t(100 + device)), 0;
}
Result cuCtxGetCurrent(Context *context) {
  return *context = reinterpret_cast<Context>(contexts.empty() ? 0 : contexts.back()), 0;
}
Result cuCtxGetDevice(Device *device) { return contexts.empty() ? 201 : (*device = contexts.back() - 100, 0); }
Result cuCtxPushCurrent_v2(Context context) {
  contexts.push_back(reinterpret_cast<uintptr_t>(context));
  write("push " + std::to_string(contexts.back()));
  return 0;
}
Result cuCtxPopCurrent_v2(Context *) {
  write("pop " + std::to_string(contexts.back()));
  contexts.pop_back();
  return 0;
}
Result cuModuleLoadDataEx(Module *module, const void *image, unsigned, JitOption *, void **values) {
  const char *text = static_cast<const char *>(image);
  write(std::string("load ") + text);
  if (!std::strcmp(text, "bad"))
    return std::strcpy(static_cast<char *>(values[0]), "line 1: bad"), 218;
  return *module = reinterpret_cast<Module>(uintptr_t(1)), 0;
}
Result cuModuleGetFunction(Function *function, Module, const char *name) {
  // Leaked: modules are never unloaded.
  return *function = reinterpret_cast<Function>(new std::string(name)), 0;
}
Result cuFuncSetAttribute(Function function, FunctionAttribute attribute, int value) {
  write("attribute " + *reinterpret_cast<std::string *>(function) + " " + std::to_string(attribute) + " " +
        std::to_string(value));
  return 0;
}
Result cuLaunchKernelEx(const LaunchConfig *config, Function function, void **params, void **extra) {
  const std::string &name = *reinterpret_cast<std::string *>(function);
  std::ostringstream line;
  line << name << "(";
  for (size_t i = name.find('_') + 1; i < name.size(); ++i)
    line << showParam(name[i], *params++) << (i + 1 < name.size() ? ", " : ")");
  line << " grid " << config->grid[0] << "x" << config->grid[1] << "x" << config->grid[2] << " block "
       << config->block[0] << " shared " << config->sharedBytes << " stream "
       << reinterpret_cast<uintptr_t>(config->stream) << " context " << contexts.back();
  for (unsigned i = 0; i < config->numAttributes; ++i) {
    const LaunchAttribute &attribute = config->attributes[i];
    if (attribute.id == kClusterDimension)
      line << " cluster " << attribute.value.clusterDim[0];
    else if (attribute.id == kProgrammaticStreamSerialization)
      line << " pdl " << attribute.value.programmaticStreamSerializationAllowed;
  }
  write(line.str());
  return extra || name.find("fail") == 0 ? 1 : 0;
}
Result cuMemcpyDtoDAsync_v2(DevicePtr target, DevicePtr source, size_t bytes, Stream) {
  return write("copy " + std::to_string(target) + " " + std::to_string(source) + " " + std::to_string(bytes)), 0;
}
Result cuMemsetD8Async(DevicePtr target, unsigned char value, size_t bytes, Stream) {
  return write("fill " + std::to_string(target) + " " + std::to_string(value) + " " + std::to_string(bytes)), 0;
}
Result cuThreadExchangeStreamCaptureMode(CaptureMode *mode) {
  thread_local CaptureMode current = CaptureMode(0);
  return std::swap(*mode, current), 0;
}
Result cuTensorMapEncodeTiled(TensorMap *map, int dtype, uint32_t rank, void *address, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *, int, int swizzle,
                              int promotion, int) {
  std::ostringstream line;
  line << "encode type " << dtype << " at " << reinterpret_cast<uintptr_t>(address);
  for (uint32_t i = 0; i < rank; ++i)
    line << " " << sizes[i] << "/" << (i ? strides[i - 1] : 0) << "/" << box[i];
  line << " swizzle " << swizzle << " promotion " << promotion;
  write(line.str());
  map->opaque[0] = reinterpret_cast<uintptr_t>(address);
  return reinterpret_cast<uintptr_t>(map) % 64 || reinterpret_cast<uintptr_t>(address) % 16 ? 1 : 0;
}
}
