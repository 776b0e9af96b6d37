// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module `emmy._runtime`: plans as callables on PyTorch tensors.

#include "TorchBridge.h"
#include "emmy/Runtime/CudaDriver.h"
#include "emmy/Runtime/PlanRunner.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

namespace nb = nanobind;
using namespace nb::literals;
using namespace emmy::runtime;

namespace emmy {
namespace {

struct PlanMismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void raise(const CallFailure &failure) {
  if (failure.kind == CallFailure::Mismatch)
    throw PlanMismatch(failure.message);
  if (failure.kind == CallFailure::Usage)
    throw nb::type_error(failure.message.c_str());
  if (failure.kind == CallFailure::Index)
    throw nb::index_error(failure.message.c_str());
  throw std::runtime_error(failure.message);
}

void check(const CallStatus &status) {
  if (LLVM_UNLIKELY(status != nullptr))
    raise(*status);
}

CodeMap readCode(const nb::dict &code) {
  CodeMap map;
  for (auto [key, value] : code) {
    CodeObject object;
    if (nb::isinstance<nb::bytes>(value)) {
      nb::bytes bytes = nb::borrow<nb::bytes>(value);
      object.bytes.assign(static_cast<const char *>(bytes.data()), bytes.size());
    } else if (nb::isinstance<nb::int_>(value)) {
      object.function = reinterpret_cast<void *>(nb::cast<uintptr_t>(value));
    } else {
      throw nb::type_error("expected code objects to be bytes or addresses");
    }
    map[nb::cast<std::string>(key)] = std::move(object);
  }
  return map;
}

class PyPlan {
public:
  PyPlan(const std::string &json, const nb::dict &code, nb::object owner) : owner(std::move(owner)) {
    llvm::Expected<Plan> plan = Plan::parse(json);
    if (!plan)
      throw nb::value_error(llvm::toString(plan.takeError()).c_str());
    if (!plan->isCpu())
      if (llvm::Error error = cuda::Driver::get().takeError())
        throw std::runtime_error(llvm::toString(std::move(error)));
    llvm::Expected<std::unique_ptr<PlanRunner>> created = PlanRunner::create(std::move(*plan), readCode(code));
    if (!created)
      throw nb::value_error(llvm::toString(created.takeError()).c_str());
    runner = std::move(*created);
  }

  nb::list call(const nb::args &args) const;

  void load(int32_t device) const {
    CallStatus status;
    {
      nb::gil_scoped_release released;
      status = runner->load(device);
    }
    check(status);
  }

  std::string getTarget() const { return runner->getPlan().target; }

  nb::list getKernels() const {
    nb::list names;
    for (const KernelRef &kernel : runner->getPlan().kernels)
      names.append(kernel.symbol);
    return names;
  }

private:
  ArgValue readArg(PyObject *object, const TorchBridge &torch) const;
  void place(CallFrame &frame, const TorchBridge &torch) const;
  nb::object getOutput(const OutputSpec &output, const nb::args &args, llvm::ArrayRef<nb::object> created,
                       CallFrame &frame, const TorchBridge &torch) const;

