"""Kernels of `emmy_tile` written by hand give PyTorch's results on a GPU."""

from __future__ import annotations

import pytest
import torch
from emmy._runtime import Plan
from tile_kernels import KERNELS, TileKernel, compile_to_ptx

HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not HOPPER, reason="needs a GPU with sm_90")]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}-{kernel.inputs[0]}")
def test_right_results(kernel: TileKernel) -> None:
    torch.manual_seed(0)
    inputs = [torch.randn(sizes, device="cuda", dtype=torch.bfloat16) for sizes in kernel.inputs]
    plan = Plan(kernel.plan(), {kernel.name: compile_to_ptx(kernel.path)[kernel.name].encode()})
    outputs = plan(*inputs)
    torch.cuda.synchronize()
    for output, expected in zip(outputs, kernel.reference(*inputs), strict=True):
        error = (output.double() - expected).abs().max().item()
        assert error <= kernel.tolerance * expected.abs().max().item()
