"""Reductions cut into parts for many CTAs: the values of the whole chain of launches on the simulator, against float64."""

from __future__ import annotations

from collections.abc import Callable

import emmy
import pytest
import torch
from emmy.simulator import simulating
from torch import nn

Function = Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]


class Module(nn.Module):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        return self.function(*inputs)


# Name: function, shapes of its inputs, type of its inputs. 331, 1331 and 97 divide into no equal parts.
CASES: dict[str, tuple[Function, list[tuple[int, ...]], torch.dtype]] = {
    "columns": (lambda x: x.sum(0), [(512, 64)], torch.bfloat16),
    "uneven columns": (lambda x: x.sum(0), [(331, 24)], torch.float32),
    "uneven vectors": (lambda x: x.sum(0), [(1331, 13)], torch.bfloat16),
    "largest of negative numbers": (lambda x: (-x.abs() - 1).amax(0), [(331, 24)], torch.float32),
    "smallest": (lambda x: x.amin(0), [(331, 24)], torch.float32),
    "product": (lambda x: (x * 0.1 + 1).prod(0), [(331, 24)], torch.float32),
    "everything": (lambda x: x.sum(), [(97, 331)], torch.float32),
    "one long row": (lambda x: x.mean(), [(20011,)], torch.float32),
    "outer and inner": (lambda x: x.sum((0, 2)), [(200, 6, 200)], torch.float32),
    "variance": (lambda x: x.var(0), [(331, 24)], torch.float32),
    "softmax along columns": (lambda x: x.softmax(0), [(331, 24)], torch.float32),
    "where the largest is": (lambda x: x.argmax(0), [(331, 24)], torch.float32),
    "two results": (lambda x: (x.sum(0), x.amax(0)), [(512, 24)], torch.float32),
    "work before and after": (lambda x, y: (x.exp() * y).sum(0).abs().sqrt() + 1, [(331, 24), (24,)], torch.float32),
    "transposed": (lambda x: x.t().sum(1), [(331, 24)], torch.float32),
    "bools": (lambda x: (x > 3).any(0), [(331, 24)], torch.float32),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    function, shapes, dtype = CASES[name]
    torch.manual_seed(0)
    inputs = tuple(torch.randn(shape).to(dtype) for shape in shapes)
    with simulating(seed=3):
        compiled = emmy.compile(Module(function), inputs, target="sm_90a", fullgraph=True)
        found = compiled(*inputs)
    expected = function(*(x.double() for x in inputs))
    outputs = found if isinstance(found, tuple) else (found,)
    references = expected if isinstance(expected, tuple) else (expected,)
    tolerance = 8e-3 if dtype == torch.bfloat16 else 1e-5
    for output, reference in zip(outputs, references, strict=True):
        torch.testing.assert_close(output.double(), reference.double(), rtol=tolerance, atol=tolerance)
    assert "_parts" in compiled.ir("sched"), "the reduction is whole"
