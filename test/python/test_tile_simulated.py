"""The hand-written `emmy_tile` kernels give PyTorch's results on the simulator, whatever the order in which their threads run."""

from __future__ import annotations

import pytest
import torch
from emmy import ir
from emmy._mlir_libs import _emmy
from emmy.simulator import simulate
from tile_kernels import KERNELS, TileKernel

SMALL = [kernel for kernel in KERNELS if sum(rows * columns for rows, columns in kernel.inputs) <= 1 << 19]


@pytest.mark.parametrize("kernel", SMALL, ids=lambda kernel: f"{kernel.name}-{kernel.inputs[0]}")
def test_right_results(kernel: TileKernel) -> None:
    torch.manual_seed(0)
    inputs = [torch.randn(sizes).bfloat16() for sizes in kernel.inputs]
    with ir.Context() as context:
        _emmy.register_dialects(context)
        outputs = simulate(ir.Module.parse(kernel.path.read_text()), kernel.plan(), *inputs)
    for output, expected in zip(outputs, kernel.reference(*inputs), strict=True):
        error = (output.double() - expected).abs().max().item()
        assert error <= kernel.tolerance * expected.abs().max().item()
