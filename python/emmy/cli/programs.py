"""What `emmy compile` and `emmy run` may be given: an expression, a class in a Python file, or an MLIR file."""

from __future__ import annotations

import importlib.util
import re
import sys
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

from emmy.cli.expression import Call, evaluate_call
from emmy.errors import UsageError

__all__ = ["load_program", "parse_dynamic", "parse_input", "read_mlir"]

_DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i1": torch.bool,
}
_DYNAMIC = re.compile(r"(?P<input>[\w.]+)\.(?P<dim>-?\d+)=(?P<label>\w+)(:(?P<low>\d+):(?P<high>\d+))?")
_PYTHON_NAMES = {str(dtype).removeprefix("torch."): dtype for dtype in _DTYPES.values()}


def load_program(expression: str | None, source: str | None, inputs: list[str], seed: int) -> Call:
    """The call that a command line describes."""
    if not 0 <= seed < 1 << 64:
        raise UsageError(f"seed {seed}: expected an integer from 0 to 2**64 - 1")
    if (expression is None) == (source is None):
        raise UsageError("give either -c EXPRESSION or a program: FILE.py:Class, FILE.py:function or FILE.mlir")
    if expression is not None:
        if inputs:
            raise UsageError("--input belongs to FILE.py:Class; a -c expression has its inputs in it")
        return evaluate_call(expression, seed)
    assert source is not None
    return _load_class(source, inputs, seed)


def parse_input(text: str) -> torch.Tensor:
    """A random tensor from a description such as `4x3xbf16` (a zero-dimensional one is `f32`)."""
    *sizes, name = text.split("x")
    dtype = _DTYPES.get(name) or _PYTHON_NAMES.get(name)
    if dtype is None or not all(size.isdigit() for size in sizes):
        raise UsageError(f"--input {text}: expected sizes and an element type like 4x3xbf16; the types are {', '.join(_DTYPES)}")
    shape = [int(size) for size in sizes]
    if dtype.is_floating_point:
        return torch.randn(shape).to(dtype)
    return torch.randint(0, 2, shape).to(dtype)


def parse_dynamic(specs: list[str]) -> dict[str | int, dict[int, str | tuple[str, int, int]]] | None:
    """The `dynamic=` argument from `--dynamic` options: `x.0=m`, or `x.0=m:1:8192` with a range."""
    dynamic: dict[str | int, dict[int, str | tuple[str, int, int]]] = {}
    for text in specs:
        match = _DYNAMIC.fullmatch(text)
        if match is None:
            raise UsageError(f"--dynamic {text}: expected INPUT.DIMENSION=NAME or INPUT.DIMENSION=NAME:LOW:HIGH")
        name = int(match["input"]) if match["input"].isdigit() else match["input"]
        label = match["label"]
        spec = (label, int(match["low"]), int(match["high"])) if match["low"] else label
        dynamic.setdefault(name, {})[int(match["dim"])] = spec
    return dynamic or None


def read_mlir(path: str | Path) -> str:
    """The text of an MLIR file."""
    try:
        return Path(path).read_text()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: it is not text") from error


def _load_class(source: str, inputs: list[str], seed: int) -> Call:
    path, separator, name = source.rpartition(":")
    if not separator or not path.endswith(".py"):
        raise UsageError(f"expected FILE.py:Class, FILE.mlir or -c EXPRESSION, but got {source!r}")
    module = _import_file(Path(path))
    member = getattr(module, name, None)
    if member is None:
        near = get_close_matches(name, [entry for entry in vars(module) if not entry.startswith("_")], n=2)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"{path} has no {name!r}{hint}")
    torch.manual_seed(seed)
    target = _call_user(member, source) if isinstance(member, type) else member
    if isinstance(target, nn.Module):
        target.eval()
    if inputs:
        args: Any = tuple(parse_input(text) for text in inputs)
    elif callable(make_inputs := getattr(module, "example_inputs", None)):
        args = _call_user(make_inputs, f"{path}:example_inputs")
    else:
        raise UsageError(f"{path} has no function example_inputs(); add one, or give --input 4x3xbf16 for each input")
    if isinstance(args, dict):
        return Call(target, (), args, source)
    return Call(target, args if isinstance(args, tuple) else tuple(args) if isinstance(args, list) else (args,), {}, source)


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"cannot read {path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise UsageError(f"{path}:{error.lineno}: {error.msg}") from error
    except Exception as error:
        # A script may raise anything while it is imported.
        raise UsageError(f"{path} failed while it was imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    return module


def _call_user(function: Any, label: str) -> Any:
    try:
        return function()
    except Exception as error:
        # Constructors and example_inputs() are the user's code.
        raise UsageError(f"{label}() failed: {type(error).__name__}: {error}") from error
