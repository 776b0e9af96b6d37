"""What a call costs the host, in microseconds: `python benchmarks/host.py`. The GPU's work is shorter than that."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import emmy
import harness
import torch
from torch import nn


def cost(function: Callable[[torch.Tensor], object], x: torch.Tensor, calls: int = 2000, batches: int = 9) -> float:
    """Median over batches of the time for one call, in microseconds."""
    times = []
    for _ in range(batches):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            function(x)
        times.append((time.perf_counter() - start) / calls * 1e6)
        torch.cuda.synchronize()
    return statistics.median(times)


def main() -> None:
    harness.require_gpu()
    x = torch.randn(64, 256, device="cuda", dtype=torch.bfloat16)
    models = {
        "softmax": nn.Softmax(-1),
        "rms_norm": nn.RMSNorm(256),
        "linear": nn.Linear(256, 128),
    }
    with torch.no_grad():
        for name, model in models.items():
            model = model.to("cuda", torch.bfloat16).eval()
            ours = emmy.compile(model, (x,), fullgraph=True)
            print(f"{name:10s} emmy {cost(ours, x):6.2f} us, eager {cost(model, x):6.2f} us", flush=True)


if __name__ == "__main__":
    main()
