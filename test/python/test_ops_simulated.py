"""Every operation through all levels: the hardware program on the simulator against eager PyTorch, for contiguous inputs and for
views with gaps."""

from __future__ import annotations

from typing import Any

import emmy
import pytest
import torch
import torch.utils._pytree as pytree
from emmy._testing import assert_close_to_eager, reference64
from emmy.simulator import simulating
from test_ops import CASES, Case, copied


def with_gaps(value: Any) -> Any:
    """Every second element of every dimension, the first one off an aligned address."""
    if not isinstance(value, torch.Tensor) or not value.dim():
        return value
    storage = torch.zeros([2 * size + 1 for size in value.shape], dtype=value.dtype)
    return storage[tuple(slice(1, None, 2) for _ in value.shape)].copy_(value)


def check(case: Case, inputs: tuple[Any, ...], target: str) -> None:
    eager = case.function(*inputs)
    exact = pytree.tree_map(
        lambda value, other: value if other.dtype.is_floating_point else value.to(other.dtype),
        reference64(case.function, inputs),
        eager,
    )
    assert_close_to_eager(emmy.compile(copied(case.function), target=target, fullgraph=True)(*inputs), eager, exact)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contiguous(case: Case, dtype: torch.dtype) -> None:
    with simulating():
        check(case, case.make_inputs(dtype), "sm_90a")


# Eager PyTorch refuses to view a tensor with gaps.
@pytest.mark.parametrize("case", [case for case in CASES if case.name != "view"], ids=lambda case: case.name)
def test_with_gaps(case: Case) -> None:
    inputs = tuple(with_gaps(value) for value in case.make_inputs(torch.float16))
    check(case, inputs, "cpu")
    with simulating():
        check(case, inputs, "sm_90a")


@pytest.mark.parametrize(
    "function",
    [lambda x: (x.exp(), x.cumsum(0)), lambda x: (x.relu() @ x.T, x.relu() - 1), lambda x: (x.T + 1, x.sum(0), x[0])],
    ids=["sums", "product", "views"],
)
def test_outputs_along_different_axes(function: Any) -> None:
    with simulating():
        check(Case("outputs", function, ()), (torch.randn(35, 33),), "sm_90a")
