"""The layout of an argument as the compiler sees it: strides and alignment, symbolic where the sizes are."""

from __future__ import annotations

from collections.abc import Sequence

import torch

__all__ = ["alignment", "is_contiguous", "layout_text"]

# TMA and 16-byte vector access need no more.
_FULL_ALIGNMENT = 16


def alignment(tensor: torch.Tensor) -> int:
    """The largest power of two up to 16 that divides the tensor's address."""
    address = tensor.data_ptr() if tensor.numel() else 0
    return _FULL_ALIGNMENT if address % _FULL_ALIGNMENT == 0 else address & -address


def is_contiguous(tensor: torch.Tensor) -> bool:
    """Row-major contiguity; strides of dimensions of size 1 and of empty tensors never matter."""
    expected = 1
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride()), strict=True):
        if size != 1 and stride != expected and tensor.numel():
            return False
        expected *= size
    return True


def layout_text(tensor: torch.Tensor, dims: Sequence[str]) -> str:
    """The `#emmy.layout` attribute of a tensor whose sizes are spelled `dims`; empty for contiguous and fully aligned ones.

    A stride is written as a product of sizes when it is one, so that the code serves other sizes too.
    """
    align = alignment(tensor)
    contiguous = is_contiguous(tensor)
    if contiguous and align == _FULL_ALIGNMENT:
        return ""
    strides = _contiguous_strides(dims) if contiguous else _strides(tensor, dims)
    return f"#emmy.layout<strides = [{', '.join(strides)}], align = {align}>"


def _contiguous_strides(dims: Sequence[str]) -> list[str]:
    strides: list[str] = []
    running = "1"
    for size in reversed(dims):
        strides.append(running)
        running = _product(running, size)
    return strides[::-1]


def _strides(tensor: torch.Tensor, dims: Sequence[str]) -> list[str]:
    order = sorted(range(tensor.dim()), key=lambda dim: (tensor.stride(dim), -dim))
    result = [str(stride) for stride in tensor.stride()]
    inner: int | None = None
    for dim in order:
        if tensor.stride(dim) == 0 or dims[dim] == "1":
            continue
        if inner is not None and tensor.stride(inner) * tensor.shape[inner] == tensor.stride(dim):
            result[dim] = _product(result[inner], dims[inner])
        inner = dim
    return result


def _product(left: str, right: str) -> str:
    if left.isdigit() and right.isdigit():
        return str(int(left) * int(right))
    if "1" in (left, right):
        return right if left == "1" else left
    return " * ".join(f"({factor})" if " " in factor and "*" not in factor else factor for factor in (left, right))
