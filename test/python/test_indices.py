"""Indices outside their tensors: an error on the CPU, no access on a GPU; and divisions that would trap."""

from __future__ import annotations

from collections.abc import Callable

import emmy
import pytest
import torch
from emmy.simulator import simulating
from torch.nn import functional as F

W = torch.arange(12.0).reshape(4, 3)
CASES: dict[str, tuple[Callable[..., torch.Tensor], torch.Tensor]] = {
    "index": (lambda w, i: w[i], torch.tensor([4])),
    "far": (lambda w, i: w[i], torch.tensor([2**40])),
    "negative": (lambda w, i: w[i], torch.tensor([-5])),
    "select": (lambda w, i: w.index_select(0, i), torch.tensor([1, 10**9])),
    "gather": (lambda w, i: w.gather(0, i), torch.tensor([[0, 7, 1]])),
    "embedding": (lambda w, i: F.embedding(i, w), torch.tensor([[3, 9]])),
    "index_copy": (lambda w, i: w.index_copy(0, i, torch.ones(1, 3)), torch.tensor([4])),
}


@pytest.mark.parametrize("name", CASES)
def test_outside(name: str) -> None:
    function, indices = CASES[name]
    with pytest.raises(IndexError, match=r"index -?\d+ is out of bounds for a dimension of size 4 in kernel"):
        emmy.compile(function, fullgraph=True)(W, indices)
    with simulating():
        outside = emmy.compile(function, target="sm_90a", fullgraph=True)(W, indices)
    inside = indices.clamp(0, 3) if name != "negative" else torch.tensor([0])
    expected = W if name == "index_copy" else torch.where(outside == 0, 0.0, function(W, inside))
    assert torch.equal(outside, expected)


def test_inside() -> None:
    indices = torch.tensor([-1, 0, 3, -4])
    assert torch.equal(emmy.compile(lambda w, i: w[i], fullgraph=True)(W, indices), W[indices])


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
@pytest.mark.parametrize("mode", ["floor", "trunc", "remainder", "fmod"])
def test_divisions_by_minus_one(dtype: torch.dtype, mode: str) -> None:
    """The smallest number has no negative; hardware traps where PyTorch wraps."""
    least = torch.iinfo(dtype).min
    functions: dict[str, Callable[..., torch.Tensor]] = {
        "floor": lambda x, y: x // y,
        "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        "remainder": lambda x, y: x % y,
        "fmod": torch.fmod,
    }
    x, y = torch.tensor([least, 7, -7, 9], dtype=dtype), torch.tensor([-1, -1, -2, 4], dtype=dtype)
    quotients = {"floor": [least, -7, 3, 2], "trunc": [least, -7, 3, 2], "remainder": [0, 0, -1, 1], "fmod": [0, 0, -1, 1]}
    assert emmy.compile(functions[mode], fullgraph=True)(x, y).tolist() == quotients[mode]
    with simulating():
        assert emmy.compile(functions[mode], target="sm_90a", fullgraph=True)(x, y).tolist() == quotients[mode]
