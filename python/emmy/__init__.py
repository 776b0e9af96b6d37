"""Emmy compiles PyTorch programs to GPU kernels through four MLIR dialects.

Example:
    >>> import emmy, torch
    >>> compiled = emmy.compile(torch.nn.Linear(3, 2), (torch.randn(4, 3),))
    >>> compiled(torch.randn(4, 3)).shape
    torch.Size([4, 2])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from emmy.errors import (
    CompileError,
    DeviceError,
    EmmyError,
    ExpressionError,
    ShapeError,
    ToolNotFoundError,
    TraceError,
    UnknownStageError,
    UnsupportedOpError,
    UsageError,
)

if TYPE_CHECKING:
    from emmy.api import CompiledFunction, compile
    from emmy.simulation import simulate
    from emmy.simulator import SimulationError

__all__ = [
    "CompileError",
    "CompiledFunction",
    "DeviceError",
    "EmmyError",
    "ExpressionError",
    "ShapeError",
    "SimulationError",
    "ToolNotFoundError",
    "TraceError",
    "UnknownStageError",
    "UnsupportedOpError",
    "UsageError",
    "compile",
    "simulate",
]

# torch is imported only by those who compile, so that `emmy.ir` and the command line start quickly.
_LAZY = {
    "CompiledFunction": "emmy.api",
    "SimulationError": "emmy.simulator",
    "compile": "emmy.api",
    "simulate": "emmy.simulation",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'emmy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
