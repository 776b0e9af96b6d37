// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Contents and references of a scenario's buffers, computed in double.
#include "Machine.h"
#include "Scenario.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <random>
#include <set>

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;

using Elements = std::vector<double>;

static double toDouble(Format format, Number value) { return isFloat(format) ? value.real : static_cast<double>(value.integer); }

static Number fromDouble(Format format, double value) {
  return isFloat(format) ? ofReal(roundTo(format, value)) : ofInteger(static_cast<int64_t>(value));
}

static Elements toElements(const ScenarioBuffer &buffer, ArrayRef<uint8_t> bytes) {
  Elements elements(buffer.type.getNumElements());
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = toDouble(buffer.format, load(buffer.format, &bytes[i * byteSize(buffer.format)]));
  return elements;
}

std::vector<uint8_t> simulator::fillBuffer(const ScenarioBuffer &buffer) {
  const int64_t size = byteSize(buffer.format);
  std::vector<uint8_t> bytes(buffer.type.getNumElements() * size, 0xff);
  auto [kind, seed] = StringRef(buffer.fill).split(' ');
  uint64_t number = 0;
  (void)seed.getAsInteger(10, number);
  std::mt19937_64 random(number);
  for (int64_t i = 0; !kind.empty() && i < buffer.type.getNumElements(); ++i) {
    double value = 0;
    if (kind == "iota")
      value = i % 256;
    else if (kind == "random") // multiples of 1/64 in [-1, 1), exact in every float format but the 8-bit ones
      value = isFloat(buffer.format) ? static_cast<double>(random() % 128) / 64 - 1 : static_cast<double>(random() % 100);
    store(buffer.format, fromDouble(buffer.format, value), &bytes[i * size]);
  }
  return bytes;
}

namespace {
/// A matrix view of a buffer: all but the last dimension are rows.
struct View {
  Elements elements;
  int64_t rows, columns;
};
} // namespace

static View viewOf(const ScenarioBuffer &buffer, ArrayRef<uint8_t> bytes) {
  ArrayRef<int64_t> shape = buffer.type.getShape();
  if (shape.empty())
    return {toElements(buffer, bytes), 1, 1};
  int64_t rows = 1;
  for (int64_t size : shape.drop_back())
    rows *= size;
  return {toElements(buffer, bytes), rows, shape.back()};
}

static Elements matmul(const View &a, const View &b) {
  Elements result(a.rows * b.rows, 0);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.rows; ++j)
      for (int64_t k = 0; k < a.columns; ++k)
        result[i * b.rows + j] += a.elements[i * a.columns + k] * b.elements[j * b.columns + k];
  return result;
}

static Elements softmax(const View &a) {
  Elements result(a.elements.size());
  for (int64_t i = 0; a.columns && i < a.rows; ++i) {
    const auto row = a.elements.begin() + i * a.columns;
    const double top = *std::max_element(row, row + a.columns);
    double sum = 0;
    for (int64_t j = 0; j < a.columns; ++j)
      sum += result[i * a.columns + j] = std::exp(row[j] - top);
    for (int64_t j = 0; j < a.columns; ++j)
      result[i * a.columns + j] /= sum;
  }
  return result;
}

static Elements rowSum(const View &a) {
  Elements result(a.rows, 0);
  for (size_t i = 0; i < a.elements.size(); ++i)
    result[i / a.columns] += a.elements[i];
  return result;
}

static Elements transpose(const View &a) {
  Elements result(a.elements.size());
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j)
      result[j * a.rows + i] = a.elements[i * a.columns + j];
  return result;
}

static Elements add(const View &a, const View &b) {
  Elements result = a.elements;
  for (size_t i = 0; i < result.size(); ++i)
    result[i] += b.elements[i];
  return result;
}

/// softmax(Q·K^T / sqrt(d)) · V for one head; a causal query sees no key of a larger index.
static Elements attention(const View &q, const View &k, const View &v, bool causal) {
  View weights{matmul(q, k), q.rows, k.rows};
  for (auto [i, score] : llvm::enumerate(weights.elements)) {
    score /= std::sqrt(static_cast<double>(q.columns));
    if (causal && static_cast<int64_t>(i) % weights.columns > static_cast<int64_t>(i) / weights.columns)
      score = -std::numeric_limits<double>::infinity();
  }
  weights.elements = softmax(weights);
  return matmul(weights, View{transpose(v), v.columns, v.rows});
}

