"""From a module and example inputs to a `Traced` graph, through `torch.export`.

The graph that comes out holds whole ATen operations (`linear`, `rms_norm`, `scaled_dot_product_attention`), no in-place
operation, and one placeholder per tensor: parameters and buffers the graph uses, then the call's tensors.
"""

from __future__ import annotations

import io
import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any

import sympy
import torch
from emmy.errors import TraceError
from emmy.frontend.clean import clean_graph
from emmy.frontend.dynamic import Dynamic, DynamicRequest, normalise, trace_shapes, widen_examples
from emmy.frontend.program import Program
from emmy.frontend.symbols import collect_symbols
from emmy.frontend.traced import UNBOUNDED, InputSpec, Mutation, OutputBuilder, OutputSpec, Traced
from emmy.frontend.views import View, find_views
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

__all__ = ["trace"]

_log = logging.getLogger("emmy.frontend")

# Torch's tracing replaces methods of nn.Module while it runs.
_tracing = threading.RLock()


def trace(program: Program, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic: Dynamic = None) -> Traced:
    """Captures one call of a program as a functional graph.

    Raises:
        TraceError: the program is not one graph, or it raises by itself for these inputs.
    """
    leaves, spec = program.flatten_call(args, kwargs)
    names = program.leaf_names(args, kwargs)
    program.bind_structure(spec)
    arguments = dict(zip(names, leaves, strict=True))
    request = normalise(dynamic, names, arguments)
    exported = _export(program, _without_sharing(widen_examples(request, arguments)), request)
    assert program.out_spec is not None
    traced = _describe(exported, program, names, request)
    traced.in_spec, traced.out_spec = spec, program.out_spec
    traced.constants = {i: leaf for i, leaf in enumerate(leaves) if not isinstance(leaf, torch.Tensor)}
    return traced


