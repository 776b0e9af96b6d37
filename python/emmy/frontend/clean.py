"""Brings a captured graph to plain ATen: inlines grad-mode regions, drops checks and copies, folds scalar constants."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import torch
from emmy.errors import TraceError
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor

__all__ = ["clean_graph", "replace_call"]

aten = torch.ops.aten

# Value-preserving operations: aliasing is invisible in a functional graph.
_IDENTITIES = {
    aten.alias.default,
    aten.clone.default,
    aten.contiguous.default,
    aten.detach.default,
    aten.detach_.default,
    aten.lift_fresh.default,
    aten.lift_fresh_copy.default,
}

_CHECKS = {
    "_assert_async",
    "_assert_scalar",
    "_assert_tensor_metadata",
    "_functional_assert_async",
    "_functional_assert_scalar",
    "_functional_sym_constrain_range",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
}


def clean_graph(module: fx.GraphModule, constants: Mapping[fx.Node, torch.Tensor] | None = None) -> None:
    """Cleans a graph in place. `constants` gives the values of placeholders that stand for tensors made while
    tracing.
    """
    _inline_regions(module)
    graph = module.graph
    for node in list(graph.nodes):
        if node.op == "call_function":
            _name_booleans(graph, node)
            _clean_node(graph, node)
    for node, value in (constants or {}).items():
        if value.numel() == 1 and value.dim() == 0 and not value.dtype.is_complex:
            _fold_scalar(graph, node, value)
    graph.eliminate_dead_code(is_impure_node=lambda node: node.op in ("placeholder", "output"))
    graph.lint()
    module.recompile()


def _clean_node(graph: fx.Graph, node: fx.Node) -> None:
    name = getattr(node.target, "__name__", "")
    if node.target in _IDENTITIES:
        node.replace_all_uses_with(_as_node(node.args[0]))
        graph.erase_node(node)
    elif isinstance(node.target, torch._ops.OpOverload) and node.target._schema.name.split("::")[1] in _CHECKS:
        graph.erase_node(node)
    elif name == "_exit_autocast" or name == "_set_grad_enabled":
        graph.erase_node(node)
    elif name == "_enter_autocast":
        _require_disabled(enabled=bool(node.args[2]))
    elif node.target is operator.getitem and not node.users:
        graph.erase_node(node)


def _name_booleans(graph: fx.Graph, node: fx.Node) -> None:
    """Makes tensors of Python booleans that stand for one, as in `x + True`: their type takes part in promotion. Where they stand
    for a number they become one, which gives other tensors than booleans the same type.
    """
    if not isinstance(node.target, torch._ops.OpOverload):
        return
    value = node.meta.get("val")
    for position, argument in enumerate(node.target._schema.arguments):
        flag = node.args[position] if position < len(node.args) else None
        if not isinstance(flag, bool) or not isinstance(value, FakeTensor):
            continue
        if isinstance(argument.type, torch.NumberType) and _first_dtype(node) not in (None, torch.bool):
            node.update_arg(position, int(flag))
        if not isinstance(argument.type, torch.TensorType):
            continue
        with graph.inserting_before(node):
            tensor = graph.call_function(aten.full.default, ([], int(flag)), {"dtype": torch.bool})
        with value.fake_mode:
            tensor.meta["val"] = torch.full([], flag, dtype=torch.bool)
        node.update_arg(position, tensor)


def _first_dtype(node: fx.Node) -> torch.dtype | None:
    value = node.args[0].meta.get("val") if isinstance(node.args[0], fx.Node) else None
    return value.dtype if isinstance(value, torch.Tensor) else None


def _as_node(argument: Any) -> fx.Node:
    assert isinstance(argument, fx.Node)
    return argument


def _fold_scalar(graph: fx.Graph, node: fx.Node, value: torch.Tensor) -> None:
    """Replaces a zero-dimensional constant by `full([], value)`, which the compiler can fold into its users."""
    if not node.users:
        return
    first = next(other for other in graph.nodes if other.op != "placeholder")
    with graph.inserting_before(first):
        number = value.item()
        number = int(number) if isinstance(number, bool) else number  # the importer knows numbers only
        scalar = graph.call_function(aten.full.default, ([], number), {"dtype": value.dtype})
    scalar.meta = dict(node.meta)
    node.replace_all_uses_with(scalar)


def _inline_regions(module: fx.GraphModule) -> None:
    """Inlines the sub-graphs of `torch.no_grad` and disabled autocast regions, inner ones too."""
    changed = True
    while changed:
        changed = False
        for node in list(module.graph.nodes):
            name = getattr(node.target, "__name__", "") if node.op == "call_function" else ""
            if name == "wrap_with_set_grad_enabled":
                body, arguments = node.args[1], node.args[2:]
            elif name == "wrap_with_autocast":
                _require_disabled(enabled=bool(node.args[2]))
                body, arguments = node.args[4], node.args[5:]
            else:
                continue
            _inline(module, node, _as_node(body), arguments)
            changed = True


def _inline(module: fx.GraphModule, call: fx.Node, body: fx.Node, arguments: tuple[Any, ...]) -> None:
    inner = getattr(module, str(body.target))
    values: dict[fx.Node, Any] = {}
    placeholders = [node for node in inner.graph.nodes if node.op == "placeholder"]
    values.update(zip(placeholders, arguments, strict=True))
    for attribute in [node for node in inner.graph.nodes if node.op == "get_attr"]:
        setattr(module, str(attribute.target), getattr(inner, str(attribute.target)))
    with module.graph.inserting_before(call):
        results = module.graph.graph_copy(inner.graph, values)
    replace_call(module.graph, call, results)


def replace_call(graph: fx.Graph, call: fx.Node, results: Any) -> None:
    """Puts the results of spliced-in nodes in the place of a call; of several, users take theirs by `getitem`."""
    if isinstance(results, (tuple, list)):
        for user in list(call.users):
            user.replace_all_uses_with(results[int(user.args[1])])  # type: ignore[arg-type]
            graph.erase_node(user)
    else:
        call.replace_all_uses_with(results)
    graph.erase_node(call)


def _require_disabled(enabled: bool) -> None:
    if enabled:
        raise TraceError("the program enables autocast; cast its inputs and parameters instead")
