"""Writes docs/operations.md from the front end's tables.

gen_operations.py           write the page
gen_operations.py --check   exit 1 if the page differs
"""

from __future__ import annotations

import sys
from pathlib import Path

from emmy.frontend.partition import DTYPES
from emmy.frontend.supported import GROUPS
from emmy.targets import TARGETS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operations.md"

INTRODUCTION = """\
# Supported operations

Written by `scripts/gen_operations.py` from `python/emmy/frontend/supported.py`; a test compares it. Names are those of the
`aten` namespace, without overloads.

An operation that is not here is replaced by PyTorch's own decomposition where that leads to operations that are here (dropout in
eval mode, `F.normalize`, `einsum`, …). What remains runs eagerly between compiled pieces, or is an `UnsupportedOpError` with
`fullgraph=True` and in `emmy compile` without `--partial`. For a program of your own,
`emmy compile FILE.py:Class --explain` lists what stays in PyTorch, with your line and the reason.

An operation may still be refused for its arguments; the message says why.
"""


def render() -> str:
    lines = [INTRODUCTION, "| kind | operations |", "|---|---|"]
    for kind, names in GROUPS.items():
        packets = sorted({name.split(".")[0] for name in names.split()})
        lines.append(f"| {kind} | {' '.join(f'`{packet}`' for packet in packets)} |")
    dtypes = ", ".join(sorted(str(dtype).removeprefix("torch.") for dtype in DTYPES))
    lines += ["", f"Element types: {dtypes}.", "", f"Targets: {', '.join(TARGETS)}."]
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    if "--check" in argv:
        stale = not PAGE.exists() or PAGE.read_text() != render()
        print(f"operations: {'stale; run scripts/gen_operations.py' if stale else 'as the tables say'}")
        return int(stale)
    PAGE.write_text(render())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
