// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The binary interface of DLPack 1.x, as far as tensors cross between PyTorch and Emmy by it. Names follow the DLPack
// specification; PyTorch publishes its table in the capsule `torch.Tensor.__dlpack_c_exchange_api__`.

#ifndef EMMY_PYTHON_BINDINGS_DLPACK_H
#define EMMY_PYTHON_BINDINGS_DLPACK_H

#include <cstddef>
#include <cstdint>

namespace emmy::dlpack {

inline constexpr uint32_t kMajorVersion = 1;
inline constexpr const char *kExchangeCapsule = "dlpack_exchange_api";

enum DeviceType : int32_t { kCpu = 1, kCuda = 2 };
inline constexpr uint8_t kFloat = 2; ///< Type code of IEEE floats; bf16 has its own.

struct Version {
  uint32_t major, minor;
};

struct Device {
  DeviceType type;
  int32_t id;
};

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t *sizes;
  int64_t *strides; ///< In elements.
  uint64_t byteOffset;
};
static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, sizes) == 24);

struct ManagedTensor {
  Version version;
  void *owner;
  void (*deleter)(ManagedTensor *self);
  uint64_t flags;
  Tensor tensor;
};
static_assert(offsetof(ManagedTensor, tensor) == 32);

struct ExchangeHeader {
  Version version;
  ExchangeHeader *previous;
};

/// Functions return 0, or -1 with an error set: in Python, except for `allocate`, which calls `setError`.
struct ExchangeApi {
  ExchangeHeader header;
  int (*allocate)(Tensor *prototype, ManagedTensor **result, void *errorContext,
                  void (*setError)(void *errorContext, const char *kind, const char *message));
  int (*exportManaged)(void *object, ManagedTensor **result);
  int (*import)(ManagedTensor *tensor, void **object);
  int (*borrow)(void *object, Tensor *result); ///< May be null.
  int (*currentStream)(DeviceType type, int32_t id, void **stream);
};

} // namespace emmy::dlpack

#endif // EMMY_PYTHON_BINDINGS_DLPACK_H
