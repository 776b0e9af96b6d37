"""Results share memory with inputs exactly where they do in eager mode, and writes to inputs do not disturb each other."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import emmy
import pytest
import torch
import torch.nn.functional as F
import torch.utils._pytree as pytree
from emmy.frontend.dynamo import emmy_backend
from emmy.simulator import simulating

Function = Callable[..., Any]


def swap(x: torch.Tensor, y: torch.Tensor) -> None:
    kept = x.clone()
    x.copy_(y)
    y.copy_(kept)


def rotate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.copy_(y * 2)
    y.copy_(x + 1)
    return x


def view_of_written(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    x.mul_(2)
    return x, x.view(-1), x[0], x + y


def sum_and_written(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    total = x + y
    x.copy_(total)
    return total


def copy_before_write(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    before = x.clone()
    x.add_(y)
    return before


def parts_are_views(x: torch.Tensor, y: torch.Tensor) -> Any:
    return x.view(-1), x.t(), x[0], x[:, 1:], x.split(1), x.unsqueeze(0).expand(4, -1, -1), x.detach(), x.float(), y


def copies(x: torch.Tensor, y: torch.Tensor) -> Any:
    return (
        x.clone(),
        x * 1,
        x.repeat(1, 1),
        x.flip(0).flip(0),
        x.to(x.dtype, copy=True),
        torch.cat([x]),
        F.pad(x, (0, 0)),
        y.roll(0),
    )


def same_and_equal(x: torch.Tensor, y: torch.Tensor) -> Any:
    z = x * y
    return z, z, z.clone(), x * y


FUNCTIONS = [
    swap,
    rotate,
    view_of_written,
    sum_and_written,
    copy_before_write,
    parts_are_views,
    copies,
    same_and_equal,
    lambda x, y: (x.contiguous(), x.reshape(-1), y),
    lambda x, y: x,
]
LAYOUTS = {"contiguous": lambda: torch.randn(3, 3), "transposed": lambda: torch.randn(3, 3).t()}
COMPILERS: dict[str, Callable[[Function], Function]] = {
    "cpu": lambda function: emmy.compile(function, target="cpu"),
    "backend": lambda function: torch.compile(function, backend=emmy_backend),
}


def addresses(values: Any) -> list[int]:
    return [value.untyped_storage().data_ptr() for value in pytree.tree_leaves(values) if isinstance(value, torch.Tensor)]


def check_like_eager(compiled: Function, function: Function, inputs: tuple[torch.Tensor, ...], several: bool = True) -> None:
    """Values, identities, and memory shared with inputs; results that are apart in eager mode stay apart."""
    for _ in range(1 + several):
        mine, eagers = inputs, copy.deepcopy(inputs)
        result, expected = compiled(*mine), function(*eagers)
        torch.testing.assert_close((mine, result), (eagers, expected))
        ours, theirs = addresses(mine), addresses(eagers)
        made, wanted = addresses(result), addresses(expected)
        assert [[a == b for b in ours] for a in made] == [[a == b for b in theirs] for a in wanted]
        assert all(made[i] != made[j] for i, a in enumerate(wanted) for j, b in enumerate(wanted) if a != b)
        same = [value is mine[0] for value in pytree.tree_leaves(result)]
        assert same == [value is eagers[0] for value in pytree.tree_leaves(expected)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_like_eager(function: Function, compiler: str, layout: str) -> None:
    torch._dynamo.reset()
    if layout == "transposed" and function in (view_of_written, parts_are_views):
        function_of = lambda x, y: function(x.contiguous(), y)  # noqa: E731
    else:
        function_of = function
    with torch.no_grad():
        check_like_eager(COMPILERS[compiler](function_of), function_of, (LAYOUTS[layout](), LAYOUTS[layout]()))


@pytest.mark.parametrize("function", [swap, copies, same_and_equal])
def test_like_eager_simulated(function: Function) -> None:
    with torch.no_grad(), simulating():
        inputs = (torch.randn(3, 3), torch.randn(3, 3))
        check_like_eager(emmy.compile(function, target="sm_90a"), function, inputs, several=False)


def test_layouts_that_differ_between_calls() -> None:
    function = lambda x: (x.contiguous(), x + 1)  # noqa: E731
    compiled = emmy.compile(function, target="cpu")
    for make in (*LAYOUTS.values(), *LAYOUTS.values()):
        check_like_eager(compiled, function, (make(),), several=False)


def test_views_with_symbolic_sizes() -> None:
    function = lambda x: (x.view(-1), x.view(1, x.shape[0], 2), x.t(), x[0], x * 2)  # noqa: E731
    compiled = emmy.compile(function, (torch.randn(4, 2),), target="cpu", dynamic={"x": {0: ("rows", 2, 64)}})
    for rows in (4, 7):
        check_like_eager(compiled, function, (torch.randn(rows, 2),), several=False)


def test_parameters_and_constants() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("scale", torch.zeros(3))

        def forward(self) -> Any:
            return self.scale, self.scale.clone(), torch.tensor([1.0, 2.0])

    net = Net()
    compiled = emmy.compile(net, target="cpu")
    for _ in range(2):
        scale, clone, constant = compiled()
        assert scale is net.scale
        clone += 1
        constant += 1
    torch.testing.assert_close(compiled(), (torch.zeros(3), torch.zeros(3), torch.tensor([1.0, 2.0])))


def add_to_first(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x + y


def call_apart() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.zeros(4), torch.ones(4)


def call_together() -> tuple[torch.Tensor, torch.Tensor]:
    storage = torch.zeros(5)
    return storage[:4], storage[1:]


def call_same() -> tuple[torch.Tensor, torch.Tensor]:
    return (torch.zeros(4),) * 2


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("first", [call_apart, call_together, call_same])
def test_written_inputs_that_share_memory(compiler: str, first: Function) -> None:
    torch._dynamo.reset()
    compiled = COMPILERS[compiler](add_to_first)
    with torch.no_grad():
        for call in (first, call_apart, call_together, call_same):
            mine, eagers = call(), call()
            torch.testing.assert_close(compiled(*mine), add_to_first(*eagers))
            torch.testing.assert_close(mine, eagers)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_negated_tensors(dtype: torch.dtype) -> None:
    x = torch.randn(3, dtype=dtype).conj().imag
    assert x.is_neg()
    compiled = emmy.compile(lambda x: x * 2, target="cpu")
    for value in (x, x.resolve_neg(), x):
        torch.testing.assert_close(compiled(value), value * 2)


def test_conjugated_tensors_run_eagerly() -> None:
    x = torch.randn(3, dtype=torch.complex64).conj()
    torch.testing.assert_close(emmy.compile(lambda x: (x * 2).real + 1, target="cpu")(x), (x * 2).real + 1)
