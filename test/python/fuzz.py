"""Broken MLIR made from the files of test/lit, for every reader, verifier and pass: none may abort or hang.

python fuzz.py EMMY_OPT COUNT [SEED]      runs COUNT mutants; prints those that abort or run too long and exits 1 if any do
"""

from __future__ import annotations

import random
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Failure", "Mutant", "mutants", "run"]

LIT = Path(__file__).parents[1] / "lit"
SECONDS = 60
_TOKEN = re.compile(r"[\w.]+|\s+|->|[^\w\s]")
_RUN = re.compile(r"RUN: emmy-opt %s(.*?)(?:\||$)", re.MULTILINE)
_PASSES = re.compile(r"--?(?:emmy-|convert-|cse|canonicalize|pass-pipeline)\S*(?:\s+-\S+)*")
_PIPELINES = (
    "",
    "--emmy-torch-to-graph",
    "--emmy-fuse --emmy-schedule",
    "--emmy-fuse --emmy-fuse-to-cpu",
    "--emmy-fuse-to-sched --emmy-sched-to-tile --emmy-tile-to-nvvm",
    "--emmy-torch-to-nvvm",
    "--canonicalize --cse",
)
_WORDS = """f32 bf16 i1 i8 i64 index f64 0 -1 1 2 3 64 4096 9223372036854775807 -9223372036854775808 100000000000000000000 ? x
    %0 @a [] () { } < > "" none s0 s300 d0 0.0 tensor<?xf32> tensor<0xf32> memref<4xf32> !emmy_fuse.value<[m]xf32> dense<1> unit
    true""".split()


@dataclass(frozen=True)
class Mutant:
    """A broken program, where it comes from, and the passes that are to read it."""

    source: str
    seed: int
    passes: str
    text: str


@dataclass(frozen=True)
class Failure:
    """A mutant that the compiler did not survive."""

    mutant: Mutant
    reason: str


def _passes(text: str) -> list[str]:
    """The passes of a file's RUN lines; simulations take long and have a test of their own."""
    found = [" ".join(_PASSES.findall(arguments.replace("'", ""))) for arguments in _RUN.findall(text)]
    return [passes for passes in found if "simulate" not in passes]


def _programs() -> list[tuple[str, list[str], list[str]]]:
    programs = []
    for path in sorted(LIT.rglob("*.mlir")):
        text = path.read_text()
        for part in text.split("// -----"):
            lines = [line for line in part.splitlines() if line.strip() and not line.strip().startswith("//")]
            if lines:
                programs.append((path.relative_to(LIT).as_posix(), lines, _passes(text)))
    return programs


def _mutated_line(rng: random.Random, line: str, other: str) -> str:
    tokens = _TOKEN.findall(line)
    places = [place for place, token in enumerate(tokens) if not token.isspace()]
    if not places:
        return line
    place = rng.choice(places)
    numbers = [place for place in places if re.match(r"\d", tokens[place])]
    kind = rng.random()
    if kind < 0.45 and numbers:
        place = rng.choice(numbers)
        value = int(re.match(r"\d+", tokens[place]).group())  # type: ignore[union-attr]
        new = rng.choice([value + 1, value - 1, value * 2, value // 2, 0, 1, -1, 7, 4097, 2**31, 2**63 - 1])
        tokens[place] = re.sub(r"^\d+", str(new), tokens[place])
    elif kind < 0.6:
        tokens[place] = rng.choice(_WORDS)
    elif kind < 0.75:
        tokens[place] = rng.choice(_TOKEN.findall(other) or ["x"])
    elif kind < 0.87:
        del tokens[place]
    else:
        tokens.insert(place, tokens[rng.choice(places)])
    return "".join(tokens)


def _mutate(rng: random.Random, lines: list[str]) -> list[str]:
    lines = list(lines)
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        kind, i, j = rng.random(), rng.randrange(len(lines)), rng.randrange(len(lines))
        if kind < 0.1 and len(lines) > 1:
            del lines[i]
        elif kind < 0.2:
            lines.insert(i, lines[i])
        elif kind < 0.3:
            lines[i], lines[j] = lines[j], lines[i]
        elif kind < 0.35:
            lines.insert(j, lines.pop(i))
        else:
            lines[i] = _mutated_line(rng, lines[i], lines[j])
    return lines


def mutants(count: int, seed: int = 0) -> Iterator[Mutant]:
    """`count` mutants; the same ones for the same seed."""
    programs = _programs()
    for number in range(seed, seed + count):
        rng = random.Random(number)
        source, lines, passes = rng.choice(programs)
        yield Mutant(source, number, rng.choice([*(passes or [""]) * 3, *_PIPELINES]), "\n".join(_mutate(rng, lines)) + "\n")


def _outcome(emmy_opt: str, passes: str, text: str) -> str:
    """Why the compiler died; empty if it did not."""
    command = [emmy_opt, "-", "--split-input-file", "--allow-unregistered-dialect", "-o", "/dev/null", *shlex.split(passes)]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"still runs after {SECONDS} s"
    if done.returncode in (0, 1):
        return ""
    told = [line for line in done.stderr.splitlines() if re.search("Assertion|UNREACHABLE|LLVM ERROR", line)]
    frames = re.findall(r"emmy::[\w:]+", done.stderr)
    return f"exit code {done.returncode}: {(told or ['no message'])[0][-160:]} {' < '.join(dict.fromkeys(frames[:4]))}"


def run(emmy_opt: str, group: list[Mutant]) -> list[Failure]:
    """The failures among mutants, many of which share a process as long as none dies."""
    failures: list[Failure] = []
    by_passes: dict[str, list[Mutant]] = {}
    for mutant in group:
        by_passes.setdefault(mutant.passes, []).append(mutant)
    for passes, batch in by_passes.items():
        failures += _run_batch(emmy_opt, passes, batch)
    return failures


def _run_batch(emmy_opt: str, passes: str, batch: list[Mutant]) -> list[Failure]:
    reason = _outcome(emmy_opt, passes, "\n// -----\n".join(mutant.text for mutant in batch))
    if not reason:
        return []
    if len(batch) == 1:
        return [Failure(batch[0], reason)]
    half = len(batch) // 2
    return _run_batch(emmy_opt, passes, batch[:half]) + _run_batch(emmy_opt, passes, batch[half:])


def main(arguments: list[str]) -> int:
    """The command line in the module's description."""
    emmy_opt, count = arguments[0], int(arguments[1])
    seed = int(arguments[2]) if len(arguments) > 2 else 0
    reasons: dict[str, int] = {}
    for start in range(0, count, 1000):
        for failure in run(emmy_opt, list(mutants(min(1000, count - start), seed + start))):
            mutant = failure.mutant
            reasons[failure.reason] = reasons.get(failure.reason, 0) + 1
            if reasons[failure.reason] == 1:
                print(f"seed {mutant.seed} from {mutant.source}, {mutant.passes or 'no passes'}: {failure.reason}", flush=True)
    print(f"{sum(reasons.values())} of {count} mutants failed, in {len(reasons)} ways")
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
