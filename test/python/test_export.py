"""The exporter: generic torch-dialect text, weights as arguments, sizes and layouts as attributes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from emmy.errors import TraceError, UsageError
from emmy.frontend.dynamic import Dynamic
from emmy.frontend.export import trace
from emmy.frontend.importer import import_graph
from emmy.frontend.program import Program
from emmy.frontend.traced import Traced
from torch import nn


def traced(target: Callable[..., Any], *args: Any, dynamic: Dynamic = None, **kwargs: Any) -> Traced:
    return trace(Program(target), args, kwargs, dynamic)


def text_of(target: Callable[..., Any], *args: Any, dynamic: Dynamic = None, **kwargs: Any) -> str:
    result = traced(target, *args, dynamic=dynamic, **kwargs)
    return import_graph(result.graph.graph, result.inputs, result.symbols)


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("table", torch.arange(8.0), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x * self.weight + self.table


def test_text_is_generic_and_weights_are_arguments() -> None:
    model = nn.Sequential(nn.RMSNorm(8), nn.Linear(8, 4)).bfloat16()
    text = text_of(model, torch.randn(2, 8).bfloat16())
    assert '"builtin.module"() ({' in text and '"func.func"()' in text
    for name in ("0.weight", "1.weight", "1.bias"):
        assert f'emmy.param = "{name}"' in text
    assert '"torch.aten.rms_norm"' in text and '"torch.aten.linear"' in text
    assert "vtensor.literal" not in text and "dense_resource" not in text


def test_text_parses_with_torch_mlir() -> None:
    from torch_mlir import ir

    text = text_of(nn.Linear(8, 4), torch.randn(2, 8))
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        assert ir.Module.parse(text).operation.verify()


def test_locations_are_the_users_lines() -> None:
    def scale(x: torch.Tensor) -> torch.Tensor:
        return x * 2  # the line that the text must name

    line = scale.__code__.co_firstlineno + 1
    assert f'test_export.py":{line}' in text_of(scale, torch.randn(3))


def test_one_symbol_for_dimensions_of_one_name() -> None:
    dynamic = {"x": {0: ("m", 1, 64)}, "y": {0: "m"}}
    text = text_of(lambda x, y: x + y, torch.randn(4, 8), torch.randn(4, 8), dynamic=dynamic)
    assert text.count("emmy.dims = #emmy.dims<[s0, 8]>") == 2
    assert "emmy.symbols = {s0 = [1, 64]}" in text


def test_results_carry_their_sizes() -> None:
    text = text_of(lambda x: x.reshape(-1, 2, 4).transpose(0, 1), torch.randn(3, 8), dynamic={0: {0: "m"}})
    assert "#emmy.dims<[s0, 2, 4]>" in text and "#emmy.dims<[2, s0, 4]>" in text


def test_a_symbolic_dimension_may_be_one_in_the_example() -> None:
    result = traced(lambda x: x * 2, torch.randn(1, 8), dynamic={"x": {0: "m"}})
    (info,) = result.symbols.values()
    assert (info.label, info.low) == ("m", 1)


def test_every_dimension_may_be_symbolic() -> None:
    text = text_of(lambda x: x * 2, torch.randn(3, 8), dynamic=True)
    assert "#emmy.dims<[s0, s1]>" in text


def test_scalar_constants_are_folded_and_tensors_are_arguments() -> None:
    text = text_of(lambda x: x * torch.tensor(2.0) + torch.tensor([1.0, 2.0, 3.0]), torch.randn(3))
    assert '"torch.aten.full"' in text
    assert re.search(r'emmy\.param = "[\w.]*lifted_tensor', text)


def test_buffers_that_change_are_results() -> None:
    result = traced(Norm(), torch.randn(2, 8))
    (mutation,) = result.mutations
    assert result.inputs[mutation.input].name == "count"


def test_modules_in_a_closure_are_state() -> None:
    model = nn.Linear(8, 4)
    result = traced(lambda x: model(x) + 1, torch.randn(2, 8))
    assert [spec.kind for spec in result.inputs] == ["parameter", "parameter", "user"]


def test_no_grad_and_disabled_autocast_disappear() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            y = x.exp()
        return y * 2

    targets = [str(node.target) for node in traced(function, torch.randn(3)).graph.graph.nodes if node.op == "call_function"]
    assert targets == ["aten.exp.default", "aten.mul.Tensor"]


def test_unused_inputs_are_dropped_and_returned_ones_pass_through() -> None:
    result = traced(lambda x, unused: (x, x + 1, None, 3), torch.randn(3), torch.randn(2))
    assert [spec.name for spec in result.inputs] == ["x"]
    assert [spec.kind for spec in result.outputs] == ["input", "result", "value", "value"]


def test_sizes_may_be_results() -> None:
    result = traced(lambda x: (x.shape[0] * 2, x + 1), torch.randn(3, 4), dynamic={0: {0: "m"}})
    assert [spec.kind for spec in result.outputs] == ["size", "result"]


def test_control_flow_on_values_is_one_clear_error() -> None:
    with pytest.raises(TraceError, match="cannot be traced"):
        traced(lambda x: x * 2 if x.sum() > 0 else x, torch.randn(3))


@pytest.mark.parametrize(
    ("dynamic", "message"),
    [
        ({"y": {0: "m"}}, "no input 'y'"),
        ({3: {0: "m"}}, "no input 3"),
        ({"x": {5: "m"}}, "out of range"),
        ({"x": {0: ("m", 9, 3)}}, "range of 'm' is empty"),
        ({"x": {0: "a b"}}, "not a name"),
    ],
)
def test_wrong_dynamic_arguments(dynamic: Dynamic, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        traced(lambda x: x * 2, torch.randn(3, 4), dynamic=dynamic)
