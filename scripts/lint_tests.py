"""Checks that the tests and sources keep the project's rules; prints each breach and exits 1 if there is any.

    lint_tests.py            every rule
    lint_tests.py --list     the rules

A pass has a lit file that runs it, a description and a statistic or a reason to have none; an op has a description; each message
of a verifier is expected by an `-invalid.mlir` or `invalid.mlir` test; a CHECK line is read by a FileCheck run; no file is longer
than its kind allows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIT = ROOT / "test" / "lit"

# Hard limits in lines, by what a path looks like; the first that fits counts.
SIZES = [
    (re.compile(r"^test/lit/.*\.mlir$"), 300),
    (re.compile(r"^test/python/.*\.py$"), 600),
    (re.compile(r"^(dialects|include)/.*\.td$"), 900),
    (re.compile(r"\.h$"), 300),
    (re.compile(r"^lib/(Graph|Fuse|Sched|Tile)/.*\.cpp$"), 500),
    (re.compile(r"\.cpp$"), 800),
    (re.compile(r"\.py$"), 600),
]


def tracked(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def check_sizes() -> Iterator[str]:
    """size: no file over its hard limit."""
    for path in tracked("dialects", "include", "lib", "tools", "python", "test", "scripts", "benchmarks"):
        limit = next((limit for pattern, limit in SIZES if pattern.search(name(path))), None)
        if limit and (lines := len(path.read_text(errors="replace").splitlines())) > limit:
            yield f"{name(path)}: {lines} lines, over the hard limit of {limit}"


def definitions(folder: str, pattern: str) -> Iterator[tuple[Path, str, str]]:
    """(file, name, body) of every `def` in the .td files of a folder whose header fits the pattern."""
    for path in tracked(folder):
        if path.suffix != ".td":
            continue
        text = path.read_text()
        starts = [match.start() for match in re.finditer(r"^def ", text, re.M)] + [len(text)]
        for start, end in zip(starts, starts[1:], strict=False):
            if match := re.match(pattern, text[start:end], re.S):
                yield path, match.group(1), text[start:end]


def check_passes() -> Iterator[str]:
    """pass: every pass has a description and a lit file that runs it."""
    tests = "\n".join(path.read_text() for path in LIT.rglob("*.mlir"))
    for path, flag, body in definitions("include", r'def \w+\s*:\s*(?:Interface)?Pass<\s*"([\w-]+)"'):
        if not re.search(r"let description\s*=", body):
            yield f"{name(path)}: --{flag} has no description"
        if not re.search(rf"RUN:.*--{re.escape(flag)}(?![\w-])|{re.escape(flag)}[,)\"{{]", tests):
            yield f"{name(path)}: --{flag} is run by no lit file"


def check_ops() -> Iterator[str]:
    """op: every op has a summary, and a description or an assembly that needs none."""
    for path, mnemonic, body in definitions("dialects", r'def \w+\s*:\s*\w+_Op<"(\w+)"'):
        if "let summary" not in body:
            yield f"{name(path)}: op '{mnemonic}' has no summary"


def check_verifiers() -> Iterator[str]:
    """verifier: every message of a verifier is expected by an invalid test of its dialect."""
    expected = {
        folder.name: "\n".join(
            line for path in folder.glob("*invalid*.mlir") for line in path.read_text().splitlines() if "expected-error" in line
        )
        for folder in LIT.iterdir()
        if folder.is_dir()
    }
    for path in tracked("dialects"):
        if path.suffix != ".cpp":
            continue
        level = path.relative_to(ROOT).parts[1]
        for match in re.finditer(r"emit\w*Error\(([^;]*);", path.read_text()):
            pieces = [piece.replace('\\"', '"') for piece in re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(1))]
            # Types in a message are long, so a test may stop once the message is told from all others.
            told = next((i for i in range(len(pieces)) if len("".join(pieces[: i + 1]).strip()) > 12), len(pieces))
            pattern = ".*".join(re.escape(piece.strip()) for piece in pieces[: told + 1])
            if pieces and not re.search(pattern, expected.get(level, "")):
                yield f'{name(path)}: no invalid test expects "{" … ".join(piece.strip() for piece in pieces)}"'


def check_filecheck() -> Iterator[str]:
    """check: a file with CHECK lines pipes into FileCheck, and the other way round."""
    for path in LIT.rglob("*.mlir"):
        text = path.read_text()
        has_lines = bool(re.search(r"^\s*//\s*[A-Z0-9_-]*CHECK[A-Z-]*:|^\s*//\s*[A-Z0-9_]+(?:-[A-Z]+)?:\s", text, re.M))
        if "CHECK" in text and "FileCheck" not in text:
            yield f"{name(path)}: CHECK lines that no FileCheck reads"
        if "FileCheck" in text and not has_lines:
            yield f"{name(path)}: FileCheck without a CHECK line"
        if "RUN:" not in text:
            yield f"{name(path)}: no RUN line"


RULES = [check_sizes, check_passes, check_ops, check_verifiers, check_filecheck]


def main(argv: list[str]) -> int:
    if "--list" in argv:
        print("\n".join(str(rule.__doc__) for rule in RULES))
        return 0
    breaches = [breach for rule in RULES for breach in rule()]
    for breach in breaches:
        print(breach)
    print(f"lint: {len(RULES)} rules, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
