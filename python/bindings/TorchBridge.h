// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the runtime reads, creates and views PyTorch tensors. All functions need the GIL.

#ifndef EMMY_PYTHON_BINDINGS_TORCHBRIDGE_H
#define EMMY_PYTHON_BINDINGS_TORCHBRIDGE_H

#include "DLPack.h"
#include "emmy/Runtime/Call.h"

#include <nanobind/nanobind.h>

namespace emmy {

class TorchBridge {
public:
  /// Imports torch on the first call.
  static const TorchBridge &get();

  bool isTensor(PyObject *object) const {
    return Py_TYPE(object) == tensorType || PyType_IsSubtype(Py_TYPE(object), tensorType);
  }

  /// The tensor behind `object`; sizes and strides are borrowed from it.
  dlpack::Tensor borrow(PyObject *object) const;

  /// Whether a tensor holds the negatives of what lies in its memory, as imaginary parts of lazily conjugated numbers do.
  bool isNegated(PyObject *object, const dlpack::Tensor &tensor) const;

  /// A new tensor, uninitialised. Its storage is PyTorch's own, so that `record_stream` and resizing work as for any other tensor.
  /// `device` is -1 for the CPU.
  nanobind::object create(const runtime::TensorLayout &layout, int32_t device) const;

  /// A view that starts `byteOffset` bytes after the start of `base`.
  nanobind::object createView(nanobind::handle base, const runtime::TensorLayout &layout, int64_t byteOffset) const;

  void *getCurrentStream(int32_t device) const;

private:
  TorchBridge();

  // Looked up once, kept for the life of the process.
  const dlpack::ExchangeApi *api;
  PyTypeObject *tensorType;
  PyObject *emptyStrided;               ///< torch.empty_strided
  PyObject *fastEmpty[2];               ///< Its short forms for CPU and GPU; may be null.
  PyObject *dtypes[runtime::kNumDTypes]; ///< torch.float32, ...; null where this PyTorch has none.
  PyObject *deviceType;                 ///< torch.device
  PyObject *isNeg;                      ///< "is_neg"
};

} // namespace emmy

#endif // EMMY_PYTHON_BINDINGS_TORCHBRIDGE_H
