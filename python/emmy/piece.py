"""A supported graph as a callable: one compiled plan for each layout of arguments that calls bring.

What the compiler turns out not to know runs eagerly, with a note, unless the whole graph has to be compiled.
"""

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
from emmy.errors import DeviceError, ToolNotFoundError
from emmy.frontend.importer import import_graph
from emmy.frontend.symbols import size_text
from emmy.frontend.traced import InputSpec, SymbolInfo
from emmy.layout import layout_text

__all__ = ["Piece", "own_results"]

_log = logging.getLogger("emmy.compiler")


class Piece(torch.nn.Module):
    """Compiles a graph when it is first called, and again when a call's strides or alignment differ from all before.

    No tensor is ever copied to make it fit. Calls come from any thread; only compiling takes a lock.
    """

    def __init__(
        self,
        body: fx.GraphModule,
        inputs: Sequence[InputSpec],
        symbols: Mapping[sympy.Symbol, SymbolInfo],
        target: str,
        timings: Timings | None = None,
        fullgraph: bool = False,
    ) -> None:
        super().__init__()
        self.graph, self.inputs, self.symbols = body.graph, list(inputs), dict(symbols)
        self.target = target
        self.failure: Exception | None = None
        self._body, self._fullgraph = body, fullgraph
        (output,) = (node for node in body.graph.nodes if node.op == "output")
        self._returns_tuple = isinstance(output.args[0], (tuple, list))
        self.timings = timings or Timings()
        self._variants: dict[tuple[str, ...], Executable | None] = {}
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
        # A lazily negated tensor holds other numbers than its memory.
        values = tuple(value.resolve_neg() if isinstance(value, torch.Tensor) else value for value in values)
        compiled = self.variant(values)
        return self._run_eagerly(values) if compiled is None else compiled.plan(*values)

    def variant(self, values: Sequence[Any]) -> Executable | None:
        """The executable for the layouts of these arguments, compiled if it does not exist yet; None if it runs eagerly."""
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
                self._variants[layouts] = self._build(layouts)
            executable = self._variants[layouts]
            if executable is not None:
                self._order = [executable, *(other for other in self._order if other is not executable)]
        return executable

    def _build(self, layouts: Sequence[str]) -> Executable | None:
        try:
            return build(self._lower(layouts))
        except (DeviceError, ToolNotFoundError):
            raise
        except Exception as error:
            # The importer and the code generators raise whatever they like.
            if self._fullgraph:
                raise
            self.failure = error
            names = {node.target.__name__ for node in self.graph.nodes if isinstance(node.target, torch._ops.OpOverload)}
            _log.warning("a piece of %s runs eagerly: it does not compile: %s", ", ".join(sorted(names)), error)
            return None

    def _run_eagerly(self, values: Sequence[Any]) -> list[Any]:
        with torch.no_grad():
            results = self._body(*values)
        return own_results(list(results) if self._returns_tuple else [results], values)

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


def own_results(results: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """The results of eager operations, copied where they handed on storage of an argument."""
    storages = {value.untyped_storage().data_ptr() for value in values if _is_strided(value)}
    return [
        result.clone() if _is_strided(result) and result.untyped_storage().data_ptr() in storages else result
        for result in results
    ]


def _is_strided(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided
