"""A user's callable in the one shape that tracing and calling need: flat leaves in, flat leaves out, state by name."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
import torch.utils._pytree as pytree
from emmy.errors import UsageError
from torch import nn
from torch.fx import proxy

__all__ = ["Program", "call_signature"]

# Leaves of these types take part in the trace by value.
ConstantKey = tuple[tuple[int, Any], ...]


@dataclasses.dataclass
class _Structure:
    """The pytree structure of a call. It lives outside the module's attributes because tracing rolls those back.

    `mode_owners` are the attributes of modules that may read their mode.
    """

    inputs: pytree.TreeSpec | None = None
    outputs: pytree.TreeSpec | None = None
    mode_owners: list[dict[str, Any]] = dataclasses.field(default_factory=list)


class Modes:
    """What else a trace fixes: which modules train, and autocast. Compares and hashes by value."""

    def __init__(self, owners: Sequence[dict[str, Any]]) -> None:
        self._owners = owners
        self._key = self._read()

    def are_current(self) -> bool:
        """Whether the modes are still those at construction."""
        return self._key == self._read()

    def _read(self) -> tuple[Any, ...]:
        training = [owner["training"] for owner in self._owners]
        if not torch._C._is_any_autocast_enabled():
            return (training,)
        autocast = [(torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")]
        return (training, autocast)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Modes) and self._key == other._key

    def __hash__(self) -> int:
        return hash(repr(self._key))


class Program(nn.Module):
    """Wraps a module or a function; `forward(*leaves)` takes what `flatten_call` returns.

    Modules that a function closes over are registered as children, so their parameters are state and not constants.
    """

    def __init__(self, target: Callable[..., Any]) -> None:
        super().__init__()
        self.target = target
        if not isinstance(target, nn.Module):
            for name, module in _captured_modules(target):
                self.add_module(name, module)
            # Without this, torch records source lines only for frames named `forward`; before 2.13 it always does.
            if register := getattr(proxy, "_register_stack_trace_anchor", None):
                register(target)
        self._signature = _signature_of(target)
        self._structure = _Structure()
        self.training = getattr(target, "training", False)
        readers = [module for module in self.modules() if module is not self and _may_read_mode(module)]
        self._structure.mode_owners = [module.__dict__ for module in readers]

    def modes(self) -> Modes:
        """The modes of now."""
        return Modes(self._structure.mode_owners)

    @property
    def name(self) -> str:
        """How messages call the program."""
        if isinstance(self.target, nn.Module):
            return type(self.target).__name__
        return getattr(self.target, "__name__", "function")

    def flatten_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], pytree.TreeSpec]:
        """Leaves and structure of a call; a keyword that fills a positional parameter counts as positional."""
        if self._signature is not None and kwargs:
            bound = self._bind(self._signature, args, kwargs)
            args, kwargs = bound.args, bound.kwargs
        return pytree.tree_flatten((args, kwargs))

    def leaf_names(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """A readable name for each leaf of a call: `x`, `cache.0`, `mask`."""
        if self._signature is not None:
            bound = self._bind(self._signature, args, kwargs)
            args, kwargs = bound.args, bound.kwargs
        with_paths, _ = pytree.tree_flatten_with_path((args, kwargs))
        return [self._path_name(path) for path, _ in with_paths]

    def _bind(self, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        try:
            return signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UsageError(f"{self.name}{signature} cannot be called so: {error}") from error

    def bind_structure(self, spec: pytree.TreeSpec) -> None:
        """Sets the call structure that `forward` rebuilds from its leaves."""
        self._structure.inputs, self._structure.outputs = spec, None

    @property
    def out_spec(self) -> pytree.TreeSpec | None:
        """Structure of the last result."""
        return self._structure.outputs

    def forward(self, *leaves: Any) -> tuple[Any, ...]:
        assert self._structure.inputs is not None, "bind_structure comes before forward"
        args, kwargs = pytree.tree_unflatten(list(leaves), self._structure.inputs)
        result = self.target(*args, **kwargs)
        _register_dataclasses(result)
        flat, self._structure.outputs = pytree.tree_flatten(result)
        return tuple(flat)

    def public_name(self, state_path: str) -> str:
        """A parameter's name as the user's module knows it."""
        return state_path.removeprefix("target.") if isinstance(self.target, nn.Module) else state_path

    def state_slot(self, name: str) -> tuple[dict[str, Any], str]:
        """The table and key under which a parameter or buffer is found, also after `load_state_dict` or re-assignment."""
        path, _, leaf = name.rpartition(".")
        owner = (self.target if isinstance(self.target, nn.Module) else self).get_submodule(path)
        return (owner._parameters if leaf in owner._parameters else owner._buffers), leaf

    def _path_name(self, path: pytree.KeyPath) -> str:
        in_args = path[0].idx == 0  # type: ignore[attr-defined]
        keys = [str(getattr(key, "idx", getattr(key, "key", getattr(key, "name", key)))) for key in path[1:]]
        if in_args:
            keys[0] = self._positional_name(int(keys[0]))
        return ".".join(keys)

    def _positional_name(self, index: int) -> str:
        if self._signature is None:
            return f"arg{index}"
        for position, parameter in enumerate(self._signature.parameters.values()):
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                return f"{parameter.name}{index - position}"
            if position == index:
                return parameter.name
        return f"arg{index}"


# What torch's own modules of these names do depends on `training`, unlike the rest of them.
_MODE_READERS = ("Dropout", "BatchNorm", "InstanceNorm", "RReLU", "Attention", "Transformer", "RNN", "LSTM", "GRU")


def _may_read_mode(module: nn.Module) -> bool:
    own = type(module).__module__.startswith("torch.nn.modules.")
    return not own or any(name in type(module).__name__ for name in _MODE_READERS)


def call_signature(leaves: list[Any], spec: pytree.TreeSpec) -> tuple[Any, ...]:
    """A hashable key of what a trace fixes: the structure and every leaf that is not a tensor."""
    constants = tuple((index, type(leaf), leaf) for index, leaf in enumerate(leaves) if not isinstance(leaf, torch.Tensor))
    return (spec, constants)


def _signature_of(target: Callable[..., Any]) -> inspect.Signature | None:
    callee = target.forward if isinstance(target, nn.Module) else target
    try:
        return inspect.signature(callee)
    except (TypeError, ValueError):  # built-in functions have none
        return None


def _captured_modules(function: Callable[..., Any]) -> Iterator[tuple[str, nn.Module]]:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, nn.Module):
        yield "self_", owner
    inner = inspect.unwrap(function)
    inner = getattr(inner, "__func__", inner)
    if not inspect.isfunction(inner):
        return
    variables = inspect.getclosurevars(inner)
    seen: set[int] = {id(owner)}
    for name, value in {**variables.globals, **variables.nonlocals}.items():
        if isinstance(value, nn.Module) and id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _register_dataclasses(value: Any) -> None:
    """Makes dataclass results that torch does not know into pytree nodes, as torch.compile users expect them back."""
    for leaf in pytree.tree_leaves(value):
        if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
            names = _register_dataclass(type(leaf))
            for name in names:
                _register_dataclasses(getattr(leaf, name))


def _register_dataclass(cls: type) -> list[str]:
    names = [field.name for field in dataclasses.fields(cls) if field.init]

    def flatten(instance: Any) -> tuple[list[Any], None]:
        return [getattr(instance, name) for name in names], None

    def unflatten(children: Iterable[Any], _: None) -> Any:
        return cls(**dict(zip(names, children, strict=True)))

    pytree.register_pytree_node(cls, flatten, unflatten, serialized_type_name=f"{cls.__module__}.{cls.__qualname__}")
    return names
