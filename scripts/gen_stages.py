"""Writes docs/stages.md: RMSNorm, a linear layer and attention at every stage, as the compiler prints them.

gen_stages.py           write the page
gen_stages.py --check   exit 1 if the page differs in a stage that does not depend on the cost model
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from emmy.api import CompiledFunction
from emmy.compiler import Lowering
from torch import nn

PAGE = Path(__file__).resolve().parent.parent / "docs" / "stages.md"

INTRODUCTION = """\
# Three programs, stage by stage

Written by `scripts/gen_stages.py` from the compiler's own output; a test compares it. Each stage is what
`emmy compile -c EXPRESSION --ir STAGE` prints, without the module around it; long ones are cut where `⋯` stands, and operands'
types are left out of the hardware program. The target is `sm_90a`.
"""

STAGES = {
    "torch": "What torch-mlir imports, in generic form: `aten` ops as PyTorch has them, weights as arguments.",
    "graph": "After `--emmy-torch-to-graph`: primitives on tensors, with roundings and the types of accumulation.",
    "fuse": "After `--emmy-graph-to-fuse`: one op for each kernel. Axes have names; loads and stores say where an element lies.",
    "sched": "After `--emmy-fuse-to-sched`: blocks of the axes, what is held where, which unit multiplies; no barriers yet.",
    "tile": "After `--emmy-sched-to-tile`: the program of one CTA, with its roles, rings, barriers and fragments (the ops that "
    "show them; scalar arithmetic is cut).",
    "ptx": "What LLVM makes of it: the instructions that do the work, and how often each is in the text.",
}
# The cost model decides what comes after these.
STABLE = ("torch", "graph", "fuse")
LINES = {"torch": 30, "graph": 60, "fuse": 60, "sched": 50, "tile": 60}
_INSTRUCTIONS = (
    r"wgmma\.mma_async\S*|mma\.sync\S*|cp\.async\.bulk\.tensor\.\d+d\.\S+|mbarrier\.(?:init|try_wait|arrive)[\w.]*|ex2\.approx\S*|"
    r"rsqrt\.approx\S*|shfl\.sync\S*|ld\.global\S*|st\.global\S*|stmatrix\S*|setmaxnreg\S*"
)


@dataclass(frozen=True)
class Subject:
    """A program of the page."""

    title: str
    expression: str
    make: Callable[[], tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]]


def randn(*sizes: int) -> torch.Tensor:
    return torch.randn(sizes, dtype=torch.bfloat16)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


SUBJECTS = [
    Subject(
        "RMSNorm",
        "nn.RMSNorm(4096, dtype=torch.bfloat16)(torch.randn(2048, 4096, dtype=torch.bfloat16))",
        lambda: (nn.RMSNorm(4096, dtype=torch.bfloat16).eval(), (randn(2048, 4096),)),
    ),
    Subject(
        "Linear",
        "nn.Linear(4096, 6144, dtype=torch.bfloat16)(torch.randn(2048, 4096, dtype=torch.bfloat16))",
        lambda: (nn.Linear(4096, 6144, dtype=torch.bfloat16).eval(), (randn(2048, 4096),)),
    ),
    Subject(
        "Attention",
        "F.scaled_dot_product_attention(*torch.randn(3, 1, 32, 2048, 128, dtype=torch.bfloat16), is_causal=True)",
        lambda: (attend, tuple(randn(1, 32, 2048, 128) for _ in range(3))),
    ),
]


def lower(subject: Subject) -> Lowering:
    program, inputs = subject.make()
    compiled = CompiledFunction(program, target="sm_90a", dynamic=None, fullgraph=True)
    (piece,) = compiled.trace(*inputs).executor.pieces
    lowering = piece.lowering()
    lowering.record()
    return lowering


def without_module(text: str) -> list[str]:
    """The lines inside the module, without locations."""
    text = re.sub(r"^#loc.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r" loc\((?:#loc\d*|\"[^\"]*\"(?:\([^()]*\))?|[^()]*)\)", "", text)
    lines = [line for line in text.splitlines() if line.strip()]
    inner = [line[2:] if line.startswith("  ") else line for line in lines]
    return inner[1:-1]


def structure(lines: list[str]) -> list[str]:
    """The lines of a hardware program that hold its ops and loops, without the types of operands."""
    kept = [line for line in lines if re.search(r"emmy_tile\.|scf\.(for|while|if)|emmy\.launch", line)]
    kept = [line for line in kept if not re.search(r"emmy_tile\.(yield|read|subview)\b", line)]
    return [re.sub(r" : .*?( \{)?$", r"\1", line) for line in kept]


def shorten(lines: list[str], limit: int) -> list[str]:
    if len(lines) <= limit:
        return lines
    return [*lines[: limit * 2 // 3], "⋯", *lines[-limit // 3 :]]


def stage_text(lowering: Lowering, stage: str) -> str:
    if stage == "ptx":
        found: dict[str, int] = {}
        for name in re.findall(rf"^\s*(?:@!?%p\d+ )?({_INSTRUCTIONS})", lowering.text("ptx"), re.MULTILINE):
            found[name.rstrip(";")] = found.get(name.rstrip(";"), 0) + 1
        return "\n".join(f"{count:4}  {name}" for name, count in sorted(found.items()))
    lines = without_module(lowering.text(stage))
    lines = structure(lines) if stage == "tile" else lines
    return "\n".join(line if len(line) <= 200 else line[:197] + "⋯" for line in shorten(lines, LINES[stage]))


def sections(stages: tuple[str, ...]) -> dict[tuple[str, str], str]:
    texts = {}
    for subject in SUBJECTS:
        lowering = lower(subject)
        for stage in stages:
            texts[(subject.title, stage)] = stage_text(lowering, stage)
    return texts


def block(text: str, stage: str) -> str:
    return f"```{'text' if stage == 'ptx' else 'mlir'}\n{text}\n```\n"


def render(texts: dict[tuple[str, str], str]) -> str:
    parts = [INTRODUCTION]
    for subject in SUBJECTS:
        parts.append(f"## {subject.title}\n\n    emmy compile -c '{subject.expression}' --target sm_90a --ir\n")
        for stage, words in STAGES.items():
            parts.append(f"### {subject.title}: {stage}\n\n{words}\n\n{block(texts[(subject.title, stage)], stage)}")
    return "\n".join(parts)


def stale() -> list[str]:
    """The stages whose text on the page is not the compiler's."""
    page = PAGE.read_text()
    texts = sections(STABLE)
    return [
        f"{title}: {stage}"
        for (title, stage), text in texts.items()
        if f"### {title}: {stage}\n\n{STAGES[stage]}\n\n{block(text, stage)}" not in page
    ]


def main(argv: list[str]) -> int:
    if "--check" in argv:
        wrong = stale()
        for name in wrong:
            print(f"docs/stages.md is stale at {name}; run scripts/gen_stages.py")
        return 1 if wrong else 0
    PAGE.write_text(render(sections(tuple(STAGES))))
    print(f"{PAGE.name}: {len(PAGE.read_text().splitlines())} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
