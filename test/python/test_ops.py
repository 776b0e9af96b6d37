"""Every operation against eager PyTorch on the CPU target, in each floating-point type.

`PENDING` lists what the compiler cannot do yet; such a test must fail, so that an operation that starts to work is noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import emmy
import pytest
import torch
import torch.nn.functional as F
import torch.utils._pytree as pytree
from emmy._testing import assert_close_to_eager, reference64

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


@dataclass(frozen=True)
class Case:
    """A function over random inputs: shapes give floating-point tensors, tensors are taken as they are."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    positive: bool = False

    def make_inputs(self, dtype: torch.dtype) -> tuple[Any, ...]:
        torch.manual_seed(0)
        return tuple(self._make(value, dtype) for value in self.inputs)

    def _make(self, value: Any, dtype: torch.dtype) -> Any:
        if not isinstance(value, tuple):
            return value
        tensor = torch.randn(value)
        return (tensor.abs() + 0.1 if self.positive else tensor).to(dtype)


def _case(name: str, function: Callable[..., Any], *inputs: Any, positive: bool = False) -> Case:
    return Case(name, function, inputs, positive)


M = (5, 7)
T = (2, 3, 8)
IDS = torch.tensor([[0, 2, 1], [3, 1, 4]])
BOOL = torch.tensor([[True, False, True, True, False, True, False]] * 5)
# Whole rows at the least finite number, as Hugging Face hides padding.
PADDING = torch.zeros(6, 6).index_fill(0, torch.tensor([0, 3]), torch.finfo(torch.bfloat16).min)
NOTHING = torch.zeros(6, 6).index_fill(0, torch.tensor([0, 3]), -torch.inf)
CAUSAL4 = torch.ones(4, 4, dtype=torch.bool).tril()
Q, K = (1, 4, 6, 8), (1, 2, 6, 8)


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


