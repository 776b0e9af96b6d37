// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is asked of the simulator, before anything runs: the schedule's name, the size of the buffers, memory steps and the
// parameters of launches.
#include "Machine.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;

/// "random", or "delay=" and a role of one of the kernels.
static LogicalResult checkSchedule(Operation *site, ArrayRef<Step> steps, StringRef schedule) {
  std::set<std::string> roles = {"async"};
  for (const Step &step : steps)
    if (const auto *launch = std::get_if<Launch>(&step))
      tile::KernelOp(launch->kernel).walk([&](tile::RoleOp role) { roles.insert(role.getName().str()); });
  StringRef role = schedule;
  if (schedule == "random" || (role.consume_front("delay=") && roles.count(role.str())))
    return success();
  InFlightDiagnostic diagnostic = headerError(site) << "expects a schedule of 'random'";
  for (const std::string &name : roles)
    diagnostic << ", 'delay=" << name << "'";
  return diagnostic << ", but got '" << schedule << "'";
}

static LogicalResult checkBuffers(Operation *site, ArrayRef<Buffer> buffers, int64_t limit) {
  uint64_t bytes = 0;
  for (const Buffer &buffer : buffers)
    bytes += buffer.bytes.size();
  if (bytes > static_cast<uint64_t>(limit))
    return headerError(site) << "expects buffers of at most " << limit << " bytes in all, but got " << bytes;
  return success();
}

static LogicalResult checkMemoryStep(Operation *site, const MemoryStep &step, ArrayRef<Buffer> buffers) {
  if (step.target >= buffers.size() || step.source.value_or(0) >= buffers.size())
    return headerError(site) << "copies or fills a buffer that is none of " << buffers.size();
  const int64_t size = buffers[step.target].bytes.size();
  if (step.source) {
    if (buffers[*step.source].bytes.size() != buffers[step.target].bytes.size())
      return headerError(site) << "copies " << buffers[*step.source].bytes.size() << " bytes of " << buffers[*step.source].name << " to "
                               << buffers[step.target].name << ", which has " << size;
    return success();
  }
  if (step.offset < 0 || step.bytes < 0 || step.bytes > size || step.offset > size - step.bytes)
    return headerError(site) << "fills " << step.bytes << " bytes from byte " << step.offset << " on of " << buffers[step.target].name
                             << ", which has " << size;
  return success();
}

/// Why a parameter cannot be an argument of that type.
static std::optional<std::string> parameterError(const Parameter &parameter, Type type, ArrayRef<Buffer> buffers) {
  if (const auto *integer = std::get_if<int64_t>(&parameter)) {
    if (!type.isIntOrIndex() || !formatOf(type))
      return std::string("is no integer");
    const unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    if (!llvm::isIntN(width, *integer) && !llvm::isUIntN(width, static_cast<uint64_t>(*integer)))
      return "does not hold " + std::to_string(*integer);
    return std::nullopt;
  }
  if (std::holds_alternative<double>(parameter))
    return isa<FloatType>(type) && formatOf(type) ? std::nullopt : std::optional<std::string>("is no float");
  const auto *pointer = std::get_if<PointerParameter>(&parameter);
  const auto *map = std::get_if<TensorMapParameter>(&parameter);
  if (pointer ? !isa<tile::PtrType>(type) : !isa<tile::TmapType>(type))
    return std::string(pointer ? "is no pointer" : "is no tensor map");
  const size_t buffer = pointer ? pointer->buffer : map->buffer;
  if (buffer >= buffers.size())
    return "is bound to buffer " + std::to_string(buffer) + " of " + std::to_string(buffers.size());
  const Type element = pointer ? cast<tile::PtrType>(type).getElementType() : cast<tile::TmapType>(type).getElementType();
  const std::optional<Format> format = formatOf(element);
  if (!format)
    return std::string("has elements that the simulator does not know");
  if (pointer && pointer->offset % byteSize(*format))
    return "starts at byte " + std::to_string(pointer->offset) + ", which is no multiple of its elements' size";
  return std::nullopt;
}

static LogicalResult checkLaunch(const Launch &launch, ArrayRef<Buffer> buffers) {
  tile::KernelOp kernel = launch.kernel;
  Block &body = kernel.getBody().front();
  if (launch.parameters.size() != body.getNumArguments())
    return headerError(kernel) << "has " << body.getNumArguments() << " arguments, but the launch gives " << launch.parameters.size();
  for (auto [argument, parameter] : llvm::zip(body.getArguments(), launch.parameters))
    if (auto error = parameterError(parameter, argument.getType(), buffers))
      return headerError(kernel) << "violates launch: argument #" << argument.getArgNumber() << " of type " << argument.getType() << " " << *error;
  return success();
}

LogicalResult simulator::checkRequest(Operation *site, ArrayRef<Step> steps, ArrayRef<Buffer> buffers, const Options &options) {
  if (failed(checkSchedule(site, steps, options.schedule)) || failed(checkBuffers(site, buffers, options.maxBytes)))
    return failure();
  for (const Step &step : steps) {
    const auto *memory = std::get_if<MemoryStep>(&step);
    if (failed(memory ? checkMemoryStep(site, *memory, buffers) : checkLaunch(std::get<Launch>(step), buffers)))
      return failure();
  }
  return success();
}
