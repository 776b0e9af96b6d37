"""The comparison against eager PyTorch that tests and `emmy run --check` share.

With `ref64` the result in float64 and `eager` PyTorch's own, a result is right when

- per row along the last axis, `‖out − ref64‖ ≤ 2·‖eager − ref64‖ + ε·‖ref64‖`, with ε 2⁻⁸ for bf16, 2⁻¹¹ for fp16, 1e-5
  for fp32;
- over all elements, `max |out − ref64| ≤ 4·max |eager − ref64| + 1 ulp`;
- NaN and infinities are at the same places, infinities with the same sign.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree

__all__ = ["Comparison", "compare", "reference64"]

# Relative allowance of a row, per type.
_ROW_EPSILON = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 1e-5, torch.float64: 1e-13}
# Mantissa bits, for one unit in the last place.
_MANTISSA = {torch.bfloat16: 7, torch.float16: 10, torch.float32: 23, torch.float64: 52}


@dataclass(frozen=True)
class Comparison:
    """The verdict on one tensor, with the figures behind it."""

    ok: bool
    reason: str
    row_error: float
    row_limit: float
    max_error: float
    max_limit: float

    def __str__(self) -> str:
        figures = (
            f"worst row error {self.row_error:.3e} (limit {self.row_limit:.3e}), "
            f"largest error {self.max_error:.3e} (limit {self.max_limit:.3e})"
        )
        return figures if self.ok else f"{self.reason}: {figures}"


def compare(out: torch.Tensor, eager: torch.Tensor, ref64: torch.Tensor, dtype: torch.dtype | None = None) -> Comparison:
    """Compares one result with eager PyTorch's and the float64 reference; `dtype` defaults to the result's."""
    dtype = dtype or eager.dtype
    if out.shape != eager.shape or out.dtype != eager.dtype:
        got, expected = f"{tuple(out.shape)} {out.dtype}", f"{tuple(eager.shape)} {eager.dtype}"
        return Comparison(False, f"expected {expected}, but got {got}", 0, 0, 0, 0)
    out, eager, ref64 = (tensor.detach().cpu() for tensor in (out, eager, ref64))
    if not eager.dtype.is_floating_point:
        wrong = int((out != eager).sum())
        return Comparison(wrong == 0, f"{wrong} elements differ", wrong, 0, wrong, 0)
    if out.numel() == 0:
        return Comparison(True, "", 0, 0, 0, 0)
    out, eager, ref64 = out.double(), eager.double(), ref64.double()
    special = _compare_special(out, eager)
    if special:
        return Comparison(False, special, 0, 0, 0, 0)
    finite = torch.isfinite(eager) & torch.isfinite(ref64)
    out, eager, ref64 = (torch.where(finite, tensor, 0.0) for tensor in (out, eager, ref64))
    return _compare_finite(out, eager, ref64, dtype)


def reference64(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """The result of a function in float64: floating-point inputs, parameters and buffers are widened in a copy."""

    def widen(value: Any) -> Any:
        is_float = isinstance(value, torch.Tensor) and value.dtype.is_floating_point
        return value.detach().double() if is_float else value

    if isinstance(function, torch.nn.Module):
        function = copy.deepcopy(function).double()
    args, kwargs = pytree.tree_map(widen, (args, kwargs or {}))
    with torch.no_grad():
        return function(*args, **kwargs)


def _compare_special(out: torch.Tensor, eager: torch.Tensor) -> str:
    if not torch.equal(torch.isnan(out), torch.isnan(eager)):
        return f"{int((torch.isnan(out) != torch.isnan(eager)).sum())} NaN positions differ"
    infinite = torch.isinf(eager)
    if not torch.equal(torch.isinf(out), infinite) or not torch.equal(out[infinite], eager[infinite]):
        return "infinities differ"
    return ""


def _compare_finite(out: torch.Tensor, eager: torch.Tensor, ref64: torch.Tensor, dtype: torch.dtype) -> Comparison:
    mine, theirs = out - ref64, eager - ref64
    rows = [tensor if tensor.dim() else tensor.reshape(1) for tensor in (mine, theirs, ref64)]
    error, eager_error, size = (tensor.norm(dim=-1) for tensor in rows)
    limit = 2 * eager_error + _ROW_EPSILON[dtype] * size
    worst = int((error - limit).argmax())
    row_error, row_limit = float(error.flatten()[worst]), float(limit.flatten()[worst])
    magnitude = max(float(ref64.abs().max()), torch.finfo(dtype).tiny)
    ulp = 2.0 ** (torch.tensor(magnitude).log2().floor().item() - _MANTISSA[dtype])
    max_error, max_limit = float(mine.abs().max()), 4 * float(theirs.abs().max()) + ulp
    rows_ok, max_ok = row_error <= row_limit, max_error <= max_limit
    reason = "" if rows_ok and max_ok else "a row is wrong" if not rows_ok else "an element is wrong"
    return Comparison(rows_ok and max_ok, reason, row_error, row_limit, max_error, max_limit)
