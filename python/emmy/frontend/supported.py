"""The ATen operations that `--emmy-import-torch` understands.

Names are `overload packet.overload` of the `aten` namespace. An operation that is not here is replaced by torch's own
decomposition where that leads to operations that are here; otherwise it runs eagerly or is an `UnsupportedOpError`.
"""

from __future__ import annotations

import torch
from torch._ops import OpOverload

__all__ = ["GROUPS", "SUPPORTED", "is_supported"]

_POINTWISE_UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh erf erfc exp exp2 expm1 floor isfinite isinf isnan log log10 "
    "log1p log2 logical_not neg reciprocal relu round rsqrt sigmoid sign silu sin sinh sqrt square tan tanh trunc "
    "zeros_like ones_like gelu hardtanh leaky_relu elu softplus mish hardsigmoid hardswish nan_to_num"
)

_POINTWISE_BINARY = """
    add.Tensor add.Scalar sub.Tensor sub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode
    rsub.Tensor rsub.Scalar pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar atan2 remainder.Tensor remainder.Scalar fmod.Tensor
    fmod.Scalar floor_divide maximum minimum
    eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar
    logical_and logical_or logical_xor bitwise_and.Tensor bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar
    bitwise_xor.Tensor bitwise_xor.Scalar where.self where.ScalarOther where.ScalarSelf where.Scalar clamp clamp.Tensor
    clamp_min clamp_min.Tensor clamp_max clamp_max.Tensor masked_fill.Scalar masked_fill.Tensor
    floor_divide.Scalar
"""

_CASTS = "_to_copy to.dtype to.dtype_layout to.device to.other type_as"

_REDUCTIONS = """
    sum sum.dim_IntList mean mean.dim amax amin max min max.dim min.dim argmax argmin prod prod.dim_int any any.dim any.dims all
    all.dim var.correction var.dim var std std.correction std.dim var var_mean var_mean.correction var_mean.dim logsumexp cumsum
"""

_COMPOSITES = """
    softmax.int _softmax log_softmax.int _log_softmax rms_norm _fused_rms_norm layer_norm native_layer_norm group_norm
    native_group_norm scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention
    _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention
    linear mm bmm addmm baddbmm matmul mv dot
"""

_VIEWS = """
    view _unsafe_view reshape flatten.using_ints unflatten.int transpose.int t permute expand expand_as squeeze squeeze.dim
    squeeze.dims unsqueeze slice.Tensor select.int narrow cat stack chunk split.Tensor split_with_sizes unbind.int
    constant_pad_nd pad roll flip repeat repeat_interleave.self_int triu tril movedim.int view_as broadcast_to numpy_T
    slice_scatter select_scatter copy
"""

_INDEXING = "embedding index_select gather index.Tensor index_copy index_put"

_CREATION = """
    arange arange.start arange.start_step full zeros ones full_like scalar_tensor new_zeros new_ones new_full empty.memory_format
    new_empty empty_like
"""

_SIZES = "sym_size.int sym_numel sym_stride.int"


def _overload(name: str) -> OpOverload:
    packet, _, overload = name.partition(".")
    result = getattr(getattr(torch.ops.aten, packet), overload or "default")
    assert isinstance(result, OpOverload)
    return result


# The table of docs/operations.md.
GROUPS = {
    "element-wise, one tensor": _POINTWISE_UNARY,
    "element-wise, several": _POINTWISE_BINARY,
    "casts": _CASTS,
    "reductions": _REDUCTIONS,
    "products, norms, attention": _COMPOSITES,
    "views and moves": _VIEWS,
    "indexing": _INDEXING,
    "creation": _CREATION,
    "sizes": _SIZES,
}

SUPPORTED: frozenset[OpOverload] = frozenset(_overload(name) for group in GROUPS.values() for name in group.split())


def is_supported(target: object) -> bool:
    """Whether the importer understands a call target (sizes computed in Python count as understood)."""
    return target in SUPPORTED
