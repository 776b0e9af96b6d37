// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pointwise ops of the torch dialect: arithmetic, comparison, activations, casts.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

static LogicalResult finish(Call &call, Function function, ArrayRef<Value> operands) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  for (Value operand : operands)
    if (!broadcasts(cast<RankedTensorType>(operand.getType()), *type))
      return call.fail("has an operand of type " + describe(operand.getType()) + " that does not broadcast to " + describe(*type));
  Value result = PointwiseOp::create(call.b.getBuilder(), call.b.getLoc(), *type, function, operands);
  return call.done(result);
}

/// The entry's function of all operands.
static LogicalResult importPointwise(Call &call) {
  SmallVector<Value> operands;
  for (size_t i = 0; i < call.operands.size(); ++i)
    operands.push_back(call.value(i));
  return finish(call, call.entry.function, operands);
}

/// `add`, `sub`: the factor of the second operand is most often 1.
static LogicalResult importSum(Call &call) {
  SmallVector<Value> operands{call.value(0), call.value(1)};
  if (call.has(2) && (call.operands[2].kind == Item::Kind::Float || call.operands[2].getInteger() != 1))
    operands.push_back(call.value(2));
  return finish(call, call.entry.function, operands);
}

static LogicalResult importReverseSub(Call &call) {
  SmallVector<Value> operands{call.value(1), call.value(0)};
  if (call.has(2) && (call.operands[2].kind == Item::Kind::Float || call.operands[2].getInteger() != 1))
    operands.push_back(call.value(2));
  return finish(call, Function::sub, operands);
}

static LogicalResult importDivMode(Call &call) {
  StringRef mode = call.text(2);
  Function function = mode == "floor" ? Function::div_floor : mode == "trunc" ? Function::div_trunc : Function::div;
  if (!mode.empty() && function == Function::div)
    return call.fail("has rounding mode '" + mode + "', which is neither 'floor' nor 'trunc'");
  return finish(call, function, {call.value(0), call.value(1)});
}

static LogicalResult importClamp(Call &call) {
  if (call.has(1) && call.has(2))
    return finish(call, Function::clamp, {call.value(0), call.value(1), call.value(2)});
  if (call.has(1))
    return finish(call, Function::maximum, {call.value(0), call.value(1)});
  if (call.has(2))
    return finish(call, Function::minimum, {call.value(0), call.value(2)});
  return call.fail("needs a bound");
}

static LogicalResult importMaskedFill(Call &call) {
  return finish(call, Function::where, {call.value(1), call.value(2), call.value(0)});
}

static LogicalResult importGelu(Call &call) {
  return finish(call, call.text(1) == "tanh" ? Function::gelu_tanh : Function::gelu, {call.value(0)});
}

/// Missing replacements are 0 and the type's largest and least numbers.
static LogicalResult importNanToNum(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  auto floating = dyn_cast<FloatType>(type->getElementType());
  if (!floating)
    return call.done(call.value(0));
  double most = APFloat::getLargest(floating.getFloatSemantics()).convertToDouble();
  Type f64 = call.b.getBuilder().getF64Type();
  auto replacement = [&](size_t i, double otherwise) { return call.b.constant(f64, call.number(i, otherwise)); };
  return finish(call, Function::nan_to_num, {call.value(0), replacement(1, 0), replacement(2, most), replacement(3, -most)});
}

static LogicalResult importCast(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  if (type->getElementType() == getElementType(call.tensor(0)))
    return call.done(call.tensor(0));
  return finish(call, Function::cast, {call.tensor(0)});
}

static LogicalResult importIdentity(Call &call) { return call.done(call.tensor(0)); }

static LogicalResult importDropout(Call &call) {
  return call.flag(2) ? call.fail("drops elements at random; call eval() on the module") : call.done(call.tensor(0));
}

