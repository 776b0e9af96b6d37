"""What Emmy compiles is decided on the FX graph, with a reason and the user's line for what it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import emmy
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


class TestWhatSimplyWorks:
    """Programs that need an operation or two run eagerly, or none, and nothing of the user."""

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: x + True,
            lambda x: x * True,
            lambda x: x / True,
            lambda x: (x > 0) + True,
        ],
        ids=["add", "mul", "div", "bool"],
    )
    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
    def test_python_booleans(self, function: Callable[..., Any], dtype: torch.dtype) -> None:
        x = torch.arange(-2, 3).to(dtype)
        compiled = emmy.compile(function, (x,), target="cpu", fullgraph=True)
        torch.testing.assert_close(compiled(x), function(x))

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: F.normalize(x, dim=-1),
            lambda x: torch.linalg.vector_norm(x, dim=0),
            lambda x: torch.linalg.vector_norm(x, ord=1, dim=-1, keepdim=True),
            lambda x: torch.linalg.vector_norm(x, ord=float("inf")),
            lambda x: x.norm(),
        ],
    )
    def test_vector_norms(self, function: Callable[..., Any]) -> None:
        x = torch.randn(4, 5)
        torch.testing.assert_close(emmy.compile(function, (x,), target="cpu", fullgraph=True)(x), function(x))

    @pytest.mark.fails_late
    @pytest.mark.parametrize(
        ("function", "inputs"),
        [
            (lambda x: x.float() * 2, (torch.arange(4, dtype=torch.uint8),)),
            (lambda x: x + 1, (torch.arange(4, dtype=torch.uint8),)),
            (lambda x, i: x[i.long()] * 2, (torch.randn(4), torch.tensor([1, 0], dtype=torch.uint8))),
            (lambda x: (x * 2).max(0), (torch.tensor(3.0),)),
            (lambda x, i: (x * 2).index_put((i,), x[:2], accumulate=True), (torch.randn(4), torch.tensor([1, 1]))),
            (lambda x: torch.any(x > 0, ()), (torch.randn(4, 5),)),
            (lambda x: x.erf() + 1, (torch.randn(4, dtype=torch.float64),)),
            (lambda x: x.acosh() + 1, (torch.rand(4, dtype=torch.float64) + 1,)),
        ],
        ids=["uint8_cast", "uint8_add", "uint8_index", "max_of_number", "accumulate", "any", "erf", "acosh"],
    )
    def test_runs_eagerly_what_does_not_compile(self, function: Callable[..., Any], inputs: tuple[torch.Tensor, ...]) -> None:
        torch.testing.assert_close(emmy.compile(function, target="cpu")(*inputs), function(*inputs))

    @pytest.mark.fails_late
    @pytest.mark.parametrize(
        "function",
        [
            lambda x: F.scaled_dot_product_attention(x, x, x),
            lambda x: x @ torch.eye(x.shape[-1]),
            lambda x: F.pad(x, (0, 0, 0, 8 - x.shape[-2] % 8)),
        ],
        ids=["attention", "eye", "pad"],
    )
    def test_all_sizes_symbolic(self, function: Callable[..., Any]) -> None:
        compiled = emmy.compile(function, target="cpu", dynamic=True)
        for rows in (3, 5):
            x = torch.randn(2, rows, 4)
            torch.testing.assert_close(compiled(x), function(x))


@pytest.mark.fails_late
def test_late_failures_run_eagerly_with_a_note(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(lowering: object) -> None:
        raise emmy.CompileError("emmy-some-pass failed")

    monkeypatch.setattr("emmy.piece.build", fail)
    x = torch.randn(3)
    compiled = emmy.compile(lambda x: (x * 2, x * 1), target="cpu")
    torch.testing.assert_close(compiled(x), (x * 2, x))
    assert "aten.mul" in caplog.text or "mul" in caplog.text
    assert "runs eagerly: emmy-some-pass failed" in compiled.explain()
    with pytest.raises(emmy.CompileError, match="emmy-some-pass"):
        emmy.compile(lambda x: x * 2, (x,), target="cpu", fullgraph=True)
