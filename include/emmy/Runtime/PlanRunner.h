// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interprets a plan. A call goes through `bind`, the creation of outputs and arena by whoever owns the tensors, and
// `run`. One runner may be used by any number of threads at once: what varies between calls is in their `CallFrame`.

#ifndef EMMY_RUNTIME_PLANRUNNER_H
#define EMMY_RUNTIME_PLANRUNNER_H

#include "emmy/Runtime/Backend.h"

namespace emmy::runtime {

class PlanRunner {
public:
  /// Fails if code is missing, or the driver that the plan needs.
  static llvm::Expected<std::unique_ptr<PlanRunner>> create(Plan plan, CodeMap code);

  const Plan &getPlan() const { return plan; }

  /// Loads the code for a GPU, so that no later call has to.
  CallStatus load(int32_t device) const { return backend->load(device); }

  /// Checks arguments against the plan and reads its symbols off them. `frame.device` is set unless the plan has no
  /// tensor arguments.
  CallStatus bind(llvm::ArrayRef<ArgValue> args, CallFrame &frame) const;

  // What the caller creates between `bind` and `run`. Faults of the expressions are reported by `run`, and the layouts
  // are then not to be trusted: check `frame.eval.fault` before creating anything.
  TensorLayout getOutputLayout(unsigned outputBuffer, CallFrame &frame) const;
  int64_t getArenaBytes(CallFrame &frame) const { return plan.arenaBytes.evaluate(frame.eval); }
  void setOutput(unsigned outputBuffer, void *data, CallFrame &frame) const {
    frame.addresses[plan.outputBuffers[outputBuffer]] = reinterpret_cast<uintptr_t>(data);
  }
  void setArena(void *data, CallFrame &frame) const;

  /// Launches the steps on `frame.stream`.
  CallStatus run(CallFrame &frame) const;

private:
  PlanRunner() = default;

  CallStatus checkKinds(llvm::ArrayRef<ArgValue> args, CallFrame &frame) const;
  CallStatus readSymbols(llvm::ArrayRef<ArgValue> args, CallFrame &frame) const;
  CallStatus checkLayout(unsigned index, const ArgValue &arg, CallFrame &frame) const;
  CallStatus runSteps(llvm::ArrayRef<Step> steps, CallFrame &frame) const;
  CallStatus runLaunch(const LaunchStep &step, CallFrame &frame) const;
  CallStatus runCopy(const CopyStep &step, CallFrame &frame) const;
  CallStatus runFill(const FillStep &step, CallFrame &frame) const;
  CallStatus runSwitch(const SwitchStep &step, CallFrame &frame) const;
  uint64_t getParamBits(const ParamSpec &param, CallFrame &frame) const;
  std::optional<int64_t> getDenseBytes(const BufferSpec &buffer, CallFrame &frame) const;
  const TensorSpec &getTensor(const BufferSpec &buffer) const {
    return buffer.kind == BufferSpec::Arg ? plan.args[buffer.index].tensor : buffer.tensor;
  }

  Plan plan;
  std::unique_ptr<Backend> backend;
};

} // namespace emmy::runtime

#endif // EMMY_RUNTIME_PLANRUNNER_H
