"""One program's way from imported MLIR text to something callable, and its IR at every level on the way.

`Lowering` holds the text and makes each level on demand; `build` runs it to the end, through the disk cache, and
returns a plan that the runtime interprets.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from emmy import _runtime, ir, toolchain
from emmy._mlir_libs import _emmy
from emmy.cache import default_cache
from emmy.errors import CompileError, Diagnostic, UsageError
from emmy.pipeline import Log, check_stage, make_context, parse, run_pipeline, stages_for

__all__ = ["Executable", "Lowering", "Timings", "build"]

_log = logging.getLogger("emmy.compiler")

PLAN_ATTRIBUTE = "emmy.plan"
TARGET_ATTRIBUTE = "emmy.target"


@dataclass
class Timings:
    """Seconds spent in each part of a compilation."""

    parts: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, part: str) -> Iterator[None]:
        """Adds the time of a `with` block to a part."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.parts[part] = self.parts.get(part, 0.0) + time.perf_counter() - start

    def __str__(self) -> str:
        return " / ".join(f"{part} {seconds * 1e3:.0f} ms" for part, seconds in self.parts.items())


class Lowering:
    """A program's IR at every level for one target."""

    def __init__(self, text: str, target: str, timings: Timings | None = None, first: str = "torch") -> None:
        self.target = target
        self.timings = timings or Timings()
        self.log = Log()
        self._context = make_context()
        self._modules: dict[str, ir.Module] = {}
        self._first = first
        self._texts: dict[str, str] = {first: text}
        self._cubin: bytes | None = None

    @property
    def stages(self) -> list[str]:
        """The stages this program can be printed at, in order, SASS apart."""
        names = [stage.name for stage in stages_for(self.target)]
        return names[names.index(self._first) :] + ([] if self.target == "cpu" else ["llvm", "ptx"])

    def text(self, stage: str) -> str:
        """The program at a stage: MLIR, PTX or SASS."""
        check_stage(stage, self.target)
        if stage not in self._texts:
            self._texts[stage] = self._make_text(stage)
        return self._texts[stage]

    def module(self, stage: str) -> ir.Module:
        """The MLIR module of a stage; callers do not change it."""
        if stage not in self._modules:
            stages = stages_for(self.target)
            names = [entry.name for entry in stages]
            position = names.index(stage)
            if stage == self._first:
                with self.timings.measure("passes"):
                    self._modules[stage] = self._parse_input()
            elif position == 0 or self._first not in names or position < names.index(self._first):
                raise UsageError(f"the program starts at stage {self._first}; it has no stage {stage!r} before that")
            else:
                before = self.module(names[position - 1])
                with self.timings.measure("passes"):
                    module = _clone(before)
                    run_pipeline(module, [stages[position].pipeline], self.log)
                    self._modules[stage] = module
        return self._modules[stage]

    @property
    def last(self) -> ir.Module:
        """The module of the last MLIR stage, which carries the plan."""
        return self.module(stages_for(self.target)[-1].name)

    def plan_json(self) -> str:
        """The plan that `--emmy-emit-plan` wrote."""
        attributes = self.last.operation.attributes
        if PLAN_ATTRIBUTE not in attributes:
            raise CompileError("the last stage has no plan: --emmy-emit-plan did not run")
        return ir.StringAttr(attributes[PLAN_ATTRIBUTE]).value

    def remarks(self) -> list[Diagnostic]:
        """Why the passes did what they did."""
        self.last  # noqa: B018  (runs the passes)
        return self.log.remarks

    def cubin(self) -> bytes:
        """The assembled kernels."""
        if self._cubin is None:
            ptx = self.text("ptx")
            with self.timings.measure("ptxas"):
                self._cubin = _assemble(ptx, self.target)
        return self._cubin

    def _parse_input(self) -> ir.Module:
        module = parse(self._texts[self._first], self._context, "the program")
        if TARGET_ATTRIBUTE not in module.operation.attributes:
            module.operation.attributes[TARGET_ATTRIBUTE] = _emmy.target_attribute(self._context, self.target)
        return module

    def _make_text(self, stage: str) -> str:
        if stage == "ptx":
            with self.timings.measure("LLVM"):
                return _emmy.translate_to_ptx(self.module("nvvm"))
        if stage == "llvm" and self.target != "cpu":
            return _emmy.translate_to_llvm(self.module("nvvm"))
        if stage == "sass":
            return toolchain.disassemble(self.cubin())
        return str(self.module(stage))


@dataclass
class Executable:
    """A callable plan; `code` keeps JIT-compiled functions alive."""

    plan: Any
    lowering: Lowering
    code: Any = None

    def __call__(self, *tensors: Any) -> list[Any]:
        return self.plan(*tensors)


def build(lowering: Lowering) -> Executable:
    """Compiles a lowering to the end."""
    plan = lowering.plan_json()
    launches = list(_launches(json.loads(plan)["steps"]))
    if lowering.target == "cpu":
        with lowering.timings.measure("LLVM"):
            code = _emmy.jit(lowering.last)
        addresses = {step["launch"]: code.address(step["launch"]) for step in launches}
        return Executable(_runtime.Plan(plan, addresses, code), lowering, code)
    # Without ptxas the driver assembles, at every start of a program.
    kernels = lowering.cubin() if toolchain.find_ptxas() else lowering.text("ptx").encode()
    return Executable(_runtime.Plan(plan, {step["module"]: kernels for step in launches}), lowering)


def _assemble(ptx: str, arch: str) -> bytes:
    """The cubin for PTX, from the disk cache if it was assembled before by the same ptxas."""
    cache = default_cache()
    version = toolchain.ptxas_version(toolchain.require_ptxas())
    key = "\0".join(("cubin", version, arch, ptx)).encode()
    cubin = cache.get(key) if cache else None
    if cubin is None:
        cubin = toolchain.assemble(ptx, arch).cubin
        if cache:
            cache.put(key, cubin)
    return cubin


def _launches(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in steps:
        if "launch" in step:
            yield step
        for case in step.get("switch", ()):
            yield from _launches(case["steps"])


def _clone(module: ir.Module) -> ir.Module:
    return ir.Module.parse(module.operation.get_asm(enable_debug_info=True), module.context)
