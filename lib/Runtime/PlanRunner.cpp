// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the steps of a plan. Every expression of a step is evaluated, and its fault checked, before the step acts.

#include "emmy/Runtime/PlanRunner.h"

#include <cstring>

using llvm::Twine;

namespace emmy::runtime {

llvm::Expected<std::unique_ptr<PlanRunner>> PlanRunner::create(Plan plan, CodeMap code) {
  std::unique_ptr<PlanRunner> runner(new PlanRunner());
  runner->plan = std::move(plan);
  // The backend refers to the plan at its final address.
  llvm::Expected<std::unique_ptr<Backend>> backend = runner->plan.isCpu()
                                                         ? createCpuBackend(runner->plan, code)
                                                         : createCudaBackend(runner->plan, std::move(code));
  if (!backend)
    return backend.takeError();
  runner->backend = std::move(*backend);
  return std::move(runner);
}

static CallStatus reportFault(const Twine &where, const CallFrame &frame) {
  return makeFailure(CallFailure::Internal, where + ": an expression of the plan has " + frame.eval.fault);
}

TensorLayout PlanRunner::getOutputLayout(unsigned outputBuffer, CallFrame &frame) const {
  const TensorSpec &tensor = plan.buffers[plan.outputBuffers[outputBuffer]].tensor;
  TensorLayout layout;
  layout.dtype = tensor.dtype;
  for (const Expr &size : tensor.sizes) {
    layout.sizes.push_back(size.evaluate(frame.eval));
    if (layout.sizes.back() < 0)
      frame.eval.fault = "a negative size";
  }
  for (const Expr &stride : tensor.strides)
    layout.strides.push_back(stride.evaluate(frame.eval));
  return layout;
}

void PlanRunner::setArena(void *data, CallFrame &frame) const {
  for (const auto &[i, buffer] : llvm::enumerate(plan.buffers))
    if (buffer.kind == BufferSpec::Temp)
      frame.addresses[i] = reinterpret_cast<uintptr_t>(data) + buffer.offset.evaluate(frame.eval);
}

CallStatus PlanRunner::run(CallFrame &frame) const {
  if (frame.eval.fault)
    return reportFault("outputs", frame);
  if (CallStatus status = backend->enter(frame))
    return status;
  CallStatus status = runSteps(plan.steps, frame);
  backend->leave(frame);
  return status;
}

CallStatus PlanRunner::runSteps(llvm::ArrayRef<Step> steps, CallFrame &frame) const {
  for (const Step &step : steps) {
    CallStatus status;
    if (const auto *launch = std::get_if<LaunchStep>(&step.action))
      status = runLaunch(*launch, frame);
    else if (const auto *copy = std::get_if<CopyStep>(&step.action))
      status = runCopy(*copy, frame);
    else if (const auto *fill = std::get_if<FillStep>(&step.action))
      status = runFill(*fill, frame);
    else
      status = runSwitch(std::get<SwitchStep>(step.action), frame);
    if (status)
      return status;
  }
  return nullptr;
}

/// The bits of a parameter that is not a tensor map, in its low bytes (both hosts and GPUs are little-endian).
uint64_t PlanRunner::getParamBits(const ParamSpec &param, CallFrame &frame) const {
  if (param.kind == ParamSpec::Pointer)
    return frame.addresses[param.buffer] + param.value.evaluate(frame.eval);
  uint64_t bits = 0;
  if (param.kind == ParamSpec::F32 || param.kind == ParamSpec::F64) {
    double number = param.scalarArg < 0 ? param.number : frame.reals[param.scalarArg];
    float single = static_cast<float>(number);
    if (param.kind == ParamSpec::F32)
      std::memcpy(&bits, &single, sizeof(single));
    else
      std::memcpy(&bits, &number, sizeof(number));
    return bits;
  }
  int64_t value = param.value.evaluate(frame.eval);
  if (param.kind == ParamSpec::I32 && value != static_cast<int32_t>(value))
    frame.eval.fault = "a value that does not fit 32 bits";
  return static_cast<uint64_t>(value);
}

CallStatus PlanRunner::runLaunch(const LaunchStep &step, CallFrame &frame) const {
  const KernelRef &kernel = plan.kernels[step.kernel];
  LaunchRequest request{step, kernel, {}, nullptr};
  bool empty = false;
  for (unsigned i = 0; i < 3; ++i) {
    request.grid[i] = step.grid[i].evaluate(frame.eval);
    if (request.grid[i] < 0 || request.grid[i] > INT32_MAX)
      frame.eval.fault = "a grid size that is out of range";
    empty |= request.grid[i] == 0;
  }
  if (frame.eval.fault)
    return reportFault("launch of '" + kernel.symbol + "'", frame);
  if (empty)
    return nullptr;
  llvm::SmallVector<uint64_t, 64> bits(step.params.size());
  llvm::SmallVector<void *, 64> pointers(step.params.size());
  cuda::TensorMap maps[kMaxTensorMaps]; // Written as far as it is used.
  unsigned numMaps = 0;
  for (unsigned i = 0; i < step.params.size(); ++i) {
    const ParamSpec &param = step.params[i];
    if (param.kind != ParamSpec::TensorMap) {
      bits[i] = getParamBits(param, frame);
      pointers[i] = &bits[i];
      continue;
    }
    pointers[i] = &maps[numMaps];
    if (CallStatus status = backend->encode(param.map, frame, &maps[numMaps++]))
      return status;
  }
  if (frame.eval.fault)
    return reportFault("launch of '" + kernel.symbol + "'", frame);
  request.params = pointers.data();
  return backend->launch(request, frame);
}

/// The bytes that a buffer spans, if its elements fill them without gaps or overlap in row-major order.
std::optional<int64_t> PlanRunner::getDenseBytes(const BufferSpec &buffer, CallFrame &frame) const {
  if (buffer.kind == BufferSpec::Temp)
    return buffer.bytes.evaluate(frame.eval);
  const TensorSpec &tensor = getTensor(buffer);
  int64_t count = 1;
  bool dense = true;
  for (size_t i = tensor.sizes.size(); i-- > 0;) {
    int64_t size = tensor.sizes[i].evaluate(frame.eval);
    dense &= size <= 1 || tensor.strides[i].evaluate(frame.eval) == count;
    count *= size;
  }
  if (!dense && count != 0)
    return std::nullopt;
  return count * getInfo(tensor.dtype).bytes;
}

CallStatus PlanRunner::runCopy(const CopyStep &step, CallFrame &frame) const {
  std::optional<int64_t> target = getDenseBytes(plan.buffers[step.target], frame);
  std::optional<int64_t> source = getDenseBytes(plan.buffers[step.source], frame);
  if (frame.eval.fault)
    return reportFault("copy", frame);
  if (!target || !source || *target != *source)
    return makeFailure(CallFailure::Internal, "copy of buffer " + Twine(step.source) + " to buffer " +
                                                  Twine(step.target) + ": both must be contiguous and of one size");
  if (*target == 0)
    return nullptr;
  return backend->copy(frame.addresses[step.target], frame.addresses[step.source], *target, frame);
}

CallStatus PlanRunner::runFill(const FillStep &step, CallFrame &frame) const {
  int64_t offset = step.offset.evaluate(frame.eval), bytes = step.bytes.evaluate(frame.eval);
  if (step.bytes.isConstant() && bytes == -1) {
    std::optional<int64_t> whole = getDenseBytes(plan.buffers[step.buffer], frame);
    if (!whole)
      return makeFailure(CallFailure::Internal,
                         "fill of buffer " + Twine(step.buffer) + ": it must be contiguous, or 'bytes' given");
    bytes = *whole - offset;
  }
  if (bytes < 0 || offset < 0)
    frame.eval.fault = "a negative size";
  if (frame.eval.fault)
    return reportFault("fill of buffer " + Twine(step.buffer), frame);
  return bytes == 0 ? nullptr : backend->fill(frame.addresses[step.buffer] + offset, step.value, bytes, frame);
}

CallStatus PlanRunner::runSwitch(const SwitchStep &step, CallFrame &frame) const {
  for (const SwitchStep::Case &branch : step.cases) {
    bool taken = branch.when.evaluate(frame.eval) != 0;
    if (frame.eval.fault)
      return reportFault("switch", frame);
    if (taken)
      return runSteps(branch.steps, frame);
  }
  return makeFailure(CallFailure::Internal, "no case of a switch applies");
}

} // namespace emmy::runtime
