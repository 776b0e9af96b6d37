"""`emmy.compile`: a module or function in, a compiled callable of the same signature out."""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from emmy import config
from emmy.errors import EmmyError, ShapeError, UsageError
from emmy.executor import OverlapError
from emmy.frontend.dynamic import Dynamic
from emmy.frontend.program import Program, call_signature
from emmy.pipeline import check_stage
from emmy.specialization import Specialization, describe, specialize
from emmy.targets import resolve_target

__all__ = ["CompiledFunction", "compile"]

_log = logging.getLogger("emmy.api")


def compile(
    module: Callable[..., Any],
    example_inputs: tuple[Any, ...] | Mapping[str, Any] | None = None,
    *,
    target: str | None = None,
    dynamic: Dynamic = None,
    fullgraph: bool = False,
) -> CompiledFunction:
    """A compiled version of a module or function, for inference: results carry no gradients of its parameters.

    Args:
        module: what to compile. Its parameters are read at every call, so `load_state_dict`, `.to()` and in-place
            changes are seen, and so are `train()`, `eval()` and autocast. Other Python values that it reads, such as
            attributes and variables of a closure, are constants from the first call on.
        example_inputs: the arguments of a call, as a tuple or a dict of keywords. With them the program is traced once,
            now, and calls that do not fit are errors; without them it is traced at the first call, and again for other
            shapes.
        target: `sm_90a`, `cpu`, …; by default what the inputs are on.
        dynamic: the dimensions that vary, as `{"x": {0: ("tokens", 1, 8192)}}`; `True` for all of them, from size 2 up.
        fullgraph: raise an error instead of running eagerly what does not compile.

    Example:
        >>> model = torch.nn.Sequential(torch.nn.RMSNorm(64), torch.nn.Linear(64, 32))
        >>> compiled = emmy.compile(model, (torch.randn(4, 64),))
        >>> compiled(torch.randn(4, 64)).shape
        torch.Size([4, 32])
    """
    if not callable(module):
        raise UsageError(f"emmy.compile takes a module or a function, but got a {type(module).__name__}")
    compiled = CompiledFunction(module, target=target, dynamic=dynamic, fullgraph=fullgraph)
    if example_inputs is not None:
        args, kwargs = _example_call(example_inputs)
        compiled.prepare(*args, **kwargs)
    return compiled


