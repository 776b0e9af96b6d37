// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Softmax, norms and attention in all spellings that PyTorch dispatches to.
#include "TorchImport.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;
using namespace emmy::graph::torch;

/// The operand is converted to the result's type first where a `dtype` asks for it (operand #2 an integer), not for half_to_float.
template <typename OpTy> static LogicalResult importSoftmax(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  Value input = call.tensor(0);
  if (call.has(2) && call.operands[2].kind == Item::Kind::Size)
    input = call.b.convert(input, type->getElementType());
  int64_t rank = call.rank(0);
  FailureOr<int64_t> dim = normalizeDim(call.op, call.integer(1), std::max<int64_t>(rank, 1));
  if (failed(dim))
    return failure();
  if (rank == 0)
    input = call.b.unsqueeze(input, 0);
  auto resultType = emmy::getTensorType(sizesOf(input), type->getElementType());
  Value result = OpTy::create(call.b.getBuilder(), call.b.getLoc(), resultType, input, *dim);
  return call.done(rank == 0 ? call.b.squeeze(result, 0) : result);
}

/// rms_norm(input, shape, weight, eps); without eps it is that of the compute type.
static LogicalResult importRmsNorm(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  bool isDouble = getElementType(call.tensor(0)).isF64();
  double eps = call.number(3, isDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon());
  OpBuilder &b = call.b.getBuilder();
  Value result = RmsNormOp::create(b, call.b.getLoc(), *type, call.tensor(0), call.tensor(2), call.sizes(1).size(), APFloat(eps));
  return call.done(result);
}

/// layer_norm(input, shape, weight, bias, eps, …)
static LogicalResult importLayerNorm(Call &call) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  Value result = LayerNormOp::create(call.b.getBuilder(), call.b.getLoc(), *type, call.tensor(0), call.tensor(2), call.tensor(3),
                                     call.sizes(1).size(), APFloat(call.number(4)));
  return call.done(result);
}

static LogicalResult buildGroupNorm(Call &call, int64_t groups, size_t factorsAt, double eps) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  Value result = GroupNormOp::create(call.b.getBuilder(), call.b.getLoc(), *type, call.tensor(0), call.tensor(factorsAt),
                                     call.tensor(factorsAt + 1), groups, APFloat(eps));
  return call.done(result);
}

/// group_norm(input, groups, weight, bias, eps, …)
static LogicalResult importGroupNorm(Call &call) { return buildGroupNorm(call, call.integer(1), 2, call.number(4)); }
/// native_group_norm(input, weight, bias, N, C, HxW, groups, eps)
static LogicalResult importNativeGroupNorm(Call &call) { return buildGroupNorm(call, call.integer(6), 1, call.number(7)); }

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Where the spellings of attention have their arguments; -1 where they have none.
struct AttentionArguments {
  int mask, dropout, causal, scale;
};
} // namespace

/// Leading sizes of 1 repeat along the query's, but for the heads.
static Value expandBatch(Call &call, Value value, const Sizes &query) {
  Sizes sizes = sizesOf(value);
  if (sizes.size() != query.size())
    return value;
  for (size_t i = 0; i + 3 < sizes.size(); ++i)
    if (isSize(sizes[i], 1))
      sizes[i] = query[i];
  return call.b.expand(value, sizes);
}

static LogicalResult buildAttention(Call &call, AttentionArguments at) {
  FailureOr<RankedTensorType> type = call.type();
  if (failed(type))
    return failure();
  if (call.number(at.dropout) != 0)
    return call.fail("drops elements at random; call eval() on the module");
  Sizes query = sizesOf(call.tensor(0));
  if (query.size() < 2)
    return call.fail("expects at least 2 dimensions");
  double scale = call.number(at.scale, std::numeric_limits<double>::quiet_NaN());
  if (!call.has(at.scale)) {
    auto width = dyn_cast<AffineConstantExpr>(query.back());
    if (!width)
      return call.fail("needs a scale or a known width");
    scale = 1.0 / std::sqrt(static_cast<double>(width.getValue()));
  }
  Value mask = at.mask < 0 ? Value() : call.tensor(at.mask);
  Value result = AttentionOp::create(call.b.getBuilder(), call.b.getLoc(), *type, call.tensor(0), expandBatch(call, call.tensor(1), query),
                                     expandBatch(call, call.tensor(2), query), mask, call.flag(at.causal), APFloat(scale));
  return call.done(result);
}

// (q, k, v, mask, dropout, causal, scale, enable_gqa)
static LogicalResult importAttention(Call &call) { return buildAttention(call, {3, 4, 5, 6}); }
// (q, k, v, dropout, causal, mask, scale)
static LogicalResult importFlashCpu(Call &call) { return buildAttention(call, {5, 3, 4, 6}); }
// (q, k, v, dropout, causal, return_debug_mask, scale)
static LogicalResult importFlash(Call &call) { return buildAttention(call, {-1, 3, 4, 6}); }
// (q, k, v, bias, compute_log_sumexp, dropout, causal, scale)
static LogicalResult importEfficient(Call &call) { return buildAttention(call, {3, 5, 6, 7}); }
// (q, k, v, bias, compute_log_sumexp, dropout, causal, return_debug_mask, scale)
static LogicalResult importCudnn(Call &call) { return buildAttention(call, {3, 5, 6, 8}); }

void torch::addNorms(Table &table) {
  table["aten.softmax.int"] = {"Ti/I", importSoftmax<SoftmaxOp>};
  table["aten._softmax"] = {"Ti/b", importSoftmax<SoftmaxOp>};
  table["aten.log_softmax.int"] = {"Ti/I", importSoftmax<LogSoftmaxOp>};
  table["aten._log_softmax"] = {"Ti/b", importSoftmax<LogSoftmaxOp>};
  table["aten.rms_norm"] = {"Tl/tN", importRmsNorm};
  table["aten._fused_rms_norm"] = {"Tltn", importRmsNorm};
  table["aten.layer_norm"] = {"Tlttn/b", importLayerNorm};
  table["aten.native_layer_norm"] = {"Tlttn", importLayerNorm};
  table["aten.group_norm"] = {"Tittn/b", importGroupNorm};
  table["aten.native_group_norm"] = {"Tttsssin", importNativeGroupNorm};
  table["aten.scaled_dot_product_attention"] = {"TTTtnb/Nb", importAttention};
  table["aten._scaled_dot_product_flash_attention_for_cpu"] = {"TTT/nbtN", importFlashCpu};
  table["aten._scaled_dot_product_flash_attention"] = {"TTT/nbbN", importFlash};
  table["aten._scaled_dot_product_efficient_attention"] = {"TTTtb/nbN", importEfficient};
  table["aten._scaled_dot_product_cudnn_attention"] = {"TTTtb/nbbN", importCudnn};
}
