// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs plans through the CUDA driver. After code is loaded, a call neither synchronises nor allocates, so it can be
// captured in a CUDA graph; loading itself is shielded from a capture in progress.

#include "TensorMapCache.h"
#include "emmy/Runtime/Backend.h"
#include "emmy/Runtime/CudaDriver.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <mutex>

using llvm::Twine;

namespace emmy::runtime {
namespace {

constexpr unsigned kMaxDevices = 64;
constexpr int64_t kPortableClusterSize = 8;

/// The plan's kernels in the context of one device, in the order of `Plan::kernels`.
struct DeviceCode {
  cuda::Context context = nullptr;
  std::vector<cuda::Function> functions;
};

class CudaBackend : public Backend {
public:
  CudaBackend(const Plan &plan, CodeMap code, const cuda::Driver &driver)
      : plan(plan), code(std::move(code)), driver(driver), maps(plan.tensorMaps.size()) {}
  ~CudaBackend() override;

  CallStatus load(int32_t device) override;
  CallStatus enter(CallFrame &frame) override;
  void leave(CallFrame &frame) override;
  CallStatus launch(const LaunchRequest &request, CallFrame &frame) override;
  CallStatus copy(uintptr_t target, uintptr_t source, int64_t bytes, CallFrame &frame) override;
  CallStatus fill(uintptr_t target, uint8_t value, int64_t bytes, CallFrame &frame) override;
  CallStatus encode(unsigned map, CallFrame &frame, cuda::TensorMap *result) override;

private:
  CallStatus check(cuda::Result result, const Twine &action) {
    if (!result)
      return nullptr;
    return makeFailure(CallFailure::Device, action + ": " + driver.describe(result));
  }
  CallStatus loadKernels(DeviceCode &loading);
  CallStatus loadModule(llvm::StringRef name, cuda::Module *module);
  CallStatus encodeNew(const TensorMapSpec &spec, const TensorMapKey &key, cuda::TensorMap *result);

