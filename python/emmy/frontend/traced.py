"""What a trace of a user's program is: a functional ATen graph plus how a call maps onto its inputs and outputs.

Both entries produce it: `emmy.frontend.export` from a module and example inputs, `emmy.frontend.dynamo` from the graph that
`torch.compile` hands a backend. Everything behind it (partitioning, import, execution) is shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import sympy
import torch
from emmy.frontend.views import View
from torch import fx
from torch.utils._pytree import TreeSpec

__all__ = ["InputSpec", "Mutation", "OutputBuilder", "OutputSpec", "SymbolInfo", "Traced"]

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

    `result` is the n-th value of the graph, `input` is placeholder n itself or the view of it that `value` makes, `value` is a
    Python constant, and `size` is an integer: `value` is its expression over the symbolic sizes.
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


class OutputBuilder:
    """Collects how the leaves of a user's result are made, and which values the graph has to return for them.

    Two leaves that were one value before the graph was cleaned are one tensor; others are tensors of their own.
    """

    def __init__(self, inputs: Sequence[fx.Node], views: Mapping[int, View], originals: Sequence[Any]) -> None:
        self.results: list[fx.Node] = []
        self.outputs: list[OutputSpec] = []
        self._inputs, self._views, self._originals = list(inputs), views, originals
        self._known: dict[fx.Node, int] = {}

    def add_result(self, value: fx.Node) -> int:
        """Makes the graph return a value that is no leaf; gives its position."""
        self.results.append(value)
        return len(self.results) - 1

    def add_output(self, position: int, value: Any) -> None:
        """Adds the leaf at a position of the graph's results, where it is `value` now."""
        self.outputs.append(self._describe(position, value))

    def finish(self, graph: fx.Graph) -> list[OutputSpec]:
        """Makes the graph return the results. One of which all is views keeps computing them, for its IR to be looked at."""
        (output,) = (node for node in graph.nodes if node.op == "output")
        if not self.results:
            self.results = [output.args[0][position] for position, view in self._views.items() if view.make is not None]
        output.args = (tuple(self.results),)
        return self.outputs

    def _describe(self, position: int, value: Any) -> OutputSpec:
        if position in self._views:
            view = self._views[position]
            return OutputSpec("input", self._inputs.index(view.base), view.make)
        if not isinstance(value, fx.Node):
            return OutputSpec("value", value=value)
        meta = value.meta.get("val")
        if isinstance(meta, (torch.SymInt, int)):
            return OutputSpec("size", value=sympy.sympify(meta.node.expr if isinstance(meta, torch.SymInt) else meta))
        original = self._originals[position]
        if original not in self._known:
            self._known[original] = self.add_result(value)
        return OutputSpec("result", self._known[original])