/// Nothing if the text names no known reference, or one that does not fit its operands. There are `count` buffers to view.
static std::optional<Elements> reference(StringRef text, size_t size, size_t count, llvm::function_ref<View(size_t)> view) {
  SmallVector<StringRef> words;
  text.split(words, ' ');
  const StringRef kind = words.front();
  SmallVector<double> numbers;
  for (StringRef word : ArrayRef(words).drop_front())
    if (double number; !word.getAsDouble(number))
      numbers.push_back(number);
  if (kind == "constant" && numbers.size() == 1)
    return Elements(size, numbers[0]);
  if (llvm::any_of(numbers, [count](double number) { return number < 0 || number >= static_cast<double>(count); }))
    return std::nullopt;
  const auto operand = [&](size_t i) { return view(static_cast<size_t>(numbers[i])); };
  const auto agree = [&](size_t i, size_t j) { return operand(i).columns == operand(j).columns; };
  if (kind == "same" && numbers.size() == 1)
    return operand(0).elements;
  if (kind == "transpose" && numbers.size() == 1)
    return transpose(operand(0));
  if (kind == "softmax" && numbers.size() == 1)
    return softmax(operand(0));
  if (kind == "row_sum" && numbers.size() == 1)
    return rowSum(operand(0));
  if (kind == "add" && numbers.size() == 2 && operand(0).elements.size() == operand(1).elements.size())
    return add(operand(0), operand(1));
  if (kind == "matmul_nt" && numbers.size() == 2 && agree(0, 1))
    return matmul(operand(0), operand(1));
  if ((kind == "attention" || kind == "causal_attention") && numbers.size() == 3 && agree(0, 1) && operand(1).rows == operand(2).rows)
    return attention(operand(0), operand(1), operand(2), kind == "causal_attention");
  return std::nullopt;
}

/// Relative size of half a unit in the last place, with room for sums.
static double tolerance(Format format) {
  switch (format) {
  case Format::F64:
    return 1e-12;
  case Format::F32:
    return 1e-5;
  case Format::F16:
    return std::ldexp(1, -10);
  case Format::BF16:
    return std::ldexp(1, -7);
  case Format::F8E4M3FN:
  case Format::F8E5M2:
    return std::ldexp(1, -2);
  default:
    return 0;
  }
}

/// With digits enough to tell two f32 apart.
static std::string exactly(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

LogicalResult simulator::checkExpectation(const Scenario &scenario, size_t index, ArrayRef<Buffer> buffers) {
  const ScenarioBuffer &buffer = scenario.buffers[index];
  const Elements actual = toElements(buffer, buffers[index].bytes);
  if (actual.empty()) // and so is whatever it should be
    return success();
  // What nothing wrote may look right by chance, here and in the reference.
  std::set<size_t> used = {index};
  const auto view = [&](size_t i) {
    used.insert(i);
    return viewOf(scenario.buffers[i], buffers[i].bytes);
  };
  const std::optional<Elements> expected = reference(buffer.expect, actual.size(), buffers.size(), view);
  if (!expected || expected->size() != actual.size())
    return headerError(scenario.op) << "expects a reference of " << actual.size() << " elements, but got '" << buffer.expect << "'";
  for (size_t i : used)
    if (!buffers[i].unwritten.empty())
      return headerError(scenario.op) << "writes no element " << buffers[i].unwritten.front().first / byteSize(scenario.buffers[i].format)
                                      << " of buffer #" << i << ", which it starts without";
  for (size_t i = 0; i < actual.size(); ++i) {
    const double want = (*expected)[i], got = actual[i];
    const bool same = std::isnan(want) ? std::isnan(got) : std::fabs(got - want) <= tolerance(buffer.format) * (1 + std::fabs(want));
    if (!same)
      return headerError(scenario.op) << "gives " << exactly(got) << " at element " << i << " of buffer #" << index << ", but expected "
                                      << exactly(want);
  }
  return success();
}

void simulator::dumpBuffer(const Scenario &scenario, size_t index, const Buffer &buffer, llvm::raw_ostream &os) {
  os << "// buffer #" << index << ":";
  const int64_t size = byteSize(scenario.buffers[index].format);
  auto range = buffer.unwritten.begin();
  for (auto [i, value] : llvm::enumerate(toElements(scenario.buffers[index], buffer.bytes))) {
    const int64_t first = i * size;
    while (range != buffer.unwritten.end() && range->second < first)
      ++range;
    if (range != buffer.unwritten.end() && range->first < first + size)
      os << " unwritten";
    else
      os << ' ' << llvm::formatv("{0}", value);
  }
  os << '\n';
  os.flush(); // before what others print
}
