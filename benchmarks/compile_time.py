"""How long compiling for sm_90a takes on this machine, split into its parts; it needs ptxas and no GPU.

python benchmarks/compile_time.py [NAME…]      prints a row for each program, after imports and one throw-away export

Run it twice with one EMMY_CACHE_DIR to see the times of a new process that finds everything in the disk cache. `own` is what
is left of the whole after the parts: hashing, the cache, taking results apart.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from emmy.api import CompiledFunction
from emmy.compiler import PARTS, compile_code
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "python"))
from example_models import DecoderLayer, Shape, layer_inputs  # noqa: E402

Program = Callable[[], tuple[nn.Module, tuple[torch.Tensor, ...]]]


def norm_and_linear() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return nn.Sequential(nn.RMSNorm(4096), nn.Linear(4096, 6144)), (torch.randn(2048, 4096),)


def decoder_layer() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    shape = Shape(batch=1)
    return DecoderLayer(shape), layer_inputs(shape, 512)


PROGRAMS: dict[str, Program] = {"norm_and_linear": norm_and_linear, "decoder_layer": decoder_layer}


def measure(program: Program) -> dict[str, float]:
    """Seconds of each part, of the `own` rest and of the whole."""
    model, inputs = program()
    model = model.to(torch.bfloat16).eval()
    inputs = tuple(value.to(torch.bfloat16) for value in inputs)
    start = time.perf_counter()
    compiled = CompiledFunction(model, target="sm_90a", dynamic=None, fullgraph=True)
    entry = compiled.trace(*inputs)
    for piece in entry.executor.pieces:
        compile_code(piece.lowering())
    whole = time.perf_counter() - start
    parts = {part: entry.executor.timings.parts.get(part, 0.0) for part in PARTS if part != "cache"}
    return parts | {"own": whole - sum(parts.values()), "whole": whole}


def main(names: list[str]) -> None:
    """Prints the table."""
    CompiledFunction(nn.ReLU(), target="sm_90a", dynamic=None, fullgraph=True).trace(torch.randn(4))
    columns = [part for part in PARTS if part != "cache"] + ["own", "whole"]
    print(f"{'ms':16}" + "".join(f"{column:>12}" for column in columns))
    for name in names or PROGRAMS:
        seconds = measure(PROGRAMS[name])
        print(f"{name:16}" + "".join(f"{seconds[column] * 1e3:12.0f}" for column in columns), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
