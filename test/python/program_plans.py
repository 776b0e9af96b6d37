"""From a program that describes its own simulation to a plan that the runtime and `emmy.simulate` take, and to its inputs.

The buffers of `emmy.simulate` with a fill become arguments (mutable where the fill is zero: counters and workspaces), the others
outputs; a launch's outputs come last among its operands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import torch
from emmy import ir
from emmy._mlir_libs import _emmy
from emmy.passmanager import PassManager

__all__ = ["Program"]

_DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "i32": torch.int32}
_BUFFER = re.compile(r"\{type = (tensor<[^>]*>)([^}]*)\}")


@dataclass(frozen=True)
class Program:
    """One or more kernels, their buffers and launches."""

    name: str
    kernels: str
    # False where the order of roundings is not fixed, or a function is approximate.
    exact: bool = True

    @cached_property
    def buffers(self) -> list[tuple[str, str]]:
        """(type, fill) of each buffer; outputs have no fill."""
        found = _BUFFER.findall(self.kernels)
        return [(type_, (re.findall(r'fill = "(\w+)', rest) or [""])[0]) for type_, rest in found]

    @cached_property
    def text(self) -> str:
        """The kernels with a host function that launches them."""
        names = {i: f"%arg{i}" for i, (_, fill) in enumerate(self.buffers) if fill}
        arguments = [f"%arg{i}: {self.buffers[i][0]}{' {emmy.mutable}' if self.buffers[i][1] == 'zero' else ''}" for i in names]
        results, body = [], []
        launches = re.findall(r"\{kernel = @(\w+), operands = array<i64: ([\d, ]+)>\}", self.kernels)
        if not launches:
            kernel = re.search(r"emmy_tile\.kernel @(\w+)", self.kernels)
            assert kernel
            launches = [(kernel.group(1), ", ".join(map(str, range(len(self.buffers)))))]
        for kernel, operands in launches:
            numbers = [int(number) for number in operands.split(",")]
            given, made = [n for n in numbers if n in names], [n for n in numbers if n not in names]
            assert given + made == numbers, "outputs come last"
            names |= {n: f"%r{n}" for n in made}
            types = [", ".join(self.buffers[n][0] for n in group) for group in (given, made)]
            head = f"{', '.join(names[n] for n in made)} = " if made else ""
            body.append(f"  {head}emmy.launch @{kernel}({', '.join(names[n] for n in given)}) : ({types[0]}) -> ({types[1]})")
            results = made
        types = ", ".join(self.buffers[n][0] for n in results)
        body.append(f"  return {', '.join(names[n] for n in results)} : {types}" if results else "  return")
        host = "\n".join([f"func.func @main({', '.join(arguments)}) -> ({types}) {{", *body, "}"])
        kernels = self.kernels.rstrip()
        return f"{kernels[:-1]}{host}\n}}\n" if kernels.startswith("module") else f"{kernels}\n{host}\n"

    def plan(self) -> str:
        """The plan of the host function."""
        with ir.Context() as context:
            _emmy.register_dialects(context)
            module = ir.Module.parse(self.text)
            PassManager.parse("builtin.module(func.func(emmy-plan-memory),emmy-emit-plan)").run(module.operation)
            return str(ir.StringAttr(module.operation.attributes["emmy.plan"]).value)

    def inputs(self, seed: int = 0) -> list[torch.Tensor]:
        """Multiples of 1/64 from -1 to 1, so that sums of products are exact in f32; zeros for workspaces."""
        generator, made = torch.Generator().manual_seed(seed), []
        for type_, fill in self.buffers:
            if not fill:
                continue
            *sizes, element = type_[len("tensor<") : -1].split("x")
            shape, dtype = [int(size) for size in sizes], _DTYPES[element]
            values = torch.randint(-64, 64, shape, generator=generator) / 64 if dtype.is_floating_point else torch.zeros(shape)
            made.append((values if fill == "random" else torch.zeros(shape)).to(dtype))
        return made
