"""The `-c` argument: which call is traced, and with which inputs.

The outermost call of the expression is the program. Its callee and its arguments are evaluated first, so
`nn.Linear(3, 2)(torch.randn(4, 3))` traces the linear over a random input, not the making of either. A method of a
tensor is traced with the tensor as its first input; for several outer calls, write a lambda and call it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from emmy.errors import ExpressionError

__all__ = ["Call", "evaluate_call"]

_LONGEST_NAME = 60


@dataclass
class Call:
    """A callable and the arguments of the call to trace; the label is how messages call it."""

    target: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    label: str = ""


def evaluate_call(text: str, seed: int = 0) -> Call:
    """Takes an expression apart into its outermost call, evaluating callee and arguments under a seed.

    Raises:
        ExpressionError: the text is not a Python expression, is not a call, or fails while it is evaluated.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        column = f" at column {error.offset}" if error.offset else ""
        raise ExpressionError(f"-c is not a Python expression: {error.msg}{column}: {text.strip()}") from error
    if not isinstance(tree.body, ast.Call):
        raise ExpressionError(f"-c traces its outermost call, but {text.strip()!r} is not a call; write f(x) or (lambda x: …)(x)")
    scope = _scope()
    torch.manual_seed(seed)
    call = tree.body
    target, first = _evaluate_callee(call.func, scope)
    args = list(first)
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            args.extend(_evaluate(argument.value, scope))
        else:
            args.append(_evaluate(argument, scope))
    kwargs: dict[str, Any] = {}
    for keyword in call.keywords:
        value = _evaluate(keyword.value, scope)
        kwargs.update(value if keyword.arg is None else {keyword.arg: value})
    if isinstance(target, nn.Module):
        target.eval()
    if not callable(target):
        raise ExpressionError(f"-c: {ast.unparse(call.func)} is a {type(target).__name__}, which cannot be called")
    # Shown to the user, who may have taken another call of the expression for the program.
    name = call.func.attr if isinstance(call.func, ast.Attribute) and first else ast.unparse(call.func)
    return Call(target, tuple(args), kwargs, name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…")


def _scope() -> dict[str, Any]:
    return {"torch": torch, "nn": nn, "F": F, "math": math}


def _evaluate_callee(node: ast.expr, scope: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """The callee, and the tensor it is a method of as the first argument."""
    if isinstance(node, ast.Attribute):
        owner = _evaluate(node.value, scope)
        if isinstance(owner, torch.Tensor):
            method = getattr(torch.Tensor, node.attr, None)
            if method is None:
                raise ExpressionError(f"-c: a tensor has no method {node.attr!r}")
            return method, (owner,)
    return _evaluate(node, scope), ()


def _evaluate(node: ast.expr, scope: dict[str, Any]) -> Any:
    code = compile(ast.Expression(node), "<-c>", "eval")
    try:
        return eval(code, scope)
    except (Exception, SystemExit) as error:
        # The expression is the user's; whatever it raises is their message.
        reason = str(error).strip().splitlines()
        text = reason[0] if reason else ""
        raise ExpressionError(f"-c: {ast.unparse(node)} failed: {type(error).__name__}: {text}") from error
