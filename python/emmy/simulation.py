"""`emmy.simulate`: a module's or a plan's kernels on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from emmy import ir
from emmy.api import CompiledFunction
from emmy.compiler import PLAN_ATTRIBUTE
from emmy.errors import UsageError
from emmy.simulator import check_request, simulating
from emmy.simulator import simulate as simulate_plan
from emmy.targets import check_target

__all__ = ["simulate"]


def simulate(
    module: ir.Module | Callable[..., Any],
    plan: str | dict[str, Any] | tuple[Any, ...] | list[Any],
    *arguments: torch.Tensor | int | float,
    seed: int = 0,
    schedule: str = "random",
    target: str = "sm_90a",
) -> Any:
    """What a GPU would compute, from the hardware programs run on the CPU.

    Args:
        module: A PyTorch module or function, which is compiled for `target`, or an `emmy.ir.Module` of emmy_tile kernels.
        plan: The inputs as a tuple; for an `emmy.ir.Module` without a plan of its own, what `--emmy-emit-plan` prints,
            followed by the inputs.
        seed: Chooses the schedule.
        schedule: "random", or "delay=ROLE" to starve a role as long as anything else can move.

    Raises:
        SimulationError: a rule was broken, or an output is not written; the message names it, the op and the accesses.
        UsageError: the seed, schedule, target or arguments are not what this takes.

    Example:
        >>> emmy.simulate(torch.nn.Linear(64, 32), (torch.randn(4, 64),)).shape
        torch.Size([4, 32])
    """
    check_request(seed, schedule, target)
    inputs = tuple(plan) if isinstance(plan, tuple | list) else None
    if not isinstance(module, ir.Module):
        if inputs is None or arguments:
            raise UsageError("emmy.simulate of a PyTorch module takes its inputs as one tuple")
        with torch.no_grad(), simulating(seed, schedule) as simulation:
            result = CompiledFunction(module, target=check_target(target), dynamic=None, fullgraph=True)(*inputs)
        if not simulation.runs:
            raise UsageError("nothing was simulated: the program computes nothing, it returns its inputs or constants")
        return result
    if inputs is None:
        if not isinstance(plan, str | dict):
            raise UsageError(f"expected the inputs as one tuple, or a plan as text or parsed, but got {type(plan).__name__}")
        return simulate_plan(module, plan, *arguments, seed=seed, schedule=schedule)
    attributes = module.operation.attributes
    if PLAN_ATTRIBUTE not in attributes:
        raise UsageError("the module carries no plan: run --emmy-emit-plan on it, or give the plan before the inputs")
    return simulate_plan(module, str(ir.StringAttr(attributes[PLAN_ATTRIBUTE]).value), *inputs, seed=seed, schedule=schedule)
