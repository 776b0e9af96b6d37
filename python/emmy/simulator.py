"""Runs the launches of a plan on the simulator: the tile level's answer to what a GPU would do, races and hangs included.

The extension takes steps as JSON in which every expression is a number:
`{"buffers": [{"name", "initialized", "writable"}], "steps": [launch | memory]}` with launches
`{"kernel": symbol, "grid": [x, y, z], "params": [{"int": n} | {"float": text} | {"ptr": buffer, "offset": bytes} |
{"tmap": {"buffer", "offset", "sizes", "strides"}}]}` and memory steps `{"target", "source"}` or
`{"target", "offset", "bytes", "value"}`. It returns `{"launches", "programs", "steps", "unwritten"}`, the last one as ranges
`[first, last]` of bytes that nothing has written, for each buffer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
import torch

from emmy._mlir_libs import _emmy
from emmy._runtime import PlanMismatch
from emmy.errors import EmmyError, UsageError

__all__ = ["SimulatedPlan", "Simulation", "SimulationError", "active", "check_request", "simulate", "simulating"]

# As `Options::maxBytes` of the extension, which keeps a record for every byte.
_MAX_BYTES = 1 << 27

_DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8e4m3fn": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i1": torch.bool,
}

_BINARY: dict[str, Callable[[int, int], int]] = {
    "-": lambda a, b: a - b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
    "<=": lambda a, b: int(a <= b),
    "<": lambda a, b: int(a < b),
    "==": lambda a, b: int(a == b),
}
_FOLDS: dict[str, Callable[[list[int]], int]] = {
    "+": sum,
    "*": math.prod,
    "min": min,
    "max": max,
    "and": lambda values: int(all(values)),
    "or": lambda values: int(any(values)),
}


class SimulationError(EmmyError):
    """A broken rule of the hardware's memory model; the message holds the diagnostics."""


