// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops on fragments alone.
#include "Interpreter.h"

#include <numeric>

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;

LogicalResult Interpreter::execSplat(tile::SplatOp op) {
  FragmentRef result = machine.newFragment(op.getType());
  std::fill(result->data.begin(), result->data.end(), number(op.getValue()));
  define(op, op.getResult(), std::move(result));
  return success();
}

LogicalResult Interpreter::execUndef(tile::UndefOp op) {
  FragmentRef result = machine.newFragment(op.getType());
  result->undefined = true;
  define(op, op.getResult(), std::move(result));
  return success();
}

LogicalResult Interpreter::execCoord(tile::CoordOp op) {
  FragmentRef result = machine.newFragment(op.getType());
  ArrayRef<int64_t> shape = op.getType().getShape();
  const int64_t base = integer(op.getBase()), below = std::accumulate(shape.begin() + op.getDim() + 1, shape.end(), int64_t(1), std::multiplies<>());
  for (auto [value, element] : llvm::zip(result->data, result->table->element))
    value = ofInteger(wrapTo(Format::I32, base + element / below % shape[op.getDim()]));
  define(op, op.getResult(), std::move(result));
  return success();
}

FailureOr<std::vector<Interpreter::Column>> Interpreter::runRegion(Block &body, std::vector<Column> arguments) {
  llvm::DenseMap<mlir::Value, Column> columns;
  const size_t length = arguments.empty() ? 0 : arguments.front().size();
  for (auto [argument, column] : llvm::zip(body.getArguments(), arguments))
    columns[argument] = std::move(column);
  const auto columnOf = [&](mlir::Value value) -> const Column & {
    auto [it, isNew] = columns.try_emplace(value);
    if (isNew) // from outside the region: a scalar
      it->second.assign(length, number(value));
    return it->second;
  };
  for (Operation &op : body.without_terminator()) {
    std::shared_ptr<ElementOp> &compiled = machine.elementOps[&op];
    if (!compiled)
      compiled = compileElementOp(&op);
    if (!compiled)
      return fail(&op, "unsupported", "the simulator does not know this op in an element region");
    // Copies: a map entry may move when another is added.
    SmallVector<Column, 3> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(columnOf(operand));
    Column result(length);
    SmallVector<Number, 4> values(operands.size());
    for (size_t i = 0; i < length; ++i) {
      for (size_t j = 0; j < operands.size(); ++j)
        values[j] = operands[j][i];
      FailureOr<Number> element = evaluate(&op, *compiled, values.data());
      if (failed(element))
        return failure();
      result[i] = *element;
    }
    columns[op.getResult(0)] = std::move(result);
  }
  std::vector<Column> results;
  for (mlir::Value value : body.getTerminator()->getOperands())
    results.push_back(columnOf(value));
  return results;
}

