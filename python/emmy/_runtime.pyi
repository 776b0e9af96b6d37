"""Emmy's runtime: interprets compiled plans on the GPU or the CPU. See docs/runtime.md for the plan format."""

from __future__ import annotations

from typing import Any

import torch

class PlanMismatch(ValueError):
    """A tensor whose dtype, sizes, strides, alignment or device the plan was not compiled for."""

class Plan:
    """A compiled program; calling it launches its kernels on PyTorch's current stream and returns its outputs."""

    def __init__(self, json: str, code: dict[str, bytes] | dict[str, int], owner: object | None = None) -> None:
        """Code objects by name: cubin or PTX for a GPU, function addresses for the CPU, kept alive by `owner`."""

    def __call__(self, *args: torch.Tensor | float) -> list[torch.Tensor]: ...
    def load(self, device: int = 0) -> None:
        """Loads the kernels onto a GPU now instead of at the first call."""

    @property
    def target(self) -> str: ...
    @property
    def kernels(self) -> list[str]: ...

def device_info(device: int = 0) -> tuple[dict[str, Any], None] | tuple[None, str]:
    """(description, None) of a CUDA device, or (None, reason) if it cannot be used."""