def check_request(seed: int, schedule: str, target: str = "sm_90a") -> None:
    """Refuses what no simulation can be asked for.

    Raises:
        UsageError: the message names the value and what is allowed.
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 1 << 64:
        raise UsageError(f"seed {seed!r}: expected an integer from 0 to 2**64 - 1")
    if not isinstance(schedule, str) or (schedule != "random" and not schedule.startswith("delay=")):
        raise UsageError(f"schedule {schedule!r}: expected 'random', or 'delay=ROLE' with the name of a role or 'async'")
    if target == "cpu":
        raise UsageError("target 'cpu' has no hardware program to simulate; use one of a GPU, such as sm_90a")


@dataclass
class _Run:
    """A plan with its arguments bound."""

    plan: dict[str, Any]
    arguments: Sequence[torch.Tensor | int | float]
    symbols: dict[int, int] = field(default_factory=dict)
    bytes: list[np.ndarray] = field(default_factory=list)
    outputs: dict[int, torch.Tensor] = field(default_factory=dict)
    descriptions: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)

    def evaluate(self, expr: Any) -> int:
        if isinstance(expr, bool | int):
            return int(expr)
        if isinstance(expr, str):
            return self.symbols[int(expr[1:])]
        operator, *operands = expr
        if operator == "aligned":
            return int(self.bytes[operands[0]].ctypes.data % operands[1] == 0)
        values = [self.evaluate(operand) for operand in operands]
        if operator == "not":
            return int(not values[0])
        return _FOLDS[operator](values) if operator in _FOLDS else _BINARY[operator](*values)

    def bind_symbols(self) -> None:
        for symbol in self.plan["symbols"]:
            argument = self.arguments[symbol["arg"]]
            if isinstance(argument, torch.Tensor):
                value = argument.shape[symbol["dim"]] if "dim" in symbol else argument.stride(symbol["stride"])
            else:
                value = int(argument)
            self.symbols[symbol["id"]] = value

    def check_kinds(self) -> None:
        """Refuses arguments that are not what the plan takes, before anything is made of them."""
        specs = self.plan["args"]
        if len(specs) != len(self.arguments):
            raise UsageError(f"the plan takes {len(specs)} arguments, but got {len(self.arguments)}")
        for index, (spec, argument) in enumerate(zip(specs, self.arguments, strict=True)):
            name = spec.get("name") or f"argument {index}"
            wanted_kind = "tensor" if "sizes" in spec else "number"
            if isinstance(argument, torch.Tensor) != (wanted_kind == "tensor"):
                raise UsageError(f"{name}: expected a {wanted_kind}, but got {type(argument).__name__}")
            if not isinstance(argument, torch.Tensor):
                continue
            wanted = _DTYPES.get(spec.get("dtype"), argument.dtype)
            if argument.dtype != wanted or argument.device.type != "cpu":
                raise UsageError(f"{name}: expected {wanted} on cpu, but got {argument.dtype} on {argument.device}")

    def check_size(self) -> None:
        """Refuses what would take too much memory, before any of it is taken."""
        total = 0
        for buffer in self.plan["buffers"]:
            if "arg" in buffer:
                argument = self.arguments[buffer["arg"]]
                total += argument.untyped_storage().nbytes() if isinstance(argument, torch.Tensor) else 0
            elif "output" in buffer:
                total += math.prod(self.evaluate(size) for size in buffer["sizes"]) * _DTYPES[buffer["dtype"]].itemsize
            else:
                total += self.evaluate(buffer["bytes"])
        if total > _MAX_BYTES:
            raise UsageError(f"the simulator takes tensors of at most {_MAX_BYTES} bytes in all, but these are {total}")

    def check_arguments(self) -> None:
        """Like the runtime, takes only the layouts that the plan was made for."""
        for index, (spec, argument) in enumerate(zip(self.plan["args"], self.arguments, strict=True)):
            if not isinstance(argument, torch.Tensor):
                continue
            name = spec.get("name") or f"argument {index}"
            sizes = [self.evaluate(size) for size in spec["sizes"]]
            contiguous = list(torch.empty(sizes, device="meta").stride())
            strides = [self.evaluate(stride) for stride in spec["strides"]] if "strides" in spec else contiguous
            free = [size == 1 or 0 in sizes for size in sizes]  # strides that address nothing
            same = all(skip or mine == wanted for skip, mine, wanted in zip(free, argument.stride(), strides, strict=False))
            if list(argument.shape) != sizes or not same:
                got = f"{list(argument.shape)} with strides {list(argument.stride())}"
                raise PlanMismatch(f"{name}: expected sizes {sizes} with strides {strides}, but got {got}")
            if argument.data_ptr() % spec.get("align", 1):
                raise PlanMismatch(f"{name}: expected an address that is a multiple of {spec['align']} bytes")

    def bind_buffers(self) -> None:
        for index, buffer in enumerate(self.plan["buffers"]):
            if "arg" in buffer:
                spec, argument = self.plan["args"][buffer["arg"]], self.arguments[buffer["arg"]]
                assert isinstance(argument, torch.Tensor)
                self.add(spec.get("name") or f"argument {buffer['arg']}", _bytes(argument), True, bool(spec.get("mutable")))
            elif "output" in buffer:
                self.outputs[index] = self.new_output(buffer)
                self.add(f"output {buffer['output']}", _bytes(self.outputs[index]), False, True)
            else:
                self.add(f"temporary {index}", np.zeros(self.evaluate(buffer["bytes"]), np.uint8), False, True)

    def add(self, name: str, data: np.ndarray, initialized: bool, writable: bool) -> None:
        # An argument is never really written to unless the plan may: the simulator works on a copy and reports it.
        self.bytes.append(data)
        self.descriptions.append({"name": name, "initialized": initialized, "writable": writable})

    def new_output(self, spec: dict[str, Any]) -> torch.Tensor:
        sizes = [self.evaluate(size) for size in spec["sizes"]]
        strides = [self.evaluate(stride) for stride in spec["strides"]] if "strides" in spec else None
        tensor = torch.empty(sizes, dtype=_DTYPES[spec["dtype"]])
        return tensor if strides is None else torch.empty_strided(sizes, strides, dtype=_DTYPES[spec["dtype"]])

    def parameter(self, spec: dict[str, Any]) -> dict[str, Any]:
        if "ptr" in spec:
            return {"ptr": spec["ptr"], "offset": self.evaluate(spec.get("offset", 0))}
        if "tmap" in spec:
            tensor_map = spec["tmap"]
            return {
                "tmap": {
                    "buffer": tensor_map["buffer"],
                    "offset": self.evaluate(tensor_map.get("offset", 0)),
                    "sizes": [self.evaluate(size) for size in tensor_map["sizes"]],
                    "strides": [self.evaluate(stride) for stride in tensor_map["strides"]],
                }
            }
        for kind in ("i32", "i64"):
            if kind in spec:
                return {"int": self.evaluate(spec[kind])}
        value = next(spec[kind] for kind in ("f32", "f64") if kind in spec)
        # As text: JSON has no infinities.
        return {"float": repr(float(self.arguments[value["arg"]] if isinstance(value, dict) else value))}

    def add_steps(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            if "launch" in step:
                grid = [self.evaluate(size) for size in step["grid"]]
                # A launch over nothing is no launch.
                if math.prod(grid):
                    parameters = [self.parameter(spec) for spec in step["params"]]
                    self.steps.append({"kernel": step["launch"], "grid": grid, "params": parameters})
            elif "switch" in step:
                taken = next((case for case in step["switch"] if self.evaluate(case.get("when", 1))), None)
                if taken:
                    self.add_steps(taken["steps"])
            elif "copy" in step:
                self.steps.append({"target": step["copy"][0], "source": step["copy"][1]})
            elif "fill" in step:
                self.steps.append(self.fill_step(step))

    def fill_step(self, step: dict[str, Any]) -> dict[str, Any]:
        target = step["fill"]
        size = self.evaluate(step.get("bytes", -1))
        size = self.bytes[target].size if size < 0 else size
        return {"target": target, "offset": self.evaluate(step.get("offset", 0)), "bytes": size, "value": step.get("value", 0)}

    def check_written(self, unwritten: list[list[list[int]]]) -> None:
        """Every element of an output has been written by some step; padding between rows need not be."""
        for index, tensor in self.outputs.items():
            if not unwritten[index] or tensor.numel() == 0:
                continue
            missing = np.zeros(self.bytes[index].size, bool)
            for first, last in unwritten[index]:
                missing[first : last + 1] = True
            elements = torch.from_numpy(missing).view(-1, tensor.element_size()).any(1).as_strided(tensor.shape, tensor.stride())
            if elements.any():
                place = elements.nonzero()[0].tolist()
                name = self.descriptions[index]["name"]
                raise SimulationError(f"{name}: nothing writes element {place} of a tensor of sizes {list(tensor.shape)}")

    def result(self, output: Any) -> torch.Tensor:
        index = output["alias_of"] if isinstance(output, dict) else output
        buffer = self.plan["buffers"][index]
        base = self.outputs[index] if "output" in buffer else self.arguments[buffer["arg"]]
        assert isinstance(base, torch.Tensor)
        if not isinstance(output, dict) or "sizes" not in output:
            return base
        offset = base.storage_offset() + self.evaluate(output.get("offset", 0)) // base.element_size()
        sizes, strides = ([self.evaluate(expr) for expr in output[key]] for key in ("sizes", "strides"))
        return base.as_strided(sizes, strides, offset)


def _bytes(tensor: torch.Tensor) -> np.ndarray:
    """The memory from the tensor's first element to its last, shared with it."""
    if tensor.numel() == 0:
        return np.zeros(0, np.uint8)
    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.detach().as_strided((extent,), (1,)).view(torch.uint8).numpy()


