"""Every family of kernels gives PyTorch's results on the simulator: the same bits under 20 random schedules and three adversarial
ones, and no rule broken in any of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import emmy
import pytest
import torch
import torch.nn.functional as F
from emmy._testing import assert_close_to_eager, reference64
from emmy.api import CompiledFunction
from emmy.compiler import Lowering, build
from example_models import Norm
from simulated import many_schedules
from test_models import MLP, DecoderLayer, tokens
from torch import nn

TARGET = "sm_90a"
Program = Callable[..., Any]


def randn(*sizes: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(*sizes).to(dtype)


def check(program: Program, *inputs: torch.Tensor, schedule: str | None = None) -> None:
    """Compiles as `emmy.compile` does, or with a schedule of our own for the only kernel."""
    with torch.no_grad(), many_schedules():
        if schedule is None:
            out = emmy.compile(program, inputs, target=TARGET, fullgraph=True)(*inputs)
        else:
            text = CompiledFunction(program, target=TARGET, dynamic=None, fullgraph=True).trace(*inputs).ir("fuse")
            text, kernels = re.subn(r"(axes\([^)]*\))", rf"\1 attributes {{emmy_sched.schedule = {schedule}}}", text)
            assert kernels == 1
            out = build(Lowering(text, TARGET, first="fuse"))(*inputs)[0]
        assert_close_to_eager(out, program(*inputs), reference64(program, inputs))


def contraction(
    tile: str,
    consumers: int,
    multicast: str = "none",
    wait: int = 1,
    epilogue: str = "tma",
    mma: str = "wgmma",
    step: int = 64,
) -> str:
    """A schedule of a contraction; a shared operand makes clusters of two."""
    shared, stages = f"cluster = {1 if multicast == 'none' else 2}, multicast = {multicast}", (2 if mma == "wgmma" else 1)
    persistent = ", persistent" if mma == "wgmma" and consumers > 1 else ""
    return (
        f"#emmy_sched.contraction<tile = [{tile}], step = {step}, stages = {stages}, consumers = {consumers}, "
        f"{shared}, raster = 2, wait = {wait}, epilogue = {epilogue}, mma = {mma}{persistent}>"
    )


CONTRACTIONS = {
    "one_consumer": contraction("m: 64, n: 32", 1),
    "two_consumers": contraction("m: 128, n: 64", 2),
    "two_consumers_no_group_in_flight": contraction("m: 128, n: 64", 2, wait=0),
    "two_consumers_of_two_blocks": contraction("m: 256, n: 64", 2, wait=0),
    "three_consumers": contraction("m: 192, n: 64", 3),
    "cluster_shares_columns": contraction("m: 128, n: 32", 2, multicast="b"),
    "cluster_shares_rows": contraction("m: 128, n: 32", 2, multicast="a"),
    "cluster_of_three_consumers": contraction("m: 192, n: 32", 3, multicast="b"),
    "direct_stores": contraction("m: 128, n: 64", 2, epilogue="direct"),
    "swapped_operands": contraction("n: 64, m: 32", 1, epilogue="direct"),
    "mma_sync": contraction("m: 64, n: 32", 4, wait=0, epilogue="direct", mma="mma_sync"),
    "fma": contraction("m: 32, n: 32", 4, wait=0, epilogue="direct", mma="fma", step=16),
}


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contraction_with_tails(name: str) -> None:
    # Tails in m, n and k: no size is a multiple of the tile's.
    m, n, k = (70, 40, 24) if name in ("mma_sync", "fma") else (200, 72, 136)
    check(F.linear, randn(m, k), randn(n, k), schedule=CONTRACTIONS[name])


@pytest.mark.parametrize("name", ["two_consumers", "mma_sync"])
def test_contraction_with_a_batch(name: str) -> None:
    check(lambda x, w: torch.matmul(x, w.mT), randn(2, 70, 72), randn(2, 40, 72), schedule=CONTRACTIONS[name])


def test_contraction_with_work_around_it() -> None:
    check(lambda x, w, b, r: F.gelu(F.linear(x, w, b)) + r, randn(70, 72), randn(48, 72), randn(48), randn(70, 48))


def chain(consumers: int, over: int = 64, epilogue: str = "tma", order: str = "") -> str:
    registers = "[32, 160]" if consumers == 3 else "[24, 240]"
    return (
        f"#emmy_sched.chain<rows = [m: {64 * consumers}], over = [n: {over}], stages = [2, 2], consumers = {consumers}, "
        f"registers = {registers}, section = 1, epilogue = {epilogue}{order}>"
    )


@pytest.mark.parametrize("size", [64, 128])
@pytest.mark.parametrize("consumers", [1, 2, 3])
@pytest.mark.parametrize("kind", ["full", "causal", "grouped", "mask"])
def test_attention(kind: str, consumers: int, size: int) -> None:
    queries, keys = (100, 100) if kind == "causal" else (70, 130)
    heads = 2 if kind == "grouped" else 1
    q, k, v = randn(1, heads, queries, size), randn(1, 1, keys, size), randn(1, 1, keys, size)
    over, epilogue = (32 if consumers == 3 and size == 128 else 64), ("direct" if consumers == 1 else "tma")
    schedule = chain(consumers, over, epilogue, ", last_first" if kind == "causal" and consumers == 2 else "")
    if kind == "mask":
        check(
            lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
            *(q, k, v, torch.rand(1, 1, queries, keys) > 0.2),
            schedule=schedule,
        )
    else:
        causal, grouped = kind == "causal", kind == "grouped"
        check(
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped),
            *(q, k, v),
            schedule=schedule,
        )


def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


WIDE = (3, 1100)
STREAMING: dict[str, tuple[Program, tuple[torch.Size | tuple[int, ...], ...]]] = {
    "elements": (lambda x, y: F.silu(x) * y, (WIDE, WIDE)),
    "rows": (lambda x: x.float().sum(-1), (WIDE,)),
    "columns": (lambda x: x.float().mean(0), ((70, 48),)),
    "transpose": (lambda x: x.t().contiguous(), ((70, 48),)),
    "softmax": (lambda x: F.softmax(x.float(), -1), (WIDE,)),
    "softmax_of_columns": (lambda x: F.softmax(x, 0), ((70, 48),)),
    "log_softmax": (lambda x: F.log_softmax(x.float(), -1), (WIDE,)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (1100,), w, b), (WIDE, (1100,), (1100,))),
    "rms_norm": (lambda x, w: F.rms_norm(x, (1100,), w), (WIDE, (1100,))),
    "argmax": (lambda x: x.argmax(-1), (WIDE,)),
    "cat": (lambda x, y: torch.cat((x, y), -1), (WIDE, (3, 70))),
    "padded": (lambda x: F.pad(x, (1, 2, 3, 0)), ((17, 30),)),
    "rope": (rope, ((1, 2, 33, 64), (33, 64), (33, 64))),
}


@pytest.mark.parametrize("name", STREAMING)
def test_streaming(name: str) -> None:
    program, sizes = STREAMING[name]
    check(program, *(randn(*size) for size in sizes))


def test_gather_and_embedding() -> None:
    table, index = randn(50, 72), torch.randint(50, (19,))
    check(lambda t, i: F.embedding(i, t), table, index)
    check(lambda t, i: torch.gather(t, 0, i), table, torch.randint(50, (19, 72)))


def test_norm_and_linear() -> None:
    check(nn.Sequential(Norm(136), nn.Linear(136, 72)).bfloat16().eval(), randn(70, 136))


def test_gated_mlp() -> None:
    check(MLP().bfloat16().eval(), randn(1, 5, 32))


def test_decoder_layer() -> None:
    check(DecoderLayer().bfloat16().eval(), *tokens(1, 5, torch.bfloat16))
