"""How the command prints: coloured, with rules between parts, on a terminal; plain text when piped."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

__all__ = ["Printer", "progress"]

_THEME = Theme(
    {
        "ir.op": "bold cyan",
        "ir.value": "green",
        "ir.symbol": "bold yellow",
        "ir.type": "magenta",
        "ir.attribute": "blue",
        "ir.comment": "dim",
        "ir.string": "yellow",
        "ir.number": "bright_black",
    }
)
_PROGRESS_DELAY_S = 1.0


class _Highlighter(RegexHighlighter):
    """Colours for MLIR, and passable ones for PTX and SASS."""

    base_style = "ir."
    highlights = [
        r"(?P<number>\b\d+(\.\d+)?(e[+-]?\d+)?\b)",
        r"(?P<op>\b(emmy_\w+|emmy|func|arith|math|scf|nvvm|llvm|gpu|builtin|torch|linalg|tensor)\.[\w.]+)",
        r"(?P<op>^\s*(wgmma|cp|mbarrier|ld|st|mma|bar|fma|mul|add|setp|bra)[\w.:]*)",
        r"(?P<value>%[\w#:]+)",
        r"(?P<symbol>@[\w.]+)",
        r"(?P<type>(![\w.]+)|\b(tensor|memref|vector)(?=<)|\b(bf16|f16|f32|f64|i1|i8|i32|i64|index)\b)",
        r"(?P<attribute>#[\w.]+)",
        r"(?P<string>\"[^\"]*\")",
        r"(?P<comment>//.*$)",
    ]


class Printer:
    """Writes to stdout in the style the destination can show."""

    def __init__(self) -> None:
        self.console = Console(theme=_THEME, soft_wrap=True)
        self.rich = self.console.is_terminal

    def title(self, text: str) -> None:
        """A line that separates parts."""
        if self.rich:
            self.console.rule(Text(text, style="bold"), align="left")
        else:
            self.plain(f"// ----- {text} -----")

    def code(self, text: str) -> None:
        """IR or assembly."""
        if not self.rich:
            self.plain(text.rstrip("\n"))
            return
        highlighter = _Highlighter()
        for line in text.rstrip("\n").splitlines():
            self.console.print(highlighter(Text(line)))

    def line(self, text: str, style: str = "") -> None:
        """A line of prose."""
        if self.rich:
            self.console.print(Text(text, style=style))
        else:
            self.plain(text)

    def table(self, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
        """Rows under a header, aligned."""
        if self.rich:
            table = Table(*header, box=None, header_style="bold")
            for row in rows:
                table.add_row(*row)
            self.console.print(table)
            return
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        for row in [header, *rows]:
            self.plain("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def plain(self, text: str) -> None:
        """Text as it is."""
        sys.stdout.write(text + "\n")


@contextmanager
def progress(message: str) -> Iterator[None]:
    """Shows that something is going on if it takes over a second and a person watches."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    status = console.status(message)
    timer = threading.Timer(_PROGRESS_DELAY_S, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()
