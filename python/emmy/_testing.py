"""What tests share: the comparison against eager PyTorch, FileCheck from pytest, and the marker for GPU tests."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import tempfile
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree

from emmy.comparison import Comparison, compare, reference64

__all__ = ["Comparison", "assert_close_to_eager", "compare", "filecheck", "needs_gpu", "poison", "reference64"]

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")


def assert_close_to_eager(out: Any, eager: Any, ref64: Any, dtype: torch.dtype | None = None) -> None:
    """Fails unless every tensor of `out` passes `compare`; the three may be any pytree of one structure."""
    leaves, spec = pytree.tree_flatten(out)
    expected, expected_spec = pytree.tree_flatten(eager)
    assert spec == expected_spec, f"expected the structure {expected_spec}, but got {spec}"
    for index, (mine, theirs, exact) in enumerate(zip(leaves, expected, pytree.tree_leaves(ref64), strict=True)):
        if not isinstance(theirs, torch.Tensor):
            assert mine == theirs, f"result {index}: expected {theirs!r}, but got {mine!r}"
            continue
        verdict = compare(mine, theirs, exact, dtype)
        assert verdict.ok, f"result {index}: {verdict}"


def poison(tensor: torch.Tensor) -> torch.Tensor:
    """Fills a tensor with a value that no computation makes by accident, so that a stale output shows."""
    if tensor.dtype.is_floating_point:
        return tensor.fill_(float("nan"))
    return tensor.fill_(True if tensor.dtype is torch.bool else 113)


def filecheck(module: Any) -> None:
    """Checks printed IR against the `# CHECK` comments of the calling test function.

    Example:
        def test_relu_is_one_kernel():
            # CHECK: emmy_fuse.kernel
            # CHECK-NOT: emmy_fuse.kernel
            filecheck(compiled.ir("fuse"))
    """
    caller = inspect.currentframe()
    assert caller is not None and caller.f_back is not None
    lines, _ = inspect.getsourcelines(caller.f_back.f_code)
    checks = "".join(line for line in lines if "CHECK" in line and line.lstrip().startswith("#"))
    assert checks, "the calling function has no CHECK comments"
    program = shutil.which("FileCheck")
    if program is None:
        pytest.skip("FileCheck is not installed")
    with tempfile.NamedTemporaryFile("w", suffix=".check") as file:
        file.write(checks)
        file.flush()
        done = subprocess.run([program, file.name], input=str(module), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
