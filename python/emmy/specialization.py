"""A program traced for one kind of call: which tensors it takes, what runs them, and how results go back to the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.utils._pytree as pytree

from emmy._runtime import PlanMismatch
from emmy.compiler import Timings
from emmy.errors import Diagnostic, ShapeError
from emmy.executor import Executor, OverlapError
from emmy.frontend.decompose import decompose_unsupported
from emmy.frontend.dynamic import Dynamic
from emmy.frontend.export import trace
from emmy.frontend.partition import check_supported
from emmy.frontend.program import Program
from emmy.frontend.traced import InputSpec, Traced
from emmy.signature import TensorSignature

__all__ = ["Specialization", "describe", "describe_remark", "specialize"]


def specialize(
    program: Program, args: tuple[Any, ...], kwargs: dict[str, Any], *, dynamic: Dynamic, target: str, fullgraph: bool
) -> Specialization:
    """Traces a program for a call and decides what is compiled."""
    timings = Timings()
    with timings.measure("export"):
        traced = trace(program, args, kwargs, dynamic)
        decompose_unsupported(traced.graph)
        if fullgraph:
            check_supported(traced)
    return Specialization(program, traced, target, timings, fullgraph)


class LayoutError(Exception):
    """An input of which views are returned is contiguous now and was not when it was traced, or the other way round."""


class Specialization:
    """See the module's description. Calls are safe from any thread."""

    Mismatch = (PlanMismatch, TypeError, OverlapError, LayoutError)

    def __init__(
        self, program: Program, traced: Traced, target: str, timings: Timings | None = None, fullgraph: bool = False
    ) -> None:
        self.name, self.target = program.name, target
        self.executor = Executor(traced, target, timings, fullgraph)
        self.modes = program.modes()
        self.signature = TensorSignature(traced)
        self._state = _state_slots(program, traced.inputs, target)
        self._user = [spec.leaf for spec in traced.inputs if not spec.is_state]
        self._viewed = _contiguity_of_viewed(traced)
        self._out_spec = traced.out_spec
        self._arity = _flat_arity(traced)
        self._single = _is_single_result(traced)

    def matches_flat(self, args: tuple[Any, ...]) -> bool:
        """Whether a call may be this one without taking its arguments apart."""
        if len(args) != self._arity or not self.modes.are_current():
            return False
        return not (torch.is_grad_enabled() and any(getattr(arg, "requires_grad", True) for arg in args))

    def accepts(self, leaves: Sequence[Any]) -> bool:
        """Whether types, sizes and devices of a call and of the module's state are those of the trace."""
        if self.difference(leaves) is not None:
            return False
        values = self._values(leaves)
        return not self.signature.changed(values) and self._views_fit(values)

    def difference(self, leaves: Sequence[Any]) -> ShapeError | None:
        """What does not fit in a call's own arguments."""
        return self.signature.difference(leaves)

    def run(self, leaves: Sequence[Any]) -> Any:
        """The user's result for flat arguments."""
        values = self._values(leaves)
        if self._single:
            return self.executor.compute(*values)[0]
        if not self._views_fit(values):
            raise LayoutError
        assert self._out_spec is not None
        return pytree.tree_unflatten(self.executor(values), self._out_spec)

    def compile(self, leaves: Sequence[Any]) -> None:
        """Compiles for the layouts of these arguments, if there is a device to run them on."""
        self.executor.prepare(self._values(leaves))

    def ir(self, stage: str) -> str:
        """The IR of all pieces at a stage."""
        texts = [piece.text(stage) for piece in self.executor.pieces]
        if len(texts) == 1:
            return texts[0]
        return "\n".join(f"// piece {index} of {len(texts)}\n{text}" for index, text in enumerate(texts, 1))

    def _views_fit(self, values: Sequence[Any]) -> bool:
        """Operations like `contiguous` leave no trace where they hand back what they get."""
        return all(values[position].is_contiguous() == contiguous for position, contiguous in self._viewed)

    def _values(self, leaves: Sequence[Any]) -> list[Any]:
        return [table.get(key) for table, key in self._state] + [leaves[leaf] for leaf in self._user]


def describe(entries: Sequence[Specialization]) -> str:
    """The text of `CompiledFunction.explain`."""
    lines: list[str] = []
    for entry in entries:
        lines.append(f"{entry.name} for {entry.target}: {entry.signature}")
        for rejection in entry.executor.rejected:
            where = f" at {rejection.location}" if rejection.location else ""
            lines.append(f"  eager: {rejection.op}{where}: {rejection.reason}")
        for index, piece in enumerate(entry.executor.pieces, 1):
            if piece.failure is not None:
                lines.append(f"  piece {index} of {len(entry.executor.pieces)} runs eagerly: {piece.failure}")
                continue
            count = len(piece.executables)
            state = f"compiled for {count} layout{'s' if count > 1 else ''} of its arguments" if count else "not called yet"
            lines.append(f"  piece {index} of {len(entry.executor.pieces)}: {state}")
            lines += [f"    {describe_remark(remark)}" for remark in piece.lowering().remarks()]
        if entry.executor.timings.parts:
            lines.append(f"  time: {entry.executor.timings}")
    return "\n".join(lines) or "nothing is compiled yet"


def describe_remark(remark: Diagnostic) -> str:
    """A line of what a pass chose: the decision, its reason, the pass, and the place in the program if it is known."""
    return f"{remark.message} at {remark.location}" if remark.location else remark.message


def _state_slots(program: Program, inputs: Sequence[InputSpec], target: str) -> list[tuple[Any, str]]:
    """Where the module's tensors are read at each call: the table that holds each, and its key."""
    slots: list[tuple[Any, str]] = []
    for spec in inputs:
        if spec.kind == "constant":
            value = spec.value
            assert value is not None
            if target != "cpu" and torch.cuda.is_available():
                value = value.cuda()
            slots.append(({"value": value}, "value"))
        elif spec.is_state:
            slots.append(program.state_slot(spec.name))
    return slots


def _contiguity_of_viewed(traced: Traced) -> list[tuple[int, bool]]:
    nodes = traced.placeholders()
    viewed = sorted({spec.index for spec in traced.outputs if spec.kind == "input"})
    return [(position, bool(nodes[position].meta["val"].is_contiguous())) for position in viewed]


def _flat_arity(traced: Traced) -> int:
    """Number of arguments if a call's leaves are exactly its positional arguments, else -1."""
    spec = traced.in_spec
    if spec is None or traced.constants:
        return -1
    args, kwargs = spec.children()
    flat = kwargs.num_children == 0 and all(child.is_leaf() for child in args.children())
    return args.num_children if flat else -1


def _is_single_result(traced: Traced) -> bool:
    if traced.mutations or traced.out_spec is None or len(traced.outputs) != 1:
        return False
    return traced.out_spec.is_leaf() and traced.outputs[0].kind == "result" and len(traced.results()) == 1
