"""The simulator through Python: plans with symbols, TMA maps and switches, and diagnostics as exceptions."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import emmy
import pytest
import torch
from emmy import ir
from emmy._mlir_libs import _emmy
from emmy.compiler import build
from emmy.errors import UsageError
from emmy.simulator import SimulationError, simulate, simulating

SCALE = """
#line = #emmy_tile.layout<reg = [1:(1)], lane = [32:(1)], warp = [4:(32)]>
!frag = !emmy_tile.frag<128xf32, #line>
emmy_tile.kernel @scale(%x: !emmy_tile.ptr<f32>, %y: !emmy_tile.ptr<f32>, %n: i32, %factor: f32)
    grid [s0 ceildiv 128, 1, 1] warps 4 {
  %cta = emmy_tile.read cta_x
  %c128 = arith.constant 128 : i32
  %one = arith.constant 1 : i64
  %first = arith.muli %cta, %c128 : i32
  %offset = arith.extsi %first : i32 to i64
  %left = arith.subi %n, %first : i32
  %v = emmy_tile.load %x[%offset] strides(%one) limits(%left) : !emmy_tile.ptr<f32> -> !frag
  %r = emmy_tile.map(%v, %factor) : (!frag, f32) -> !frag {
  ^bb0(%a: f32, %f: f32):
    %p = arith.mulf %a, %f : f32
    emmy_tile.yield %p : f32
  }
  emmy_tile.store %r to %y[%offset] strides(%one) limits(LIMIT) : !frag, !emmy_tile.ptr<f32>
}
"""


def module(limit: str = "%left") -> ir.Module:
    context = ir.Context()
    _emmy.register_dialects(context)
    return ir.Module.parse(SCALE.replace("LIMIT", limit), context)


def plan(factor: float = 3.0) -> str:
    launch = {
        "launch": "scale",
        "grid": [["ceildiv", "s0", 128], 1, 1],
        "params": [{"ptr": 0, "offset": 0}, {"ptr": 1, "offset": 0}, {"i32": "s0"}, {"f32": factor}],
    }
    return json.dumps(
        {
            "version": 1,
            "target": "sm_90a",
            "symbols": [{"id": 0, "arg": 0, "dim": 0}],
            "args": [{"name": "x", "dtype": "f32", "sizes": ["s0"], "strides": [1], "align": 4, "mutable": False}],
            "buffers": [{"arg": 0}, {"output": 0, "dtype": "f32", "sizes": ["s0"], "strides": [1]}],
            "outputs": [1],
            "steps": [{"switch": [{"when": ["<=", "s0", 0], "steps": []}, {"steps": [launch]}]}],
        }
    )


@pytest.mark.parametrize("size", [1, 128, 300])
def test_runs_a_plan(size: int) -> None:
    x = torch.randn(size)
    for seed in range(3):
        (y,) = simulate(module(), plan(), x, seed=seed)
        assert torch.equal(y, x * 3.0)


def test_simulates_a_pytorch_module() -> None:
    model = torch.nn.Linear(64, 32).bfloat16().eval()
    x = torch.randn(70, 64).bfloat16()
    with torch.no_grad():
        torch.testing.assert_close(emmy.simulate(model, (x,), seed=3), model(x), rtol=2**-7, atol=2**-7)
    with pytest.raises(UsageError, match="as one tuple"):
        emmy.simulate(model, plan(), x)


def test_simulates_a_module_that_carries_its_plan() -> None:
    kernels, x = module(), torch.randn(100)
    with pytest.raises(UsageError, match="the module carries no plan"):
        emmy.simulate(kernels, (x,))
    (given,) = emmy.simulate(kernels, plan(), x)
    kernels.operation.attributes["emmy.plan"] = ir.StringAttr.get(plan(), kernels.context)
    (carried,) = emmy.simulate(kernels, (x,), schedule="delay=async")
    assert torch.equal(given, x * 3.0) and torch.equal(carried, given)


def test_reports_the_rule_and_the_op() -> None:
    with pytest.raises(SimulationError, match=r"'emmy_tile.store' op violates out-of-bounds: CTA 2 writes .* of output 0"):
        simulate(module(limit="%c128"), plan(), torch.randn(300))


def test_reports_elements_that_nothing_writes() -> None:
    # The plan's output is longer than what the launch covers.
    text = json.loads(plan())
    text["buffers"][1]["sizes"] = [["+", "s0", 4]]
    with pytest.raises(SimulationError, match=r"output 0: nothing writes element \[300\] of a tensor of sizes \[304\]"):
        simulate(module(), text, torch.randn(300))
    # Padding between rows is no element.
    text["buffers"][1] = {"output": 0, "dtype": "f32", "sizes": [2, 3], "strides": [5, 1]}
    with pytest.raises(SimulationError, match=r"nothing writes element \[1, 2\]"):
        simulate(module(), text, torch.randn(7))
    (y,) = simulate(module(), text, torch.arange(8, dtype=torch.float32))
    assert y[1].tolist() == [15.0, 18.0, 21.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, r"seed -1: expected an integer from 0 to 2\*\*64 - 1"),
        ({"seed": 1.5}, "seed 1.5: expected an integer"),
        ({"schedule": "bogus"}, "schedule 'bogus': expected 'random', or 'delay=ROLE'"),
        ({"target": "cpu"}, "target 'cpu' has no hardware program"),
        ({"target": "sm_12"}, "there is no target 'sm_12'"),
    ],
)
def test_bad_requests_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        emmy.simulate(torch.nn.Linear(4, 4), (torch.randn(2, 4),), **options)


def test_bad_arguments_are_named() -> None:
    kernels, x = module(), torch.randn(8)
    with pytest.raises(UsageError, match="expected the inputs as one tuple, or a plan as text or parsed, but got Tensor"):
        emmy.simulate(kernels, x)
    with pytest.raises(UsageError, match="the plan takes 1 arguments, but got 2"):
        simulate(kernels, plan(), x, x)
    with pytest.raises(UsageError, match="x: expected torch.float32 on cpu, but got torch.float64"):
        simulate(kernels, plan(), x.double())
    with pytest.raises(UsageError, match="x: expected a tensor, but got float"):
        simulate(kernels, plan(), 1.0)
    with pytest.raises(UsageError, match="the plan is not JSON"):
        simulate(kernels, "{", x)
    with pytest.raises(UsageError, match="the plan has no symbols, args, buffers, outputs, steps"):
        simulate(kernels, "{}", x)
    with pytest.raises(SimulationError, match="expects a schedule of 'random', 'delay=async', but got 'delay=producer'"):
        simulate(kernels, plan(), x, schedule="delay=producer")
    with pytest.raises(UsageError, match="tensors of at most 134217728 bytes in all, but these are 400000000"):
        simulate(kernels, plan(), torch.zeros(1).expand(50_000_000).contiguous())
    with pytest.raises(UsageError, match="nothing was simulated"):
        emmy.simulate(lambda y: y, (x,))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda launch: launch["params"].__setitem__(2, {"i32": 1 << 40}),
            "argument #2 of type 'i32' does not hold 1099511627776",
        ),
        (lambda launch: launch["params"].__setitem__(2, {"i32": 1 << 70}), "does not fit 64 bits"),
        (lambda launch: launch["params"].__setitem__(0, {"i32": 1}), "argument #0 of type '!emmy_tile.ptr<f32>' is no integer"),
        (
            lambda launch: launch["params"].__setitem__(0, {"ptr": 7}),
            "argument #0 of type '!emmy_tile.ptr<f32>' is bound to buffer 7 of 2",
        ),
        (lambda launch: launch["params"].__setitem__(0, {"ptr": 0, "offset": 2}), "starts at byte 2, which is no multiple"),
        (lambda launch: launch["params"].pop(), "has 4 arguments, but the launch gives 3"),
        (lambda launch: launch.__setitem__("launch", "none"), "has no emmy_tile kernel 'none'"),
        (lambda launch: launch.__setitem__("grid", [1, 1 << 16, 1]), "grid size #1 is 0 to 65535, not 65536"),
    ],
)
def test_launches_that_do_not_fit_their_kernel(change: Callable[[dict[str, Any]], Any], message: str) -> None:
    text = json.loads(plan())
    change(text["steps"][0]["switch"][1]["steps"][0])
    with pytest.raises(SimulationError, match=re.escape(message)):
        simulate(module(), text, torch.randn(8))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"fill": 1, "bytes": 64}, "fills 64 bytes from byte 0 on of output 0, which has 32"),
        ({"fill": 1, "bytes": 8, "offset": -4}, "fills 8 bytes from byte -4 on of output 0"),
        ({"copy": [1, 2]}, "copies or fills a buffer that is none of 2"),
    ],
)
def test_memory_steps_outside_buffers(step: dict[str, Any], message: str) -> None:
    text = json.loads(plan()) | {"steps": [step]}
    with pytest.raises(SimulationError, match=re.escape(message)):
        simulate(module(), text, torch.randn(8))


class TileProgram:
    """A lowering that is at the tile stage already."""

    target = "sm_90a"

    def text(self, stage: str) -> str:
        assert stage == "tile"
        return SCALE.replace("LIMIT", "%left")

    def plan_json(self) -> str:
        return plan()


def test_programs_compiled_while_simulating_run_on_the_simulator() -> None:
    with simulating(seed=5):
        executable = build(TileProgram())
    x = torch.randn(200)
    assert torch.equal(executable(x)[0], x * 3.0)


def test_a_plan_writes_mutable_arguments_and_gives_views() -> None:
    text = json.loads(plan())
    text["args"][0]["mutable"] = True
    text["buffers"] = [{"arg": 0}]
    text["steps"][0]["switch"][1]["steps"][0]["params"][1] = {"ptr": 0, "offset": 0}
    text["outputs"] = [{"alias_of": 0, "sizes": [2], "strides": [1], "offset": 4}]
    x = torch.arange(5, dtype=torch.float32)
    (view,) = simulate(module(), text, x)
    assert torch.equal(x, torch.arange(5) * 3.0)
    assert torch.equal(view, x[1:3])


DEADLOCK = """
emmy_tile.kernel @waits() grid [1, 1, 1] warps 2 {
  %full = emmy_tile.alloc : !emmy_tile.barrier<1>
  %c0 = arith.constant 0 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 2 : !emmy_tile.barrier<1>
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "maker" warps 1 {
      emmy_tile.barrier_arrive %full[%c0] : !emmy_tile.barrier<1>
    }
    emmy_tile.role "taker" warps 1 {
      emmy_tile.barrier_wait %full[%c0] parity %c0 : !emmy_tile.barrier<1>
    }
  }
}
"""


def test_a_deadlock_names_who_waits_for_whom() -> None:
    context = ir.Context()
    _emmy.register_dialects(context)
    text = json.loads(plan()) | {"symbols": [], "args": [], "buffers": [], "outputs": []}
    text["steps"] = [{"launch": "waits", "grid": [1, 1, 1], "params": []}]
    with pytest.raises(SimulationError) as error:
        simulate(ir.Module.parse(DEADLOCK, context), text)
    message = str(error.value)
    assert "violates deadlock: nothing can move; 1 units wait" in message
    assert "taker of CTA 0 waits for barrier 0 allocated at line 3:11, parity 0: phase 0 lacks 1 of 2 arrivals" in message
    assert "arrivals come from maker; arrived: maker of CTA 0" in message
    assert '"-":14:7' in message


def test_arguments_that_the_plan_does_not_write_are_read_only() -> None:
    text = json.loads(plan())
    text["buffers"], text["outputs"] = [{"arg": 0}], []
    text["steps"][0]["switch"][1]["steps"][0]["params"][1] = {"ptr": 0, "offset": 0}
    with pytest.raises(SimulationError, match="violates read-only: CTA 0 writes x"):
        simulate(module(), text, torch.randn(8))


COUNTERS = """
emmy_tile.kernel @counts(%y: !emmy_tile.ptr<i32>) grid [32768, 1, 1] warps 1 {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  emmy_tile.one_thread {
    %old = emmy_tile.atomic_add %y[%zero], %one ORDER : !emmy_tile.ptr<i32>, i32 -> i32
  }
}
"""


@pytest.mark.parametrize("order", ["", "acq_rel"])
def test_many_ctas_that_count_on_one_address_take_seconds(order: str) -> None:
    context = ir.Context()
    _emmy.register_dialects(context)
    kernels = ir.Module.parse(COUNTERS.replace("ORDER", order), context)
    text = json.loads(plan()) | {"buffers": [{"arg": 0}], "outputs": [], "symbols": []}
    text["args"] = [{"name": "y", "dtype": "i32", "sizes": [1], "strides": [1], "align": 4, "mutable": True}]
    text["steps"] = [{"launch": "counts", "grid": [32768, 1, 1], "params": [{"ptr": 0, "offset": 0}]}]
    y = torch.zeros(1, dtype=torch.int32)
    before = time.process_time()
    simulate(kernels, text, y)
    assert y.item() == 32768
    assert time.process_time() - before < 5
