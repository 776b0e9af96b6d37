"""The examples that every target must run: RMSNorm, linear, softmax, attention, a gated MLP and a decoder layer like Qwen3's.

Each takes tensors with a sequence length in them, which may be symbolic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES", "Example", "Norm", "Shape"]


@dataclass(frozen=True)
class Shape:
    """Widths of a model; `head` is the size of one attention head."""

    batch: int = 2
    hidden: int = 1024
    inner: int = 3072
    heads: int = 16
    kv_heads: int = 8
    head: int = 128


class Norm(nn.Module):
    """As Hugging Face's models write it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class Softmax(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.softmax(self.dim)


class Attention(nn.Module):
    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.causal = causal

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=True)


class GatedMLP(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate = nn.Linear(shape.hidden, shape.inner, bias=False)
        self.up = nn.Linear(shape.hidden, shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, shape.hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class DecoderLayer(nn.Module):
    """Norms of queries and keys, rotary positions, grouped keys and values, a gated MLP."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.q = nn.Linear(shape.hidden, shape.heads * shape.head, bias=False)
        self.k = nn.Linear(shape.hidden, shape.kv_heads * shape.head, bias=False)
        self.v = nn.Linear(shape.hidden, shape.kv_heads * shape.head, bias=False)
        self.o = nn.Linear(shape.heads * shape.head, shape.hidden, bias=False)
        self.q_norm, self.k_norm = Norm(shape.head), Norm(shape.head)
        self.first, self.second, self.mlp = Norm(shape.hidden), Norm(shape.hidden), GatedMLP(shape)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.first(x), cos, sin)
        return x + self.mlp(self.second(x))

    def attend(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        split = (*x.shape[:-1], -1, self.shape.head)
        q = self.q_norm(self.q(x).view(split)).transpose(1, 2)
        k = self.k_norm(self.k(x).view(split)).transpose(1, 2)
        v = self.v(x).view(split).transpose(1, 2)
        q, k = (t * cos + self.rotate(t) * sin for t in (q, k))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o(out.transpose(1, 2).reshape(*x.shape[:-1], -1))

    @staticmethod
    def rotate(x: torch.Tensor) -> torch.Tensor:
        half = x.shape[-1] // 2
        return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def hidden_states(shape: Shape, length: int) -> tuple[torch.Tensor, ...]:
    return (torch.randn(shape.batch, length, shape.hidden),)


def scores(shape: Shape, length: int) -> tuple[torch.Tensor, ...]:
    return (torch.randn(shape.batch, 256, length),)


def heads(shape: Shape, length: int) -> tuple[torch.Tensor, ...]:
    counts = (shape.heads, shape.kv_heads, shape.kv_heads)
    return tuple(torch.randn(shape.batch, count, length, shape.head) for count in counts)


def layer_inputs(shape: Shape, length: int) -> tuple[torch.Tensor, ...]:
    frequencies = 1.0 / (10000 ** (torch.arange(0, shape.head, 2).float() / shape.head))
    angles = torch.outer(torch.arange(length).float(), frequencies).repeat(1, 2)
    return (torch.randn(shape.batch, length, shape.hidden), angles.cos(), angles.sin())


@dataclass(frozen=True)
class Example:
    """A model, its inputs at a sequence length, and where the length stands: argument, axis."""

    name: str
    make_model: Callable[[Shape], nn.Module]
    make_inputs: Callable[[Shape, int], tuple[torch.Tensor, ...]]
    lengths: dict[int, int] = field(default_factory=dict)

    def dynamic(self, longest: int) -> dict[int, Any]:
        """The `dynamic` argument of `emmy.compile` for lengths from 1."""
        return {argument: {axis: ("length", 1, longest)} for argument, axis in self.lengths.items()}


EXAMPLES = [
    Example("rms_norm", lambda s: nn.RMSNorm(s.hidden), hidden_states, {0: 1}),
    Example("linear", lambda s: nn.Linear(s.hidden, s.inner), hidden_states, {0: 1}),
    Example("softmax", lambda s: Softmax(-1), hidden_states, {0: 1}),
    Example("softmax_of_length", lambda s: Softmax(-1), scores, {0: 2}),
    Example("attention", lambda s: Attention(causal=False), heads, {0: 2, 1: 2, 2: 2}),
    Example("causal_attention", lambda s: Attention(causal=True), heads, {0: 2, 1: 2, 2: 2}),
    Example("gated_mlp", GatedMLP, hidden_states, {0: 1}),
    Example("decoder_layer", DecoderLayer, layer_inputs, {0: 1, 1: 0, 2: 0}),
]
