"""ptxas takes every kernel of the examples without a spill, a stack frame or a complaint about wgmma; figures are on a page."""

from __future__ import annotations

import pytest
from emmy import toolchain
from example_kernels import PAGE, compile_example, read_page
from example_models import EXAMPLES, Example

pytestmark = pytest.mark.skipif(toolchain.find_ptxas() is None, reason="no ptxas")

# A change that moves a figure by more than this belongs on the page.
TOLERANCE = 1.25
PRODUCTS = ("linear", "attention")


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_assembles_cleanly(example: Example, symbolic: bool) -> None:
    written = read_page()
    kernels = compile_example(example, symbolic)
    assert [kernel.defects for kernel in kernels if kernel.defects] == []
    for kernel in kernels:
        if kernel.name.startswith(PRODUCTS):
            assert "wgmma.mma_async" in kernel.ptx and "cp.async.bulk.tensor" in kernel.ptx, kernel.name
        assert kernel.key in written, f"{PAGE.name} has no row for {kernel.key}; run test/python/example_kernels.py"
        now = (kernel.registers, kernel.shared, kernel.instructions)
        for figure, then in zip(now, written[kernel.key], strict=True):
            # Small kernels may move freely.
            close = max(figure, then) <= TOLERANCE * min(figure, then) + 100
            assert close, f"{kernel.key} has {now}, {PAGE.name} has {written[kernel.key]}; run test/python/example_kernels.py"
