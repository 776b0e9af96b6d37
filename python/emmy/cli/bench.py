"""Times a compiled program against eager PyTorch and torch.compile, taking turns so that the clock's drift hits all
alike.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from emmy.cli.expression import Call

__all__ = ["time_against_peers"]

_log = logging.getLogger("emmy.bench")

_ROUNDS = 7
_MIN_SECONDS = 0.02


def time_against_peers(compiled: Callable[..., Any], call: Call) -> list[tuple[str, ...]]:
    """Rows of name, median microseconds of a call, the shortest and longest round, and eager's median over this one."""
    on_gpu = any(isinstance(arg, torch.Tensor) and arg.is_cuda for arg in (*call.args, *call.kwargs.values()))
    contestants: dict[str, Callable[..., Any]] = {"emmy": compiled, "eager": call.target}
    inductor = torch.compile(call.target)
    samples: dict[str, list[float]] = {}
    with torch.no_grad():
        try:
            inductor(*call.args, **call.kwargs)
            contestants["torch.compile"] = inductor
        except Exception as error:
            # Inductor needs a C++ compiler or Triton; without one the other two are still worth comparing.
            _log.warning("torch.compile cannot run this program: %s", str(error).splitlines()[:1])
        repeats = {name: _repeats(function, call, on_gpu) for name, function in contestants.items()}
        for _ in range(_ROUNDS):
            for name, function in contestants.items():
                samples.setdefault(name, []).append(_time(function, call, repeats[name], on_gpu))
    medians = {name: statistics.median(values) for name, values in samples.items()}
    return [
        (
            name,
            f"{medians[name] * 1e6:.1f}",
            f"{min(values) * 1e6:.1f} to {max(values) * 1e6:.1f}",
            f"{medians['eager'] / medians[name]:.2f}x",
        )
        for name, values in samples.items()
    ]


def _repeats(function: Callable[..., Any], call: Call, on_gpu: bool) -> int:
    """Calls per sample, so that a sample is long enough for the clock."""
    for _ in range(3):
        function(*call.args, **call.kwargs)
    once = _time(function, call, 1, on_gpu)
    return max(1, min(1000, int(_MIN_SECONDS / max(once, 1e-9))))


def _time(function: Callable[..., Any], call: Call, repeats: int, on_gpu: bool) -> float:
    if on_gpu:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        for _ in range(repeats):
            function(*call.args, **call.kwargs)
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3 / repeats
    begin = time.perf_counter()
    for _ in range(repeats):
        function(*call.args, **call.kwargs)
    return (time.perf_counter() - begin) / repeats
