"""Programs of several operations, as people write them: norms and linears, gated MLPs, a decoder layer; static and symbolic."""

from __future__ import annotations

from typing import Any

import emmy
import pytest
import torch
import torch.nn.functional as F
from emmy._testing import assert_close_to_eager, reference64
from example_models import Norm
from torch import nn

HIDDEN, HEADS, KV_HEADS, HEAD_DIM, INTERMEDIATE = 32, 4, 2, 8, 48


class RotaryEmbedding(nn.Module):
    inv_freq: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        frequencies = 1.0 / (10000 ** (torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM))
        self.register_buffer("inv_freq", frequencies, persistent=False)

    @torch.no_grad()
    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        inverse = self.inv_freq[None, :, None].float().expand(positions.shape[0], -1, 1)
        with torch.autocast(device_type="cpu", enabled=False):
            angles = (inverse @ positions[:, None, :].float()).transpose(1, 2)
            both = torch.cat((angles, angles), dim=-1)
        return both.cos().to(x.dtype), both.sin().to(x.dtype)


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def repeat_kv(x: torch.Tensor, groups: int) -> torch.Tensor:
    batch, heads, length, size = x.shape
    return x[:, :, None].expand(batch, heads, groups, length, size).reshape(batch, heads * groups, length, size)


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(HIDDEN, INTERMEDIATE, bias=False)
        self.up_proj = nn.Linear(HIDDEN, INTERMEDIATE, bias=False)
        self.down_proj = nn.Linear(INTERMEDIATE, HIDDEN, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(nn.Module):
    """A layer with the structure of Qwen3: norms of queries and keys, rotary positions, grouped keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.q_proj = nn.Linear(HIDDEN, HEADS * HEAD_DIM, bias=False)
        self.k_proj = nn.Linear(HIDDEN, KV_HEADS * HEAD_DIM, bias=False)
        self.v_proj = nn.Linear(HIDDEN, KV_HEADS * HEAD_DIM, bias=False)
        self.o_proj = nn.Linear(HEADS * HEAD_DIM, HIDDEN, bias=False)
        self.q_norm, self.k_norm = Norm(HEAD_DIM), Norm(HEAD_DIM)
        self.input_norm, self.post_norm = Norm(HIDDEN), Norm(HIDDEN)
        self.rotary, self.mlp = RotaryEmbedding(), MLP()

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.input_norm(x), positions)
        return x + self.mlp(self.post_norm(x))

    def attend(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        shape = (*x.shape[:-1], -1, HEAD_DIM)
        q = self.q_norm(self.q_proj(x).view(shape)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(shape)).transpose(1, 2)
        v = self.v_proj(x).view(shape).transpose(1, 2)
        cos, sin = (part.unsqueeze(1) for part in self.rotary(x, positions))
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = repeat_kv(k, HEADS // KV_HEADS), repeat_kv(v, HEADS // KV_HEADS)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).reshape(*x.shape[:-1], -1))


def check(compiled: Any, model: nn.Module, *inputs: torch.Tensor) -> None:
    with torch.no_grad():
        eager = model(*inputs)
    assert_close_to_eager(compiled(*inputs), eager, reference64(model, inputs))


def tokens(batch: int, length: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(batch, length, HIDDEN).to(dtype), torch.arange(length).repeat(batch, 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_norm_and_linear(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.RMSNorm(HIDDEN), nn.Linear(HIDDEN, 24)).to(dtype).eval()
    x = torch.randn(5, HIDDEN).to(dtype)
    check(emmy.compile(model, (x,), target="cpu", fullgraph=True), model, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_gated_mlp_with_a_symbolic_length(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = MLP().to(dtype).eval()
    example = torch.randn(2, 4, HIDDEN).to(dtype)
    compiled = emmy.compile(model, (example,), target="cpu", dynamic={0: {1: ("seq", 1, 256)}}, fullgraph=True)
    for length in (1, 4, 17, 256):
        check(compiled, model, torch.randn(2, length, HIDDEN).to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_decoder_layer(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = DecoderLayer().to(dtype).eval()
    inputs = tokens(2, 9, dtype)
    check(emmy.compile(model, inputs, target="cpu", fullgraph=True), model, *inputs)


def test_decoder_layer_with_symbolic_batch_and_length() -> None:
    torch.manual_seed(0)
    model = DecoderLayer().eval()
    dynamic = {"x": {0: ("batch", 1, 8), 1: ("seq", 1, 512)}, "positions": {0: "batch", 1: "seq"}}
    compiled = emmy.compile(model, tokens(2, 9, torch.float32), target="cpu", dynamic=dynamic, fullgraph=True)
    for batch, length in ((1, 1), (1, 17), (2, 9), (3, 64)):
        check(compiled, model, *tokens(batch, length, torch.float32))


def test_decoder_layer_through_torch_compile() -> None:
    from emmy.frontend.dynamo import emmy_backend

    torch.manual_seed(0)
    model = DecoderLayer().eval()
    compiled = torch.compile(model, backend=emmy_backend, dynamic=True)
    with torch.no_grad():
        for batch, length in ((2, 9), (3, 17)):
            check(compiled, model, *tokens(batch, length, torch.float32))
