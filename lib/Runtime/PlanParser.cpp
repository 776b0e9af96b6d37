// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed access to plan JSON, and the sections that describe data: symbols, arguments, buffers, outputs.

#include "PlanParser.h"

using llvm::StringRef;
using llvm::Twine;

namespace emmy::runtime {

static constexpr unsigned kMaxSymbols = 4096;
static const llvm::json::Object kEmptyObject;
static const llvm::json::Array kEmptyArray;

void PlanParser::fail(const Twine &message) {
  if (fault.empty())
    fault = (path.empty() ? Twine("plan: ") + message : Twine("plan: ") + path + ": " + message).str();
}

const llvm::json::Object &PlanParser::asObject(const Value &value) {
  if (const Object *object = value.getAsObject())
    return *object;
  fail("expected an object");
  return kEmptyObject;
}

const llvm::json::Array &PlanParser::arrayAt(const Object &object, StringRef key) {
  if (const Array *array = object.getArray(key))
    return *array;
  fail("expected a list '" + key + "'");
  return kEmptyArray;
}

std::string PlanParser::stringAt(const Object &object, StringRef key) {
  if (std::optional<StringRef> text = object.getString(key))
    return text->str();
  fail("expected a string '" + key + "'");
  return "";
}

int64_t PlanParser::asInteger(const Value &value, int64_t low, int64_t high) {
  std::optional<int64_t> integer = value.getAsInteger();
  if (integer && *integer >= low && *integer <= high)
    return *integer;
  fail("expected an integer from " + Twine(low) + " to " + Twine(high));
  return low;
}

int64_t PlanParser::integerAt(const Object &object, StringRef key, int64_t low, int64_t high) {
  if (const Value *value = object.get(key)) {
    Place place(*this, "." + key);
    return asInteger(*value, low, high);
  }
  fail("expected an integer '" + key + "'");
  return low;
}

int64_t PlanParser::integerAt(const Object &object, StringRef key, int64_t low, int64_t high, int64_t fallback) {
  return object.get(key) ? integerAt(object, key, low, high) : fallback;
}

Expr PlanParser::asExpr(const Value &value) {
  llvm::Expected<Expr> expr = Expr::parse(value, scope);
  if (expr)
    return *expr;
  fail(llvm::toString(expr.takeError()));
  return Expr();
}

Expr PlanParser::exprAt(const Object &object, StringRef key) {
  if (const Value *value = object.get(key)) {
    Place place(*this, "." + key);
    return asExpr(*value);
  }
  fail("expected an expression '" + key + "'");
  return Expr();
}

Expr PlanParser::exprAt(const Object &object, StringRef key, int64_t fallback) {
  return object.get(key) ? exprAt(object, key) : Expr(fallback);
}

std::vector<Expr> PlanParser::exprsAt(const Object &object, StringRef key, size_t maxCount) {
  std::vector<Expr> exprs;
  const Array &list = arrayAt(object, key);
  if (list.size() > maxCount)
    fail("expected at most " + Twine(maxCount) + " entries in '" + key + "'");
  for (const auto &[i, value] : llvm::enumerate(list)) {
    Place place(*this, "." + key + "[" + Twine(i) + "]");
    exprs.push_back(asExpr(value));
  }
  return exprs;
}

DType PlanParser::dtypeAt(const Object &object) {
  std::string name = stringAt(object, "dtype");
  std::optional<DType> dtype = parseDType(name);
  if (!dtype)
    fail("unknown dtype '" + Twine(name) + "'");
  return dtype.value_or(DType::F32);
}

unsigned PlanParser::asBuffer(const Value &value) {
  std::optional<int64_t> index = value.getAsInteger();
  if (index && *index >= 0 && *index < static_cast<int64_t>(plan.buffers.size()))
    return *index;
  if (index)
    fail("unknown buffer " + Twine(*index));
  else
    fail("expected a buffer number");
  return 0;
}

unsigned PlanParser::bufferAt(const Object &object, StringRef key) {
  if (const Value *value = object.get(key))
    return asBuffer(*value);
  fail("expected a buffer number '" + key + "'");
  return 0;
}

/// Strides default to those of a contiguous row-major tensor.
TensorSpec PlanParser::asTensor(const Object &object) {
  TensorSpec tensor;
  tensor.dtype = dtypeAt(object);
  tensor.sizes = exprsAt(object, "sizes", kMaxRank);
  if (object.get("strides")) {
    tensor.strides = exprsAt(object, "strides", kMaxRank);
    if (tensor.strides.size() != tensor.sizes.size())
      fail("expected as many strides as sizes");
    return tensor;
  }
  Value stride = 1;
  const Array &sizes = arrayAt(object, "sizes");
  for (size_t i = sizes.size(); i-- > 0;) {
    tensor.strides.insert(tensor.strides.begin(), asExpr(stride));
    stride = Array{"*", sizes[i], std::move(stride)};
  }
  return tensor;
}

SymbolSource PlanParser::readSymbol(const Object &object) {
  SymbolSource symbol;
  symbol.id = integerAt(object, "id", 0, kMaxSymbols - 1);
  symbol.arg = integerAt(object, "arg", 0, INT32_MAX);
  if (object.get("dim")) {
    symbol.dim = integerAt(object, "dim", 0, kMaxRank - 1);
  } else if (object.get("stride")) {
    symbol.kind = SymbolSource::Stride;
    symbol.dim = integerAt(object, "stride", 0, kMaxRank - 1);
  } else if (object.getBoolean("scalar").value_or(false)) {
    symbol.kind = SymbolSource::Scalar;
  } else {
    fail("expected 'dim', 'stride' or 'scalar'");
  }
  if (!object.get("range"))
    return symbol;
  const Array &range = arrayAt(object, "range");
  if (range.size() != 2) {
    fail("expected 'range' to be [low, high]");
    return symbol;
  }
  symbol.low = asInteger(range[0], INT64_MIN, INT64_MAX);
  symbol.high = asInteger(range[1], INT64_MIN, INT64_MAX);
  return symbol;
}

void PlanParser::readSymbols(const Object &root) {
  scope.symbols.resize(kMaxSymbols);
  for (const auto &[i, value] : llvm::enumerate(arrayAt(root, "symbols"))) {
    Place place(*this, "symbols[" + Twine(i) + "]");
    SymbolSource symbol = readSymbol(asObject(value));
    if (scope.symbols.test(symbol.id))
      fail("symbol s" + Twine(symbol.id) + " is defined twice");
    scope.symbols.set(symbol.id);
    plan.numSymbols = std::max(plan.numSymbols, symbol.id + 1);
    plan.symbols.push_back(symbol);
  }
}

void PlanParser::readArgs(const Object &root) {
  for (const auto &[i, value] : llvm::enumerate(arrayAt(root, "args"))) {
    Place place(*this, "args[" + Twine(i) + "]");
    const Object &object = asObject(value);
    ArgSpec arg;
    arg.name = object.getString("name").value_or("").str();
    if (object.get("scalar")) {
      std::string type = stringAt(object, "scalar");
      arg.kind = type == "f64" ? ArgSpec::Float : ArgSpec::Int;
      if (type != "f64" && type != "i64")
        fail("expected the scalar type 'i64' or 'f64', but got '" + Twine(type) + "'");
    } else {
      arg.tensor = asTensor(object);
      arg.align = integerAt(object, "align", 1, INT32_MAX, 1);
    }
    plan.args.push_back(std::move(arg));
  }
  checkSymbolSources();
}

void PlanParser::checkSymbolSources() {
  for (const auto &[i, symbol] : llvm::enumerate(plan.symbols)) {
    Place place(*this, "symbols[" + Twine(i) + "]");
    if (symbol.arg >= plan.args.size()) {
      fail("unknown argument " + Twine(symbol.arg));
      return;
    }
    const ArgSpec &arg = plan.args[symbol.arg];
    bool scalar = symbol.kind == SymbolSource::Scalar;
    if (arg.kind != (scalar ? ArgSpec::Int : ArgSpec::Tensor))
      fail("argument " + Twine(symbol.arg) + (scalar ? " is not an i64 scalar" : " is not a tensor"));
    else if (!scalar && symbol.dim >= arg.tensor.sizes.size())
      fail("argument " + Twine(symbol.arg) + " has no dimension " + Twine(symbol.dim));
  }
}

void PlanParser::readBuffers(const Object &root) {
  std::vector<BufferSpec> buffers;
  for (const auto &[i, value] : llvm::enumerate(arrayAt(root, "buffers"))) {
    Place place(*this, "buffers[" + Twine(i) + "]");
    const Object &object = asObject(value);
    BufferSpec buffer;
    if (object.get("arg")) {
      buffer.index = integerAt(object, "arg", 0, INT32_MAX);
      if (buffer.index >= plan.args.size() || plan.args[buffer.index].kind != ArgSpec::Tensor)
        fail("argument " + Twine(buffer.index) + " is not a tensor");
    } else if (object.get("output")) {
      buffer.kind = BufferSpec::Output;
      buffer.index = plan.outputBuffers.size();
      buffer.tensor = asTensor(object);
      plan.outputBuffers.push_back(i);
    } else if (object.getBoolean("temp").value_or(false)) {
      buffer.kind = BufferSpec::Temp;
      buffer.offset = exprAt(object, "offset");
      buffer.bytes = exprAt(object, "bytes");
    } else {
      fail("expected 'arg', 'output' or 'temp'");
    }
    buffers.push_back(std::move(buffer));
  }
  plan.buffers = std::move(buffers);
  scope.numBuffers = plan.buffers.size();
  plan.arenaBytes = exprAt(root, "arena_bytes", 0);
}

OutputSpec PlanParser::readOutput(const Value &value) {
  OutputSpec output;
  const Object *object = value.getAsObject();
  output.buffer = object ? bufferAt(*object, "alias_of") : asBuffer(value);
  if (!fault.empty())
    return output;
  const BufferSpec &buffer = plan.buffers[output.buffer];
  if (buffer.kind == BufferSpec::Temp)
    fail("a temporary cannot be an output");
  if (!object) {
    output.alias = output.whole = buffer.kind == BufferSpec::Arg;
    return output;
  }
  output.alias = true;
  output.whole = !object->get("sizes");
  output.view.dtype = buffer.kind == BufferSpec::Arg ? plan.args[buffer.index].tensor.dtype : buffer.tensor.dtype;
  if (output.whole)
    return output;
  output.view.sizes = exprsAt(*object, "sizes", kMaxRank);
  output.view.strides = exprsAt(*object, "strides", kMaxRank);
  if (output.view.strides.size() != output.view.sizes.size())
    fail("expected as many strides as sizes");
  output.offset = exprAt(*object, "offset", 0);
  return output;
}

void PlanParser::readOutputs(const Object &root) {
  for (const auto &[i, value] : llvm::enumerate(arrayAt(root, "outputs"))) {
    Place place(*this, "outputs[" + Twine(i) + "]");
    plan.outputs.push_back(readOutput(value));
  }
}

llvm::Expected<Plan> PlanParser::run(const Value &json) {
  const Object &root = asObject(json);
  if (integerAt(root, "version", 1, INT32_MAX) != 1)
    fail("this runtime reads version 1");
  plan.target = stringAt(root, "target");
  if (!plan.isCpu() && !StringRef(plan.target).starts_with("sm_"))
    fail("unknown target '" + Twine(plan.target) + "'");
  // Each section refers to the ones before it and relies on them.
  auto read = [&](auto section) {
    if (fault.empty())
      section();
  };
  read([&] { readSymbols(root); });
  read([&] { readArgs(root); });
  read([&] { readBuffers(root); });
  read([&] { readOutputs(root); });
  read([&] {
    Place place(*this, "steps");
    plan.steps = readSteps(arrayAt(root, "steps"), 0);
  });
  if (!fault.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), fault);
  return std::move(plan);
}

llvm::Expected<Plan> Plan::parse(StringRef json) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "plan: " + llvm::toString(value.takeError()));
  return PlanParser().run(*value);
}

} // namespace emmy::runtime
