"""Broken emmy_tile programs, made from right ones: lines deleted, doubled, swapped or moved, integers changed.

python mutations.py EMMY_OPT COUNT [SEED]      simulates COUNT of them, prints those that crash or hang, and exits 1 if any do
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant", "mutants", "outcome"]

FOLDER = Path(__file__).parents[1] / "lit" / "Simulator"
INTEGER = re.compile(r"(?<![\w%.#@<x])-?\d+(?![\w.])|(?<=[x<])\d+(?=x)")


@dataclass(frozen=True)
class Mutant:
    """One broken program and where it comes from."""

    source: str
    seed: int
    text: str


def _programs() -> list[tuple[str, list[str]]]:
    """The right programs that are cheap to simulate, and the parts of those that hold seeded faults."""
    programs = []
    for path in sorted(FOLDER.rglob("*.mlir")):
        if path.stem == "gemm-persistent":
            continue
        for part in path.read_text().split("// -----"):
            lines = [line for line in part.splitlines() if line.strip() and not line.strip().startswith("//")]
            programs.append((path.stem, lines))
    return programs


def _changed_integer(rng: random.Random, line: str) -> str:
    places = list(INTEGER.finditer(line))
    if not places:
        return line
    place = rng.choice(places)
    value = int(place.group())
    new = rng.choice([value + 1, value - 1, 2 * value, value // 2, 0, 1, -1, rng.randrange(300), 2**31 - 1])
    return line[: place.start()] + str(new) + line[place.end() :]


def _mutate(rng: random.Random, lines: list[str]) -> list[str]:
    lines = list(lines)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        i = rng.randrange(len(lines))
        kind = rng.choice(["delete", "double", "swap", "move", "integer", "integer", "integer"])
        if kind == "delete" and len(lines) > 1:
            del lines[i]
        elif kind == "double":
            lines.insert(i, lines[i])
        elif kind == "swap" and i + 1 < len(lines):
            lines[i], lines[i + 1] = lines[i + 1], lines[i]
        elif kind == "move":
            lines.insert(rng.randrange(len(lines)), lines.pop(i))
        elif kind == "integer":
            lines[i] = _changed_integer(rng, lines[i])
    return lines


def mutants(count: int, seed: int = 0) -> Iterator[Mutant]:
    """`count` mutants; the same ones for the same seed."""
    programs = _programs()
    for number in range(seed, seed + count):
        rng = random.Random(number)
        source, lines = rng.choice(programs)
        yield Mutant(source, number, "\n".join(_mutate(rng, lines)) + "\n")


def _crash(stderr: str) -> str:
    """The assertion and the first frames in Emmy's own code."""
    signs = ("Assertion", "UNREACHABLE", "LLVM ERROR", "emmy::")
    lines = [line for line in stderr.splitlines() if any(sign in line for sign in signs)]
    return "\n".join(line[:200] for line in lines[:6]) or stderr[-400:]


def outcome(emmy_opt: str, mutant: Mutant, seconds: float = 20) -> str | None:
    """What is wrong with how the simulator took it; nothing if it ran or was refused with a diagnostic."""
    command = [emmy_opt, "-", "--emmy-simulate=schedules=1", "-o", "/dev/null"]
    try:
        run = subprocess.run(command, input=mutant.text, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"runs longer than {seconds} s"
    if run.returncode not in (0, 1):
        return f"ends with {run.returncode}: {_crash(run.stderr)}"
    return None if run.returncode == 0 or "error:" in run.stderr else "fails without a diagnostic"


def main(emmy_opt: str, count: int, seed: int = 0) -> int:
    with ThreadPoolExecutor(2) as pool:
        made = list(mutants(count, seed))
        bad = 0
        for mutant, found in zip(made, pool.map(lambda mutant: outcome(emmy_opt, mutant), made), strict=True):
            if found:
                bad += 1
                print(f"{mutant.source} seed {mutant.seed}: {found}", flush=True)
    print(f"{count} mutants, {bad} crash or hang")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])) if len(sys.argv) in (3, 4) else __doc__)
