"""`-c`: the outermost call is traced; callee and arguments are evaluated before, under the seed."""

from __future__ import annotations

import pytest
import torch
from emmy.cli.expression import evaluate_call
from emmy.cli.programs import parse_dynamic, parse_input
from emmy.errors import ExpressionError, UsageError
from torch import nn


def test_a_module_over_its_argument() -> None:
    call = evaluate_call("nn.Linear(3, 2, bias=False)(torch.randn(4, 3))")
    assert isinstance(call.target, nn.Linear) and not call.target.training
    assert [tuple(arg.shape) for arg in call.args] == [(4, 3)]


def test_a_function_with_keywords() -> None:
    call = evaluate_call("F.softmax(torch.randn(3, 5), dim=-1)")
    assert call.target is torch.nn.functional.softmax and call.kwargs == {"dim": -1}


def test_a_method_takes_its_tensor_as_an_input() -> None:
    call = evaluate_call("torch.randn(3, 5).sum(dim=1)")
    assert call.target is torch.Tensor.sum and tuple(call.args[0].shape) == (3, 5)


def test_a_lambda_holds_several_calls() -> None:
    call = evaluate_call("(lambda x, y: F.relu(x) @ y)(torch.randn(2, 3), torch.randn(3, 4))")
    assert tuple(call.target(*call.args).shape) == (2, 4)


def test_stars_are_spread() -> None:
    call = evaluate_call("torch.add(*[torch.ones(2), torch.ones(2)], **{'alpha': 2})")
    assert len(call.args) == 2 and call.kwargs == {"alpha": 2}


def test_the_seed_fixes_weights_and_inputs() -> None:
    one, two, other = (evaluate_call("nn.Linear(3, 2)(torch.randn(4, 3))", seed) for seed in (0, 0, 1))
    assert torch.equal(one.args[0], two.args[0]) and torch.equal(one.target.weight, two.target.weight)
    assert not torch.equal(one.args[0], other.args[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nn.Linear(3, 2", "not a Python expression"),
        ("x = 1", "not a Python expression"),
        ("torch.ones", "is not a call"),
        ("1 + 2", "is not a call"),
        ("nn.Liner(3, 2)(torch.randn(4, 3))", "no attribute 'Liner'"),
        ("f(torch.ones(2))", "NameError: name 'f'"),
        ("torch.ones(2).no_such()", "no method 'no_such'"),
        ("torch.exp(torch.randn(2, 3).view(5))", "failed"),
        ("(3)(torch.ones(2))", "cannot be called"),
    ],
)
def test_bad_expressions_are_one_clear_error(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        evaluate_call(text)
    assert "\n" not in str(caught.value)


def test_inputs_by_description() -> None:
    tensor = parse_input("4x3xbf16")
    assert tuple(tensor.shape) == (4, 3) and tensor.dtype is torch.bfloat16
    assert parse_input("f32").dim() == 0
    assert parse_input("2xi1").dtype is torch.bool
    for bad in ("4x3", "x", "4x3xbf17", "axf32"):
        with pytest.raises(UsageError, match="--input"):
            parse_input(bad)


def test_symbolic_sizes_by_description() -> None:
    assert parse_dynamic(["x.0=m:1:64", "1.2=n"]) == {"x": {0: ("m", 1, 64)}, 1: {2: "n"}}
    with pytest.raises(UsageError, match="--dynamic"):
        parse_dynamic(["x=m"])
