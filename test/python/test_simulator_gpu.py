"""Random emmy_tile programs give a GPU's bits on the simulator; without a GPU they go through the simulator and ptxas."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
import torch
from emmy import ir
from emmy._mlir_libs import _emmy
from emmy._runtime import Plan
from emmy.passmanager import PassManager
from emmy.simulator import simulate
from program_plans import Program
from random_programs import PROGRAMS

HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
PTXAS = shutil.which("ptxas")
named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


@cache
def ptx_of(program: Program) -> dict[str, str]:
    with ir.Context() as context:
        _emmy.register_dialects(context)
        module = ir.Module.parse(program.text)
        PassManager.parse("builtin.module(emmy-tile-to-nvvm)").run(module.operation)
        return dict(_emmy.translate_to_ptx(module))


@cache
def simulated(program: Program) -> list[torch.Tensor]:
    """What the program leaves in its mutable arguments and outputs."""
    inputs = program.inputs()
    with ir.Context() as context:
        _emmy.register_dialects(context)
        outputs = simulate(ir.Module.parse(program.text), program.plan(), *inputs)
    return inputs + outputs


def with_modules(plan: str) -> str:
    """The plan with each kernel in a code object of its own name."""
    document = json.loads(plan)
    for step in document["steps"]:
        step["module"] = step["launch"]
    return json.dumps(document)


def test_there_are_enough() -> None:
    assert len(PROGRAMS) >= 30
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)


@named
def test_simulates(program: Program) -> None:
    assert simulated(program)


@pytest.mark.skipif(PTXAS is None, reason="no ptxas on PATH")
@named
def test_assembles(program: Program, tmp_path: Path) -> None:
    assert PTXAS is not None
    for kernel, ptx in ptx_of(program).items():
        source = tmp_path / f"{kernel}.ptx"
        source.write_text(ptx)
        command = [PTXAS, "-arch=sm_90a", str(source), "-o", str(tmp_path / f"{kernel}.cubin")]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr


@pytest.mark.gpu
@pytest.mark.skipif(not HOPPER, reason="needs a GPU with sm_90")
@named
def test_same_bits_on_a_gpu(program: Program) -> None:
    plan = Plan(with_modules(program.plan()), {kernel: ptx.encode() for kernel, ptx in ptx_of(program).items()})
    inputs = [tensor.cuda() for tensor in program.inputs()]
    results = inputs + list(plan(*inputs))
    torch.cuda.synchronize()
    for index, (gpu, cpu) in enumerate(zip(results, simulated(program), strict=True)):
        if program.exact or not cpu.dtype.is_floating_point:
            assert torch.equal(gpu.cpu(), cpu), (
                f"buffer {index}: {int((gpu.cpu() != cpu).sum())} of {cpu.numel()} elements differ"
            )
        else:
            torch.testing.assert_close(gpu.cpu().float(), cpu.float(), rtol=2**-7, atol=2**-8)