class CompiledFunction:
    """What `emmy.compile` returns. Call it like the original; attributes of a module are reachable through it."""

    def __init__(self, module: Callable[..., Any], *, target: str | None, dynamic: Dynamic, fullgraph: bool) -> None:
        self._module, self._target, self._dynamic, self._fullgraph = module, target, dynamic, fullgraph
        self._program = Program(module)
        self._entries: dict[Any, list[Specialization]] = {}
        self._fixed = False
        self._noted = False
        self._latest: Specialization | None = None
        self._lock = threading.RLock()
        config.configure_logging()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        latest = self._latest
        if latest is not None and not kwargs and latest.matches_flat(args):
            try:
                return latest.run(args)
            except latest.Mismatch:
                pass
        return self._call_any(args, kwargs)

    def prepare(self, *args: Any, **kwargs: Any) -> None:
        """Traces and compiles for a call with these arguments without making it; later calls must fit them."""
        leaves, _ = self._flatten(args, kwargs)
        self._note_gradients()
        self.trace(*args, **kwargs).compile(leaves)
        self._fixed = True

    def trace(self, *args: Any, **kwargs: Any) -> Specialization:
        """Traces for a call with these arguments without compiling; the IR of every stage is then made on demand."""
        leaves, spec = self._flatten(args, kwargs)
        return self._trace(args, kwargs, leaves, self._key(leaves, spec))

    def ir(self, stage: str) -> str:
        """The program at a stage: torch, graph, fuse, sched, tile, nvvm, llvm, ptx or sass."""
        entry = self._require_entry()
        check_stage(stage, entry.target)
        return entry.ir(stage)

    def ptx(self) -> str:
        """The PTX of all kernels."""
        return self.ir("ptx")

    def explain(self) -> str:
        """What was compiled, what was left to PyTorch and why, and what the passes chose."""
        return describe([entry for entries in self._entries.values() for entry in entries])

    def __reduce__(self) -> Any:
        return _restore, (self._module, self._target, self._dynamic, self._fullgraph)

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledFunction:
        module = copy.deepcopy(self._module, memo)
        return CompiledFunction(module, target=self._target, dynamic=self._dynamic, fullgraph=self._fullgraph)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._module, name)

    def __repr__(self) -> str:
        return f"emmy.compile({self._module!r})"

    def _flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
        try:
            return self._program.flatten_call(args, kwargs)
        except TypeError as error:
            raise TypeError(f"{self._program.name}: {error}") from None

    def _call_any(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves, spec = self._flatten(args, kwargs)
        if torch.is_grad_enabled() and any(isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in leaves):
            _log.warning("%s runs eagerly: an input requires a gradient and Emmy compiles inference only", self._program.name)
            return self._module(*args, **kwargs)
        self._note_gradients()
        key = self._key(leaves, spec)
        with self._lock:
            entry = next((entry for entry in self._entries.get(key, ()) if entry.accepts(leaves)), None)
            if entry is None:
                self._refuse_if_fixed(args, kwargs, leaves, key)
                entry = self._trace(args, kwargs, leaves, key)
        self._latest = entry
        try:
            return entry.run(leaves)
        except OverlapError:
            _log.warning("%s runs eagerly: it writes to an argument that shares memory with another", self._program.name)
            return self._module(*args, **kwargs)

    def _key(self, leaves: list[Any], spec: Any) -> Any:
        return call_signature(leaves, spec), self._program.modes()

    def _note_gradients(self) -> None:
        """Says once that the result will have no gradients, if the caller may expect some."""
        if self._noted or not torch.is_grad_enabled():
            return
        if any(parameter.requires_grad for parameter in self._program.parameters()):
            self._noted = True
            _log.warning(
                "%s has parameters that require gradients, and its compiled result has none: Emmy compiles inference only; "
                "call it under torch.no_grad(), or use torch.compile(backend='emmy'), which then runs eagerly",
                self._program.name,
            )

    def _refuse_if_fixed(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any], key: Any) -> None:
        """A program compiled for example inputs says what does not fit instead of tracing again."""
        entries = self._entries.get(key, [])
        if not self._fixed:
            return
        if not entries:
            self._program.leaf_names(args, kwargs)  # raises for arguments that are missing or too many
            raise ShapeError(
                "call",
                "the structure, constants and modes (train, eval, autocast) of the example inputs",
                "others",
                "compile without example_inputs",
            )
        for entry in entries:
            difference = entry.difference(leaves)
            if difference is not None:
                raise difference

    def _trace(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any], key: Any) -> Specialization:
        target = resolve_target(self._target, leaves, self._program)
        entry = specialize(self._program, args, kwargs, dynamic=self._dynamic, target=target, fullgraph=self._fullgraph)
        self._entries.setdefault(key, []).append(entry)
        self._latest = entry
        return entry

    def _require_entry(self) -> Specialization:
        if self._latest is None:
            raise EmmyError("nothing is compiled yet: call the function once, or give emmy.compile example_inputs")
        return self._latest


def _restore(module: Callable[..., Any], target: str | None, dynamic: Dynamic, fullgraph: bool) -> CompiledFunction:
    """What unpickling gives: it compiles again at its first call."""
    return CompiledFunction(module, target=target, dynamic=dynamic, fullgraph=fullgraph)


def _example_call(example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    if isinstance(example_inputs, torch.Tensor):
        return (example_inputs,), {}
    if not isinstance(example_inputs, Iterable):
        raise UsageError(f"example_inputs is a tuple of arguments or a dict of keywords, but got {example_inputs!r}")
    return tuple(example_inputs), {}
