"""Chains of reductions and contractions that nobody named: each is one kernel, and right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import emmy
import pytest
import torch
import torch.nn.functional as F
from emmy._testing import assert_close_to_eager, reference64

Function = Callable[..., Any]

Q, K = (2, 33, 16), (2, 65, 16)
ROWS = (3, 20000)


def sigmoid_scores(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(q @ k.mT) @ v


def two_values(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    weights = F.softmax(q @ k.mT, dim=-1)
    return weights @ v, weights @ w


def two_products(q: torch.Tensor, k: torch.Tensor, p: torch.Tensor, r: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.softmax(q @ k.mT + p @ r.mT, dim=-1) @ v


def causal_by_hand(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = q @ k.mT
    hidden = torch.arange(k.shape[1])[None] > torch.arange(q.shape[1])[:, None]
    return F.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ v


def add_and_normalise(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = x + y
    return total, F.rms_norm(total, (total.shape[-1],))


CASES: list[tuple[Function, tuple[tuple[int, ...], ...], int]] = [
    (sigmoid_scores, (Q, K, K), 1),
    (two_values, (Q, K, K, K), 1),
    (two_products, (Q, K, Q, K, K), 1),
    (causal_by_hand, (Q, Q, Q), 1),
    (lambda x: F.layer_norm(x, (16,)).relu(), (Q,), 1),
    (lambda x: F.group_norm(x, 4), ((2, 8, 5, 3),), 1),
    (add_and_normalise, (Q, Q), 1),
    (lambda x: (x.sin(), x.cos()), (Q,), 1),
]


@pytest.mark.parametrize(("function", "shapes", "kernels"), CASES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_one_kernel(function: Function, shapes: tuple[tuple[int, ...], ...], kernels: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    inputs = tuple(torch.randn(shape).to(dtype) for shape in shapes)
    compiled = emmy.compile(function, inputs, target="cpu", fullgraph=True)
    assert compiled.ir("fuse").count("emmy.launch @") == kernels
    assert_close_to_eager(compiled(*inputs), function(*inputs), reference64(function, inputs))


@pytest.mark.parametrize("function", [lambda x: torch.logsumexp(x, -1), lambda x: x.var(-1), lambda x: F.softmax(x, -1)])
def test_long_rows_stream(function: Function) -> None:
    """Rows that do not fit in registers are folded; a CPU sums them one by one, so eager's error is no measure."""
    torch.manual_seed(0)
    x = torch.randn(ROWS) * 3 + 1
    compiled = emmy.compile(function, (x,), target="cpu", fullgraph=True)
    assert compiled.ir("fuse").count("emmy.launch @") == 1
    assert "emmy_fuse.fold" in compiled.ir("fuse")
    torch.testing.assert_close(compiled(x), function(x.double()).float(), rtol=1e-5, atol=1e-7)


def test_hidden_rows_are_nan() -> None:
    """A row of which nothing is left is NaN as in eager, one that starts hidden is not."""
    x = torch.randn(ROWS)
    x[0] = float("-inf")
    x[1, :15000] = float("-inf")
    compiled = emmy.compile(lambda x: F.softmax(x, -1), (x,), target="cpu", fullgraph=True)
    torch.testing.assert_close(compiled(x), F.softmax(x, -1), rtol=1e-5, atol=1e-8, equal_nan=True)
