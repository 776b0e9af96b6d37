"""Plan expressions, and the messages for plans that are not well-formed."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from emmy._runtime import Plan
from runtime_kernels import code, document, launch, store_plan, tensor

FLOOR_CASES = [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (0, 5), (-6, 3)]


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (["+", "s0", 3], 13),
        (["-", 3, "s0"], -7),
        (["*", ["+", "s0", 1], ["-", "s0", 1]], 99),
        (["min", "s0", 3], 3),
        (["max", "s0", 3], 10),
        (["<", "s0", 10], 0),
        (["<=", "s0", 10], 1),
        (["==", "s0", 10], 1),
        (["not", "s0"], 0),
        (["and", "s0", 5], 1),
        (["and", 0, ["floordiv", 1, ["-", "s0", 10]]], 0),
        (["or", "s0", ["floordiv", 1, ["-", "s0", 10]]], 1),
        (["or", 0, ["-", "s0", 10]], 0),
        (["+", ["and", ["<", 1, 2], "s0"], ["or", ["<", 2, 1], "s0"]], 2),
        (["*", ["+", 2, 3], "s0"], 50),
    ],
)
def test_expression(expr: Any, value: int) -> None:
    assert store_plan(expr)(10)[0].item() == value


@pytest.mark.parametrize(("a", "b"), FLOOR_CASES)
def test_division_rounds_like_python(a: int, b: int) -> None:
    values = [store_plan([op, "s0", "s1"], 2)(a, b)[0].item() for op in ("floordiv", "ceildiv", "mod")]
    assert values == [a // b, -(-a // b), a % b]


@pytest.mark.parametrize(
    ("expr", "fault"),
    [
        (["floordiv", 1, "s0"], "a division by zero"),
        (["mod", 1, "s0"], "a division by zero"),
        (["+", ["-", 2**62, "s0"], 2**62], "an overflow"),
        (["*", ["+", 2**40, "s0"], 2**40], "an overflow"),
    ],
)
def test_arithmetic_faults_are_errors(expr: Any, fault: str) -> None:
    with pytest.raises(RuntimeError, match=f"launch of 'store': an expression of the plan has {fault}"):
        store_plan(expr)(0)


def test_narrow_parameter_does_not_wrap() -> None:
    plan = store_plan("s0", kind="i32")
    assert plan(-5)[0].item() == -5
    with pytest.raises(RuntimeError, match="does not fit 32 bits"):
        plan(2**31)


def test_negative_output_size_is_an_error() -> None:
    plan = Plan(
        document(
            symbols=[{"id": 0, "arg": 0, "scalar": True}],
            args=[{"scalar": "i64"}],
            buffers=[{"output": 0, "dtype": "f32", "sizes": ["s0"]}],
            outputs=[0],
        ),
        {},
    )
    with pytest.raises(RuntimeError, match="negative size"):
        plan(-1)


def test_copy_between_different_sizes_is_an_error() -> None:
    buffers = [{"arg": 0}, {"output": 0, "dtype": "f32", "sizes": [3]}]
    plan = Plan(document(args=[tensor([4])], buffers=buffers, outputs=[1], steps=[{"copy": [1, 0]}]), {})
    with pytest.raises(RuntimeError, match="copy of buffer 0 to buffer 1: both must be contiguous and of one size"):
        plan(torch.zeros(4))


BUFFER = [{"output": 0, "dtype": "f32", "sizes": [1]}]


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"version": 2}, "this runtime reads version 1"),
        ({"target": "tpu"}, "unknown target 'tpu'"),
        ({"args": [tensor([1], dtype="f31")]}, r"args\[0\]: unknown dtype 'f31'"),
        ({"args": [tensor(["s1"])]}, r"args\[0\].sizes\[0\]: unknown symbol 's1'"),
        ({"args": [tensor([["^", 1, 2]])]}, r"args\[0\].sizes\[0\]: unknown operator '\^'"),
        ({"args": [tensor([["+", 1]])]}, "operator '\\+' expects 2 operands, but got 1"),
        ({"args": [tensor([["aligned", 0, 16]])]}, "'aligned' is allowed in conditions only"),
        ({"args": [tensor([1], strides=[])]}, "as many strides as sizes"),
        ({"args": [{"scalar": "i8"}]}, "expected the scalar type"),
        ({"symbols": [{"id": 0, "arg": 0, "dim": 0}]}, r"symbols\[0\]: unknown argument 0"),
        ({"symbols": [{"id": 0, "arg": 0}]}, r"symbols\[0\]: expected 'dim', 'stride' or 'scalar'"),
        ({"buffers": [{"arg": 0}]}, r"buffers\[0\]: argument 0 is not a tensor"),
        ({"buffers": [{}]}, r"buffers\[0\]: expected 'arg', 'output' or 'temp'"),
        ({"buffers": [{"temp": True, "offset": 0, "bytes": 4}], "outputs": [0]}, "a temporary cannot be an output"),
        ({"outputs": [3]}, r"outputs\[0\]: unknown buffer 3"),
        ({"steps": [{"jump": 0}]}, r"steps\[0\]: expected 'launch', 'copy', 'fill' or 'switch'"),
        ({"buffers": BUFFER, "steps": [launch("k", {"ptr": 9})]}, r"steps\[0\].params\[0\]: unknown buffer 9"),
        ({"steps": [launch("k", {"i8": 0})]}, r"steps\[0\].params\[0\]: expected 'ptr'"),
        ({"steps": [launch("k", {"tmap": {}})]}, "a plan for the CPU cannot have tensor maps"),
        ({"steps": [{"switch": [{"steps": []}, {"steps": []}]}]}, "only the last case may lack 'when'"),
        ({"steps": [launch("k")]}, "no function for kernel 'k'"),
    ],
)
def test_malformed_plan_says_where(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Plan(document(**sections), {})


def test_plan_that_is_not_json() -> None:
    with pytest.raises(ValueError, match="plan: "):
        Plan("{", {})


def test_survives_damaged_plans() -> None:
    """Every value of a good plan is replaced in turn by values of other types."""
    good = json.loads(
        document(
            symbols=[{"id": 0, "arg": 0, "dim": 0, "range": [0, 8]}],
            args=[tensor(["s0"], strides=[1], align=4)],
            buffers=[{"arg": 0}, *BUFFER, {"temp": True, "offset": 0, "bytes": ["*", "s0", 4]}],
            arena_bytes=64,
            outputs=[1, {"alias_of": 0, "sizes": [1], "strides": [1], "offset": 0}],
            steps=[{"switch": [{"when": ["aligned", 0, 4], "steps": [launch("store", {"ptr": 1}, {"i64": 0})]}]}],
        )
    )

    def damage(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            original = node[key]
            for replacement in (None, -1, 10**18, "x", [], {}, 1.5, [[[]]]):
                node[key] = replacement
                try:
                    Plan(json.dumps(good), code("store"))
                except ValueError as error:
                    assert str(error).startswith("plan: ")
            node[key] = original
            if isinstance(original, (dict, list)):
                damage(original)

    damage(good)


def test_deep_expression_is_refused() -> None:
    expr: Any = "s0"
    for _ in range(200):
        expr = ["+", expr, 1]
    with pytest.raises(ValueError, match="nested too deeply"):
        store_plan(expr)
    expr = "s0"
    for _ in range(60):
        expr = ["+", 1, ["*", "s0", expr]]
    with pytest.raises(ValueError, match="too deep a stack"):
        store_plan(expr)
