"""Runs a traced graph: supported regions as compiled pieces, the rest by PyTorch, then mutations and the flat
results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from emmy.compiler import Timings
from emmy.frontend.partition import Rejection, rejections, split_supported
from emmy.frontend.traced import InputSpec, Traced
from emmy.piece import Piece, own_results

__all__ = ["Executor", "OverlapError"]


class OverlapError(Exception):
    """A program that writes to its inputs was given two that share memory; its graph does not say what that does."""


class Executor:
    """A callable over the values of a graph's placeholders. Safe to call from any thread."""

    def __init__(self, traced: Traced, target: str, timings: Timings | None = None, fullgraph: bool = False) -> None:
        self.traced, self.target, self.fullgraph = traced, target, fullgraph
        self.timings = timings or Timings()
        self.rejected: list[Rejection] = list(rejections(traced))
        self.pieces: list[Piece] = []
        self.compute = self._make_compute()
        self._written = [mutation.input for mutation in traced.mutations]
        self._needs_results = bool(self._written) or any(spec.kind == "result" for spec in traced.outputs)
        self._users = [position for position, spec in enumerate(traced.inputs) if not spec.is_state]

    def __call__(self, values: list[Any]) -> list[Any]:
        """The leaves of the user's result, after the mutations of inputs and buffers."""
        if self._written and self._overlap(values):
            raise OverlapError
        results = self.compute(*values) if self._needs_results else ()
        for mutation in self.traced.mutations:
            values[mutation.input].copy_(results[mutation.result])
        flat: list[Any] = []
        for spec in self.traced.outputs:
            if spec.kind == "result":
                flat.append(results[spec.index])
            elif spec.kind == "input":
                flat.append(values[spec.index] if spec.value is None else spec.value(values[spec.index]))
            elif spec.kind == "size":
                flat.append(int(spec.value.subs(self.traced.bind_symbols(values))))
            else:
                flat.append(spec.value)
        return flat

    def prepare(self, values: Sequence[Any]) -> None:
        """Compiles for the layouts of these values if they can run; a split graph's pieces wait for their inputs."""
        on_gpu = any(isinstance(value, torch.Tensor) and value.is_cuda for value in values)
        if len(self.pieces) == 1 and not self.rejected and on_gpu == (self.target != "cpu"):
            self.pieces[0].variant(values)

    def _overlap(self, values: Sequence[Any]) -> bool:
        """Whether an input that is written shares its storage with another argument of the call."""
        storages: dict[int, int] = {}
        for position in self._users:
            value = values[position]
            if isinstance(value, torch.Tensor) and value.layout is torch.strided and value.numel():
                address = value.untyped_storage().data_ptr()
                other = storages.setdefault(address, position)
                if other != position and (other in self._written or position in self._written):
                    return True
        return False

    def _make_compute(self) -> Callable[..., Sequence[Any]]:
        traced = self.traced
        if not traced.results():
            return lambda *values: ()
        split = split_supported(traced)
        if split is None:
            self.pieces.append(self._make_piece(traced.graph, traced.inputs))
            return self.pieces[0].run
        outer = dict(zip((node.name for node in traced.placeholders()), traced.inputs, strict=True))
        for node in list(split.graph.nodes):
            if node.op == "call_module":
                body = split.get_submodule(str(node.target))
                assert isinstance(body, fx.GraphModule)
                names = [str(getattr(arg, "name", arg)) for arg in node.args]
                specs = [outer.get(name, InputSpec("user", name)) for name in names]
                self.pieces.append(self._make_piece(body, specs))
                split.add_module(str(node.target), self.pieces[-1])
        split.recompile()

        def run(*values: Any) -> list[Any]:
            with torch.no_grad():
                return own_results(split.forward(*values), values)

        return run

    def _make_piece(self, body: fx.GraphModule, inputs: Sequence[InputSpec]) -> Piece:
        return Piece(body, inputs, self.traced.symbols, self.target, self.timings, self.fullgraph)
