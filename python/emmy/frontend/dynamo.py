"""`torch.compile(backend="emmy")`: from the graph that Dynamo captured to a compiled callable.

The graph is functionalised before dispatch, so that operations arrive whole, with symbolic sizes as Dynamo chose them.
A graph that needs gradients runs eagerly, with a note.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from emmy import config
from emmy.executor import Executor, OverlapError
from emmy.frontend.clean import clean_graph
from emmy.frontend.decompose import decompose_unsupported
from emmy.frontend.symbols import collect_symbols
from emmy.frontend.traced import UNBOUNDED, InputSpec, Mutation, OutputBuilder, OutputSpec, Traced
from emmy.frontend.views import View, find_views
from emmy.targets import resolve_target
from torch import fx
from torch._dynamo.exc import TensorifyScalarRestartAnalysis
from torch._dynamo.symbolic_convert import TensorifyState
from torch._functorch.aot_autograd import aot_export_module

__all__ = ["emmy_backend", "trace_dynamo"]

_log = logging.getLogger("emmy.frontend")


def emmy_backend(
    module: fx.GraphModule, example_inputs: Sequence[Any], *, options: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """The backend; `options` may hold a `target`."""
    config.configure_logging()
    if torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in example_inputs):
        _log.warning("a graph runs eagerly: it needs gradients and Emmy compiles inference only; use torch.no_grad()")
        return module.forward
    _specialize_floats(module)
    try:
        traced = trace_dynamo(module, example_inputs)
    except Exception as error:
        # Higher-order operations and the like: torch.compile promises to run what a backend cannot take.
        _log.warning("a graph runs eagerly: it cannot be made functional: %s", str(error).splitlines()[:1])
        return module.forward
    target = resolve_target((options or {}).get("target"), example_inputs, module)
    executor = Executor(traced, target)
    leaves = [spec.leaf for spec in traced.inputs]

    def run(*args: Any) -> tuple[Any, ...]:
        try:
            return tuple(executor([args[leaf] for leaf in leaves]))
        except OverlapError:
            _log.warning("a graph runs eagerly: it writes to an argument that shares memory with another")
            return tuple(module.forward(*args))

    return run


def _specialize_floats(module: fx.GraphModule) -> None:
    """With `dynamic=True` Dynamo makes arguments of Python floats, such as a norm's epsilon. Has it trace again with those as
    constants, which it then guards, in the way of torch's own compiler.
    """
    again = False
    for node in module.graph.nodes:
        memo = getattr(node.meta.get("example_value"), "item_memo", None) if node.op == "placeholder" else None
        name = getattr(memo.node._expr, "name", None) if isinstance(memo, torch.SymFloat) else None
        if name is not None and not TensorifyState.should_specialize(name):
            TensorifyState.specialize(name)
            again = True
    if again:
        raise TensorifyScalarRestartAnalysis


def trace_dynamo(module: fx.GraphModule, example_inputs: Sequence[Any]) -> Traced:
    """The functional graph of a Dynamo graph, inputs in its order."""
    captured = [node for node in module.graph.nodes if node.op == "placeholder"]
    fakes = [node.meta.get("example_value", example) for node, example in zip(captured, example_inputs, strict=True)]
    with torch.no_grad():
        graph, signature = aot_export_module(module, fakes, trace_joint=False, pre_dispatch=True, decompositions={})
    assert isinstance(graph, fx.GraphModule)
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    mutated = {str(name): str(target) for name, target in signature.user_inputs_to_mutate.items()}
    originals, views = _find_views(graph.graph, placeholders, mutated)
    clean_graph(graph)
    specs = {
        node: InputSpec("parameter" if isinstance(value, torch.nn.Parameter) else "user", source.name, leaf)
        for leaf, (node, source, value) in enumerate(zip(placeholders, captured, example_inputs, strict=True))
    }
    kept = _drop_unused(graph, specs, set(mutated.values()))
    outputs, mutations = _split_outputs(graph, list(kept), mutated, OutputBuilder(list(kept), views, originals))
    decompose_unsupported(graph)
    traced = Traced(graph, list(kept.values()), outputs, mutations)
    traced.symbols = collect_symbols(kept, _symbol_ranges(kept), {})
    return traced


def _drop_unused(graph: fx.GraphModule, specs: dict[fx.Node, InputSpec], mutated: set[str]) -> dict[fx.Node, InputSpec]:
    """Keeps what the graph reads or writes, and integers only where no tensor shows their value."""
    shown = {
        size.node.expr
        for node in specs
        if isinstance(node.meta.get("val"), torch.Tensor) and (node.users or node.name in mutated)
        for size in node.meta["val"].shape
        if isinstance(size, torch.SymInt)
    }
    kept: dict[fx.Node, InputSpec] = {}
    for node, spec in specs.items():
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt) and value.node.expr in shown and node.users:
            _read_from_tensor(graph.graph, node, value.node.expr, specs)
        if node.users or node.name in mutated:
            kept[node] = spec
        else:
            graph.graph.erase_node(node)
    graph.recompile()
    return kept


def _read_from_tensor(graph: fx.Graph, symbol: fx.Node, expression: sympy.Expr, specs: dict[fx.Node, InputSpec]) -> None:
    for node in specs:
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor) or not node.users:
            continue
        for dim, size in enumerate(value.shape):
            if isinstance(size, torch.SymInt) and size.node.expr == expression:
                first = next(other for other in graph.nodes if other.op != "placeholder")
                with graph.inserting_before(first):
                    read = graph.call_function(torch.ops.aten.sym_size.int, (node, dim))
                read.meta["val"] = size
                symbol.replace_all_uses_with(read)
                return


def _find_views(graph: fx.Graph, placeholders: Sequence[fx.Node], mutated: dict[str, str]) -> tuple[list[Any], dict[int, View]]:
    (output,) = (node for node in graph.nodes if node.op == "output")
    returned = list(output.args[0])
    by_name = {node.name: node for node in placeholders}
    count = len(mutated)  # what is written into inputs comes first
    written = {value: by_name[mutated[value.name]] for value in returned[:count]}
    return returned, find_views(graph, [None] * count + returned[count:], written)


def _split_outputs(
    graph: fx.GraphModule, inputs: list[fx.Node], mutated: dict[str, str], builder: OutputBuilder
) -> tuple[list[OutputSpec], list[Mutation]]:
    (output,) = (node for node in graph.graph.nodes if node.op == "output")
    names = [node.name for node in inputs]
    mutations: list[Mutation] = []
    targets = list(mutated.values())
    for position, value in enumerate(output.args[0]):
        if position < len(targets):
            mutations.append(Mutation(builder.add_result(value), names.index(targets[position])))
        else:
            builder.add_output(position, value)
    outputs = builder.finish(graph.graph)
    graph.recompile()
    return outputs, mutations


def _symbol_ranges(inputs: dict[fx.Node, InputSpec]) -> dict[sympy.Symbol, tuple[int, int]]:
    ranges: dict[sympy.Symbol, tuple[int, int]] = {}
    for node in inputs:
        value = node.meta.get("val")
        for size in value.shape if isinstance(value, torch.Tensor) else (value,):
            if isinstance(size, torch.SymInt):
                known = size.node.shape_env.var_to_range
                for symbol in size.node.expr.free_symbols & known.keys():
                    low, high = known[symbol].lower, known[symbol].upper
                    ranges[symbol] = (int(low), min(int(high), UNBOUNDED) if high.is_Integer else UNBOUNDED)
    return ranges