  std::unique_ptr<PlanRunner> runner;
  nb::object owner; ///< Whatever keeps function addresses of the code alive.
};

ArgValue PyPlan::readArg(PyObject *object, const TorchBridge &torch) const {
  ArgValue arg;
  if (torch.isTensor(object)) {
    dlpack::Tensor tensor = torch.borrow(object);
    arg.onGpu = tensor.device.type == dlpack::kCuda;
    // DLPack does not tell of lazy negation; the frontend makes such a tensor's numbers and calls again.
    if (tensor.dtype.lanes == 1 && !torch.isNegated(object, tensor))
      arg.dtype = fromDLPack(tensor.dtype.code, tensor.dtype.bits);
    arg.device = tensor.device.id;
    arg.rank = tensor.rank;
    arg.sizes = tensor.sizes;
    arg.strides = tensor.strides;
    arg.data = tensor.data;
  } else if (PyFloat_Check(object)) {
    arg.kind = ArgValue::Float;
    arg.real = PyFloat_AS_DOUBLE(object);
  } else if (PyLong_Check(object)) {
    arg.kind = ArgValue::Int;
    arg.integer = PyLong_AsLongLong(object);
    if (arg.integer == -1 && PyErr_Occurred())
      throw nb::python_error();
  } else {
    throw nb::type_error((std::string("expected tensors, integers and floats, but got ") + Py_TYPE(object)->tp_name)
                             .c_str());
  }
  return arg;
}

/// Settles device and stream; a plan without tensor arguments runs on the current device.
void PyPlan::place(CallFrame &frame, const TorchBridge &torch) const {
  if (runner->getPlan().isCpu())
    return;
  if (frame.device < 0) {
    llvm::Expected<const cuda::Driver *> driver = cuda::Driver::get();
    cuda::Device current = 0;
    if (!driver)
      throw std::runtime_error(llvm::toString(driver.takeError()));
    frame.device = (*driver)->ctxGetDevice(&current) == 0 ? current : 0;
  }
  frame.stream = torch.getCurrentStream(frame.device);
}

nb::object PyPlan::getOutput(const OutputSpec &output, const nb::args &args, llvm::ArrayRef<nb::object> created,
                             CallFrame &frame, const TorchBridge &torch) const {
  const BufferSpec &buffer = runner->getPlan().buffers[output.buffer];
  nb::object base = buffer.kind == BufferSpec::Arg ? nb::borrow(args[buffer.index]) : created[buffer.index];
  if (!output.alias || output.whole)
    return base;
  TensorLayout layout;
  layout.dtype = output.view.dtype;
  for (const Expr &size : output.view.sizes)
    layout.sizes.push_back(size.evaluate(frame.eval));
  for (const Expr &stride : output.view.strides)
    layout.strides.push_back(stride.evaluate(frame.eval));
  return torch.createView(base, layout, output.offset.evaluate(frame.eval));
}

nb::list PyPlan::call(const nb::args &args) const {
  const TorchBridge &torch = TorchBridge::get();
  const Plan &plan = runner->getPlan();
  CallFrame frame;
  llvm::SmallVector<ArgValue, 16> values;
  for (size_t i = 0, count = args.size(); i < count; ++i)
    values.push_back(readArg(PyTuple_GET_ITEM(args.ptr(), i), torch));
  check(runner->bind(values, frame));
  place(frame, torch);

  llvm::SmallVector<nb::object, 4> created;
  for (unsigned i = 0; i < plan.outputBuffers.size(); ++i) {
    TensorLayout layout = runner->getOutputLayout(i, frame);
    if (frame.eval.fault)
      throw std::runtime_error("output sizes: an expression of the plan has " + std::string(frame.eval.fault));
    created.push_back(torch.create(layout, frame.device));
    runner->setOutput(i, torch.borrow(created.back().ptr()).data, frame);
  }
  // Freed when the call returns: PyTorch gives it away again to later work on this stream only.
  nb::object arena;
  void *arenaData = nullptr;
  if (int64_t bytes = runner->getArenaBytes(frame); bytes > 0) {
    arena = torch.create({DType::U8, {bytes}, {1}}, frame.device);
    arenaData = torch.borrow(arena.ptr()).data;
  }
  runner->setArena(arenaData, frame);

  CallStatus status;
  {
    nb::gil_scoped_release released;
    status = runner->run(frame);
  }
  check(status);
  nb::list results;
  for (const OutputSpec &output : plan.outputs)
    results.append(getOutput(output, args, created, frame, torch));
  return results;
}

/// {"name", "sm", "multiprocessors", "driver"}, or the reason why there is none.
nb::object getDeviceInfo(int32_t device) {
  llvm::Expected<cuda::DeviceInfo> info = cuda::getDeviceInfo(device);
  if (!info)
    return nb::make_tuple(nb::none(), llvm::toString(info.takeError()));
  nb::dict result;
  result["name"] = info->name;
  result["sm"] = info->capabilityMajor * 10 + info->capabilityMinor;
  result["multiprocessors"] = info->multiprocessors;
  result["driver"] = nb::make_tuple(info->driverVersion / 1000, info->driverVersion % 1000 / 10);
  return nb::make_tuple(result, nb::none());
}

} // namespace
} // namespace emmy

NB_MODULE(_runtime, m) {
  using emmy::PyPlan;
  m.doc() = "Emmy's runtime: interprets compiled plans on the GPU or the CPU.";
  nb::exception<emmy::PlanMismatch>(m, "PlanMismatch", PyExc_ValueError);
  nb::class_<PyPlan>(m, "Plan",
                     "A compiled program. Calling it launches its kernels on PyTorch's current stream and returns its "
                     "outputs; arguments it was not compiled for raise PlanMismatch.")
      .def(nb::init<const std::string &, const nb::dict &, nb::object>(), "json"_a, "code"_a,
           "owner"_a.none() = nb::none())
      .def("__call__", &PyPlan::call)
      .def("load", &PyPlan::load, "device"_a = 0, "Loads the kernels onto a GPU now instead of at the first call.")
      .def_prop_ro("target", &PyPlan::getTarget)
      .def_prop_ro("kernels", &PyPlan::getKernels);
  m.def("device_info", &emmy::getDeviceInfo, "device"_a = 0,
        "(description, None) of a CUDA device, or (None, reason) if it cannot be used.");
}
