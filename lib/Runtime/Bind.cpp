// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the arguments of a call with what the plan was compiled for.

#include "emmy/Runtime/PlanRunner.h"

#include "llvm/Support/raw_ostream.h"

using llvm::ArrayRef;
using llvm::Twine;

namespace emmy::runtime {

CallStatus makeFailure(CallFailure::Kind kind, const Twine &message) {
  return std::make_unique<CallFailure>(CallFailure{kind, message.str()});
}

static std::string nameArg(unsigned index, const ArgSpec &spec) {
  std::string text = "argument #" + std::to_string(index);
  return spec.name.empty() ? text : text + " '" + spec.name + "'";
}

static CallStatus mismatch(unsigned index, const ArgSpec &spec, const Twine &expected, const Twine &got) {
  return makeFailure(CallFailure::Mismatch, nameArg(index, spec) + ": expected " + expected + ", but got " + got);
}

static std::string print(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(values, stream);
  stream << ']';
  return text;
}

static std::string print(ArrayRef<Expr> exprs, EvalContext &context) {
  llvm::SmallVector<int64_t, 8> values;
  for (const Expr &expr : exprs)
    values.push_back(expr.evaluate(context));
  return print(values);
}

static const char *nameKind(ArgValue::Kind kind) {
  return kind == ArgValue::Tensor ? "a tensor" : kind == ArgValue::Int ? "an integer" : "a float";
}

CallStatus PlanRunner::bind(ArrayRef<ArgValue> args, CallFrame &frame) const {
  if (args.size() != plan.args.size())
    return makeFailure(CallFailure::Usage,
                       "expected " + Twine(plan.args.size()) + " arguments, but got " + Twine(args.size()));
  frame.symbols.assign(plan.numSymbols, 0);
  frame.reals.assign(plan.args.size(), 0);
  frame.addresses.assign(plan.buffers.size(), 0);
  frame.eval.symbols = frame.symbols.data();
  frame.eval.addresses = frame.addresses.data();
  if (CallStatus status = checkKinds(args, frame))
    return status;
  if (CallStatus status = readSymbols(args, frame))
    return status;
  for (const auto &[i, arg] : llvm::enumerate(args))
    if (arg.kind == ArgValue::Tensor)
      if (CallStatus status = checkLayout(i, arg, frame))
        return status;
  for (const auto &[i, buffer] : llvm::enumerate(plan.buffers))
    if (buffer.kind == BufferSpec::Arg)
      frame.addresses[i] = reinterpret_cast<uintptr_t>(args[buffer.index].data);
  return nullptr;
}

CallStatus PlanRunner::checkKinds(ArrayRef<ArgValue> args, CallFrame &frame) const {
  for (unsigned i = 0; i < args.size(); ++i) {
    const ArgSpec &spec = plan.args[i];
    const ArgValue &arg = args[i];
    if (spec.kind == ArgSpec::Float && arg.kind != ArgValue::Tensor) {
      frame.reals[i] = arg.kind == ArgValue::Int ? static_cast<double>(arg.integer) : arg.real;
      continue;
    }
    if (static_cast<unsigned>(spec.kind) != static_cast<unsigned>(arg.kind)) // The enumerators agree.
      return makeFailure(CallFailure::Usage, nameArg(i, spec) + ": expected " +
                                                 nameKind(static_cast<ArgValue::Kind>(spec.kind)) + ", but got " +
                                                 nameKind(arg.kind));
    if (arg.kind != ArgValue::Tensor)
      continue;
    if (arg.dtype != spec.tensor.dtype)
      return mismatch(i, spec, "dtype " + getInfo(spec.tensor.dtype).name,
                      arg.dtype ? "dtype " + getInfo(*arg.dtype).name : Twine("another dtype"));
    if (arg.rank != static_cast<int32_t>(spec.tensor.sizes.size()))
      return mismatch(i, spec, "rank " + Twine(spec.tensor.sizes.size()), "rank " + Twine(arg.rank));
    if (arg.onGpu == plan.isCpu())
      return mismatch(i, spec, plan.isCpu() ? "a tensor on the CPU" : "a tensor on the GPU",
                      arg.onGpu ? "one on the GPU" : "one on the CPU");
    if (arg.onGpu && frame.device < 0)
      frame.device = arg.device;
    if (arg.onGpu && frame.device != arg.device)
      return mismatch(i, spec, "a tensor on device " + Twine(frame.device), "one on device " + Twine(arg.device));
  }
  return nullptr;
}

CallStatus PlanRunner::readSymbols(ArrayRef<ArgValue> args, CallFrame &frame) const {
  for (const SymbolSource &symbol : plan.symbols) {
    const ArgValue &arg = args[symbol.arg];
    int64_t value = symbol.kind == SymbolSource::Scalar ? arg.integer
                    : symbol.kind == SymbolSource::Dim  ? arg.sizes[symbol.dim]
                                                        : arg.strides[symbol.dim];
    if (value < symbol.low || value > symbol.high) {
      std::string what = symbol.kind == SymbolSource::Scalar ? "a value"
                         : symbol.kind == SymbolSource::Dim  ? "a size of dimension " + std::to_string(symbol.dim)
                                                             : "a stride of dimension " + std::to_string(symbol.dim);
      return mismatch(symbol.arg, plan.args[symbol.arg],
                      what + " from " + Twine(symbol.low) + " to " + Twine(symbol.high), Twine(value));
    }
    frame.symbols[symbol.id] = value;
  }
  return nullptr;
}

/// Strides of dimensions that have one element, and of tensors that have none, are free.
CallStatus PlanRunner::checkLayout(unsigned index, const ArgValue &arg, CallFrame &frame) const {
  const ArgSpec &spec = plan.args[index];
  const TensorSpec &tensor = spec.tensor;
  bool sameSizes = true, sameStrides = true, empty = false;
  for (int32_t i = 0; i < arg.rank; ++i) {
    int64_t size = arg.sizes[i];
    sameSizes &= size == tensor.sizes[i].evaluate(frame.eval);
    empty |= size == 0;
    sameStrides &= size <= 1 || arg.strides[i] == tensor.strides[i].evaluate(frame.eval);
  }
  ArrayRef<int64_t> sizes(arg.sizes, arg.rank), strides(arg.strides, arg.rank);
  if (frame.eval.fault)
    return makeFailure(CallFailure::Mismatch,
                       nameArg(index, spec) + ": sizes " + print(sizes) + " lead to " + frame.eval.fault);
  if (!sameSizes)
    return mismatch(index, spec, "sizes " + print(tensor.sizes, frame.eval), "sizes " + print(sizes));
  if (empty)
    return nullptr;
  if (!sameStrides)
    return mismatch(index, spec, "strides " + print(tensor.strides, frame.eval), "strides " + print(strides));
  uintptr_t misalignment = reinterpret_cast<uintptr_t>(arg.data) % spec.align;
  if (misalignment)
    return mismatch(index, spec, "an address that is a multiple of " + Twine(spec.align) + " bytes",
                    "one that is " + Twine(misalignment) + " bytes past such a multiple");
  return nullptr;
}

} // namespace emmy::runtime
