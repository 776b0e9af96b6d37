"""Compiles emmy_fuse kernels written in tests for the CPU target and calls them on NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from emmy import ir
from emmy._mlir_libs import _emmy
from emmy.passmanager import PassManager

__all__ = ["Kernels"]


class Kernels:
    """Machine code of a module's kernels."""

    def __init__(self, text: str, pipeline: str = "emmy-fuse-to-cpu") -> None:
        with ir.Context() as context:
            _emmy.register_dialects(context)
            module = ir.Module.parse(text)
            PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
            self.code = _emmy.jit(module)

    def call(self, name: str, tensors: Sequence[np.ndarray], symbols: Sequence[int] = ()) -> None:
        """Run kernel `name` on arrays, inputs first, and the symbols that it uses, in ascending order."""
        cells = [ctypes.c_void_p(tensor.ctypes.data) for tensor in tensors] + [ctypes.c_int64(s) for s in symbols]
        parameters = (ctypes.c_void_p * len(cells))(*[ctypes.addressof(cell) for cell in cells])
        fault = (ctypes.c_int64 * 3)()
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self.code.address(name))
        function(ctypes.addressof(parameters), ctypes.addressof(fault))
