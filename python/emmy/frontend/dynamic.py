"""The `dynamic=` argument: which input dimensions are symbolic, under which name and within which range.

Accepted: `None` (all sizes fixed), `True` (every dimension of every tensor input), or a dict from an input's name or
    position to a dict from a dimension to `"name"` or `("name", low, high)`. Dimensions with one name are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from emmy.errors import UsageError
from emmy.frontend.traced import UNBOUNDED
from torch.export import Dim
from torch.utils._pytree import tree_map_only

__all__ = ["Dynamic", "DynamicRequest", "normalise", "trace_shapes", "widen_examples"]

DimSpec = str | tuple[str, int, int]
Dynamic = None | bool | Mapping[str | int, Mapping[int, DimSpec]]

# A dimension of size 0 or 1 would be specialised by torch, so a symbolic one is traced at this size at least.
_SMALLEST_TRACED_SIZE = 3


@dataclass(frozen=True)
class DynamicRequest:
    """The normalised request: `dims[input][dimension]` is a label; `ranges[label]` its inclusive bounds."""

    everything: bool
    dims: Mapping[str, Mapping[int, str]]
    ranges: Mapping[str, tuple[int, int]]

    def __bool__(self) -> bool:
        return self.everything or bool(self.dims)


def normalise(dynamic: Dynamic, names: Sequence[str], arguments: Mapping[str, Any]) -> DynamicRequest:
    """Checks a `dynamic=` argument against the inputs it names and brings it to one form."""
    if dynamic is None or isinstance(dynamic, bool):
        return DynamicRequest(bool(dynamic), {}, {})
    if not isinstance(dynamic, Mapping) or not all(isinstance(entry, Mapping) for entry in dynamic.values()):
        raise UsageError(f"dynamic: expects True or a dict such as {{'x': {{0: 'rows'}}}}, but got {dynamic!r}")
    dims: dict[str, dict[int, str]] = {}
    ranges: dict[str, tuple[int, int]] = {}
    for key, entry in dynamic.items():
        name = _input_name(key, names)
        value = arguments.get(name)
        if not isinstance(value, torch.Tensor):
            raise UsageError(f"dynamic: input {name!r} is not a tensor")
        for dim, spec in entry.items():
            label, low, high = spec if isinstance(spec, tuple) else (spec, None, None)
            if not -value.dim() <= dim < value.dim():
                raise UsageError(f"dynamic: input {name!r} has {value.dim()} dimensions, so {dim} is out of range")
            dims.setdefault(name, {})[dim % value.dim()] = label
            _merge_range(ranges, label, low, high)
    return DynamicRequest(False, dims, ranges)


def trace_shapes(request: DynamicRequest, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The `dynamic_shapes` argument of `torch.export.export` for a request."""
    if not request:
        return None
    if request.everything:
        automatic = {name: _automatic(value) for name, value in arguments.items()}
        return automatic
    named = {label: Dim(label, min=low, max=high) for label, (low, high) in request.ranges.items()}
    shapes: dict[str, Any] = {}
    for name, value in arguments.items():
        chosen = request.dims.get(name)
        shapes[name] = {dim: named[label] for dim, label in chosen.items()} if chosen else _static(value)
    return shapes


def widen_examples(request: DynamicRequest, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Replaces tensors whose symbolic dimensions are 0 or 1 by larger ones of the same type; values are not traced."""

    def widen(tensor: torch.Tensor, dims: Mapping[int, str]) -> torch.Tensor:
        sizes = list(tensor.shape)
        for dim, label in dims.items():
            low, high = request.ranges.get(label, (1, UNBOUNDED))
            if sizes[dim] < 2:
                sizes[dim] = min(max(_SMALLEST_TRACED_SIZE, low), max(high, 2))
        return tensor if sizes == list(tensor.shape) else tensor.new_zeros(sizes)

    return {name: widen(value, request.dims[name]) if name in request.dims else value for name, value in arguments.items()}


def _input_name(key: str | int, names: Sequence[str]) -> str:
    if isinstance(key, int):
        if not 0 <= key < len(names):
            raise UsageError(f"dynamic: there is no input {key}; the inputs are {', '.join(names)}")
        return names[key]
    if key not in names:
        raise UsageError(f"dynamic: there is no input {key!r}; the inputs are {', '.join(names)}")
    return key


def _merge_range(ranges: dict[str, tuple[int, int]], label: str, low: int | None, high: int | None) -> None:
    if not label.isidentifier():
        raise UsageError(f"dynamic: {label!r} is not a name for a size; use letters, digits and underscores")
    old_low, old_high = ranges.get(label, (1, UNBOUNDED))
    merged = (max(old_low, 1 if low is None else low), min(old_high, UNBOUNDED if high is None else high))
    if merged[0] > merged[1]:
        raise UsageError(f"dynamic: the range of {label!r} is empty: {merged[0]}..{merged[1]}")
    ranges[label] = merged


def _automatic(value: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda tensor: dict.fromkeys(range(tensor.dim()), Dim.AUTO), _static_leaves(value))


def _static(value: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda tensor: {}, _static_leaves(value))


def _static_leaves(value: Any) -> Any:
    # Non-tensor leaves of `dynamic_shapes` must be None.
    return tree_map_only((int, float, bool, str), lambda leaf: None, value)
