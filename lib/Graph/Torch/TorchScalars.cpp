// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Constants, lists and arithmetic on sizes: they leave no op behind.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

static Attribute getValueAttr(Call &call) { return call.op->getAttr("value"); }

static LogicalResult importInt(Call &call) {
  auto value = dyn_cast_or_null<IntegerAttr>(getValueAttr(call));
  return value ? call.done(Item::of(call.b.sizeOf(value.getInt()))) : call.fail("needs an integer 'value'");
}

static LogicalResult importFloat(Call &call) {
  auto value = dyn_cast_or_null<FloatAttr>(getValueAttr(call));
  Item item;
  item.kind = Item::Kind::Float;
  item.number = value ? value.getValueAsDouble() : 0;
  return value ? call.done(item) : call.fail("needs a float 'value'");
}

static LogicalResult importBool(Call &call) {
  auto value = dyn_cast_or_null<IntegerAttr>(getValueAttr(call));
  Item item;
  item.kind = Item::Kind::Bool;
  item.flag = value && !value.getValue().isZero();
  return value ? call.done(item) : call.fail("needs a boolean 'value'");
}

static LogicalResult importText(Call &call) {
  auto value = dyn_cast_or_null<StringAttr>(getValueAttr(call));
  Item item;
  item.kind = Item::Kind::Text;
  item.text = value ? value.str() : "";
  return call.done(item);
}

static LogicalResult importNone(Call &call) { return call.done(Item()); }

static LogicalResult importList(Call &call) {
  Item item;
  item.kind = Item::Kind::List;
  item.items = call.operands;
  return call.done(item);
}

static LogicalResult importUnpack(Call &call) {
  call.results = call.operands[0].items;
  return success();
}

static LogicalResult importGetItem(Call &call) {
  auto &items = call.operands[0].items;
  FailureOr<int64_t> index = normalizeDim(call.op, call.integer(1), items.size());
  return failed(index) ? failure() : call.done(items[*index]);
}

static LogicalResult importSize(Call &call) {
  FailureOr<int64_t> dim = call.dim(1, call.rank(0));
  return failed(dim) ? failure() : call.done(Item::of(sizesOf(call.tensor(0))[*dim]));
}

static LogicalResult importNumel(Call &call) {
  AffineExpr count = call.b.sizeOf(1);
  for (AffineExpr size : sizesOf(call.tensor(0)))
    count = count * size;
  return call.done(Item::of(count));
}

static LogicalResult importTensor(Call &call) { return call.done(call.value(0)); }

static LogicalResult importAdd(Call &call) { return call.done(Item::of(call.size(0) + call.size(1))); }
static LogicalResult importSub(Call &call) { return call.done(Item::of(call.size(0) - call.size(1))); }
static LogicalResult importMul(Call &call) { return call.done(Item::of(call.size(0) * call.size(1))); }
static LogicalResult importNeg(Call &call) { return call.done(Item::of(-call.size(0))); }

static LogicalResult importDivOrMod(Call &call) {
  if (isSize(call.size(1), 0))
    return call.fail("divides by zero");
  bool isMod = !call.op->getName().getStringRef().contains("floordiv");
  return call.done(Item::of(isMod ? call.size(0) % call.size(1) : call.size(0).floorDiv(call.size(1))));
}

void torch::addScalars(Table &table) {
  table["constant.int"] = {"", importInt};
  table["constant.float"] = {"", importFloat};
  table["constant.bool"] = {"", importBool};
  table["constant.str"] = {"", importText};
  table["constant.device"] = {"", importText};
  table["constant.none"] = {"", importNone};
  table["prim.ListConstruct"] = {"*", importList};
  table["prim.ListUnpack"] = {"v", importUnpack};
  table["aten.__getitem__.t"] = {"xi", importGetItem};
  table["aten.size.int"] = {"Ti", importSize};
  table["aten.sym_size.int"] = {"Ti", importSize};
  table["aten.numel"] = {"T", importNumel};
  table["aten.sym_numel"] = {"T", importNumel};
  table["prim.NumToTensor.Scalar"] = {"n", importTensor};
  table["aten.scalar_tensor"] = {"n/xxxx", importTensor};
  table["aten.add.int"] = {"ss", importAdd};
  table["aten.sub.int"] = {"ss", importSub};
  table["aten.mul.int"] = {"ss", importMul};
  table["aten.neg.int"] = {"s", importNeg};
  table["aten.floordiv.int"] = {"ss", importDivOrMod};
  table["aten.remainder.int"] = {"ss", importDivOrMod};
  table["aten.fmod.int"] = {"ss", importDivOrMod}; // of sizes, which are not negative
}
