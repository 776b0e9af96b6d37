"""Attention forward in bf16 against cuDNN (torch SDPA): `python benchmarks/attention.py [--json FILE]`."""

from __future__ import annotations

import argparse

import emmy
import harness
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel


class Attention(nn.Module):
    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.causal = causal

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=q.shape[1] != k.shape[1])


def case(batch: int, heads: int, kv_heads: int, length: int, dim: int, causal: bool) -> harness.Case:
    module = Attention(causal)

    def make() -> harness.Inputs:
        sizes = [(batch, h, length, dim) for h in (heads, kv_heads, kv_heads)]
        return tuple(torch.randn(size, device="cuda", dtype=torch.bfloat16) for size in sizes)

    def cudnn(*inputs: torch.Tensor) -> torch.Tensor:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return module(*inputs)

    flops = 4.0 * batch * heads * length * length * dim / (2 if causal else 1)
    name = f"b{batch} h{heads}/{kv_heads} s{length} d{dim} {'causal' if causal else 'full'}"
    contenders = {"cudnn": cudnn, "emmy": emmy.compile(module, make(), fullgraph=True)}
    return harness.Case(name, make, contenders, flops=flops, reference=lambda *xs: cudnn(*xs).double(), tolerance=6e-3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    harness.require_gpu()
    results = []
    for causal in (False, True):
        for shape in [(1, 32, 8, 8192, 128), (4, 32, 8, 2048, 128), (1, 32, 8, 8192, 64)]:
            results.append(harness.run(case(*shape, causal), options.rounds))
            print(harness.row(results[-1]), flush=True)
    print(f"geomean against cudnn {harness.geomean(results, 'cudnn'):.3f}")
    harness.save(options.json, results)


if __name__ == "__main__":
    main()