void torch::addPointwise(Table &table) {
  static constexpr std::pair<StringLiteral, Function> unary[] = {
      {"abs", Function::abs},           {"neg", Function::neg},         {"sign", Function::sign},           {"square", Function::square},
      {"sqrt", Function::sqrt},         {"rsqrt", Function::rsqrt},     {"exp", Function::exp},             {"exp2", Function::exp2},
      {"expm1", Function::expm1},       {"log", Function::log},         {"log2", Function::log2},           {"log10", Function::log10},
      {"log1p", Function::log1p},       {"sin", Function::sin},         {"cos", Function::cos},             {"tan", Function::tan},
      {"asin", Function::asin},         {"acos", Function::acos},       {"atan", Function::atan},           {"sinh", Function::sinh},
      {"cosh", Function::cosh},         {"tanh", Function::tanh},       {"asinh", Function::asinh},         {"acosh", Function::acosh},
      {"atanh", Function::atanh},       {"erf", Function::erf},         {"erfc", Function::erfc},           {"sigmoid", Function::sigmoid},
      {"relu", Function::relu},         {"silu", Function::silu},       {"mish", Function::mish},           {"floor", Function::floor},
      {"ceil", Function::ceil},         {"round", Function::round},     {"trunc", Function::trunc},         {"isnan", Function::isnan},
      {"isinf", Function::isinf},       {"isfinite", Function::isfinite}, {"hardswish", Function::hardswish}, {"reciprocal", Function::reciprocal},
      {"hardsigmoid", Function::hardsigmoid}, {"logical_not", Function::logical_not}, {"bitwise_not", Function::bitwise_not}};
  for (auto [name, function] : unary)
    table[("aten." + name).str()] = {"T", importPointwise, function};

  static constexpr std::pair<StringLiteral, Function> binary[] = {
      {"mul", Function::mul}, {"div", Function::div}, {"remainder", Function::remainder}, {"fmod", Function::fmod}, {"eq", Function::eq},
      {"ne", Function::ne},   {"lt", Function::lt},   {"le", Function::le},               {"gt", Function::gt},     {"ge", Function::ge},
      {"bitwise_and", Function::bitwise_and}, {"bitwise_or", Function::bitwise_or}, {"bitwise_xor", Function::bitwise_xor}};
  for (auto [name, function] : binary) {
    table[("aten." + name + ".Tensor").str()] = {"TT", importPointwise, function};
    table[("aten." + name + ".Scalar").str()] = {"Tn", importPointwise, function};
  }
  static constexpr std::pair<StringLiteral, Function> plain[] = {
      {"atan2", Function::atan2}, {"maximum", Function::maximum}, {"minimum", Function::minimum}, {"floor_divide", Function::div_floor},
      {"logical_and", Function::logical_and}, {"logical_or", Function::logical_or}, {"logical_xor", Function::logical_xor}};
  for (auto [name, function] : plain)
    table[("aten." + name).str()] = {"TT", importPointwise, function};
  table["aten.floor_divide.Scalar"] = {"Tn", importPointwise, Function::div_floor};
  table["aten.pow.Tensor_Tensor"] = {"TT", importPointwise, Function::pow};
  table["aten.pow.Tensor_Scalar"] = {"Tn", importPointwise, Function::pow};
  table["aten.pow.Scalar"] = {"nT", importPointwise, Function::pow};
  table["aten.add.Tensor"] = {"TT/n", importSum, Function::add};
  table["aten.add.Scalar"] = {"Tn/n", importSum, Function::add};
  table["aten.sub.Tensor"] = {"TT/n", importSum, Function::sub};
  table["aten.sub.Scalar"] = {"Tn/n", importSum, Function::sub};
  table["aten.rsub.Tensor"] = {"TT/n", importReverseSub};
  table["aten.rsub.Scalar"] = {"Tn/n", importReverseSub};
  table["aten.div.Tensor_mode"] = {"TTS", importDivMode};
  table["aten.div.Scalar_mode"] = {"TnS", importDivMode};

  table["aten.where.self"] = {"TTT", importPointwise, Function::where};
  table["aten.where.ScalarOther"] = {"TTn", importPointwise, Function::where};
  table["aten.where.ScalarSelf"] = {"TnT", importPointwise, Function::where};
  table["aten.where.Scalar"] = {"Tnn", importPointwise, Function::where};
  table["aten.clamp"] = {"TN/N", importClamp};
  table["aten.clamp.Tensor"] = {"Tt/t", importClamp};
  table["aten.clamp_min"] = {"Tn", importPointwise, Function::maximum};
  table["aten.clamp_min.Tensor"] = {"TT", importPointwise, Function::maximum};
  table["aten.clamp_max"] = {"Tn", importPointwise, Function::minimum};
  table["aten.clamp_max.Tensor"] = {"TT", importPointwise, Function::minimum};
  table["aten.hardtanh"] = {"Tnn", importPointwise, Function::clamp};
  table["aten.leaky_relu"] = {"Tn", importPointwise, Function::leaky_relu};
  table["aten.elu"] = {"Tnnn", importPointwise, Function::elu};
  table["aten.softplus"] = {"Tnn", importPointwise, Function::softplus};
  table["aten.gelu"] = {"T/S", importGelu};
  table["aten.nan_to_num"] = {"T/NNN", importNanToNum};
  table["aten.masked_fill.Scalar"] = {"TTn", importMaskedFill};
  table["aten.masked_fill.Tensor"] = {"TTT", importMaskedFill};

  for (StringRef name : {"_to_copy", "to.dtype", "to.dtype_layout", "to.device", "to.other", "to.prim_Device", "type_as"})
    table[("aten." + name).str()] = {"T/xxxxxxx", importCast};
  for (StringRef name : {"clone", "contiguous", "detach", "alias", "lift_fresh_copy"})
    table[("aten." + name).str()] = {"T/x", importIdentity};
  table["aten.dropout"] = {"Tnb", importDropout};
}
