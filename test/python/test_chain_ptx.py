"""Attention from its reductions goes through all passes to ptxas: no spill, no stack frame, no complaint about wgmma."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from emmy import ir
from emmy._mlir_libs import _emmy
from emmy.passmanager import PassManager
from tile_kernels import WHOLE_DESCRIPTORS, descriptor_makers

KERNELS = sorted((Path(__file__).parents[1] / "lit" / "Sched" / "kernels").glob("attention-*.mlir"))
PASSES = "emmy_fuse.kernel(emmy-online-reduce),emmy-fuse-to-sched,emmy-sched-to-tile,emmy-tile-to-nvvm"
PTXAS = shutil.which("ptxas")


def compile_to_ptx(path: Path) -> str:
    with ir.Context() as context:
        _emmy.register_dialects(context)
        module = ir.Module.parse(path.read_text())
        PassManager.parse(f"builtin.module({PASSES})").run(module.operation)
        return str(_emmy.translate_to_ptx(module)["attention"])


def count_in_blocks(ptx: str, instruction: str) -> list[int]:
    """Occurrences of `instruction` in each basic block that has some."""
    counts = [block.count(instruction) for block in re.split(r"^\$L__BB\S+:", ptx, flags=re.MULTILINE)]
    return [count for count in counts if count]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_uses_tensor_cores_and_the_copy_engine(path: Path) -> None:
    ptx = compile_to_ptx(path)
    assert "cp.async.bulk.tensor" in ptx
    columns = 128 if "128" in path.stem else 64
    assert "wgmma.mma_async.sync.aligned.m64n128k16" in ptx
    assert f"wgmma.mma_async.sync.aligned.m64n{columns}k16" in ptx


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_descriptors_have_constant_high_words(path: Path) -> None:
    makers = descriptor_makers(compile_to_ptx(path))
    assert len(makers) > 8
    assert all(names and names <= WHOLE_DESCRIPTORS for names in makers.values()), makers


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_takes_one_multiply_add_for_each_exponential(path: Path) -> None:
    """Without a mask the scale costs nothing: an element takes a multiply-add, a power of two, a maximum and an addition."""
    ptx = compile_to_ptx(path)
    exponentials = count_in_blocks(ptx, "ex2.approx")
    assert exponentials and min(exponentials) >= 66 and max(exponentials) <= 68, exponentials
    assert all(count <= 68 for count in count_in_blocks(ptx, "fma.rn.f32"))


@pytest.mark.skipif(PTXAS is None, reason="no ptxas on PATH")
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_assembles_cleanly(path: Path, tmp_path: Path) -> None:
    assert PTXAS is not None
    source = tmp_path / "attention.ptx"
    source.write_text(compile_to_ptx(path))
    command = [PTXAS, "-v", "-arch=sm_90a", str(source), "-o", str(tmp_path / "attention.cubin")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert not re.search(r"C7[56]\d\d|[1-9]\d* bytes (stack|spill)", run.stderr), run.stderr
