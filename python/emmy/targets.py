"""Target names, and which one a call means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from emmy import config
from emmy.errors import DeviceError, UsageError

__all__ = ["TARGETS", "check_target", "device_target", "resolve_target"]

# What `TargetAttr::forChip` has numbers for.
TARGETS = ("cpu", "sm_90a", "sm_80")


def check_target(name: str) -> str:
    """The name, if it is one of a target.

    Raises:
        UsageError: it is not.
    """
    if name not in TARGETS:
        raise UsageError(f"there is no target {name!r}; the targets are {', '.join(TARGETS)}")
    return name


def device_target(device: torch.device) -> str:
    """The target whose code runs on a device."""
    if device.type == "cpu":
        return "cpu"
    if device.type != "cuda":
        raise UsageError(f"Emmy compiles for cpu and cuda tensors, but got one on {device}")
    major, minor = torch.cuda.get_device_capability(device)
    if (major, minor) == (9, 0):
        return "sm_90a"
    if major == 8:
        return "sm_80"
    raise DeviceError(f"{torch.cuda.get_device_name(device)} has compute capability {major}.{minor}; Emmy knows 8.x and 9.0")


def resolve_target(explicit: str | None, leaves: Iterable[Any], state: nn.Module) -> str:
    """The named target, else that of the device the tensors are on."""
    if name := explicit or config.target():
        return check_target(name)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)] + list(state.parameters()) + list(state.buffers())
    on_gpu = next((tensor for tensor in tensors if tensor.device.type != "cpu"), None)
    return device_target(on_gpu.device) if on_gpu is not None else "cpu"
