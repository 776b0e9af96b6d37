"""What a trace of a user's program is: a functional ATen graph plus how a call maps onto its inputs and outputs.

Both entries produce it: `emmy.frontend.export` from a module and example inputs, `emmy.frontend.dynamo` from the graph that
`torch.compile` hands a backend. Everything behind it (partitioning, import, execution) is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import sympy
import torch
from torch import fx
from torch.utils._pytree import TreeSpec

__all__ = ["InputSpec", "Mutation", "OutputSpec", "SymbolInfo", "Traced", "describe_output"]

UNBOUNDED = 2**31 - 1


@dataclass(frozen=True)
class InputSpec:
    """Where the value of one placeholder comes from at call time.

    `leaf` indexes the flattened call arguments of a `user` input; `name` is a parameter's or buffer's qualified name, or the
    name of a user input in messages; `value` is the tensor of a `constant` that the program made while it was traced.
    """

    kind: Literal["parameter", "buffer", "constant", "user"]
    name: str
    leaf: int = -1
    value: torch.Tensor | None = None

    @property
    def is_state(self) -> bool:
        """Whether the value belongs to the module rather than to the call."""
        return self.kind != "user"


@dataclass(frozen=True)
class OutputSpec:
    """How one leaf of the user's result is made.

    `result` is the n-th value of the graph, `input` hands back placeholder n itself, `value` is a Python constant, and `size`
    is an integer: `value` is its expression over the symbolic sizes.
    """

    kind: Literal["result", "input", "value", "size"]
    index: int = -1
    value: Any = None


@dataclass(frozen=True)
class Mutation:
    """Result `result` of the graph is written into the tensor of placeholder `input` after the call."""

    result: int
    input: int


@dataclass(frozen=True)
class SymbolInfo:
    """A symbolic size: its number in the IR, the caller's name for it and its inclusive range."""

    number: int
    label: str
    low: int = 1
    high: int = UNBOUNDED

    @property
    def name(self) -> str:
        """The spelling in the IR."""
        return f"s{self.number}"


@dataclass
class Traced:
    """A functional graph whose placeholders are tensors or symbolic integers and whose results are tensors.

    `constants` are the non-tensor leaves of the call that the trace has fixed, by leaf index.
    """

    graph: fx.GraphModule
    inputs: list[InputSpec]
    outputs: list[OutputSpec]
    mutations: list[Mutation] = field(default_factory=list)
    symbols: dict[sympy.Symbol, SymbolInfo] = field(default_factory=dict)
    constants: dict[int, Any] = field(default_factory=dict)
    in_spec: TreeSpec | None = None
    out_spec: TreeSpec | None = None

    def placeholders(self) -> list[fx.Node]:
        """The graph's placeholder nodes, in order."""
        return [node for node in self.graph.graph.nodes if node.op == "placeholder"]

    def results(self) -> Sequence[fx.Node]:
        """The nodes that the graph returns."""
        (output,) = (node for node in self.graph.graph.nodes if node.op == "output")
        return tuple(output.args[0])

    def bind_symbols(self, values: Sequence[Any]) -> dict[sympy.Symbol, int]:
        """The symbols' values in a call with these placeholder values."""
        sizes: dict[sympy.Symbol, int] = {}
        for node, actual in zip(self.placeholders(), values, strict=True):
            value = node.meta.get("val")
            expected = value.shape if isinstance(value, torch.Tensor) else (value,)
            got = actual.shape if isinstance(actual, torch.Tensor) else (actual,)
            for size, number in zip(expected, got, strict=True):
                if isinstance(size, torch.SymInt) and isinstance(size.node.expr, sympy.Symbol):
                    sizes[size.node.expr] = int(number)
        return sizes


def describe_output(value: Any, inputs: Sequence[fx.Node], results: list[fx.Node]) -> OutputSpec:
    """How an output leaf of a graph is made; a computed tensor that `results` lacks is added to it."""
    if not isinstance(value, fx.Node):
        return OutputSpec("value", value=value)
    if value.op == "placeholder" and value in inputs:
        return OutputSpec("input", inputs.index(value))
    meta = value.meta.get("val")
    if isinstance(meta, (torch.SymInt, int)):
        return OutputSpec("size", value=sympy.sympify(meta.node.expr if isinstance(meta, torch.SymInt) else meta))
    if value not in results:
        results.append(value)
    return OutputSpec("result", results.index(value))
