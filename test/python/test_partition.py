"""What Emmy compiles is decided on the FX graph, with a reason and the user's line for what it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from emmy.errors import UnsupportedOpError
from emmy.frontend.decompose import decompose_unsupported
from emmy.frontend.export import trace
from emmy.frontend.partition import check_supported, rejections, split_supported
from emmy.frontend.program import Program
from emmy.frontend.supported import is_supported
from emmy.frontend.traced import Traced


def traced(target: Callable[..., Any], *args: Any) -> Traced:
    result = trace(Program(target), args, {})
    decompose_unsupported(result.graph)
    return result


def test_error_names_op_types_line_and_remedy() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.qr(x)[0] + 1

    with pytest.raises(UnsupportedOpError) as caught:
        check_supported(traced(function, torch.randn(4, 4)))
    message = str(caught.value)
    assert "linalg_qr(4x4xfloat32)" in message
    assert f"test_partition.py:{function.__code__.co_firstlineno + 1}" in message
    assert "fullgraph=False" in message


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.einsum("ij,kj->ik", x, x),
        lambda x: torch.addcmul(x, x, x),
        lambda x: F.cross_entropy(x, torch.arange(4)),
        lambda x: torch.lerp(x, x + 1, 0.5),
        lambda x: F.smooth_l1_loss(x, x * 2),
        lambda x: F.glu(x),
    ],
    ids=["einsum", "addcmul", "cross_entropy", "lerp", "smooth_l1", "glu"],
)
def test_torch_decompositions_fill_the_gaps(function: Callable[..., Any]) -> None:
    x = torch.randn(4, 4)
    result = traced(function, x)
    assert not list(rejections(result))
    values = [x if spec.kind == "user" else spec.value for spec in result.inputs]
    torch.testing.assert_close(result.graph(*values)[0], function(x))


def test_supported_regions_become_modules() -> None:
    x = torch.randn(4, 4)
    result = traced(lambda x: torch.linalg.qr(x.exp() + 1)[0].sin() * 2, x)
    split = split_supported(result)
    assert split is not None
    assert [node.op for node in split.graph.nodes].count("call_module") == 2
    torch.testing.assert_close(split(x)[0], torch.linalg.qr(x.exp() + 1)[0].sin() * 2)


def test_data_dependent_sizes_stay_eager() -> None:
    reasons = [rejection.reason for rejection in rejections(traced(lambda x: x.nonzero() * 2, torch.randn(4)))]
    assert any("depends on the data" in reason for reason in reasons)


def test_complex_numbers_stay_eager() -> None:
    result = traced(lambda x: torch.view_as_complex(x.reshape(-1, 2)).abs() + 1, torch.randn(4))
    assert any("complex64 is not supported" in rejection.reason for rejection in rejections(result))


def test_everything_supported_is_not_split() -> None:
    assert split_supported(traced(lambda x: x.exp() + 1, torch.randn(4))) is None


def test_random_numbers_are_not_supported() -> None:
    assert not is_supported(torch.ops.aten.native_dropout.default)