LogicalResult Interpreter::execMap(tile::MapOp op) {
  const LayoutTable &table = machine.table(cast<tile::FragType>(op.getResult(0).getType()));
  std::vector<Column> arguments;
  for (mlir::Value input : op.getInputs()) {
    if (!isa<tile::FragType>(input.getType())) {
      arguments.emplace_back(table.element.size(), number(input));
      continue;
    }
    FailureOr<FragmentRef> fragment = readable(op, input);
    if (failed(fragment))
      return failure();
    arguments.push_back((*fragment)->data);
  }
  // A region without arguments still runs once for each element.
  if (arguments.empty())
    arguments.emplace_back(table.element.size());
  FailureOr<std::vector<Column>> results = runRegion(op.getBody().front(), std::move(arguments));
  if (failed(results))
    return failure();
  for (auto [value, column] : llvm::zip(op.getOutputs(), *results)) {
    FragmentRef fragment = machine.newFragment(cast<tile::FragType>(value.getType()));
    fragment->data = column;
    define(op, value, std::move(fragment));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Thread t's partner in one butterfly step, by lane and by warp bits.
static std::vector<int64_t> butterfly(uint32_t mask, int64_t scale) {
  std::vector<int64_t> steps;
  for (uint32_t bit = 1; bit <= mask && bit; bit <<= 1)
    if (mask & bit)
      steps.push_back(bit * scale);
  return steps;
}

LogicalResult Interpreter::execReduce(tile::ReduceOp op) {
  FailureOr<FragmentRef> input = readable(op, op.getInput());
  if (failed(input))
    return failure();
  const unsigned dim = op.getDim();
  const LayoutTable &whole = *(*input)->table;
  FragmentRef result = machine.newFragment(op.getType());
  const int64_t threads = whole.threads, registers = result->table->registers;
  const std::vector<int64_t> into = whole.layout.slicedRegisters(dim);
  // Registers of a thread one after another, then lanes and warps by butterflies, as the lowering does.
  std::vector<std::vector<int64_t>> sources(registers);
  for (int64_t reg = 0; reg < whole.registers; ++reg)
    sources[into[reg]].push_back(reg);
  Column &data = result->data;
  const auto combine = [&](Column a, Column b) -> FailureOr<Column> {
    std::vector<Column> arguments;
    arguments.push_back(std::move(a));
    arguments.push_back(std::move(b));
    FailureOr<std::vector<Column>> combined = runRegion(op.getBody().front(), std::move(arguments));
    if (failed(combined))
      return failure();
    return std::move(combined->front());
  };
  for (size_t i = 0; i < sources.front().size(); ++i) {
    Column next(data.size());
    for (int64_t thread = 0; thread < threads; ++thread)
      for (int64_t reg = 0; reg < registers; ++reg)
        next[thread * registers + reg] = (*input)->data[thread * whole.registers + sources[reg][i]];
    FailureOr<Column> sum = i ? combine(data, std::move(next)) : FailureOr<Column>(std::move(next));
    if (failed(sum))
      return failure();
    data = std::move(*sum);
  }
  std::vector<int64_t> steps = butterfly(whole.layout.laneMaskAlong(dim), 1);
  const std::vector<int64_t> warpSteps = butterfly(whole.layout.warpMaskAlong(dim), 32);
  steps.insert(steps.end(), warpSteps.begin(), warpSteps.end());
  for (int64_t step : steps) {
    Column partner(data.size());
    for (int64_t thread = 0; thread < threads; ++thread)
      for (int64_t reg = 0; reg < registers; ++reg)
        partner[thread * registers + reg] = data[(thread ^ step) * registers + reg];
    FailureOr<Column> sum = combine(data, std::move(partner));
    if (failed(sum))
      return failure();
    data = std::move(*sum);
  }
  if (!warpSteps.empty() && op.getScratch() && failed(exchangeThroughScratch(op)))
    return failure();
  define(op, op.getResult(), std::move(result));
  return success();
}

LogicalResult Interpreter::exchangeThroughScratch(tile::ReduceOp op) {
  // The warps' partial results pass through the scratch buffer between two syncs.
  const auto &scratch = as<SharedRef>(op.getScratch());
  if (failed(giveWay()))
    return failure();
  syncUnit();
  const int64_t share = scratch.type.getSizeInBytes() / unit.warps;
  for (int64_t i = 0; i < unit.warps; ++i)
    if (failed(machine.touchShared(*unit.cta, machine.genericAccess(op, unit, unit.warp(i), true), unit.warp(i).clock,
                                   scratch.base + i * share, share)))
      return failure();
  syncUnit();
  for (int64_t i = 0; i < unit.warps; ++i)
    if (failed(machine.touchShared(*unit.cta, machine.genericAccess(op, unit, unit.warp(i), false), unit.warp(i).clock,
                                   scratch.base, share * unit.warps)))
      return failure();
  return success();
}

LogicalResult Interpreter::execAny(tile::AnyOp op) {
  FailureOr<FragmentRef> input = readable(op, op.getInput());
  if (failed(input) || failed(giveWay()))
    return failure();
  setInteger(op.getResult(), llvm::any_of((*input)->data, [](const Number &element) { return element.integer != 0; }));
  syncUnit();
  return success();
}

LogicalResult Interpreter::execBroadcast(tile::BroadcastOp op) {
  FailureOr<FragmentRef> input = readable(op, op.getInput());
  if (failed(input))
    return failure();
  FragmentRef result = machine.newFragment(op.getType());
  const LayoutTable &whole = *result->table;
  const std::vector<int64_t> from = whole.layout.slicedRegisters(op.getDim());
  for (int64_t thread = 0; thread < whole.threads; ++thread)
    for (int64_t reg = 0; reg < whole.registers; ++reg)
      result->data[thread * whole.registers + reg] = (*input)->data[thread * (*input)->table->registers + from[reg]];
  define(op, op.getResult(), std::move(result));
  return success();
}

LogicalResult Interpreter::execExtract(tile::ExtractOp op) {
  FailureOr<FragmentRef> input = readable(op, op.getInput());
  if (failed(input))
    return failure();
  FragmentRef result = machine.newFragment(op.getType());
  const LayoutTable &from = *(*input)->table, &to = *result->table;
  // Registers pair up in the same way in every thread, since lanes and warps agree.
  std::vector<int64_t> source(to.registers, -1);
  for (int64_t reg = 0; reg < to.registers; ++reg) {
    emmy::math::Coordinates at = to.layout.coordinates(reg, 0, 0);
    for (size_t d = 0; d < at.size(); ++d)
      at[d] += op.getOffsets()[d];
    for (int64_t other = 0; other < from.registers && source[reg] < 0; ++other)
      if (from.layout.coordinates(other, 0, 0) == at)
        source[reg] = other;
    if (source[reg] < 0)
      return fail(op, "extract", "register " + Twine(reg) + " of the result is in no register of the same thread");
  }
  for (int64_t thread = 0; thread < to.threads; ++thread)
    for (int64_t reg = 0; reg < to.registers; ++reg)
      result->data[thread * to.registers + reg] = (*input)->data[thread * from.registers + source[reg]];
  define(op, op.getResult(), std::move(result));
  return success();
}
