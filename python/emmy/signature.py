"""The types and sizes a trace fixed, and what to tell a caller whose arguments are others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch

from emmy.errors import ShapeError
from emmy.frontend.symbols import symbol_expression
from emmy.frontend.traced import UNBOUNDED, SymbolInfo, Traced

__all__ = ["TensorSignature"]

_DTYPE_NAMES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "i1",
}


class TensorSignature:
    """Types, sizes and devices of a trace's tensors."""

    def __init__(self, traced: Traced) -> None:
        self._symbols = traced.symbols
        self._inputs = traced.inputs
        self._values = [node.meta["val"] for node in traced.placeholders()]

    def difference(self, leaves: Sequence[Any]) -> ShapeError | None:
        """The first of the call's own arguments that does not fit, as an error; devices are not compared."""
        sizes: dict[sympy.Symbol, int] = {}
        for spec, traced in zip(self._inputs, self._values, strict=True):
            if spec.is_state:
                continue
            actual = leaves[spec.leaf]
            if not isinstance(traced, torch.Tensor):
                continue
            if not self._fits(traced, actual, sizes):
                return ShapeError(spec.name, self._text(traced, sizes), _describe(actual))
        return None

    def changed(self, values: Sequence[Any]) -> bool:
        """Whether state is gone or has another type or size than in the trace, or anything is on another kind of device."""
        for spec, traced, actual in zip(self._inputs, self._values, values, strict=True):
            if not isinstance(traced, torch.Tensor):
                continue
            if not isinstance(actual, torch.Tensor):
                return True
            if actual.device.type != traced.device.type and spec.kind != "constant":
                return True
            if spec.is_state and (actual.dtype != traced.dtype or actual.shape != traced.shape):
                return True
        return False

    def __str__(self) -> str:
        parts = [
            f"{spec.name}: {self._text(value, {})}"
            for spec, value in zip(self._inputs, self._values, strict=True)
            if not spec.is_state and isinstance(value, torch.Tensor)
        ]
        return ", ".join(parts)

    def _fits(self, traced: torch.Tensor, actual: Any, sizes: dict[sympy.Symbol, int]) -> bool:
        if not isinstance(actual, torch.Tensor) or actual.dtype != traced.dtype or actual.dim() != traced.dim():
            return False
        for expected, got in zip(traced.shape, actual.shape, strict=True):
            expression = symbol_expression(expected)
            if isinstance(expression, sympy.Symbol) and expression not in sizes:
                info = self._symbols[expression]
                if not info.low <= got <= info.high:
                    return False
                sizes[expression] = got
            elif (value := expression.subs(sizes)).is_Integer and int(value) != got:
                return False
        return True

    def _text(self, value: torch.Tensor, sizes: Mapping[sympy.Symbol, int]) -> str:
        dims = [self._dim_text(symbol_expression(size), sizes) for size in value.shape]
        return "x".join([*dims, _DTYPE_NAMES.get(value.dtype, str(value.dtype))])

    def _dim_text(self, expression: sympy.Expr, sizes: Mapping[sympy.Symbol, int]) -> str:
        if isinstance(expression, sympy.Symbol):
            info: SymbolInfo = self._symbols[expression]
            if expression in sizes:
                return f"{info.label}={sizes[expression]}"
            bounded = info.low > 1 or info.high < UNBOUNDED
            return f"{info.label}({info.low}..{info.high if info.high < UNBOUNDED else ''})" if bounded else info.label
        return str(expression)


def _describe(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return f"a {type(value).__name__}"
    return "x".join([*map(str, value.shape), _DTYPE_NAMES.get(value.dtype, str(value.dtype))])
