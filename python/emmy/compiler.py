"""One program's way from imported MLIR text to something callable, and its IR at every level on the way.

`Lowering` holds the text and makes each level on demand; `build` runs it to the end, through the disk cache, and
returns a plan that the runtime interprets.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emmy import _runtime, ir, simulator, toolchain
from emmy._mlir_libs import _emmy
from emmy.cache import default_cache
from emmy.compiled import CompiledCode, cache_key
from emmy.errors import CompileError, Diagnostic, UsageError
from emmy.pipeline import Log, Stage, check_stage, make_context, parse, run_pipeline, save_module, stages_for

__all__ = ["PARTS", "Executable", "Lowering", "Timings", "build", "compile_code", "file_target"]

# What `Timings` tells apart. Export and import are torch's and torch-mlir's, the rest is Emmy's with its tools.
PARTS = ("export", "torch-mlir", "cache", "passes", "LLVM", "ptxas")

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
        known = [part for part in PARTS if part in self.parts]
        return " / ".join(f"{part} {self.parts[part] * 1e3:.0f} ms" for part in known)


def file_target(module: ir.Module) -> str | None:
    """The target that a module says it is for."""
    attributes = module.operation.attributes
    if TARGET_ATTRIBUTE not in attributes:
        return None
    # #emmy.target<"sm_90a", …>
    return str(attributes[TARGET_ATTRIBUTE]).split('"')[1]


class Lowering:
    """A program's IR at every level for one target.

    Compiling takes one module through all levels and keeps only the last; the text of a level in between is made on demand.
    """

    def __init__(
        self, text: str, target: str, timings: Timings | None = None, first: str = "torch", path: Path | None = None
    ) -> None:
        """A program at the stage `first`; `path` is the file that it came from, if there is one."""
        self.target, self.path = target, path
        self.timings = timings or Timings()
        self.log = Log()
        self.first = first
        self._context = make_context()
        self._last: ir.Module | None = None
        self._texts: dict[str, str] = {first: text}
        self._ptx: dict[str, str] | None = None
        self._cubins: dict[str, bytes] | None = None

    @property
    def stages(self) -> list[str]:
        """The stages this program can be printed at, in order, SASS apart."""
        names = [stage.name for stage in self._pipelines(None)]
        return [self.first, *names] + ([] if self.target == "cpu" else ["llvm", "ptx"])

    @property
    def source(self) -> str:
        """The text the program came in."""
        return self._texts[self.first]

    @property
    def last(self) -> ir.Module:
        """The module of the last MLIR stage, which carries the plan."""
        if self._last is None:
            self._last = self._lower(None, self.log)
        return self._last

    def text(self, stage: str) -> str:
        """The program at a stage: MLIR, PTX or SASS."""
        check_stage(stage, self.target)
        if stage not in self._texts:
            self._texts[stage] = self._make_text(stage)
        return self._texts[stage]

    def record(self) -> None:
        """Makes the texts of all MLIR stages in one go."""
        self._last = self._lower(None, self.log, record=True)

    def plan_json(self) -> str:
        """The plan that `--emmy-emit-plan` wrote."""
        attributes = self.last.operation.attributes
        if PLAN_ATTRIBUTE not in attributes:
            raise CompileError("there is no plan, which says what is launched: the program has no host function")
        return str(ir.StringAttr(attributes[PLAN_ATTRIBUTE]).value)

    @property
    def has_plan(self) -> bool:
        """Whether the program says what is launched, as all but files of mere kernels do."""
        return PLAN_ATTRIBUTE in self.last.operation.attributes

    def remarks(self) -> list[Diagnostic]:
        """What the passes chose and why, in the order of the passes."""
        self.last  # noqa: B018  (runs the passes)
        return self.log.remarks

    def ptx(self) -> dict[str, str]:
        """PTX by kernel."""
        if self._ptx is None:
            module = self.last
            with self.timings.measure("LLVM"):
                self._ptx = dict(_translate(_emmy.translate_to_ptx, module, self.target))
        return self._ptx

    def cubins(self) -> dict[str, bytes]:
        """Assembled code by kernel."""
        if self._cubins is None:
            ptx = self.ptx()
            with self.timings.measure("ptxas"), ThreadPoolExecutor() as pool:
                assembled = pool.map(lambda text: toolchain.assemble(text, self.target).cubin, ptx.values())
                self._cubins = dict(zip(ptx, assembled, strict=True))
        return self._cubins

    def _pipelines(self, stage: str | None) -> list[Stage]:
        """What runs between the program's first stage and another (the last one by default)."""
        stages = stages_for(self.target)
        names = [entry.name for entry in stages]
        if self.first not in names:
            raise UsageError(f"a program at stage {self.first} cannot be compiled for {self.target}")
        start, end = names.index(self.first), names.index(stage) if stage else len(names) - 1
        if end < start:
            raise UsageError(f"the program starts at stage {self.first}; it has no stage {stage!r} before that")
        return list(stages[start + 1 : end + 1])

    def _lower(self, stage: str | None, log: Log, record: bool = False) -> ir.Module:
        pipelines = self._pipelines(stage)
        log.entries.clear()
        with self.timings.measure("passes"):
            module = parse(self.path or self.source, self._context, "the program")
            if file_target(module) != self.target:
                module.operation.attributes[TARGET_ATTRIBUTE] = _emmy.target_attribute(self._context, self.target)
            for entry in pipelines:
                run_pipeline(module, [entry.pipeline], log)
                if record:
                    self._texts[entry.name] = str(module)
        return module

    def _make_text(self, stage: str) -> str:
        if stage == "ptx":
            return _join(self.ptx())
        if stage == "llvm" and self.target != "cpu":
            return _join(_translate(_emmy.translate_kernels_to_llvm, self.last), ";")
        if stage == "sass":
            return _join({name: toolchain.disassemble(cubin) for name, cubin in self.cubins().items()})
        return str(self._lower(stage, Log()))