  const Plan &plan;
  const CodeMap code;
  const cuda::Driver &driver;
  std::mutex loadMutex;
  std::array<std::atomic<const DeviceCode *>, kMaxDevices> loaded{};
  TensorMapCache maps;
};

/// Makes a context current for a scope, if it is not.
class ContextScope {
public:
  ContextScope(const cuda::Driver &driver, cuda::Context context) : driver(driver) {
    cuda::Context current = nullptr;
    driver.ctxGetCurrent(&current);
    pushed = current != context && driver.ctxPushCurrent(context) == 0;
  }
  ~ContextScope() {
    cuda::Context popped = nullptr;
    if (pushed)
      driver.ctxPopCurrent(&popped);
  }

private:
  const cuda::Driver &driver;
  bool pushed = false;
};

/// Lets a thread that captures a CUDA graph load code: loading is no part of the graph.
class RelaxedCaptureScope {
public:
  explicit RelaxedCaptureScope(const cuda::Driver &driver) : driver(driver) {
    driver.threadExchangeStreamCaptureMode(&mode);
  }
  ~RelaxedCaptureScope() { driver.threadExchangeStreamCaptureMode(&mode); }

private:
  const cuda::Driver &driver;
  cuda::CaptureMode mode = cuda::kCaptureRelaxed;
};

} // namespace

CudaBackend::~CudaBackend() {
  // Modules stay loaded: kernels may still run, and captured graphs outlive the plan.
  for (std::atomic<const DeviceCode *> &entry : loaded)
    delete entry.load();
}

CallStatus CudaBackend::load(int32_t device) {
  if (device < 0 || device >= static_cast<int32_t>(kMaxDevices))
    return makeFailure(CallFailure::Device, "there is no CUDA device " + Twine(device));
  std::atomic<const DeviceCode *> &slot = loaded[device];
  if (slot.load(std::memory_order_acquire))
    return nullptr;
  std::lock_guard<std::mutex> guard(loadMutex);
  if (slot.load(std::memory_order_relaxed))
    return nullptr;
  auto loading = std::make_unique<DeviceCode>();
  cuda::Device handle = 0;
  if (CallStatus status = check(driver.deviceGet(&handle, device), "CUDA device " + Twine(device)))
    return status;
  // PyTorch works in the primary context. The reference is kept for the life of the process.
  if (CallStatus status = check(driver.devicePrimaryCtxRetain(&loading->context, handle), "cuDevicePrimaryCtxRetain"))
    return status;
  ContextScope context(driver, loading->context);
  RelaxedCaptureScope capture(driver);
  if (CallStatus status = loadKernels(*loading))
    return status;
  slot.store(loading.release(), std::memory_order_release);
  return nullptr;
}

CallStatus CudaBackend::loadKernels(DeviceCode &loading) {
  llvm::StringMap<cuda::Module> modules;
  for (const KernelRef &kernel : plan.kernels) {
    auto [entry, isNew] = modules.try_emplace(kernel.module, nullptr);
    if (isNew)
      if (CallStatus status = loadModule(kernel.module, &entry->second))
        return status;
    cuda::Function function = nullptr;
    if (CallStatus status = check(driver.moduleGetFunction(&function, entry->second, kernel.symbol.c_str()),
                                  "kernel '" + kernel.symbol + "' in code object '" + kernel.module + "'"))
      return status;
    if (kernel.sharedBytes > 0)
      if (CallStatus status =
              check(driver.funcSetAttribute(function, cuda::kMaxDynamicSharedBytes, kernel.sharedBytes),
                    "kernel '" + kernel.symbol + "' with " + Twine(kernel.sharedBytes) + " bytes of shared memory"))
        return status;
    if (kernel.clusterSize > kPortableClusterSize)
      if (CallStatus status = check(driver.funcSetAttribute(function, cuda::kNonPortableClusterAllowed, 1),
                                    "kernel '" + kernel.symbol + "' with clusters of " + Twine(kernel.clusterSize)))
        return status;
    loading.functions.push_back(function);
  }
  return nullptr;
}

CallStatus CudaBackend::loadModule(llvm::StringRef name, cuda::Module *module) {
  char log[4096] = {};
  cuda::JitOption options[] = {cuda::kErrorLogBuffer, cuda::kErrorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  // std::string ends the bytes with a zero, as PTX text must.
  cuda::Result result = driver.moduleLoadDataEx(module, code.find(name)->second.bytes.c_str(), 2, options, values);
  std::string detail = log[0] ? "\n" + std::string(log) : std::string();
  if (result)
    return makeFailure(CallFailure::Device, "code object '" + name + "' for target " + plan.target +
                                                " does not load: " + driver.describe(result) + detail);
  return nullptr;
}

CallStatus CudaBackend::enter(CallFrame &frame) {
  if (CallStatus status = load(frame.device))
    return status;
  cuda::Context wanted = loaded[frame.device].load(std::memory_order_acquire)->context, current = nullptr;
  if (CallStatus status = check(driver.ctxGetCurrent(&current), "cuCtxGetCurrent"))
    return status;
  if (current == wanted)
    return nullptr;
  CallStatus status = check(driver.ctxPushCurrent(wanted), "cuCtxPushCurrent");
  frame.pushedContext = !status;
  return status;
}

void CudaBackend::leave(CallFrame &frame) {
  cuda::Context popped = nullptr;
  if (frame.pushedContext)
    driver.ctxPopCurrent(&popped);
  frame.pushedContext = false;
}

CallStatus CudaBackend::launch(const LaunchRequest &request, CallFrame &frame) {
  const LaunchStep &step = request.step;
  cuda::LaunchConfig config = {};
  for (unsigned i = 0; i < 3; ++i) {
    config.grid[i] = request.grid[i];
    config.block[i] = step.block[i];
  }
  config.sharedBytes = step.sharedBytes;
  config.stream = static_cast<cuda::Stream>(frame.stream);
  cuda::LaunchAttribute attributes[2] = {};
  config.attributes = attributes;
  if (step.cluster[0] * step.cluster[1] * step.cluster[2] > 1) {
    cuda::LaunchAttribute &attribute = attributes[config.numAttributes++];
    attribute.id = cuda::kClusterDimension;
    for (unsigned i = 0; i < 3; ++i)
      attribute.value.clusterDim[i] = step.cluster[i];
  }
  // Also the first launch of a call overlaps what is ahead of it on the stream: kernels wait before they touch memory.
  if (step.dependent) {
    cuda::LaunchAttribute &attribute = attributes[config.numAttributes++];
    attribute.id = cuda::kProgrammaticStreamSerialization;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  cuda::Function function = loaded[frame.device].load(std::memory_order_acquire)->functions[step.kernel];
  cuda::Result result = driver.launchKernelEx(&config, function, request.params, nullptr);
  if (!result)
    return nullptr;
  auto shape = [](const auto &values) {
    return "[" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " + std::to_string(values[2]) + "]";
  };
  return makeFailure(CallFailure::Device, "launch of kernel '" + request.kernel.symbol +
                                              "' failed: " + driver.describe(result) + "; grid " +
                                              shape(config.grid) + ", block " + shape(config.block) + ", cluster " +
                                              shape(step.cluster) + ", shared " + Twine(step.sharedBytes));
}

CallStatus CudaBackend::copy(uintptr_t target, uintptr_t source, int64_t bytes, CallFrame &frame) {
  return check(driver.memcpyDtoDAsync(target, source, bytes, static_cast<cuda::Stream>(frame.stream)),
               "copy of " + Twine(bytes) + " bytes");
}

CallStatus CudaBackend::fill(uintptr_t target, uint8_t value, int64_t bytes, CallFrame &frame) {
  return check(driver.memsetD8Async(target, value, bytes, static_cast<cuda::Stream>(frame.stream)),
               "fill of " + Twine(bytes) + " bytes");
}

CallStatus CudaBackend::encode(unsigned map, CallFrame &frame, cuda::TensorMap *result) {
  const TensorMapSpec &spec = plan.tensorMaps[map];
  TensorMapKey key;
  bool empty = frame.addresses[spec.buffer] == 0;
  key.address = frame.addresses[spec.buffer] + spec.offset.evaluate(frame.eval);
  for (size_t i = 0; i < spec.sizes.size(); ++i) {
    key.sizes[i] = spec.sizes[i].evaluate(frame.eval);
    empty |= key.sizes[i] == 0;
  }
  for (size_t i = 0; i < spec.strides.size(); ++i)
    key.strides[i] = spec.strides[i].evaluate(frame.eval);
  // The driver refuses empty tensors; a kernel that is launched all the same reads nothing of this one.
  if (empty) {
    *result = {};
    return nullptr;
  }
  if (maps.lookup(map, key, result))
    return nullptr;
  if (CallStatus status = encodeNew(spec, key, result))
    return status;
  maps.insert(map, key, *result);
  return nullptr;
}

CallStatus CudaBackend::encodeNew(const TensorMapSpec &spec, const TensorMapKey &key, cuda::TensorMap *result) {
  static constexpr uint32_t elementStrides[5] = {1, 1, 1, 1, 1};
  cuda::Result code = driver.tensorMapEncodeTiled(
      result, getInfo(spec.dtype).tensorMapType, spec.sizes.size(), reinterpret_cast<void *>(key.address),
      key.sizes.data(), key.strides.data(), spec.box.data(), elementStrides, /*interleave=*/0, spec.swizzle,
      spec.l2Promotion, /*outOfBoundsFill=*/0);
  if (!code)
    return nullptr;
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto print = [&](llvm::StringRef label, const auto &values, size_t count) {
    stream << ", " << label << " [";
    for (size_t i = count; i-- > 0;)
      stream << values[i] << (i ? ", " : "]");
  };
  stream << "address 0x" << llvm::utohexstr(key.address, /*LowerCase=*/true);
  print("sizes", key.sizes, spec.sizes.size());
  print("byte strides", key.strides, spec.strides.size());
  print("box", spec.box, spec.box.size());
  return makeFailure(CallFailure::Device, "TMA descriptor of " + Twine(getInfo(spec.dtype).name) + " was refused: " +
                                              driver.describe(code) + "; " + stream.str());
}

llvm::Expected<std::unique_ptr<Backend>> createCudaBackend(const Plan &plan, CodeMap code) {
  llvm::Expected<const cuda::Driver *> driver = cuda::Driver::get();
  if (!driver)
    return driver.takeError();
  for (const KernelRef &kernel : plan.kernels) {
    auto entry = code.find(kernel.module);
    if (entry == code.end() || entry->second.bytes.empty())
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "plan: no code object '" + Twine(kernel.module) + "'");
  }
  return std::make_unique<CudaBackend>(plan, std::move(code), **driver);
}

} // namespace emmy::runtime
