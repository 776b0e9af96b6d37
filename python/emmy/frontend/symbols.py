"""Symbolic sizes: from torch's sympy symbols to the numbered affine symbols of Emmy's IR, and to their values in a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import sympy
import torch
from emmy.errors import EmmyError
from emmy.frontend.traced import UNBOUNDED, SymbolInfo
from torch import fx
from torch.utils._sympy.functions import CleanDiv, FloorDiv, Mod, PythonMod

__all__ = ["UnsupportedSizeError", "affine_text", "collect_symbols", "size_text", "symbol_expression"]


class UnsupportedSizeError(EmmyError):
    """A symbolic size that no affine expression describes."""


def symbol_expression(size: int | torch.SymInt) -> sympy.Expr:
    """The sympy expression of a size."""
    return size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size)


def affine_text(expression: sympy.Expr, symbols: Mapping[sympy.Symbol, SymbolInfo]) -> str:
    """Spells a size as an MLIR affine expression over `s0`, `s1`, …"""
    if isinstance(expression, sympy.Integer):
        return str(int(expression))
    if isinstance(expression, sympy.Symbol):
        if expression not in symbols:
            raise UnsupportedSizeError(f"the size {expression} depends on the data of a tensor")
        return symbols[expression].name
    operands = [affine_text(operand, symbols) for operand in expression.args]
    if isinstance(expression, sympy.Add):
        return "(" + " + ".join(operands) + ")"
    if isinstance(expression, sympy.Mul):
        return "(" + " * ".join(operands) + ")"
    if isinstance(expression, (FloorDiv, CleanDiv)):
        return f"({operands[0]} floordiv {operands[1]})"
    if isinstance(expression, (Mod, PythonMod, sympy.Mod)):
        return f"({operands[0]} mod {operands[1]})"
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer and 0 < expression.exp <= 4:
        return "(" + " * ".join([operands[0]] * int(expression.exp)) + ")"
    raise UnsupportedSizeError(f"the size {expression} is not an affine expression of the input sizes")


def size_text(shape: Sequence[int | torch.SymInt], symbols: Mapping[sympy.Symbol, SymbolInfo]) -> str:
    """Spells a shape as the list of an `#emmy.dims` attribute."""
    return "[" + ", ".join(_strip(affine_text(symbol_expression(size), symbols)) for size in shape) + "]"


def collect_symbols(
    placeholders: Iterable[fx.Node],
    ranges: Mapping[sympy.Symbol, tuple[int, int]],
    labels: Mapping[sympy.Symbol, str],
) -> dict[sympy.Symbol, SymbolInfo]:
    """Numbers the free symbols of the inputs' sizes in order of first appearance."""
    symbols: dict[sympy.Symbol, SymbolInfo] = {}
    for node in placeholders:
        value = node.meta.get("val")
        sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
        for size in sizes:
            if not isinstance(size, torch.SymInt):
                continue
            for symbol in sorted(size.node.expr.free_symbols, key=str):
                if symbol not in symbols:
                    low, high = ranges.get(symbol, (1, UNBOUNDED))
                    symbols[symbol] = SymbolInfo(len(symbols), labels.get(symbol, str(symbol)), low, high)
    return symbols


def _strip(text: str) -> str:
    return text[1:-1] if text.startswith("(") and _closes_at_end(text) else text


def _closes_at_end(text: str) -> bool:
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position == len(text) - 1
    return False