@dataclass
class Executable:
    """A callable plan; `code` keeps JIT-compiled functions alive."""

    plan: Any
    lowering: Lowering
    code: Any = None

    def __call__(self, *tensors: Any) -> Any:
        return self.plan(*tensors)


def build(lowering: Lowering) -> Executable:
    """Compiles a lowering to the end; what another process compiled before is taken from the disk cache."""
    if lowering.target == "cpu":
        return _build_cpu(lowering)
    if simulation := simulator.active():
        kernels = parse(lowering.text("tile"), make_context())
        plan = lowering.plan_json()
        return Executable(_with_own_results(simulator.SimulatedPlan(kernels, plan, simulation), plan), lowering)
    code = compile_code(lowering)
    return Executable(_with_own_results(_runtime.Plan(code.plan, code.kernels), code.plan), lowering)


def compile_code(lowering: Lowering) -> CompiledCode:
    """A GPU program's plan and kernels, from the disk cache if this or another process has made them before."""
    cache = default_cache()
    with lowering.timings.measure("cache"):
        key = cache_key(lowering.source, lowering.target)
        stored = cache.get(key) if cache else None
    if stored is not None:
        return CompiledCode.unpack(stored)
    # Without ptxas the driver assembles, at every start of a program.
    if toolchain.find_ptxas():
        kernels = lowering.cubins()
    else:
        kernels = {name: text.encode() for name, text in lowering.ptx().items()}
    code = CompiledCode(_with_own_modules(lowering.plan_json()), kernels)
    if cache:
        cache.put(key, code.pack())
    return code


def _build_cpu(lowering: Lowering) -> Executable:
    plan = lowering.plan_json()
    with lowering.timings.measure("LLVM"):
        code = _translate(_emmy.jit, lowering.last)
    try:
        addresses = {step["launch"]: code.address(step["launch"]) for step in _launches(json.loads(plan)["steps"])}
    except RuntimeError as error:
        raise CompileError(str(error).strip(), ir_path=save_module(lowering.last)) from error
    return Executable(_with_own_results(_runtime.Plan(plan, addresses, code), plan), lowering, code)


def _with_own_results(plan: Callable[..., list[Any]], text: str) -> Callable[..., list[Any]]:
    """The plan with results that share no memory with its arguments or each other, as those of a graph without views."""
    document = json.loads(text)
    buffers = [output["alias_of"] if isinstance(output, dict) else output for output in document["outputs"]]
    shared = [
        position
        for position, buffer in enumerate(buffers)
        if "arg" in document["buffers"][buffer] or buffer in buffers[:position]
    ]
    if not shared:
        return plan

    def run(*values: Any) -> list[Any]:
        results = plan(*values)
        for position in shared:
            results[position] = results[position].clone()
        return results

    return run


def _translate(function: Callable[..., Any], module: ir.Module, *arguments: Any) -> Any:
    """Calls a code generator; what it refuses becomes a CompileError with the module saved."""
    try:
        return function(module, *arguments)
    except RuntimeError as error:
        path = save_module(module)
        raise CompileError(str(error).strip(), ir_path=path) from error


def _with_own_modules(plan: str) -> str:
    """The plan with each kernel in a code object of its own name, as kernels are assembled one by one."""
    document = json.loads(plan)
    for step in _launches(document["steps"]):
        step["module"] = step["launch"]
    return json.dumps(document)


def _launches(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in steps:
        if "launch" in step:
            yield step
        for case in step.get("switch", ()):
            yield from _launches(case["steps"])


def _join(texts: dict[str, str], comment: str = "//") -> str:
    """One text of all kernels'."""
    return "\n".join(f"{comment} kernel {name}\n{text}" for name, text in texts.items())
