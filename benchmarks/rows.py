"""Norms, softmax and reductions against Inductor max-autotune: `python benchmarks/rows.py [--json FILE]`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import emmy
import harness
import torch
from torch import nn
from torch.nn import functional as F


class RmsNorm(nn.Module):
    def forward(self, x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (x.shape[-1],), g, 1e-6)


class LayerNorm(nn.Module):
    def forward(self, x: torch.Tensor, g: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (x.shape[-1],), g, b, 1e-5)


class Softmax(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.softmax(-1)


class GeluMul(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.gelu(x) * y


class Sum(nn.Module):
    """Over one axis, or over all."""

    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum() if self.dim is None else x.sum(self.dim)


class Variance(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.float().var(0)


def case(name: str, module: nn.Module, shapes: list[tuple[int, ...]]) -> harness.Case:
    def make() -> harness.Inputs:
        return tuple(torch.randn(shape, device="cuda", dtype=torch.bfloat16) for shape in shapes)

    first = make()
    inductor: Callable[..., torch.Tensor] = torch.compile(module, mode="max-autotune-no-cudagraphs", dynamic=False)
    moved = 2.0 * (sum(t.numel() for t in first) + first[0].numel())
    contenders = {"inductor": inductor, "emmy": emmy.compile(module, first, fullgraph=True)}
    return harness.Case(name, make, contenders, bytes=moved, reference=lambda *xs: module(*(x.double() for x in xs)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    harness.require_gpu()
    cases = [
        ("rms_norm 16384x4096", RmsNorm(), [(16384, 4096), (4096,)]),
        ("softmax 8192x8192", Softmax(), [(8192, 8192)]),
        ("layer_norm 16384x4096", LayerNorm(), [(16384, 4096), (4096,), (4096,)]),
        ("gelu_mul 8192x12288", GeluMul(), [(8192, 12288), (8192, 12288)]),
        ("sum_of_columns 4096x4096", Sum(0), [(4096, 4096)]),
        ("sum_of_all 4096x4096", Sum(None), [(4096, 4096)]),
        ("variance_of_columns 8192x1024", Variance(), [(8192, 1024)]),
    ]
    results = []
    for name, module, shapes in cases:
        results.append(harness.run(case(name, module, shapes), options.rounds))
        print(harness.row(results[-1]), flush=True)
    print(f"geomean against inductor {harness.geomean(results, 'inductor'):.3f}")
    harness.save(options.json, results)


if __name__ == "__main__":
    main()
