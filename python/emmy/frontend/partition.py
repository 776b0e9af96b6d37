"""Decides on the FX graph what Emmy compiles, says why not for the rest, and splits the graph accordingly."""

from __future__ import annotations

import logging
import math
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from emmy.errors import SourceLocation, UnsupportedOpError
from emmy.frontend.importer import user_location
from emmy.frontend.supported import is_supported
from emmy.frontend.symbols import UnsupportedSizeError, size_text
from emmy.frontend.traced import Traced
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

__all__ = ["DTYPES", "Rejection", "check_supported", "rejections", "split_supported"]

_log = logging.getLogger("emmy.frontend")

aten = torch.ops.aten

_SIZE_MODULES = (operator, math)
DTYPES = {
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.bool,
}
# Not worth a kernel of their own: a piece never starts or ends with one.
_MOVE_ONLY = (
    "_operator.getitem",
    "aten.view",
    "aten.reshape",
    "aten.transpose.int",
    "aten.t",
    "aten.permute",
    "aten.expand",
    "aten.unsqueeze",
    "aten.squeeze.dim",
    "aten.slice.Tensor",
    "aten.select.int",
)


@dataclass(frozen=True)
class Rejection:
    """An operation that stays in eager mode, and why."""

    node: fx.Node
    reason: str

    @property
    def op(self) -> str:
        """The operation's name, as `aten.topk` or `mylib.thing`."""
        target = self.node.target
        if isinstance(target, torch._ops.OpOverload):
            name = target._schema.name.replace("::", ".")
            return name if target._overloadname == "default" else f"{name}.{target._overloadname}"
        return getattr(target, "__name__", str(target))

    @property
    def types(self) -> list[str]:
        """Types of the tensor operands."""
        return [_type_text(node.meta.get("val")) for node in self.node.all_input_nodes]

    @property
    def location(self) -> SourceLocation | None:
        """The user's line."""
        where = user_location(self.node)
        return SourceLocation(*where) if where else None


def rejections(traced: Traced) -> Iterator[Rejection]:
    """Every operation of the graph that Emmy does not compile, with the reason."""
    for node in traced.graph.graph.nodes:
        reason = _reason(node, traced)
        if reason is not None:
            yield Rejection(node, reason)


def check_supported(traced: Traced) -> None:
    """Raises UnsupportedOpError for the first operation that Emmy does not compile."""
    for rejection in rejections(traced):
        raise UnsupportedOpError(rejection.op, rejection.types, rejection.reason, rejection.location)


def split_supported(traced: Traced) -> fx.GraphModule | None:
    """A copy of the graph in which supported regions are sub-modules `fused_…`; None when all of it is supported."""
    rejected = {rejection.node: rejection for rejection in rejections(traced)}
    if not rejected:
        return None
    for rejection in rejected.values():
        where = f" at {rejection.location}" if rejection.location else ""
        _log.warning("%s runs eagerly%s: %s", rejection.op, where, rejection.reason)

    class Support(OperatorSupportBase):
        def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: fx.Node) -> bool:
            if node.op != "call_function" or node in rejected:
                return False
            # Sizes are computed by Python between the pieces and handed to them as integers.
            return not isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool))

    partitioner = CapabilityBasedPartitioner(
        traced.graph, Support(), allows_single_node_partition=True, non_compute_ops=_MOVE_ONLY
    )
    partitions = partitioner.propose_partitions()
    partitioner.remove_bookend_non_compute_ops(partitions)
    return partitioner.fuse_partitions([partition for partition in partitions if partition.size()])


def _reason(node: fx.Node, traced: Traced) -> str | None:
    if node.op == "placeholder":
        return None
    if node.op == "get_attr":
        return (
            "it is a sub-graph" if isinstance(getattr(node.graph.owning_module, str(node.target), None), fx.GraphModule) else None
        )
    if node.op != "call_function":
        return None
    value = node.meta.get("val")
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool, int)):
        return _size_reason(node, value, traced)
    if node.target is not operator.getitem and not is_supported(node.target):
        return _missing_reason(node)
    if reason := _variant_reason(node):
        return reason
    return _value_reason(value, traced) or next(
        (reason for source in node.all_input_nodes if (reason := _value_reason(source.meta.get("val"), traced))), None
    )


def _missing_reason(node: fx.Node) -> str:
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return "it is a higher-order operation"
    namespace = getattr(node.target, "namespace", "")
    if namespace and namespace != "aten":
        return "it is a custom operation"
    return "Emmy has no lowering for it"


def _variant_reason(node: fx.Node) -> str | None:
    """Why these arguments of an operation are not supported though others are."""
    operands = [source.meta.get("val") for source in node.all_input_nodes]
    first = operands[0] if operands else None
    if node.target is aten.index_put.default and len(node.args) > 3 and node.args[3]:
        return "Emmy has no lowering for it with accumulate=True"
    if node.target in (aten.any.dims, aten.all.dims) and len(node.args) > 1 and node.args[1] == []:
        return "Emmy has no lowering for it without dimensions"
    if node.target in (aten.max.dim, aten.min.dim) and isinstance(first, torch.Tensor) and first.dim() == 0:
        return "Emmy has no lowering for it without dimensions"
    if node.target is aten.scaled_dot_product_attention.default and node.kwargs.get("scale") is None:
        width = first.shape[-1] if isinstance(first, torch.Tensor) and first.dim() else 0
        if isinstance(width, torch.SymInt) and not width.node.expr.is_Integer:
            return "its scale follows from a symbolic width; give it a scale, or make only other sizes dynamic"
    return None


def _size_reason(node: fx.Node, value: object, traced: Traced) -> str | None:
    if isinstance(value, torch.SymInt):
        try:
            size_text([value], traced.symbols)
        except UnsupportedSizeError as error:
            return str(error)
        return None
    if isinstance(value, int) or not node.users:
        return None
    return "it computes with a symbolic size in floating point"


def _value_reason(value: object, traced: Traced) -> str | None:
    for tensor in value if isinstance(value, (tuple, list)) else (value,):
        if not isinstance(tensor, torch.Tensor):
            continue
        if tensor.layout is not torch.strided:
            return f"{tensor.layout} tensors are not supported"
        if tensor.dtype not in DTYPES or tensor.is_quantized:
            return f"{tensor.dtype} is not supported"
        try:
            size_text(tensor.shape, traced.symbols)
        except UnsupportedSizeError as error:
            return str(error)
    return None


def _type_text(value: object) -> str:
    if isinstance(value, torch.Tensor):
        sizes = "x".join(str(size) for size in value.shape)
        dtype = str(value.dtype).removeprefix("torch.")
        return f"{sizes}x{dtype}" if sizes else dtype
    return type(value).__name__ if value is not None else "unknown"
