"""Replaces operations that Emmy does not import by torch's own decompositions, where those lead to ones that it does.

Only the unsupported node is re-traced, so everything else keeps its whole operation (`linear`, `rms_norm`, …).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from emmy.frontend.clean import clean_graph, replace_call
from emmy.frontend.supported import is_supported
from torch import fx
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._ops import OpOverload
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["decompose_unsupported"]

# Core ATen keeps these whole; their decompositions exist beside it.
_EXTRA = (
    "grid_sampler_2d",
    "native_group_norm",
    "native_layer_norm",
    "upsample_nearest2d",
    "diagonal_scatter",
    "addmv",
    "addr",
    "linalg_vector_norm",
)
_DEPTH = 4


def decompose_unsupported(module: fx.GraphModule) -> None:
    """Rewrites a cleaned graph in place; an operation without a decomposition is left for the partitioner."""
    for _ in range(_DEPTH):
        nodes = [node for node in module.graph.nodes if node.op == "call_function" and _is_candidate(node)]
        changed = [_replace(module, node) for node in nodes]
        if not any(changed):
            break
    module.graph.eliminate_dead_code(is_impure_node=lambda node: node.op in ("placeholder", "output"))
    module.graph.lint()
    module.recompile()


@cache
def _table() -> dict[OpOverload, Callable[..., Any]]:
    aten = torch.ops.aten
    extra = [getattr(aten, name) for name in _EXTRA if hasattr(aten, name)]
    table = {**core_aten_decompositions(), **get_decompositions(extra)}
    return {op: body for op, body in table.items() if isinstance(op, OpOverload) and not is_supported(op)}


def _is_candidate(node: fx.Node) -> bool:
    target = node.target
    if not isinstance(target, OpOverload) or is_supported(target) or target.namespace != "aten":
        return False
    return target in _table() or target._can_decompose()


def _replace(module: fx.GraphModule, node: fx.Node) -> bool:
    """Traces the node's decomposition over its fake operands and splices it in; says whether that worked."""
    flat, spec = tree_flatten((node.args, node.kwargs))
    operands = [leaf for leaf in flat if isinstance(leaf, fx.Node)]
    values = [operand.meta.get("val") for operand in operands]

    def body(*tensors: Any) -> Any:
        remaining = iter(tensors)
        leaves = [next(remaining) if isinstance(leaf, fx.Node) else leaf for leaf in flat]
        args, kwargs = tree_unflatten(leaves, spec)
        result = node.target(*args, **kwargs)  # type: ignore[operator]
        return list(result) if isinstance(result, (tuple, list)) else result

    try:
        inner = make_fx(body, decomposition_table=_table(), tracing_mode="real", pre_dispatch=False)(*values)
    except Exception:
        # A decomposition that cannot be traced is the same as none: the partitioner then names the operation.
        return False
    if any(inner_node.target is node.target for inner_node in inner.graph.nodes):
        return False
    clean_graph(inner)
    _splice(module, node, inner, operands)
    return True


def _splice(module: fx.GraphModule, node: fx.Node, inner: fx.GraphModule, operands: list[fx.Node]) -> None:
    placeholders = [inner_node for inner_node in inner.graph.nodes if inner_node.op == "placeholder"]
    mapping: dict[fx.Node, Any] = dict(zip(placeholders, operands, strict=True))
    for attribute in [inner_node for inner_node in inner.graph.nodes if inner_node.op == "get_attr"]:
        name = f"{node.name}_{attribute.target}"
        setattr(module, name, getattr(inner, str(attribute.target)))
        attribute.target = name
    with module.graph.inserting_before(node):
        results = module.graph.graph_copy(inner.graph, mapping)
    for copied in mapping.values():
        if isinstance(copied, fx.Node) and copied not in operands:
            copied.meta["stack_trace"] = node.meta.get("stack_trace")
    replace_call(module.graph, node, results)