def _without_sharing(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the same types and strides that share no memory, which torch cannot trace writes to; values do not matter."""
    seen: set[int] = set()
    result: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor) and value.layout is torch.strided and value.numel():
            address = value.untyped_storage().data_ptr()
            if address in seen:
                value = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
            seen.add(address)
        result[name] = value
    return result


def _export(program: Program, arguments: dict[str, Any], request: DynamicRequest) -> ExportedProgram:
    shapes = trace_shapes(request, arguments)
    dynamic_shapes = None if shapes is None else (tuple(shapes.values()),)
    try:
        with _tracing, torch.no_grad(), _quiet():
            exported = torch.export.export(program, tuple(arguments.values()), dynamic_shapes=dynamic_shapes, strict=False)
            if _is_functional(exported):
                return exported
            functional: ExportedProgram = exported.run_decompositions({})
            return functional
    except Exception as error:
        # Anything may come out of a user's forward; the chain keeps the whole story for a debugger.
        depends_on_data = "data-dependent" in str(error)
        advice = '; torch.compile(model, backend="emmy") splits a program at such a place' if depends_on_data else ""
        raise TraceError(f"{program.name} cannot be traced: {_first_lines(error)}{advice}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps torch from logging or printing what `TraceError` says anyway, and its own deprecations."""
    loggers = [logging.getLogger(name) for name in ("torch._subclasses.fake_tensor", "torch.fx.experimental.symbolic_shapes")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        # A graph that depends on data is printed to stderr, twice.
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _is_functional(exported: ExportedProgram) -> bool:
    """Whether functionalising the graph again would change nothing; it costs as much as the export itself."""
    for node in exported.graph.nodes:
        if node.op == "get_attr" or isinstance(node.target, torch._ops.HigherOrderOperator):
            return False
        if isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable:
            return False
    return all(spec.kind is OutputKind.USER_OUTPUT for spec in exported.graph_signature.output_specs)


def _describe(exported: ExportedProgram, program: Program, names: list[str], request: DynamicRequest) -> Traced:
    """Turns an exported program's signature into ours; placeholders that are constants or unused state disappear."""
    module = exported.graph_module
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    constant_tensors: dict[fx.Node, torch.Tensor] = {}
    inputs: dict[fx.Node, InputSpec] = {}
    leaf = 0
    for node, spec in zip(placeholders, exported.graph_signature.input_specs, strict=True):
        if spec.kind is InputKind.USER_INPUT:
            if not isinstance(spec.arg, ConstantArgument):
                inputs[node] = InputSpec("user", names[leaf], leaf)
            leaf += 1
            continue
        assert spec.target is not None
        if spec.kind is InputKind.CONSTANT_TENSOR:
            constant_tensors[node] = exported.constants[spec.target]
            inputs[node] = InputSpec("constant", program.public_name(spec.target), value=exported.constants[spec.target])
        elif spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            inputs[node] = InputSpec(
                "parameter" if spec.kind is InputKind.PARAMETER else "buffer", program.public_name(spec.target)
            )
        else:
            raise TraceError(f"{program.name} cannot be traced: it takes a {spec.kind.name.lower()} as an input")
    originals, views = _find_views(exported)
    clean_graph(module, constant_tensors)
    kept = _drop_unused(module, inputs, exported)
    outputs, mutations = _split_outputs(exported, OutputBuilder(list(kept), views, originals), list(kept))
    ranges = {symbol: _integer_range(bounds) for symbol, bounds in exported.range_constraints.items()}
    labels = _symbol_labels(kept, request)
    traced = Traced(module, list(kept.values()), outputs, mutations)
    traced.symbols = collect_symbols(kept, ranges, labels)
    return traced


def _find_views(exported: ExportedProgram) -> tuple[list[Any], dict[int, View]]:
    """What a graph returns before it is cleaned, and which of the user's results are views of inputs."""
    graph, signature = exported.graph, exported.graph_signature
    (output,) = (node for node in graph.nodes if node.op == "output")
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    targets = {spec.target: spec.arg.name for spec in signature.input_specs if spec.target is not None}
    returned = list(output.args[0])
    written = {
        value: placeholders[targets.get(spec.target, spec.target)]
        for value, spec in zip(returned, signature.output_specs, strict=True)
        if spec.kind is not OutputKind.USER_OUTPUT and isinstance(value, fx.Node)
    }
    constants = {spec.arg.name for spec in signature.input_specs if spec.kind is InputKind.CONSTANT_TENSOR}
    candidates = [
        value if spec.kind is OutputKind.USER_OUTPUT else None
        for value, spec in zip(returned, signature.output_specs, strict=True)
    ]
    views = find_views(graph, candidates, written)
    return returned, {position: view for position, view in views.items() if view.base.name not in constants}


def _split_outputs(
    exported: ExportedProgram, builder: OutputBuilder, order: list[fx.Node]
) -> tuple[list[OutputSpec], list[Mutation]]:
    """Reads the output node, leaves only computed tensors in it, and says how the user's results are made of them."""
    module, signature = exported.graph_module, exported.graph_signature
    (output,) = (node for node in module.graph.nodes if node.op == "output")
    by_name = {node.name: position for position, node in enumerate(order)}
    mutations: list[Mutation] = []
    targets = {spec.target: spec.arg.name for spec in signature.input_specs if spec.target is not None}
    for position, (value, spec) in enumerate(zip(output.args[0], signature.output_specs, strict=True)):
        if spec.kind is OutputKind.USER_OUTPUT:
            builder.add_output(position, value)
        elif spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION):
            mutations.append(Mutation(builder.add_result(value), by_name[targets[spec.target]]))
        elif spec.kind is OutputKind.USER_INPUT_MUTATION:
            mutations.append(Mutation(builder.add_result(value), by_name[spec.target]))
        else:
            raise TraceError(f"the program has a {spec.kind.name.lower()} among its outputs")
    outputs = builder.finish(module.graph)
    module.recompile()
    return outputs, mutations


def _drop_unused(module: fx.GraphModule, inputs: dict[fx.Node, InputSpec], exported: ExportedProgram) -> dict[fx.Node, InputSpec]:
    """Erases placeholders that nothing reads or writes, and those of leaves the trace fixed to their value."""
    signature = exported.graph_signature
    state = {spec.target: spec.arg.name for spec in signature.input_specs if spec.target is not None}
    written = {state.get(spec.target, spec.target) for spec in signature.output_specs if spec.target is not None}
    kept = {node: spec for node, spec in inputs.items() if node.users or node.name in written}
    for node in [node for node in module.graph.nodes if node.op == "placeholder" and node not in kept]:
        if node.users:
            raise TraceError(f"the non-tensor input {node.name} takes part in the computation")
        module.graph.erase_node(node)
    module.recompile()
    return kept


def _integer_range(bounds: Any) -> tuple[int, int]:
    low = int(bounds.lower) if bounds.lower.is_Integer else 0
    high = int(bounds.upper) if isinstance(bounds.upper, sympy.Integer) else UNBOUNDED
    return low, min(high, UNBOUNDED)


def _symbol_labels(inputs: dict[fx.Node, InputSpec], request: DynamicRequest) -> dict[sympy.Symbol, str]:
    labels: dict[sympy.Symbol, str] = {}
    for node, spec in inputs.items():
        for dim, label in request.dims.get(spec.name, {}).items():
            size = node.meta["val"].shape[dim]
            if isinstance(size, torch.SymInt) and isinstance(size.node.expr, sympy.Symbol):
                labels.setdefault(size.node.expr, label)
    return labels


def _first_lines(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    fixes = next((i for i, line in enumerate(lines) if line.startswith("Suggested fixes")), None)
    if fixes is not None:
        advice = [line for line in lines[fixes + 1 :] if " = " in line]
        return "a symbolic size is more constrained than dynamic= says; torch suggests " + "; ".join(advice)
    return "\n  ".join(lines[:3])
