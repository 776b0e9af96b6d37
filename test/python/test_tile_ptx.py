"""Kernels of `emmy_tile` written by hand go through ptxas without a spill, a stack frame or a complaint about wgmma."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tile_kernels import FOLDER, WHOLE_DESCRIPTORS, compile_to_ptx, descriptor_makers

KERNELS = sorted(FOLDER.glob("*.mlir"))
PTXAS = shutil.which("ptxas")


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_translates_to_ptx(path: Path) -> None:
    for name, ptx in compile_to_ptx(path).items():
        assert f".entry {name}(" in ptx
        assert ".target sm_90a" in ptx


@pytest.mark.skipif(PTXAS is None, reason="no ptxas on PATH")
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_assembles_cleanly(path: Path, tmp_path: Path) -> None:
    assert PTXAS is not None
    for name, ptx in compile_to_ptx(path).items():
        source = tmp_path / f"{name}.ptx"
        source.write_text(ptx)
        command = [PTXAS, "-v", "-arch=sm_90a", str(source), "-o", str(tmp_path / f"{name}.cubin")]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        assert not re.search(r"C7[56]\d\d|[1-9]\d* bytes (stack|spill)", run.stderr), run.stderr


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_descriptors_have_constant_high_words(path: Path) -> None:
    for ptx in compile_to_ptx(path).values():
        assert {name for names in descriptor_makers(ptx).values() for name in names} <= WHOLE_DESCRIPTORS


def test_main_loop_of_the_persistent_gemm() -> None:
    """The loop over blocks of k holds nothing but the wait, four wgmma, their wait and the release of the stage."""
    ptx = compile_to_ptx(next(path for path in KERNELS if path.stem == "gemm-persistent"))["gemm"]
    blocks = re.split(r"^\$L__BB\S+:", ptx, flags=re.MULTILINE)
    counts = []
    for block in blocks:
        lines = [line.split("//")[0].strip() for line in block.splitlines()]
        instructions = [line for line in lines if line and line[0] not in "{}." and not line.startswith("setp.ne.b32")]
        if sum("wgmma.mma_async" in line for line in instructions) == 4:
            counts.append(len(instructions))
    assert len(counts) == 2, counts  # the peeled first block and the loop
    assert max(counts) <= 42, counts  # 24 of them join the words of eight descriptors, which SASS does in its operands
