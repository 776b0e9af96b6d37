"""Exceptions that Emmy raises on purpose.

Everything derives from `EmmyError`, so `except emmy.EmmyError` catches all of it. A message states what happened and
what to do about it; errors about a user's program also carry the user's file and line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "CompileError",
    "DeviceError",
    "Diagnostic",
    "EmmyError",
    "ExpressionError",
    "SourceLocation",
    "ShapeError",
    "ToolNotFoundError",
    "TraceError",
    "UnknownStageError",
    "UnsupportedOpError",
    "UsageError",
]


@dataclass(frozen=True)
class SourceLocation:
    """A line of the user's program."""

    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}"
        return f"{where}: {self.text}" if self.text else where


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler: severity is `error`, `warning`, `remark` or `note`."""

    severity: str
    message: str
    location: str = ""

    def __str__(self) -> str:
        prefix = f"{self.location}: " if self.location else ""
        return f"{prefix}{self.severity}: {self.message}"


class EmmyError(Exception):
    """Base of all errors that Emmy reports to its users."""


class UsageError(EmmyError):
    """A command line or an API argument that cannot be understood."""


class ExpressionError(UsageError):
    """A `-c` expression that does not parse, does not call anything, or fails while its arguments are evaluated."""


class UnknownStageError(UsageError):
    """A stage name that no level of the compiler has."""


class ToolNotFoundError(EmmyError):
    """An external program (ptxas, nvdisasm) that this request needs is not installed."""


class DeviceError(EmmyError):
    """The request needs a GPU or a driver that is not there."""


class TraceError(EmmyError):
    """The program cannot be captured as one graph: its control flow or sizes depend on values, or it fails by
    itself.
    """


class ShapeError(EmmyError):
    """An argument does not fit the traced program."""

    def __init__(self, name: str, expected: str, got: str, advice: str = "") -> None:
        self.name, self.expected, self.got = name, expected, got
        tail = f"; {advice}" if advice else ""
        super().__init__(f"argument {name!r}: expected {expected}, but got {got}{tail}")


class UnsupportedOpError(EmmyError):
    """The program uses an operation that Emmy cannot compile."""

    def __init__(self, op: str, types: Sequence[str], reason: str, location: SourceLocation | None) -> None:
        self.op, self.types, self.reason, self.location = op, tuple(types), reason, location
        where = f" at {location}" if location else ""
        super().__init__(
            f"{op}({', '.join(types)}) is not supported{where}: {reason}; "
            "rewrite it with supported operations, or compile with fullgraph=False (--partial on the command line) "
            "to run this piece eagerly"
        )


class CompileError(EmmyError):
    """A pass failed. The IR it failed on is saved, with the command that repeats the failure."""

    def __init__(
        self, summary: str, diagnostics: Sequence[Diagnostic] = (), ir_path: Path | None = None, command: str = ""
    ) -> None:
        self.summary, self.diagnostics = summary, tuple(diagnostics)
        self.ir_path, self.command = ir_path, command
        lines = [summary, *(f"  {diagnostic}" for diagnostic in self.diagnostics)]
        if ir_path is not None:
            lines.append(f"  the IR was saved: {ir_path}")
        if command:
            lines.append(f"  to repeat: {command}")
        super().__init__("\n".join(lines))