UNARY = [
    _case("abs", torch.abs, M),
    _case("neg", torch.neg, M),
    _case("exp", torch.exp, M),
    _case("log", torch.log, M, positive=True),
    _case("sqrt", torch.sqrt, M, positive=True),
    _case("rsqrt", torch.rsqrt, M, positive=True),
    _case("reciprocal", torch.reciprocal, M, positive=True),
    _case("erf", torch.erf, M),
    _case("sin", torch.sin, M),
    _case("cos", torch.cos, M),
    _case("tanh", torch.tanh, M),
    _case("sigmoid", torch.sigmoid, M),
    _case("relu", torch.relu, M),
    _case("silu", F.silu, M),
    _case("gelu", F.gelu, M),
    _case("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), M),
    _case("floor", torch.floor, M),
    _case("ceil", torch.ceil, M),
    _case("round", torch.round, M),
    _case("trunc", torch.trunc, M),
    _case("sign", torch.sign, M),
    _case("square", torch.square, M),
    _case("exp2", torch.exp2, M),
    _case("log2", torch.log2, M, positive=True),
    _case("log1p", torch.log1p, M, positive=True),
    _case("softplus", F.softplus, M),
    _case("isnan", torch.isnan, M),
    _case("logical_not", lambda x: torch.logical_not(x > 0), M),
]

BINARY = [
    _case("add", torch.add, M, M),
    _case("add_alpha", lambda x, y: torch.add(x, y, alpha=2), M, M),
    _case("sub", torch.sub, M, M),
    _case("rsub", lambda x: 1 - x, M),
    _case("mul", torch.mul, M, M),
    _case("div", torch.div, M, M, positive=True),
    _case("div_floor", lambda x, y: torch.div(x, y, rounding_mode="floor"), M, M, positive=True),
    _case("add_scalar", lambda x: x + 1.5, M),
    _case("mul_scalar", lambda x: x * 3, M),
    _case("pow_scalar", lambda x: x**2, M),
    _case("pow_cube", lambda x: x**3, M),
    _case("pow_float", lambda x: x**0.7, M, positive=True),
    _case("pow_tensor", torch.pow, M, M, positive=True),
    _case("maximum", torch.maximum, M, M),
    _case("minimum", torch.minimum, M, M),
    _case("remainder", lambda x: x % 0.75, M),
    _case("compare", lambda x, y: (x < y, x <= y, x > y, x >= y, x == y, x != y), M, M),
    _case("logical", lambda x, y: (x > 0) & (y > 0) | ~(x > y), M, M),
    _case("where", lambda x, y: torch.where(x > y, x, y), M, M),
    _case("where_scalar", lambda x: torch.where(x > 0, x, 0.0), M),
    _case("clamp", lambda x: x.clamp(-0.5, 0.5), M),
    _case("clamp_min", lambda x: x.clamp(min=0.1), M),
    _case("masked_fill", lambda x: x.masked_fill(BOOL, -1e4), M),
    _case("broadcast_row", torch.add, M, (7,)),
    _case("broadcast_column", torch.mul, M, (5, 1)),
    _case("broadcast_both", torch.add, (5, 1), (1, 7)),
    _case("broadcast_scalar", torch.add, M, ()),
    _case("cast", lambda x: x.to(torch.float32) * 2, M),
    _case("cast_int", lambda x: (x * 4).to(torch.int32), M),
    _case("integers", lambda x: IDS * 2 + 1, M),
    _case("mixed_types", lambda x: x + torch.arange(7), M),
]

REDUCTIONS = [
    _case("sum", torch.sum, M),
    _case("sum_dim", lambda x: x.sum(1), M),
    _case("sum_first", lambda x: x.sum(0), M),
    _case("sum_dims_keep", lambda x: x.sum((0, 2), keepdim=True), T),
    _case("mean", lambda x: x.mean(-1), T),
    _case("mean_all", torch.mean, M),
    _case("amax", lambda x: x.amax(-1), T),
    _case("amin", lambda x: x.amin(0), T),
    _case("max", torch.max, M),
    _case("max_dim", lambda x: tuple(x.max(1)), M),
    _case("min_dim", lambda x: tuple(x.min(1, keepdim=True)), M),
    _case("argmax", lambda x: x.argmax(-1), M),
    _case("argmin_all", torch.argmin, M),
    _case("var", lambda x: x.var(-1), T),
    _case("var_population", lambda x: x.var((1, 2), unbiased=False), T),
    _case("std", lambda x: x.std(-1), T),
    _case("any", lambda x: (x > 0).any(-1), M),
    _case("all", lambda x: (x > 0).all(), M),
    _case("prod", lambda x: x.prod(1), M),
    _case("logsumexp", lambda x: x.logsumexp(-1), M),
    _case("cumsum", lambda x: x.cumsum(-1), M),
]

NORMS = [
    _case("softmax", lambda x: F.softmax(x, -1), M),
    _case("softmax_middle", lambda x: F.softmax(x, 1), T),
    _case("log_softmax", lambda x: F.log_softmax(x, -1), M),
    _case("rms_norm", lambda x, w: F.rms_norm(x, (8,), w), T, (8,)),
    _case("rms_norm_eps", lambda x, w: F.rms_norm(x, (8,), w, 1e-6), T, (8,)),
    _case("rms_norm_plain", lambda x: F.rms_norm(x, (8,)), T),
    _case("layer_norm", lambda x, w, b: F.layer_norm(x, (8,), w, b), T, (8,), (8,)),
    _case("layer_norm_plain", lambda x: F.layer_norm(x, (3, 8)), T),
    _case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), (2, 4, 6), (4,), (4,)),
    _case("rms_norm_hf", lambda x, w: w * (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, True) + 1e-6)).to(x.dtype), T, (8,)),
]

