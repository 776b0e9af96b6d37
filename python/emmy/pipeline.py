"""Runs the compiler's registered pass pipelines in this process, one level at a time.

The pipelines are the ones `emmy-opt` has, so every compilation can be repeated on the command line; a failure says how.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from emmy import ir
from emmy._mlir_libs import _emmy
from emmy.errors import CompileError, Diagnostic, UnknownStageError
from emmy.passmanager import PassManager

__all__ = [
    "STAGES",
    "Log",
    "Stage",
    "check_stage",
    "detect_stage",
    "make_context",
    "parse",
    "run_pipeline",
    "save_module",
    "stages_for",
]


@dataclass(frozen=True)
class Stage:
    """A level of the compiler: its name for users and the pipeline that makes it from the one before."""

    name: str
    pipeline: str


_GPU = (
    Stage("torch", ""),
    Stage("graph", "emmy-torch-to-graph"),
    Stage("fuse", "emmy-graph-to-fuse"),
    Stage("sched", "emmy-fuse-to-sched"),
    Stage("tile", "emmy-sched-to-tile"),
    Stage("nvvm", "emmy-tile-to-nvvm"),
)
_CPU = (*_GPU[:3], Stage("llvm", "emmy-fuse-to-cpu"))

# Dialects that only one level has, from the highest level down.
_OWN_DIALECTS = {
    "torch": "torch",
    "linalg": "torch",
    "emmy_graph": "graph",
    "emmy_fuse": "fuse",
    "emmy_sched": "sched",
    "emmy_tile": "tile",
    "gpu": "nvvm",
    "llvm": "llvm",
}

# Every name `--ir` takes; `llvm`, `ptx` and `sass` of a GPU are translations, not pipelines.
STAGES = ("torch", "graph", "fuse", "sched", "tile", "nvvm", "llvm", "ptx", "sass")


def stages_for(target: str) -> tuple[Stage, ...]:
    """The levels a program passes for a target, in order."""
    return _CPU if target == "cpu" else _GPU


def check_stage(name: str, target: str) -> None:
    """Raises UnknownStageError, with the nearest names, unless the target has this stage."""
    if name not in STAGES:
        near = get_close_matches(name, STAGES, n=2)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UnknownStageError(f"there is no stage {name!r}; {hint}the stages are {', '.join(STAGES)}")
    if target == "cpu" and name not in {stage.name for stage in _CPU}:
        available = ", ".join(stage.name for stage in _CPU)
        raise UnknownStageError(f"the cpu target has no stage {name!r}; its stages are {available}")


def detect_stage(module: ir.Module) -> str:
    """The level a module is at: the highest that it has operations of, since passes leave alone what is lowered already.

    A module of emmy_graph that is not all primitives counts as `torch`: the pipeline from there decomposes the rest.
    """
    found: set[str] = set()

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.add(operation.name.split(".")[0])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    stage = next((stage for dialect, stage in _OWN_DIALECTS.items() if dialect in found), "torch")
    return "torch" if stage == "graph" and not _has_graph_form(module) else stage


def _has_graph_form(module: ir.Module) -> bool:
    try:
        run_pipeline(module, ["func.func(emmy-verify-graph-form)"], save=False)
    except CompileError:
        return False
    return True


def make_context() -> ir.Context:
    """A context with Emmy's dialects; operations of the torch dialect stay unregistered."""
    context = ir.Context()
    context.allow_unregistered_dialects = True
    _emmy.register_dialects(context)
    _emmy.enable_remarks(context)
    return context


@dataclass
class Log:
    """The diagnostics of one run."""

    entries: list[Diagnostic] = field(default_factory=list)

    def handle(self, diagnostic: ir.Diagnostic) -> bool:
        """Records a diagnostic with its notes; the return value says that it needs no printing."""
        self._add(diagnostic)
        for note in diagnostic.notes:
            self._add(note)
        return True

    @property
    def remarks(self) -> list[Diagnostic]:
        """What the passes chose to explain."""
        return [entry for entry in self.entries if entry.severity in ("remark", "note")]

    def _add(self, diagnostic: ir.Diagnostic) -> None:
        self.entries.append(_plain(diagnostic))


def parse(source: str | Path, context: ir.Context, name: str = "input") -> ir.Module:
    """Parses MLIR, a text or a file, whose name is then in locations; a syntax error becomes a CompileError with the line."""
    log = Log()
    handler = context.attach_diagnostic_handler(log.handle)
    try:
        if isinstance(source, Path):
            return ir.Module.parseFile(str(source), context)
        return ir.Module.parse(source, context)
    except ir.MLIRError as error:
        entries = log.entries or _from_infos(error.error_diagnostics)
        raise CompileError(f"{name} is not valid MLIR", entries) from error
    finally:
        handler.detach()


def run_pipeline(module: ir.Module, passes: Sequence[str], log: Log | None = None, save: bool = True) -> None:
    """Runs passes or pipelines, named as on emmy-opt's command line without dashes, over a module.

    Raises:
        CompileError: a pass failed; unless `save` is False, the module as it was is in a file that the error names.
    """
    log = log if log is not None else Log()
    context = module.context
    before = module.operation.clone() if save else None
    handler = context.attach_diagnostic_handler(log.handle)
    pipeline = f"builtin.module({','.join(passes)})"
    try:
        with context:
            PassManager.parse(pipeline).run(module.operation)
    except (ir.MLIRError, ValueError) as error:
        errors = [entry for entry in log.entries if entry.severity != "remark"]
        infos = getattr(error, "error_diagnostics", ())
        path = save_module(before) if before is not None else None
        flags = " ".join(f"--{name}" for name in passes)
        raise CompileError(
            f"{', '.join(passes)} failed",
            errors or _from_infos(infos) or [Diagnostic("error", str(error))],
            path,
            f"emmy-opt --allow-unregistered-dialect {flags} {path}" if path else "",
        ) from error
    finally:
        handler.detach()


def _plain(diagnostic: ir.Diagnostic | ir.DiagnosticInfo) -> Diagnostic:
    severity = str(diagnostic.severity).rsplit(".", 1)[-1].lower()
    location = str(diagnostic.location).removeprefix("loc(").removesuffix(")").replace('"', "")
    return Diagnostic(severity, diagnostic.message, "" if location == "unknown" else location)


def _from_infos(infos: Sequence[ir.DiagnosticInfo]) -> list[Diagnostic]:
    """What an exception of the bindings carries, each with its notes."""
    return [_plain(entry) for info in infos for entry in (info, *info.notes)]


def save_module(module: Any) -> Path:
    """Writes a module, or the operation of one, to a fresh file for the user to look at."""
    operation = getattr(module, "operation", module)
    path = Path(tempfile.mkdtemp(prefix="emmy-")) / "input.mlir"
    path.write_text(operation.get_asm(enable_debug_info=True))
    return path
