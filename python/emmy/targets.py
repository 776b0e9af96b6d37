"""Target names, and which one a call means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from emmy import config
from emmy.errors import UsageError

__all__ = ["check_target", "device_target", "resolve_target"]

_PATTERN = re.compile(r"cpu|sm_\d{2,3}[af]?")
# Architectures whose own instructions (wgmma, tcgen05) need the suffixed name.
_SUFFIXED = {(9, 0): "sm_90a"}


def check_target(name: str) -> str:
    """The name, if it is one of a target.

    Raises:
        UsageError: it is not.
    """
    if not _PATTERN.fullmatch(name):
        raise UsageError(f"there is no target {name!r}; targets are cpu, sm_90a, sm_80 and other CUDA architectures")
    return name


def device_target(device: torch.device) -> str:
    """The target of a device's own code."""
    if device.type == "cpu":
        return "cpu"
    if device.type != "cuda":
        raise UsageError(f"Emmy compiles for cpu and cuda tensors, but got one on {device}")
    capability = torch.cuda.get_device_capability(device)
    return _SUFFIXED.get(capability, "sm_{}{}".format(*capability))


def resolve_target(explicit: str | None, leaves: Iterable[Any], state: nn.Module) -> str:
    """The named target, else that of the device the tensors are on."""
    if name := explicit or config.target():
        return check_target(name)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)] + list(state.parameters()) + list(state.buffers())
    on_gpu = next((tensor for tensor in tensors if tensor.device.type != "cpu"), None)
    return device_target(on_gpu.device) if on_gpu is not None else "cpu"
