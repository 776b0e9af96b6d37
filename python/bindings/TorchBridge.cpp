// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch through its DLPack exchange table. Tensors are not created by that table: one imported through DLPack does not
// own caching-allocator storage, and `record_stream` would silently do nothing on it.

#include "TorchBridge.h"

#include <atomic>
#include <stdexcept>

namespace nb = nanobind;

namespace emmy {

using runtime::TensorLayout;

static const dlpack::ExchangeApi *findExchangeApi(nb::handle tensorType) {
  nb::object capsule = nb::getattr(tensorType, "__dlpack_c_exchange_api__", nb::none());
  if (capsule.is_none())
    throw std::runtime_error("this PyTorch has no DLPack exchange API; Emmy needs torch 2.11 or newer");
  auto *header = static_cast<dlpack::ExchangeHeader *>(PyCapsule_GetPointer(capsule.ptr(), dlpack::kExchangeCapsule));
  if (!header)
    throw nb::python_error();
  while (header && header->version.major != dlpack::kMajorVersion)
    header = header->previous;
  if (!header)
    throw std::runtime_error("this PyTorch offers no DLPack 1.x exchange API");
  auto *api = reinterpret_cast<const dlpack::ExchangeApi *>(header);
  if (!api->borrow)
    throw std::runtime_error("this PyTorch cannot lend tensors through the DLPack exchange API");
  return api;
}

/// A new reference that is never released, or null if `owner` has no such attribute.
static PyObject *keepAttribute(nb::handle owner, const char *name) {
  nb::object attribute = nb::getattr(owner, name, nb::none());
  return attribute.is_none() ? nullptr : attribute.release().ptr();
}

static PyObject *findFastEmpty(const char *name) {
  try {
    return keepAttribute(nb::module_::import_("torch._C._dynamo.guards"), name);
  } catch (nb::python_error &) {
    return nullptr; // Inductor's entry point is private; its absence costs a microsecond, no more.
  }
}

TorchBridge::TorchBridge() {
  nb::module_ torch = nb::module_::import_("torch");
  nb::object tensor = torch.attr("Tensor");
  api = findExchangeApi(tensor);
  tensorType = reinterpret_cast<PyTypeObject *>(tensor.release().ptr());
  emptyStrided = keepAttribute(torch, "empty_strided");
  deviceType = keepAttribute(torch, "device");
  isNeg = PyUnicode_InternFromString("is_neg");
  fastEmpty[0] = findFastEmpty("_empty_strided_cpu");
  fastEmpty[1] = findFastEmpty("_empty_strided_cuda");
  for (unsigned i = 0; i < runtime::kNumDTypes; ++i)
    dtypes[i] = keepAttribute(torch, runtime::getInfo(static_cast<runtime::DType>(i)).torchName.data());
}

const TorchBridge &TorchBridge::get() {
  // No function-local static: its lock would be held while the import lets other threads run.
  static std::atomic<const TorchBridge *> instance{nullptr};
  if (const TorchBridge *bridge = instance.load(std::memory_order_acquire))
    return *bridge;
  auto *bridge = new TorchBridge();
  const TorchBridge *expected = nullptr;
  if (!instance.compare_exchange_strong(expected, bridge))
    return *expected;
  return *bridge;
}

dlpack::Tensor TorchBridge::borrow(PyObject *object) const {
  dlpack::Tensor tensor;
  if (api->borrow(object, &tensor) != 0)
    throw nb::python_error();
  tensor.data = static_cast<char *>(tensor.data) + tensor.byteOffset;
  return tensor;
}

bool TorchBridge::isNegated(PyObject *object, const dlpack::Tensor &tensor) const {
  // Only parts of complex numbers are, and none of those has elements of bf16, which most calls are about.
  if (tensor.dtype.code != dlpack::kFloat)
    return false;
  PyObject *arguments[] = {object};
  nb::object answer = nb::steal(PyObject_VectorcallMethod(isNeg, arguments, 1, nullptr));
  if (!answer.is_valid())
    throw nb::python_error();
  return answer.ptr() == Py_True;
}

static nb::object toTuple(llvm::ArrayRef<int64_t> values) {
  nb::object tuple = nb::steal(PyTuple_New(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), i, PyLong_FromLongLong(values[i]));
  return tuple;
}

static nb::object callChecked(PyObject *result) {
  if (!result)
    throw nb::python_error();
  return nb::steal(result);
}

nb::object TorchBridge::create(const TensorLayout &layout, int32_t device) const {
  PyObject *dtype = dtypes[static_cast<unsigned>(layout.dtype)];
  if (!dtype)
    throw std::runtime_error("this PyTorch has no dtype " + runtime::getInfo(layout.dtype).torchName.str());
  nb::object sizes = toTuple(layout.sizes), strides = toTuple(layout.strides);
  PyObject *positional[] = {sizes.ptr(), strides.ptr(), dtype};
  if (PyObject *fast = fastEmpty[device >= 0]) {
    nb::object tensor = callChecked(PyObject_Vectorcall(fast, positional, 3, nullptr));
    // The short form knows the current device only.
    if (device < 0 || borrow(tensor.ptr()).device.id == device)
      return tensor;
  }
  nb::dict options;
  options["dtype"] = nb::handle(dtype);
  options["device"] = device < 0 ? nb::handle(deviceType)("cpu") : nb::handle(deviceType)("cuda", device);
  nb::object args = nb::make_tuple(sizes, strides);
  return callChecked(PyObject_Call(emptyStrided, args.ptr(), options.ptr()));
}

nb::object TorchBridge::createView(nb::handle base, const TensorLayout &layout, int64_t byteOffset) const {
  int64_t bytes = runtime::getInfo(layout.dtype).bytes;
  if (byteOffset % bytes != 0)
    throw std::runtime_error("an output view starts between two elements");
  int64_t offset = nb::cast<int64_t>(base.attr("storage_offset")()) + byteOffset / bytes;
  return base.attr("as_strided")(toTuple(layout.sizes), toTuple(layout.strides), offset);
}

void *TorchBridge::getCurrentStream(int32_t device) const {
  void *stream = nullptr;
  if (api->currentStream(dlpack::kCuda, device, &stream) != 0)
    throw nb::python_error();
  return stream;
}

} // namespace emmy