CONTRACTIONS = [
    _case("mm", torch.mm, (5, 7), (7, 6)),
    _case("mm_transposed", lambda x, y: x @ y.t(), (5, 7), (6, 7)),
    _case("bmm", torch.bmm, (2, 5, 7), (2, 7, 6)),
    _case("matmul_broadcast", torch.matmul, (2, 1, 5, 7), (3, 7, 6)),
    _case("matmul_vector", torch.matmul, (5, 7), (7,)),
    _case("dot", torch.dot, (7,), (7,)),
    _case("addmm", torch.addmm, (6,), (5, 7), (7, 6)),
    _case("addmm_scaled", lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2), (5, 6), (5, 7), (7, 6)),
    _case("linear", F.linear, (2, 3, 8), (6, 8)),
    _case("linear_bias", F.linear, (5, 8), (6, 8), (6,)),
    _case("einsum", lambda x, y: torch.einsum("bij,bkj->bik", x, y), (2, 5, 7), (2, 6, 7)),
    _case("einsum_outer", lambda x, y: torch.einsum("i,j->ij", x, y), (5,), (7,)),
    _case("gated_mlp", lambda x, g, u, d: F.linear(F.silu(F.linear(x, g)) * F.linear(x, u), d), T, (16, 8), (16, 8), (8, 16)),
]

ATTENTION = [
    _case("sdpa", F.scaled_dot_product_attention, Q, Q, Q),
    _case("sdpa_causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), Q, Q, Q),
    _case("sdpa_scale", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.2), Q, Q, Q),
    _case("sdpa_gqa", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), Q, K, K),
    _case(
        "sdpa_bool_mask",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=CAUSAL4),
        (1, 2, 4, 8),
        (1, 2, 4, 8),
        (1, 2, 4, 8),
    ),
    _case("sdpa_additive_mask", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), Q, Q, Q, (1, 1, 6, 6)),
    _case("sdpa_padding", lambda q: F.scaled_dot_product_attention(q, q, q, attn_mask=PADDING.to(q.dtype)), Q),
    _case("sdpa_low_rows", lambda q: F.scaled_dot_product_attention(q, q, q, attn_mask=(PADDING / 1e35).to(q.dtype)), Q),
    _case("sdpa_nothing", lambda q: F.scaled_dot_product_attention(q, q, q, attn_mask=NOTHING.to(q.dtype)), Q),
    _case("sdpa_hidden_rows", lambda q: F.scaled_dot_product_attention(q, q, q, attn_mask=NOTHING == 0), Q),
    _case("sdpa_no_keys", lambda q, k: F.scaled_dot_product_attention(q, k, k), Q, (1, 4, 0, 8)),
    _case("softmax_times_nothing", lambda q, k: F.softmax(q @ k.mT, -1) @ k, Q, (1, 4, 0, 8)),
    _case("softmax_padding", lambda q: F.softmax(q @ q.mT + PADDING.to(q.dtype), -1) @ q, Q),
    _case("sdpa_cross", F.scaled_dot_product_attention, (2, 4, 3, 8), (2, 4, 6, 8), (2, 4, 6, 16)),
    _case("attention_by_hand", lambda q, k, v: F.softmax(q @ k.transpose(-1, -2) * 0.35, -1) @ v, Q, Q, Q),
    _case("rope", lambda x, c, s: x * c + rotate_half(x) * s, (2, 4, 6, 8), (6, 8), (6, 8)),
]

