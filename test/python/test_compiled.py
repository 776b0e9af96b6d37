"""The key and the value of a compiled program in the disk cache."""

from __future__ import annotations

import torch
from emmy.compiled import CompiledCode, cache_key, canonical_text
from emmy.frontend.export import trace
from emmy.frontend.importer import import_graph
from emmy.frontend.program import Program
from torch import nn


def text_of(model: nn.Module) -> str:
    traced = trace(Program(model), (torch.randn(2, 8),), {})
    return import_graph(traced.graph.graph, traced.inputs, traced.symbols)


def test_names_and_lines_do_not_matter() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.projection = nn.Linear(8, 4)

        def forward(self, value: torch.Tensor) -> torch.Tensor:
            return self.projection(value)

    one, two = text_of(nn.Sequential(nn.Linear(8, 4))), text_of(Named())
    assert one != two
    assert canonical_text(one) == canonical_text(two)
    assert cache_key(one, "sm_90a") == cache_key(two, "sm_90a")
    assert "loc(" not in canonical_text(one)


def test_everything_else_matters() -> None:
    text = text_of(nn.Linear(8, 4))
    keys = {
        cache_key(text, "sm_90a"),
        cache_key(text, "sm_80"),
        cache_key(text_of(nn.Linear(8, 5)), "sm_90a"),
        cache_key(text_of(nn.Linear(8, 4, bias=False)), "sm_90a"),
        cache_key(text_of(nn.Linear(8, 4)).replace("f32", "f64"), "sm_90a"),
    }
    assert len(keys) == 5


def test_values_come_back() -> None:
    code = CompiledCode('{"version": 1}', {"a": bytes(range(256)), "b": b"", "c": b"x"})
    assert CompiledCode.unpack(code.pack()) == code
