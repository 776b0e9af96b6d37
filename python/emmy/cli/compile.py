"""`emmy compile`: a program's IR at any stage, its code in a file, and what the passes chose."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
import torch.utils._pytree as pytree

from emmy.api import CompiledFunction
from emmy.cli.expression import Call
from emmy.cli.files import load_file
from emmy.cli.programs import load_program, parse_dynamic
from emmy.cli.render import Printer, progress
from emmy.compiler import Lowering, compile_code
from emmy.errors import UsageError
from emmy.pipeline import check_stage
from emmy.specialization import Specialization, describe, describe_remark
from emmy.targets import check_target, device_target

__all__ = ["execute"]

_TEXT_OUTPUTS = {".mlir": "", ".ptx": "ptx", ".sass": "sass", ".ll": "llvm"}


def execute(options: argparse.Namespace) -> int:
    """Runs the sub-command."""
    target = check_target(options.target) if options.target else None
    suffix = Path(options.output).suffix if options.output else ""
    if options.output and suffix not in (*_TEXT_OUTPUTS, ".cubin", ".json"):
        raise UsageError(
            f"-o {options.output}: the suffix says what is written; "
            "use .mlir, .ll, .ptx, .cubin, .sass or .json, or --ir to print"
        )
    printer = Printer()
    if options.source is not None and options.source.endswith(".mlir"):
        _execute_file(options, target, printer)
    else:
        _execute_program(options, target, printer)
    return 0


def _execute_file(options: argparse.Namespace, target: str | None, printer: Printer) -> None:
    for name, value in (("-c", options.expression), ("--input", options.input), ("--dynamic", options.dynamic)):
        if value:
            raise UsageError(f"{name} has no meaning for {options.source}: the sizes and inputs of a file are in it")
    lowering = load_file(Path(options.source), target, _default_target())
    _check_ir(options, lowering.target)
    _show(lowering, options, printer)
    if options.explain:
        for remark in lowering.remarks():
            printer.line(describe_remark(remark))


def _execute_program(options: argparse.Namespace, named: str | None, printer: Printer) -> None:
    target = named or _default_target()
    _check_ir(options, target)
    call = load_program(options.expression, options.source, options.input, options.seed)
    fullgraph = not (options.partial or options.explain)
    compiled = CompiledFunction(call.target, target=target, dynamic=parse_dynamic(options.dynamic), fullgraph=fullgraph)
    with progress("tracing"):
        entry = compiled.trace(*call.args, **call.kwargs)
    pieces = entry.executor.pieces
    if not pieces and not entry.executor.rejected:
        raise UsageError("the program computes nothing: it returns its inputs or constants")
    for index, piece in enumerate(pieces):
        if index:
            printer.title(f"piece {index + 1}")
        _show(piece.lowering(), options, printer)
    if options.explain:
        with progress("explaining"):
            printer.line(describe([entry]))
    _say_what_was_compiled(call, entry, explicit=named is not None, explained=options.explain)


def _say_what_was_compiled(call: Call, entry: Specialization, explicit: bool, explained: bool) -> None:
    """Says on stderr what a reader of the output may take for granted wrongly."""
    if call.label and not explained:
        inputs = [leaf for leaf in pytree.tree_leaves((call.args, call.kwargs)) if isinstance(leaf, torch.Tensor)]
        shapes = ", ".join("x".join(map(str, tensor.shape)) or "scalar" for tensor in inputs)
        print(f"emmy: compiled {call.label}, called with {shapes or 'no tensors'}", file=sys.stderr)
    if not explained:
        for rejection in entry.executor.rejected:
            where = f" at {rejection.location}" if rejection.location else ""
            print(f"emmy: left to PyTorch: {rejection.op}{where}: {rejection.reason}", file=sys.stderr)
    if not explicit and not torch.cuda.is_available():
        print(f"emmy: the target is {entry.target}; no GPU is here, so emmy run takes the CPU (--target cpu)", file=sys.stderr)


def _check_ir(options: argparse.Namespace, target: str) -> None:
    if options.ir is not None and options.ir != "all":
        check_stage(options.ir, target)


def _default_target() -> str:
    """The machine's GPU; without one still a GPU's, since compiling needs none."""
    return device_target(torch.device("cuda")) if torch.cuda.is_available() else "sm_90a"


def _show(lowering: Lowering, options: argparse.Namespace, printer: Printer) -> None:
    if options.ir is not None:
        stages = lowering.stages if options.ir == "all" else [options.ir]
        if len(stages) > 1:
            lowering.record()
        for stage in stages:
            with progress(f"making {stage}"):
                text = lowering.text(stage)
            if len(stages) > 1:
                printer.title(str(lowering.path) if lowering.path and stage == lowering.first else stage)
            printer.code(text)
    if options.dump_dir:
        _dump(lowering, Path(options.dump_dir), printer)
    if options.output:
        for path in _write(lowering, Path(options.output), options.ir):
            printer.line(f"wrote {path}")
    if options.ir is None and not (options.dump_dir or options.explain or options.output):
        _compile(lowering, printer)


def _compile(lowering: Lowering, printer: Printer) -> None:
    """Compiles to the end, into the disk cache for a GPU; a file of mere kernels is assembled."""
    with progress("compiling"):
        if lowering.target == "cpu":
            lowering.plan_json()
        elif lowering.path is not None and not lowering.has_plan:
            names = ", ".join(lowering.cubins())
            printer.line(f"assembled {names} for {lowering.target}; without a host function there is no plan to run them")
        else:
            compile_code(lowering)
    printer.line(f"compiled for {lowering.target}: {lowering.timings}")


def _dump(lowering: Lowering, folder: Path, printer: Printer) -> None:
    _make_folder(folder)
    lowering.record()
    for number, stage in enumerate(lowering.stages):
        suffix = "ptx" if stage == "ptx" else "ll" if stage == "llvm" and lowering.target != "cpu" else "mlir"
        path = folder / f"{number:02}-{stage}.{suffix}"
        _write_file(path, (lowering.text(stage) + "\n").encode())
        printer.line(str(path))


def _write(lowering: Lowering, path: Path, stage: str | None) -> list[Path]:
    """Writes what the suffix says; returns the files, which for cubins of several kernels have their names in them."""
    _make_folder(path.parent)
    if path.suffix == ".cubin":
        cubins = lowering.cubins()
        # One file has one kernel's code.
        files = [path] if len(cubins) == 1 else [path.with_name(f"{path.stem}.{name}.cubin") for name in cubins]
        for file, cubin in zip(files, cubins.values(), strict=True):
            _write_file(file, cubin)
        return files
    if path.suffix == ".json":
        text = lowering.plan_json()
    elif path.suffix == ".mlir":
        text = lowering.text(stage) if stage not in (None, "all") else str(lowering.last)
    else:
        text = lowering.text(_TEXT_OUTPUTS[path.suffix])
    _write_file(path, (text + "\n").encode())
    return [path]


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