def simulate(
    module: Any,
    plan: str | dict[str, Any],
    *arguments: torch.Tensor | int | float,
    seed: int = 0,
    schedule: str = "random",
    record: Callable[[dict[str, Any]], None] = lambda summary: None,
) -> list[torch.Tensor]:
    """The outputs of a plan whose kernels are `module`'s emmy_tile kernels, computed by the simulator.

    Args:
        module: An `emmy.ir.Module` that holds the kernels the plan launches.
        plan: What `--emmy-emit-plan` prints, as text or parsed.
        arguments: CPU tensors and scalars, as for the compiled program; mutable ones are written to.
        seed: Chooses the schedule.
        schedule: "random", or "delay=ROLE" to starve a role as long as anything else can move.
        record: Called with what was run: launches, different programs among them, and steps of the scheduler.

    Raises:
        SimulationError: a rule was broken, or an output is not written; the message names it, the op and the accesses.
        PlanMismatch: sizes, strides or alignment of an argument differ from what the plan was made for.
        UsageError: the request makes no sense.
    """
    check_request(seed, schedule)
    run = _Run(_parse_plan(plan), arguments)
    run.check_kinds()
    run.bind_symbols()
    run.check_arguments()
    run.check_size()
    run.bind_buffers()
    run.add_steps(run.plan["steps"])
    steps = json.dumps({"buffers": run.descriptions, "steps": run.steps})
    try:
        summary = json.loads(_emmy.simulate(module, steps, run.bytes, int(seed), schedule))
    except RuntimeError as error:
        raise SimulationError(str(error)) from None
    run.check_written(summary.pop("unwritten"))
    record(summary)
    return [run.result(output) for output in run.plan["outputs"]]


