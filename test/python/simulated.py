"""Runs a compiled program on the simulator under many schedules: random ones and those that starve one role."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from emmy import simulator
from emmy.simulator import SimulatedPlan, simulate

__all__ = ["ADVERSARIES", "SEEDS", "many_schedules"]

SEEDS = 20
ADVERSARIES = ("delay=producer", "delay=consumer", "delay=async")


def _run_all(plan: SimulatedPlan, *arguments: torch.Tensor | int | float) -> list[torch.Tensor]:
    """The outputs, which are the same bits under every schedule."""
    text = str(plan.module)
    roles = {"async", *re.findall(r'emmy_tile\.role "(\w+)"', text)}
    adversaries = [adversary for adversary in ADVERSARIES if adversary.removeprefix("delay=") in roles]
    runs = [(seed, "random") for seed in range(SEEDS)] + [(0, adversary) for adversary in adversaries]
    first: list[torch.Tensor] | None = None
    for seed, schedule in runs[1:] + runs[:1]:  # the last run writes to the caller's own mutable arguments
        last = (seed, schedule) == runs[0]
        given = [value if last or not isinstance(value, torch.Tensor) else _copy(value) for value in arguments]
        outputs = simulate(plan.module, plan.plan, *given, seed=seed, schedule=schedule)
        first = first or outputs
        for one, other in zip(first, outputs, strict=True):
            assert torch.equal(_bits(one), _bits(other)), f"seed {seed}, {schedule}: other results than seed 1"
    return outputs


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides."""
    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    return copy.copy_(tensor.detach())


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().view(torch.uint8)


@contextmanager
def many_schedules() -> Iterator[None]:
    """Programs compiled for a GPU inside a `with` block run under all schedules at each call."""
    original = SimulatedPlan.__call__
    SimulatedPlan.__call__ = _run_all  # type: ignore[method-assign]
    try:
        with simulator.simulating():
            yield
    finally:
        SimulatedPlan.__call__ = original  # type: ignore[method-assign]
