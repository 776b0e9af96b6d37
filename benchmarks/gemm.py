"""bf16 GEMM against cuBLAS (torch): `python benchmarks/gemm.py [MxNxK ...] [--json FILE]`."""

from __future__ import annotations

import argparse

import emmy
import harness
import torch
from torch.nn import functional as F

SHAPES = ["8192x8192x8192", "4096x4096x4096", "2048x6144x4096", "2048x4096x12288", "8192x8192x1024", "256x24576x4096"]


class Linear(torch.nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.linear(x, w)


def case(m: int, n: int, k: int) -> harness.Case:
    def make() -> harness.Inputs:
        return torch.randn(m, k, device="cuda", dtype=torch.bfloat16), torch.randn(n, k, device="cuda", dtype=torch.bfloat16)

    ours = emmy.compile(Linear(), make(), fullgraph=True)
    return harness.Case(
        f"{m}x{n}x{k}",
        make,
        {"cublas": F.linear, "emmy": ours},
        flops=2.0 * m * n * k,
        bytes=2.0 * (m * k + n * k + m * n),
        reference=lambda x, w: x.float() @ w.float().t(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shapes", nargs="*", default=SHAPES)
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    harness.require_gpu()
    results = []
    for shape in options.shapes:
        m, n, k = map(int, shape.split("x"))
        results.append(harness.run(case(m, n, k), options.rounds))
        print(harness.row(results[-1]), flush=True)
    print(f"geomean against cublas {harness.geomean(results, 'cublas'):.3f}")
    harness.save(options.json, results)


if __name__ == "__main__":
    main()