def _parse_plan(plan: str | dict[str, Any]) -> dict[str, Any]:
    try:
        parsed = json.loads(plan) if isinstance(plan, str) else plan
    except json.JSONDecodeError as error:
        raise UsageError(f"the plan is not JSON: {error}") from None
    keys = set(parsed) if isinstance(parsed, dict) else set()
    missing = [key for key in ("symbols", "args", "buffers", "outputs", "steps") if key not in keys]
    if missing:
        raise UsageError(f"the plan has no {', '.join(missing)}; --emmy-emit-plan prints a whole one")
    assert isinstance(parsed, dict)
    return parsed


@dataclass(frozen=True)
class Simulation:
    """How programs are simulated, and what of them has run so far."""

    seed: int = 0
    schedule: str = "random"
    runs: list[dict[str, Any]] = field(default_factory=list)

    def __str__(self) -> str:
        totals = {key: sum(run[key + ("es" if key == "launch" else "s")] for run in self.runs) for key in ("launch", "program")}
        launches = f"{totals['launch']} launch{'es' * (totals['launch'] != 1)}"
        programs = f"{totals['program']} program{'s' * (totals['program'] != 1)}"
        return f"simulated {launches} of {programs}, seed {self.seed}, schedule {self.schedule}"


_ACTIVE: ContextVar[Simulation | None] = ContextVar("emmy_simulation", default=None)


def active() -> Simulation | None:
    """The simulation that programs compiled here and now run on; None for real devices."""
    return _ACTIVE.get()


@contextmanager
def simulating(seed: int = 0, schedule: str = "random") -> Iterator[Simulation]:
    """Programs compiled for a GPU inside a `with` block run on the simulator, on CPU tensors; gives what has run.

    Example:
        >>> with simulating(seed=1):
        ...     y = emmy.compile(model, target="sm_90a")(x)
    """
    check_request(seed, schedule)
    simulation = Simulation(seed, schedule)
    token = _ACTIVE.set(simulation)
    try:
        yield simulation
    finally:
        _ACTIVE.reset(token)


@dataclass(frozen=True)
class SimulatedPlan:
    """A program on the simulator; called like the runtime's `Plan`."""

    module: Any
    plan: str
    simulation: Simulation

    def __call__(self, *arguments: torch.Tensor | int | float) -> list[torch.Tensor]:
        how = self.simulation
        return simulate(self.module, self.plan, *arguments, seed=how.seed, schedule=how.schedule, record=how.runs.append)
