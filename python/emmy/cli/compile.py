"""`emmy compile`: a program's IR at any stage, its code in a file, and what the passes chose."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from emmy.api import CompiledFunction
from emmy.cli.programs import load_program, parse_dynamic, read_mlir
from emmy.cli.render import Printer, progress
from emmy.compiler import Lowering, compile_code
from emmy.errors import UsageError
from emmy.pipeline import check_stage, detect_stage
from emmy.targets import check_target, device_target

__all__ = ["execute"]

_TEXT_OUTPUTS = {".mlir": "", ".ptx": "ptx", ".sass": "sass", ".ll": "llvm"}


def execute(options: argparse.Namespace) -> int:
    """Runs the sub-command."""
    target = check_target(options.target) if options.target else _default_target()
    if options.ir is not None and options.ir != "all":
        check_stage(options.ir, target)
    suffix = Path(options.output).suffix if options.output else ""
    if options.output and suffix not in (*_TEXT_OUTPUTS, ".cubin", ".json"):
        raise UsageError(f"-o {options.output}: the suffix says what is written; use .mlir, .ll, .ptx, .cubin, .sass or .json")
    printer = Printer()
    for index, lowering in enumerate(_lowerings(options, target)):
        if index:
            printer.title(f"piece {index + 1}")
        _show(lowering, options, printer)
    return 0


def _default_target() -> str:
    """The machine's GPU; without one still a GPU's, since compiling needs none."""
    return device_target(torch.device("cuda")) if torch.cuda.is_available() else "sm_90a"


def _lowerings(options: argparse.Namespace, target: str) -> list[Lowering]:
    if options.source is not None and options.source.endswith(".mlir"):
        text = read_mlir(options.source)
        return [Lowering(text, target, first=detect_stage(text))]
    call = load_program(options.expression, options.source, options.input, options.seed)
    compiled = CompiledFunction(call.target, target=target, dynamic=parse_dynamic(options.dynamic), fullgraph=True)
    with progress("tracing"):
        entry = compiled.trace(*call.args, **call.kwargs)
    pieces = entry.executor.pieces
    if not pieces:
        raise UsageError("the program computes nothing: it returns its inputs or constants")
    return [piece.lowering() for piece in pieces]


def _show(lowering: Lowering, options: argparse.Namespace, printer: Printer) -> None:
    if options.ir is not None:
        stages = lowering.stages if options.ir == "all" else [options.ir]
        if len(stages) > 1:
            lowering.record()
        for stage in stages:
            with progress(f"making {stage}"):
                text = lowering.text(stage)
            if len(stages) > 1:
                printer.title(stage)
            printer.code(text)
    if options.dump_dir:
        _dump(lowering, Path(options.dump_dir), printer)
    if options.explain:
        for remark in lowering.remarks():
            printer.line(str(remark))
    if options.output:
        _write(lowering, Path(options.output), options.ir)
    if options.ir is None and not (options.dump_dir or options.explain):
        with progress("compiling"):
            if lowering.target == "cpu":
                lowering.plan_json()
            else:
                compile_code(lowering)
        printer.line(f"compiled for {lowering.target}: {lowering.timings}" if not options.output else f"wrote {options.output}")


def _dump(lowering: Lowering, folder: Path, printer: Printer) -> None:
    _make_folder(folder)
    lowering.record()
    for number, stage in enumerate(lowering.stages):
        suffix = "ptx" if stage == "ptx" else "ll" if stage == "llvm" and lowering.target != "cpu" else "mlir"
        path = folder / f"{number:02}-{stage}.{suffix}"
        _write_file(path, (lowering.text(stage) + "\n").encode())
        printer.line(str(path))


def _write(lowering: Lowering, path: Path, stage: str | None) -> None:
    _make_folder(path.parent)
    if path.suffix == ".cubin":
        cubins = lowering.cubins()
        for name, cubin in cubins.items():
            # One file has one kernel's code; the names of several go into the files' names.
            target = path if len(cubins) == 1 else path.with_name(f"{path.stem}.{name}.cubin")
            _write_file(target, cubin)
        return
    if path.suffix == ".json":
        text = lowering.plan_json()
    elif path.suffix == ".mlir":
        text = lowering.text(stage) if stage not in (None, "all") else str(lowering.last)
    else:
        text = lowering.text(_TEXT_OUTPUTS[path.suffix])
    _write_file(path, (text + "\n").encode())


def _write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from error
