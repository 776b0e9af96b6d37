"""Times callables on one GPU: CUDA-graph replays, interleaved with the peer, over rotating inputs larger than L2.

A contender is a function of one input set. All contenders of a case run in turn in every round; the first rounds are dropped; a
ratio is the median over rounds of peer time / our time, with a 95 % interval from the order statistics of the rounds.
"""

from __future__ import annotations

import json
import math
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

L2_BYTES = 60 << 20
Inputs = tuple[torch.Tensor, ...]


@dataclass
class Case:
    """One problem: what runs, on how many input sets, and what it moves and computes."""

    name: str
    make_inputs: Callable[[], Inputs]
    contenders: dict[str, Callable[..., Any]]  # the peer first, "emmy" among them
    flops: float = 0.0
    bytes: float = 0.0
    reference: Callable[..., torch.Tensor] | None = None
    tolerance: float = 4e-3


@dataclass
class Result:
    name: str
    microseconds: dict[str, list[float]]
    errors: dict[str, float] = field(default_factory=dict)
    flops: float = 0.0
    bytes: float = 0.0

    def median(self, contender: str) -> float:
        return statistics.median(self.microseconds[contender])

    def ratio(self, contender: str, peer: str) -> tuple[float, float, float]:
        """Median and 95 % interval of peer time / contender time over the rounds."""
        pairs = sorted(p / c for p, c in zip(self.microseconds[peer], self.microseconds[contender], strict=True))
        n = len(pairs)
        k = max(0, math.floor(n / 2 - 0.98 * math.sqrt(n)))
        return statistics.median(pairs), pairs[k], pairs[n - 1 - k]


def require_gpu() -> None:
    """Ends the program where there is no GPU to measure."""
    if not torch.cuda.is_available():
        sys.exit("this benchmark measures a CUDA GPU, and PyTorch finds none")


def error_of(out: Any, reference: torch.Tensor) -> float:
    """‖out − reference‖ / ‖reference‖ in float64; infinite where either is not finite and the other is."""
    out = out[0] if isinstance(out, (tuple, list)) else out
    difference = (out.double() - reference.double()).norm() / reference.double().norm().clamp_min(1e-30)
    return float(difference) if torch.isfinite(difference) else math.inf


def capture(function: Callable[..., Any], sets: Sequence[Inputs], loops: int) -> torch.cuda.CUDAGraph:
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream), torch.no_grad():
        for inputs in sets[:2]:
            function(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        for _ in range(loops):
            for inputs in sets:
                function(*inputs)
    return graph


def run(case: Case, rounds: int = 15, idle: float = 0.02) -> Result:
    """Checks every contender against the reference, then times them interleaved with `idle` seconds between replays."""
    first = case.make_inputs()
    each = sum(t.numel() * t.element_size() for t in first)
    count = max(2, min(32, math.ceil(4 * L2_BYTES / max(1, each))))
    sets = [first] + [case.make_inputs() for _ in range(count - 1)]
    result = Result(case.name, {name: [] for name in case.contenders}, flops=case.flops, bytes=case.bytes)
    with torch.no_grad():
        expected = case.reference(*first) if case.reference else None
        for name, function in case.contenders.items():
            out = function(*first)
            if expected is not None:
                result.errors[name] = error_of(out, expected)
    graphs = {}
    for name, function in case.contenders.items():
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        graphs[name] = capture(function, sets, 1)
        graphs[name].replay()
        start.record()
        graphs[name].replay()
        end.record()
        end.synchronize()
        loops = max(1, min(50, math.ceil(2.0 / max(1e-3, start.elapsed_time(end)))))
        if loops > 1:
            graphs[name] = capture(function, sets, loops)
        graphs[name].loops = loops  # type: ignore[attr-defined]
    for round_ in range(rounds + 2):
        for name, graph in graphs.items():
            time.sleep(idle)
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            if round_ >= 2:
                result.microseconds[name].append(start.elapsed_time(end) * 1e3 / (count * graph.loops))  # type: ignore[attr-defined]
    return result


def row(result: Result, ours: str = "emmy") -> str:
    peers = [name for name in result.microseconds if name != ours]
    parts = [f"{result.name:40s} {ours} {result.median(ours):9.2f} us"]
    if result.flops:
        parts.append(f"{result.flops / result.median(ours) / 1e6:7.1f} TF/s")
    if result.bytes:
        parts.append(f"{result.bytes / result.median(ours) / 1e6:6.2f} TB/s")
    if ours in result.errors:
        parts.append(f"err {result.errors[ours]:.1e}")
    for peer in peers:
        ratio, low, high = result.ratio(ours, peer)
        parts.append(f"| {peer} {result.median(peer):9.2f} us, ratio {ratio:.3f} [{low:.3f}, {high:.3f}]")
    return " ".join(parts)


def geomean(results: Sequence[Result], peer: str, ours: str = "emmy") -> float:
    return math.exp(statistics.fmean(math.log(r.ratio(ours, peer)[0]) for r in results))


def environment() -> dict[str, str]:
    query = "name,driver_version,clocks.sm,power.draw"
    smi = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True, text=True)
    return {"gpu": smi.stdout.strip(), "torch": torch.__version__, "python": platform.python_version()}


def save(path: str | None, results: Sequence[Result]) -> None:
    if path:
        data = {"environment": environment(), "results": [vars(result) for result in results]}
        Path(path).write_text(json.dumps(data, indent=1))
