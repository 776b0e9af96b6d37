"""Results that are views of inputs. PyTorch makes them anew at each call, so that they share storage exactly as in eager mode.

Found before a graph is cleaned, while `clone` and `detach` can still be told apart. A chain of operations that may alias their
first operand (`view`, `t`, `select`, `contiguous`, …) from an input, or from what is written into an input, is a view.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

__all__ = ["View", "find_views"]


@dataclass(frozen=True)
class View:
    """A result that is made of an input: `make` of it, or the input itself."""

    base: fx.Node
    make: Callable[[torch.Tensor], torch.Tensor] | None = None


def find_views(graph: fx.Graph, results: Sequence[Any], written: Mapping[fx.Node, fx.Node]) -> dict[int, View]:
    """The views among `results`, by position.

    Args:
        written: the placeholder that a node's value is written into, for every node of which that is true.
    """
    overwritten = set(written.values())
    views: dict[int, View] = {}
    for position, result in enumerate(results):
        chain: list[fx.Node] = []
        node = result
        while isinstance(node, fx.Node) and node not in written and _may_alias(node):
            chain.append(node)
            node = node.args[0]
        if not isinstance(node, fx.Node):
            continue
        if node in written:
            base = written[node]
        elif node.op == "placeholder" and node not in overwritten and isinstance(node.meta.get("val"), torch.Tensor):
            base = node
        else:
            continue
        make = _replay(chain[::-1], node) if chain else None
        if not chain or make is not None:
            views[position] = View(base, make)
    return views


def _may_alias(node: fx.Node) -> bool:
    """Whether a node's value is, or may be for some strides, the storage of its first operand."""
    if node.target is operator.getitem:
        return True
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    schema = node.target._schema
    if schema.is_mutable or not schema.returns or not schema.arguments or not node.args:
        return False
    source, target = schema.arguments[0].alias_info, schema.returns[0].alias_info
    if source is None or target is None or not isinstance(node.args[0], fx.Node):
        return False
    before, after = node.args[0].meta.get("val"), node.meta.get("val")
    # `to` and `type_as` alias only what has the type already.
    return not isinstance(after, torch.Tensor) or (isinstance(before, torch.Tensor) and before.dtype == after.dtype)


def _replay(chain: Sequence[fx.Node], base: fx.Node) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """A function that makes the last of a chain of views from its base; None if it needs more than the base."""
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {base: graph.placeholder("base")}
    sources = _sizes_of(base)

    def copy(node: fx.Node) -> fx.Node:
        if node in copies:
            return copies[node]
        size = node.meta.get("val")
        if isinstance(size, torch.SymInt) and size.node.expr in sources:
            copies[node] = graph.call_function(torch.ops.aten.sym_size.int, (copies[base], sources[size.node.expr]))
        elif node in chain or (isinstance(size, (int, torch.SymInt)) and node.op == "call_function"):
            copies[node] = graph.node_copy(node, copy)
        else:
            raise LookupError(node)
        return copies[node]

    try:
        graph.output(copy(chain[-1]))
    except LookupError:
        return None
    return fx.GraphModule(torch.nn.Module(), graph).forward


def _sizes_of(node: fx.Node) -> dict[Any, int]:
    """The dimensions in which symbolic sizes of a tensor are found."""
    value = node.meta.get("val")
    shape: Sequence[Any] = value.shape if isinstance(value, torch.Tensor) else ()
    return {size.node.expr: dim for dim, size in enumerate(shape) if isinstance(size, torch.SymInt)}
