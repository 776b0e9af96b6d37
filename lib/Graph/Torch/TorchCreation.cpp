// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that make tensors from numbers.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

/// A tensor of the declared type filled with a tensor of no dimensions.
static LogicalResult fill(Call &call, Value value) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  Value element;
  if (Attribute splat = getSplat(value); splat && isa<FloatAttr>(splat))
    element = call.b.constant(type->getElementType(), cast<FloatAttr>(splat).getValueAsDouble());
  else
    element = call.b.convert(value, type->getElementType());
  return call.done(call.b.expand(element, emmy::getSizes(*type)));
}

static LogicalResult fillNumber(Call &call, int64_t number) {
  FailureOr<RankedTensorType> type = call.type();
  return failed(type) ? failure() : fill(call, call.b.integer(call.b.getBuilder().getI64Type(), number));
}

static LogicalResult importZeros(Call &call) { return fillNumber(call, 0); }
static LogicalResult importOnes(Call &call) { return fillNumber(call, 1); }
static LogicalResult importFull(Call &call) { return fill(call, call.value(1)); }
static LogicalResult importNewFull(Call &call) { return fill(call, call.value(2)); }

/// start + step·index, computed in the result's type.
static LogicalResult buildRange(Call &call, Value start, Value step) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type) || type->getRank() != 1)
    return failed(type) ? failure() : call.fail("makes a tensor of one dimension");
  Type element = type->getElementType(), compute = getComputeType(element);
  Value index = call.b.indexAlong(0, 1, emmy::getSizes(*type)[0]);
  Value result = call.b.map(element, {index, start, step}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    Value scaled = s.mul(s.convert(x[0], compute), s.convert(x[2], compute));
    return s.convert(s.add(s.convert(x[1], compute), scaled), element);
  });
  return call.done(result);
}

static LogicalResult importRange(Call &call) {
  Type i64 = call.b.getBuilder().getI64Type();
  bool hasStart = call.entry.schema.starts_with("nn"), hasStep = call.entry.schema.starts_with("nnn");
  return buildRange(call, hasStart ? call.value(0) : call.b.integer(i64, 0), hasStep ? call.value(2) : call.b.integer(i64, 1));
}

void torch::addCreation(Table &table) {
  for (StringRef name : {"zeros", "empty.memory_format"})
    table[("aten." + name).str()] = {"l/xxxxx", importZeros};
  for (StringRef name : {"zeros_like", "empty_like"})
    table[("aten." + name).str()] = {"T/xxxxx", importZeros};
  for (StringRef name : {"new_zeros", "new_empty"})
    table[("aten." + name).str()] = {"Tl/xxxx", importZeros};
  table["aten.ones"] = {"l/xxxx", importOnes};
  table["aten.ones_like"] = {"T/xxxxx", importOnes};
  table["aten.new_ones"] = {"Tl/xxxx", importOnes};
  table["aten.full"] = {"ln/xxxx", importFull};
  table["aten.full_like"] = {"Tn/xxxxx", importFull};
  table["aten.new_full"] = {"Tln/xxxx", importNewFull};
  table["aten.arange"] = {"n/xxxx", importRange};
  table["aten.arange.start"] = {"nn/xxxx", importRange};
  table["aten.arange.start_step"] = {"nnn/xxxx", importRange};
}