VIEWS = [
    _case("view", lambda x: x.view(6, 8) + 1, T),
    _case("reshape_transposed", lambda x: x.transpose(0, 1).reshape(3, 16) + 1, T),
    _case("flatten", lambda x: x.flatten(1) * 2, T),
    _case("permute", lambda x: x.permute(2, 0, 1) + 1, T),
    _case("transpose_result", lambda x: x.transpose(0, 2), T),
    _case("expand", lambda x: x.expand(4, 5, 7) + 1, M),
    _case("squeeze", lambda x: x.unsqueeze(1).squeeze(1) + 1, M),
    _case("slice", lambda x: x[1:4, ::2] * 2, M),
    _case("slice_negative", lambda x: x[..., -3:-1] * 2, M),
    _case("select", lambda x: x[:, 2] + x[:, -1], M),
    _case("narrow", lambda x: x.narrow(1, 2, 3) + 1, M),
    _case("cat", lambda x, y: torch.cat([x, y, x], 1), M, (5, 3)),
    _case("stack", lambda x, y: torch.stack([x, y], 1), M, M),
    _case("split", lambda x: tuple(part * 2 for part in x.split([2, 4, 1], 1)), M),
    _case("chunk", lambda x: x.chunk(2, -1)[0] * x.chunk(2, -1)[1].sigmoid(), T),
    _case("unbind", lambda x: x.unbind(1)[0] + x.unbind(1)[2], T),
    _case("pad", lambda x: F.pad(x, (1, 2), value=3.0), M),
    _case("pad_both", lambda x: F.pad(x, (1, 0, 2, 1)), M),
    _case("roll", lambda x: x.roll(2, 1), M),
    _case("triu", lambda x: x.triu(1), M),
    _case("tril", lambda x: x.tril(), M),
    _case("flip", lambda x: x.flip(1), M),
    _case("repeat", lambda x: x.repeat(2, 3), M),
    _case("repeat_interleave", lambda x: x.repeat_interleave(2, 1), M),
]

INDEXING = [
    _case("embedding", lambda w: F.embedding(IDS, w), (6, 8)),
    _case("index_select", lambda x: x.index_select(1, IDS[0]), M),
    _case("gather", lambda x: x.gather(1, IDS), (2, 7)),
    _case("index", lambda x: x[IDS], (6, 8)),
    _case("arange", lambda x: x + torch.arange(7, device=x.device).to(x.dtype), M),
    _case("full", lambda x: x + torch.full((7,), 2.0, dtype=x.dtype), M),
    _case("causal_mask", lambda x: x.masked_fill(torch.arange(6)[:, None] < torch.arange(6)[None], -1e4), (6, 6)),
]

SHAPES = [
    _case("zero_dim", lambda x: x * 2 + 1, ()),
    _case("empty", lambda x: x * 2, (0, 7)),
    _case("empty_sum", lambda x: x.sum(0), (0, 7)),
    _case("size_one", lambda x: F.softmax(x, -1), (5, 1)),
    _case("several_results", lambda x: (x + 1, {"a": x * 2, "b": [x.sum()]}), M),
    _case("not_contiguous", lambda x: x.t().exp(), M),
    _case("odd_rows", lambda x: F.softmax(x * 2, -1).sum(-1), (3, 129)),
]

CASES = [*UNARY, *BINARY, *REDUCTIONS, *NORMS, *CONTRACTIONS, *ATTENTION, *VIEWS, *INDEXING, *SHAPES]

# Name of a case, or name and type, to the reason.
PENDING: dict[str, str] = {}


def parameters() -> list[Any]:
    rows = []
    for case in CASES:
        for name, dtype in DTYPES.items():
            reason = PENDING.get(case.name) or PENDING.get(f"{case.name}-{name}")
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            rows.append(pytest.param(case, dtype, id=f"{case.name}-{name}", marks=marks))
    return rows


def copied(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with copies for results: views of inputs would be PyTorch's own."""
    return lambda *inputs: pytree.tree_map(torch.clone, function(*inputs))


@pytest.mark.parametrize(("case", "dtype"), parameters())
def test_op(case: Case, dtype: torch.dtype) -> None:
    inputs = case.make_inputs(dtype)
    eager = case.function(*inputs)
    compiled = emmy.compile(copied(case.function), inputs, target="cpu", fullgraph=True)
    out = compiled(*inputs)
    exact = pytree.tree_map(
        lambda value, other: value.to(other.dtype) if not other.dtype.is_floating_point else value,
        reference64(case.function, inputs),
        eager,
    )
    assert_close_to_eager(out, eager, exact)
