"""What ptxas makes of the kernels of the examples, with a static and a symbolic sequence length, for sm_90a in bf16.

python example_kernels.py      writes docs/kernels.md
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from emmy import toolchain
from emmy.api import CompiledFunction
from emmy.compiler import Lowering
from example_models import EXAMPLES, Example, Shape

__all__ = ["PAGE", "CompiledKernel", "compile_example", "instruction_count", "read_page"]

PAGE = Path(__file__).parents[2] / "docs" / "kernels.md"
LENGTH, LONGEST = 512, 4096
_INSTRUCTION_BYTES = 16


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel: registers of a thread, shared bytes of a CTA with what the launch asks for, instructions of its SASS."""

    example: str
    name: str
    registers: int
    shared: int
    instructions: int
    ptx: str
    defects: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.example, self.name


def lower(example: Example, symbolic: bool) -> list[Lowering]:
    shape = Shape()
    model = example.make_model(shape).to(torch.bfloat16).eval()
    inputs = tuple(value.to(torch.bfloat16) for value in example.make_inputs(shape, LENGTH))
    dynamic = example.dynamic(LONGEST) if symbolic else None
    compiled = CompiledFunction(model, target="sm_90a", dynamic=dynamic, fullgraph=True)
    return [piece.lowering() for piece in compiled.trace(*inputs).executor.pieces]


def launches(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in steps:
        if "launch" in step:
            yield step
        for case in step.get("switch", ()):
            yield from launches(case["steps"])


def instruction_count(cubin: bytes) -> int:
    """Instructions in the code sections of a 64-bit ELF file."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<II4Q", cubin, table + i * size) for i in range(count)]
    strings = sections[names][4]
    code = 0
    for name, _, _, _, _, length in sections:
        start = strings + name
        if cubin[start : cubin.index(b"\0", start)].startswith(b".text."):
            code += length
    return code // _INSTRUCTION_BYTES


def compile_example(example: Example, symbolic: bool) -> list[CompiledKernel]:
    """The kernels of an example, in the order of their names."""
    label = f"{example.name}, {'symbolic' if symbolic else 'static'}"
    kernels = []
    for lowering in lower(example, symbolic):
        ptx = lowering.ptx()
        dynamic = {step["launch"]: step["shared"] for step in launches(json.loads(lowering.plan_json())["steps"])}
        with ThreadPoolExecutor() as pool:
            assembled = pool.map(lambda text: toolchain.assemble(text, "sm_90a", line_info=False), ptx.values())
        for (name, text), made in zip(ptx.items(), assembled, strict=True):
            (resources,) = made.kernels
            shared = resources.shared_bytes + dynamic[name]
            kernels.append(
                CompiledKernel(label, name, resources.registers, shared, instruction_count(made.cubin), text, made.defects)
            )
    return sorted(kernels, key=lambda kernel: kernel.name)


def page(kernels: list[CompiledKernel]) -> str:
    ptxas = toolchain.find_ptxas()
    version = toolchain.ptxas_version(ptxas) if ptxas else "none"
    lines = [
        "# Kernels of the examples",
        "",
        f"Written by `python test/python/example_kernels.py`: bf16, sm_90a, a sequence of {LENGTH} or a symbolic one,",
        f"ptxas {version}. Registers are a thread's at entry (warp roles share them out anew), shared bytes a CTA's. No kernel",
        "spills, has a stack frame or draws a warning of ptxas about wgmma; a test keeps it so and compares the figures.",
        "",
        "| example | kernel | registers | shared bytes | instructions | wgmma | TMA |",
        "|---|---|---|---|---|---|---|",
    ]
    for kernel in kernels:
        marks = ["yes" if word in kernel.ptx else "" for word in ("wgmma.mma_async", "cp.async.bulk.tensor")]
        cells = [kernel.example, kernel.name, kernel.registers, kernel.shared, kernel.instructions, *marks]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def read_page() -> dict[tuple[str, str], tuple[int, int, int]]:
    """Registers, shared bytes and instructions by example and kernel."""
    rows = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and cells[2].isdigit():
            rows[(cells[0], cells[1])] = (int(cells[2]), int(cells[3]), int(cells[4]))
    return rows


if __name__ == "__main__":
    everything = [kernel for example in EXAMPLES for symbolic in (False, True) for kernel in compile_example(example, symbolic)]
    PAGE.write_text(page(everything))
    for bad in everything:
        for defect in bad.defects:
            print(f"{bad.example}: {defect}")
    print(f"{PAGE}: {len(everything)} kernels")
