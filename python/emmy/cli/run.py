"""`emmy run`: executes a program, compares it with eager PyTorch, and times it."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from typing import Any

import torch
import torch.utils._pytree as pytree

from emmy.api import CompiledFunction
from emmy.cli.bench import time_against_peers
from emmy.cli.expression import Call
from emmy.cli.programs import load_program, parse_dynamic, read_mlir
from emmy.cli.render import Printer, progress
from emmy.comparison import compare, reference64
from emmy.errors import CompileError, DeviceError, UsageError
from emmy.pipeline import Log, make_context, parse, run_pipeline
from emmy.simulator import check_request, simulating
from emmy.targets import check_target

__all__ = ["execute"]

_SHOWN_ELEMENTS = 32


def execute(options: argparse.Namespace) -> int:
    """Runs the sub-command; the exit code is 1 if a check fails."""
    if options.schedule is not None and not options.simulate:
        raise UsageError("--schedule belongs to --simulate")
    if options.simulate and options.bench:
        raise UsageError("--bench times a device; --simulate has none")
    target = check_target(options.target) if options.target else "sm_90a" if options.simulate else None
    if options.simulate:
        check_request(options.seed, options.schedule or "random", target or "")
    if options.source is not None and options.source.endswith(".mlir"):
        if not options.simulate:
            raise UsageError(
                "emmy run needs inputs: give FILE.py:Class or -c EXPRESSION, or --simulate a file with emmy.simulate"
            )
        return _simulate_file(options)
    call = load_program(options.expression, options.source, options.input, options.seed)
    call = call if options.simulate else _place(call, target)
    printer = Printer()
    compiled = CompiledFunction(call.target, target=target, dynamic=parse_dynamic(options.dynamic), fullgraph=False)
    how = simulating(options.seed, options.schedule or "random") if options.simulate else nullcontext()
    with progress("compiling"), torch.no_grad(), how as simulation:
        result = compiled(*call.args, **call.kwargs)
    if simulation is not None and not simulation.runs:
        raise UsageError("nothing was simulated: no part of the program is compiled for a GPU")
    _show(result, printer, f"from the simulator, {target}" if simulation else "")
    if simulation is not None:
        printer.line(str(simulation))
    code = 0
    if options.check:
        with progress("checking"):
            code = _check(call, result, printer)
    if options.bench:
        with progress("timing"):
            rows = time_against_peers(compiled, call)
        printer.table(("", "median µs", "range µs", "eager / this"), rows)
        printer.line(f"PyTorch has {torch.get_num_threads()} CPU threads (OMP_NUM_THREADS sets them)")
    return code


def _simulate_file(options: argparse.Namespace) -> int:
    """Runs the kernels of a file that carry `emmy.simulate`, as `emmy-opt --emmy-simulate` does."""
    if options.check or options.input or options.dynamic or options.expression is not None:
        raise UsageError("a FILE.mlir describes its inputs and results in emmy.simulate: give --seed and --schedule only")
    module = parse(read_mlir(options.source), make_context(), options.source)
    log = Log()
    schedule = f"schedule={options.schedule}" if options.schedule else ""
    try:
        run_pipeline(module, [f"emmy-simulate{{seed={options.seed} {schedule}}}"], log)
    except CompileError as error:
        text = "\n".join(str(diagnostic).replace("-:", f"{options.source}:", 1) for diagnostic in error.diagnostics)
        print(text, file=sys.stderr)
        return 1
    return 0


def _place(call: Call, target: str | None) -> Call:
    """Moves a program to the GPU where there is one, unless the target says otherwise."""
    wants_gpu = target != "cpu" if target else torch.cuda.is_available()
    if not wants_gpu:
        return call
    if not torch.cuda.is_available():
        raise DeviceError(f"target {target} needs a CUDA GPU, and PyTorch finds none; use --target cpu")
    if isinstance(call.target, torch.nn.Module):
        call.target.cuda()
    args, kwargs = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.cuda(), (call.args, call.kwargs))
    return Call(call.target, args, kwargs, call.label)


def _show(result: Any, printer: Printer, origin: str) -> None:
    for leaf in pytree.tree_leaves(result):
        if not isinstance(leaf, torch.Tensor):
            printer.line(repr(leaf))
            continue
        sizes = "x".join(map(str, leaf.shape))
        printer.line(f"{sizes or 'scalar'} {str(leaf.dtype).removeprefix('torch.')} {origin or f'on {leaf.device}'}")
        if leaf.numel() <= _SHOWN_ELEMENTS:
            printer.line(str(leaf))


def _check(call: Call, result: Any, printer: Printer) -> int:
    try:
        with torch.no_grad():
            eager = call.target(*call.args, **call.kwargs)
    except Exception as error:
        # The program is the user's; what it raises is what there is to say.
        raise UsageError(f"eager PyTorch cannot run this program: {type(error).__name__}: {error}") from error
    exact = reference64(call.target, call.args, call.kwargs)
    failed = 0
    triples = zip(*(pytree.tree_leaves(value) for value in (result, eager, exact)), strict=True)
    for index, (mine, theirs, reference) in enumerate(triples):
        if not isinstance(theirs, torch.Tensor):
            continue
        verdict = compare(mine, theirs, reference)
        failed += not verdict.ok
        eager_error = float((theirs.double() - reference.double()).abs().nan_to_num().max()) if theirs.numel() else 0.0
        state = "ok" if verdict.ok else "WRONG"
        printer.line(
            f"result {index}: {state}: {verdict}; eager's own largest error {eager_error:.3e}",
            "green" if verdict.ok else "red",
        )
    return int(failed > 0)
