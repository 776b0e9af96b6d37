"""From a functional ATen graph to MLIR text: torch-mlir's raw torch dialect in generic form.

The text is the contract between torch-mlir's MLIR and ours, which are different versions in one process. Weights are arguments:
each carries `emmy.param`, each argument its name (`emmy.name`), sizes (`emmy.dims`, when symbolic) and layout (`emmy.layout`,
when it is not contiguous and aligned). Every operation with a symbolic result carries `emmy.dims`, one entry per result, so that
the importer never derives a size a second time. `emmy.symbols` on the function holds the ranges.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from emmy._mlir_libs import _emmy  # noqa: F401  (before torch-mlir, whose LLVM would take the place of ours)
from emmy.frontend.symbols import size_text
from emmy.frontend.traced import InputSpec, SymbolInfo
from torch import fx
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter, GraphNodeImporter
from torch_mlir.ir import Attribute, Context, DictAttr, Location, Operation, StringAttr, Value

__all__ = ["import_graph", "user_location"]

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in [^\n]*\n?\s*([^\n]*)')
_LIBRARY = re.compile(
    r"^torch/|^<eval_with_key>|/(site-packages|dist-packages)/(torch|torch_mlir)/|/emmy/(frontend/\w+|api|compiler)\.py$"
)


def import_graph(
    graph: fx.Graph,
    inputs: Sequence[InputSpec],
    symbols: Mapping[sympy.Symbol, SymbolInfo],
    layouts: Sequence[str] = (),
) -> str:
    """MLIR text of a graph as `func.func @main`.

    Args:
        layouts: for each placeholder the text of its `#emmy.layout` attribute, or the empty string for the default.
    """
    context = Context()
    context.allow_unregistered_dialects = True
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    importer._graph_node_importer_cls = _importer_class(symbols)
    _keep_user_frames(graph)
    function = importer.import_stateless_graph(graph, func_name="main")
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    with context:
        _annotate_arguments(function, placeholders, inputs, symbols, layouts)
    return str(importer.module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True))


def user_location(node: fx.Node) -> tuple[str, int, str] | None:
    """File, line and text of the innermost frame of the user's program that made a node."""
    trace = node.meta.get("stack_trace")
    frames = _FRAME.findall(trace) if trace else []
    for file, line, text in reversed(frames):
        if not _LIBRARY.search(file):
            return file, int(line), text.strip()
    return None


def _keep_user_frames(graph: fx.Graph) -> None:
    for node in graph.nodes:
        where = user_location(node)
        node.meta["stack_trace"] = f'File "{where[0]}", line {where[1]}, in forward\n' if where else None


def _importer_class(symbols: Mapping[sympy.Symbol, SymbolInfo]) -> type[GraphNodeImporter]:
    class Importer(GraphNodeImporter):  # type: ignore[misc]
        """Records the sizes of symbolic results on the operations that make them."""

        __slots__ = ()

        def bind_node_value(self, node: fx.Node, value: Any, result_index: int = 0) -> None:
            super().bind_node_value(node, value, result_index)
            if isinstance(value, Value) and isinstance(value.owner, Operation | _OpView):
                _annotate_result(value.owner, node, symbols)

    return Importer


_OpView = torch_dialect.ConstantIntOp.__mro__[1]


def _annotate_result(op: Operation, node: fx.Node, symbols: Mapping[sympy.Symbol, SymbolInfo]) -> None:
    source: Any = node.args[0] if node.target is operator.getitem else node
    value = source.meta.get("val")
    values = value if isinstance(value, (tuple, list)) else [value]
    if not any(isinstance(item, torch.Tensor) and item._has_symbolic_sizes_strides for item in values):
        return
    lists = [_dims_text(item, symbols) if isinstance(item, torch.Tensor) else "unit" for item in values]
    op.attributes["emmy.dims"] = Attribute.parse("[" + ", ".join(lists) + "]", op.context)


def _annotate_arguments(
    function: Any,
    placeholders: Sequence[fx.Node],
    inputs: Sequence[InputSpec],
    symbols: Mapping[sympy.Symbol, SymbolInfo],
    layouts: Sequence[str],
) -> None:
    attributes: list[DictAttr] = []
    for position, (node, spec) in enumerate(zip(placeholders, inputs, strict=True)):
        entries = {"emmy.name": StringAttr.get(spec.name)}
        if spec.is_state:
            entries["emmy.param"] = StringAttr.get(spec.name)
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value._has_symbolic_sizes_strides:
            entries["emmy.dims"] = Attribute.parse(_dims_text(value, symbols))
        elif isinstance(value, torch.SymInt):
            entries["emmy.symbol"] = StringAttr.get(size_text([value], symbols)[1:-1])
        if position < len(layouts) and layouts[position]:
            entries["emmy.layout"] = Attribute.parse(layouts[position])
        attributes.append(DictAttr.get(entries))
        function.arguments[position].set_location(Location.name(spec.name))
    function.arg_attrs = attributes
    if symbols:
        ranges = {
            info.name: Attribute.parse(f"[{info.low}, {info.high}]")
            for info in sorted(symbols.values(), key=lambda info: info.number)
        }
        function.attributes["emmy.symbols"] = DictAttr.get(ranges)


def _dims_text(value: torch.Tensor, symbols: Mapping[sympy.Symbol, SymbolInfo]) -> str:
    return f"#emmy.dims<{size_text(value.shape, symbols)}>"
