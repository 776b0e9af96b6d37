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

from emmy.errors import CompileError, EmmyError, ShapeError, TraceError, UnsupportedOpError

if TYPE_CHECKING:
    from emmy.api import CompiledFunction, compile
    from emmy.simulation import simulate

__all__ = [
    "CompileError",
    "CompiledFunction",
    "EmmyError",
    "ShapeError",
    "TraceError",
    "UnsupportedOpError",
    "compile",
    "simulate",
]

# torch is imported only by those who compile, so that `emmy.ir` and the command line start quickly.
_LAZY = {"CompiledFunction": "emmy.api", "compile": "emmy.api", "simulate": "emmy.simulation"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'emmy' has no attribute {name!r}")
