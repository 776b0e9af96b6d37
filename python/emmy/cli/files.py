"""MLIR files as programs: at which level one is, and for which target."""

from __future__ import annotations

from pathlib import Path

from emmy.cli.programs import read_mlir
from emmy.compiler import Lowering, file_target
from emmy.errors import UsageError
from emmy.pipeline import detect_stage, make_context, parse

__all__ = ["load_file"]

# Below these, what a pass chose holds for one target only.
_ANY_TARGET = ("torch", "graph")


def load_file(path: Path, target: str | None, default: str) -> Lowering:
    """The lowering of a file at any level, for the named target, else the file's own, else the default.

    Raises:
        UsageError: the file cannot be read, or was lowered for another target than the named one.
    """
    text = read_mlir(path)
    module = parse(path, make_context(), str(path))
    stage = detect_stage(module)
    own = file_target(module)
    _check_target(path, stage, own, target)
    return Lowering(text, target or own or default, first=stage, path=path)


def _check_target(path: Path, stage: str, own: str | None, target: str | None) -> None:
    if stage in _ANY_TARGET or target is None:
        return
    if own is not None and own != target:
        raise UsageError(
            f"{path} is at stage {stage} and was lowered for {own}, so it cannot become {target}; "
            "leave --target out, or lower the program for that target from the stage graph"
        )
