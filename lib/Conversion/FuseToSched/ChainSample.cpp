// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Does a block of the fold matter when a condition is false for all of it? The body is evaluated on sample numbers, by the folders of
// its operations: from the initial values and from those after one block, a block without the condition must give back what it got.
#include "Chain.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace emmy::chain {

namespace {
/// Elements of a value: one for each sample along the fold's axis, or one.
using Samples = SmallVector<Attribute>;
constexpr unsigned kSamples = 2;

class Sampler {
public:
  Sampler(const Chain &chain, Operation *condition) : chain(chain), condition(condition), b(condition->getContext()) {}
  bool isNeutral();

private:
  std::optional<Samples> valueOf(Value value);
  std::optional<Samples> emit(Operation *op);
  std::optional<Attribute> evaluate(fuse::MapOp map, ArrayRef<Attribute> arguments);
  std::optional<Samples> runBlock(ArrayRef<Samples> carried, bool holds);
  Attribute number(Type type, double value);
  double nextNumber() { return 0.25 + 0.5 * (++drawn % 7); }

  const Chain &chain;
  Operation *condition;
  Builder b;
  bool conditionHolds = true;
  unsigned drawn = 0;
  DenseMap<Value, Samples> known;
};
} // namespace

Attribute Sampler::number(Type type, double value) {
  if (isa<FloatType>(type))
    return b.getFloatAttr(type, value);
  return b.getIntegerAttr(type, static_cast<int64_t>(value));
}

static double toDouble(Attribute attr) {
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  return static_cast<double>(cast<IntegerAttr>(attr).getInt());
}

std::optional<Attribute> Sampler::evaluate(fuse::MapOp map, ArrayRef<Attribute> arguments) {
  DenseMap<Value, Attribute> local;
  Block &block = map.getBody().front();
  for (auto [argument, attr] : llvm::zip(block.getArguments(), arguments))
    local[argument] = attr;
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() != 1)
      return std::nullopt;
    auto compare = dyn_cast<arith::CmpIOp>(op);
    if (&op == condition || (compare && compare.getPredicate() != arith::CmpIPredicate::eq)) {
      // Other comparisons hold: what is asked is what this one does alone.
      local[op.getResult(0)] = b.getBoolAttr(&op == condition ? conditionHolds : true);
      continue;
    }
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands()) {
      if (!local.count(operand))
        return std::nullopt;
      operands.push_back(local[operand]);
    }
    if (auto round = dyn_cast<arith::TruncFOp>(op)) { // folds only where it is exact
      local[round] = b.getFloatAttr(round.getType(), toDouble(operands[0]));
      continue;
    }
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)) || results.size() != 1)
      return std::nullopt;
    auto attr = dyn_cast<Attribute>(results[0]);
    local[op.getResult(0)] = attr ? attr : local.lookup(cast<Value>(results[0]));
    if (!local[op.getResult(0)])
      return std::nullopt;
  }
  return local.lookup(block.getTerminator()->getOperand(0));
}

/// The reduction of samples by the operation that two elements combine with.
static double combine(fuse::Combiner kind, double a, double b) {
  switch (kind) {
  case fuse::Combiner::add:
    return a + b;
  case fuse::Combiner::mul:
    return a * b;
  case fuse::Combiner::max:
  case fuse::Combiner::any:
    return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  default:
    return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  }
}

std::optional<Samples> Sampler::emit(Operation *op) {
  if (!op)
    return std::nullopt;
  auto type = cast<fuse::ValueType>(op->getResult(0).getType());
  unsigned count = type.hasAxis(chain.fold.getAxisAttr()) ? kSamples : 1;
  if (auto map = dyn_cast<fuse::MapOp>(op)) {
    SmallVector<Samples> inputs;
    for (Value input : map.getInputs()) {
      std::optional<Samples> samples = valueOf(input);
      if (!samples)
        return std::nullopt;
      inputs.push_back(*samples);
    }
    Samples made;
    for (unsigned i = 0; i < count; ++i) {
      SmallVector<Attribute> arguments;
      for (const Samples &input : inputs)
        arguments.push_back(input[input.size() > 1 ? i : 0]);
      std::optional<Attribute> element = evaluate(map, arguments);
      if (!element)
        return std::nullopt;
      made.push_back(*element);
    }
    return made;
  }
  Samples made;
  auto contract = dyn_cast<fuse::ContractOp>(op);
  auto reduce = dyn_cast<fuse::ReduceOp>(op);
  if (contract && count == 1) { // along the fold's axis: weights times other numbers
    auto *product = llvm::find_if(chain.values, [&](const ValueProduct &p) { return p.op == contract; });
    std::optional<Samples> weights = product != chain.values.end() ? valueOf(product->weights) : std::nullopt;
    if (!weights)
      return std::nullopt;
    double sum = 0;
    for (Attribute weight : *weights)
      sum += toDouble(weight) * nextNumber();
    return Samples{number(type.getElementType(), sum)};
  }
  if (reduce) {
    std::optional<Samples> input = valueOf(reduce.getInput());
    if (!input)
      return std::nullopt;
    double all = toDouble(input->front());
    for (Attribute element : ArrayRef<Attribute>(*input).drop_front())
      all = combine(reduce.getKind(), all, toDouble(element));
    return Samples{number(type.getElementType(), all)};
  }
  for (unsigned i = 0; i < count; ++i)
    made.push_back(number(type.getElementType(), nextNumber()));
  return made;
}

std::optional<Samples> Sampler::valueOf(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<Samples> samples = emit(value.getDefiningOp());
  if (samples)
    known[value] = *samples;
  return samples;
}

/// What a block yields, one element for each carried value.
std::optional<Samples> Sampler::runBlock(ArrayRef<Samples> carried, bool holds) {
  known.clear();
  conditionHolds = holds;
  Block &body = chain.fold.getBody().front();
  for (auto [argument, samples] : llvm::zip(body.getArguments(), carried))
    known[argument] = samples;
  Samples next;
  for (Value value : body.getTerminator()->getOperands()) {
    std::optional<Samples> samples = valueOf(value);
    if (!samples)
      return std::nullopt;
    next.push_back(samples->front());
  }
  return next;
}

bool Sampler::isNeutral() {
  SmallVector<Samples> start, later;
  for (Value init : chain.fold.getInits()) {
    std::optional<Samples> samples = valueOf(init);
    if (!samples)
      return false;
    start.push_back(*samples);
  }
  std::optional<Samples> after = runBlock(start, /*holds=*/true);
  if (!after)
    return false;
  for (Attribute element : *after)
    later.push_back({element});
  for (ArrayRef<Samples> state : {ArrayRef<Samples>(start), ArrayRef<Samples>(later)}) {
    std::optional<Samples> same = runBlock(state, /*holds=*/false);
    if (!same)
      return false;
    for (auto [before, element] : llvm::zip(state, *same))
      if (before.front() != element)
        return false;
  }
  return true;
}

bool isNeutralWithout(const Chain &chain, Operation *condition) { return Sampler(chain, condition).isNeutral(); }

} // namespace emmy::chain
