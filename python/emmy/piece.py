"""A supported graph as a callable: one compiled plan for each layout of arguments that calls bring."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from torch import fx

from emmy import simulator
from emmy._runtime import PlanMismatch
from emmy.compiler import Executable, Lowering, Timings, build
from emmy.errors import DeviceError
from emmy.frontend.importer import import_graph
from emmy.frontend.symbols import size_text
from emmy.frontend.traced import InputSpec, SymbolInfo
from emmy.layout import layout_text

__all__ = ["Piece"]

_log = logging.getLogger("emmy.compiler")


class Piece(torch.nn.Module):
    """Compiles a graph when it is first called, and again when a call's strides or alignment differ from all before.

    No tensor is ever copied to make it fit. Calls come from any thread; only compiling takes a lock.
    """

    def __init__(
        self,
        graph: fx.Graph,
        inputs: Sequence[InputSpec],
        symbols: Mapping[sympy.Symbol, SymbolInfo],
        target: str,
        timings: Timings | None = None,
    ) -> None:
        super().__init__()
        self.graph, self.inputs, self.symbols = graph, list(inputs), dict(symbols)
        self.target = target
        (output,) = (node for node in graph.nodes if node.op == "output")
        self._returns_tuple = isinstance(output.args[0], (tuple, list))
        self.timings = timings or Timings()
        self._variants: dict[tuple[str, ...], Executable] = {}
        self._order: list[Executable] = []
        self._default: Lowering | None = None
        self._lock = threading.Lock()

    def forward(self, *values: Any) -> Any:
        """The results; a graph that returns a bare value rather than a tuple gives that value."""
        results = self.run(*values)
        return results if self._returns_tuple else results[0]

    def run(self, *values: Any) -> Any:
        """The results as a list."""
        for executable in self._order:
            try:
                return executable.plan(*values)
            except PlanMismatch:
                continue
        return self.variant(values).plan(*values)

    def variant(self, values: Sequence[Any]) -> Executable:
        """The executable for the layouts of these arguments, compiled if it does not exist yet."""
        layouts = tuple(self._layouts(values))
        if self.target != "cpu" and not torch.cuda.is_available() and not simulator.active():
            raise DeviceError(
                f"code for {self.target} runs on a CUDA GPU, and PyTorch finds none; compile with target='cpu' to run here, "
                "or use emmy.simulate"
            )
        with self._lock:
            if layouts not in self._variants:
                if self._variants:
                    _log.info("compiling again for another layout of the arguments: %s", self._difference(layouts))
                self._variants[layouts] = build(self._lower(layouts))
            executable = self._variants[layouts]
            self._order = [executable, *(other for other in self._order if other is not executable)]
        return executable

    def lowering(self) -> Lowering:
        """The IR of the latest executable; before there is one, for contiguous arguments."""
        if self._order:
            return self._order[0].lowering
        if self._default is None:
            self._default = self._lower(())
        return self._default

    def text(self, stage: str) -> str:
        """The IR at a stage."""
        return self.lowering().text(stage)

    def _lower(self, layouts: Sequence[str]) -> Lowering:
        with self.timings.measure("torch-mlir"):
            text = import_graph(self.graph, self.inputs, self.symbols, layouts)
        return Lowering(text, self.target, self.timings)

    @property
    def executables(self) -> list[Executable]:
        """What has been compiled, the most recent first."""
        return list(self._order)

    def _layouts(self, values: Sequence[Any]) -> list[str]:
        placeholders = [node for node in self.graph.nodes if node.op == "placeholder"]
        texts: list[str] = []
        for node, value in zip(placeholders, values, strict=True):
            if not isinstance(value, torch.Tensor):
                texts.append("")
                continue
            sizes = size_text(node.meta["val"].shape, self.symbols)[1:-1]
            texts.append(layout_text(value, sizes.split(", ") if sizes else []))
        return texts

    def _difference(self, layouts: Sequence[str]) -> str:
        known = next(iter(self._variants))
        changed = [
            f"{spec.name} {new or 'contiguous'}" for spec, old, new in zip(self.inputs, known, layouts, strict=True) if old != new
        ]
        return "; ".join(changed) or "another combination"
