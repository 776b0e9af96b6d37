"""Plans that launch the `emmy_tile` kernels of test/lit/Tile/kernels, with inputs and what PyTorch makes of them.

python tile_kernels.py FOLDER      writes NAME.json (the plan) and NAME.ptx for each, to launch on another machine
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from emmy import ir
from emmy._mlir_libs import _emmy
from emmy.passmanager import PassManager

__all__ = ["FOLDER", "KERNELS", "WHOLE_DESCRIPTORS", "TileKernel", "compile_to_ptx", "descriptor_makers"]

FOLDER = Path(__file__).parents[1] / "lit" / "Tile" / "kernels"

# Instructions that put a constant high word on a wgmma descriptor. From a sum of 64 bits ptxas 13.0 loses it.
WHOLE_DESCRIPTORS = {"or.b64", "mov.b64"}


def descriptor_makers(ptx: str) -> dict[str, set[str]]:
    """The instructions that define each register with a wgmma descriptor."""
    operands = re.findall(r"wgmma\.mma_async.*\}, (?:(%rd\d+), )?(%rd\d+), ", ptx)
    registers = {register for pair in operands for register in pair if register}
    return {register: set(re.findall(rf"^\s*(\S+)\s+{register}, ", ptx, flags=re.MULTILINE)) for register in registers}


def compile_to_ptx(path: Path) -> dict[str, str]:
    """PTX of the kernels in a file, by name."""
    with ir.Context() as context:
        _emmy.register_dialects(context)
        module = ir.Module.parse(path.read_text())
        PassManager.parse("builtin.module(emmy-tile-to-nvvm)").run(module.operation)
        texts: dict[str, str] = _emmy.translate_to_ptx(module)
        return texts


@dataclass(frozen=True)
class TileKernel:
    """One kernel at one size. Buffers count the inputs, then the outputs."""

    file: str
    name: str
    inputs: list[list[int]]
    outputs: list[tuple[str, list[int]]]
    params: list[dict[str, Any]]
    grid: list[int]
    warps: int
    shared: int
    reference: Callable[..., list[torch.Tensor]]
    cluster: int = 1
    tolerance: float = 2**-7

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.file}.mlir"

    def plan(self) -> str:
        buffers: list[dict[str, Any]] = [{"arg": i} for i in range(len(self.inputs))]
        buffers += [{"output": i, "dtype": dtype, "sizes": sizes} for i, (dtype, sizes) in enumerate(self.outputs)]
        step = {
            "launch": self.name,
            "module": self.name,
            "grid": self.grid,
            "block": 32 * self.warps,
            "cluster": [self.cluster, 1, 1],
            "shared": self.shared,
            "params": self.params,
        }
        args = [{"name": f"x{i}", "dtype": "bf16", "sizes": sizes, "align": 16} for i, sizes in enumerate(self.inputs)]
        outputs = [len(self.inputs) + i for i in range(len(self.outputs))]
        plan = {"version": 1, "target": "sm_90a", "symbols": [], "args": args, "buffers": buffers, "outputs": outputs}
        return json.dumps(plan | {"arena_bytes": 0, "steps": [step]})


def tmap(buffer: int, rows: int, columns: int, box: list[int]) -> dict[str, Any]:
    """A row-major bf16 matrix seen through swizzled boxes 64 columns wide."""
    sizes, strides = [rows, columns], [2 * columns]
    map_ = {"buffer": buffer, "offset": 0, "dtype": "bf16", "sizes": sizes, "strides": strides, "box": box}
    return {"tmap": map_ | {"swizzle": 128, "l2_promotion": 256}}


def matmul(a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    return [a.double() @ b.double().T]


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> list[torch.Tensor]:
    return [torch.softmax(q.double() @ k.double().T / 8, dim=-1) @ v.double()]


def transpose(x: torch.Tensor) -> list[torch.Tensor]:
    return [x.T.double(), x.double().unflatten(0, (-1, 64)).sum(1)]


def gemm(m: int, n: int, k: int) -> TileKernel:
    params = [tmap(0, m, k, [128, 64]), tmap(1, n, k, [128, 64]), tmap(2, m, n, [64, 64])]
    params += [{"i32": -(-m // 256)}, {"i32": -(-n // 256)}, {"i32": -(-k // 64)}, {"i32": 66}]
    return TileKernel(
        "gemm-persistent", "gemm", [[m, k], [n, k]], [("bf16", [m, n])], params, [132, 1, 1], 12, 229440, matmul, cluster=2
    )


def gemm_tile(m: int) -> TileKernel:
    params = [tmap(0, m, 512, [64, 64]), tmap(1, 256, 512, [128, 64]), tmap(2, m, 256, [64, 64]), {"i32": 8}]
    return TileKernel(
        "gemm-tile", "gemm_tile", [[m, 512], [256, 512]], [("bf16", [m, 256])], params, [-(-m // 64), 2, 1], 8, 114752, matmul
    )


def gemm_portable(m: int, n: int, k: int) -> TileKernel:
    params = [{"ptr": 0}, {"ptr": 1}, {"ptr": 2}, {"i32": m}, {"i32": n}, {"i32": k}]
    grid = [-(-m // 64), -(-n // 64), 1]
    return TileKernel("gemm-portable", "gemm_portable", [[m, k], [n, k]], [("bf16", [m, n])], params, grid, 4, 32768, matmul)


def softmax(rows: int, columns: int) -> TileKernel:
    return TileKernel(
        "row-softmax",
        "softmax",
        [[rows, columns]],
        [("bf16", [rows, columns])],
        [{"ptr": 0}, {"ptr": 1}, {"i32": columns}],
        [rows, 1, 1],
        8,
        32,
        lambda x: [torch.softmax(x.double(), dim=-1)],
    )


def attention(tokens: int) -> TileKernel:
    params = [tmap(0, tokens, 64, [64, 64]), tmap(1, tokens, 64, [128, 64]), tmap(2, tokens, 64, [128, 64])]
    params += [tmap(3, tokens, 64, [64, 64]), {"i32": tokens}, {"f32": 1.4426950408889634 / 8}]
    return TileKernel(
        "attention-inner",
        "attention",
        [[tokens, 64]] * 3,
        [("bf16", [tokens, 64])],
        params,
        [-(-tokens // 64), 1, 1],
        8,
        73800,
        attend,
    )


KERNELS = [
    TileKernel(
        "copy-ring",
        "copy",
        [[4096, 1024]],
        [("bf16", [4096, 1024])],
        [tmap(0, 4096, 1024, [64, 64]), tmap(1, 4096, 1024, [64, 64]), {"i32": 64}],
        [16, 1, 1],
        2,
        24624,
        lambda x: [x.double()],
        tolerance=0,
    ),
    gemm_tile(64),
    gemm_tile(1000),
    gemm(256, 256, 64),
    gemm(512, 768, 320),
    gemm(1000, 520, 1000),
    gemm(8192, 8192, 1024),
    gemm_portable(64, 64, 64),
    gemm_portable(100, 200, 328),
    softmax(1000, 4096),
    softmax(33, 1000),
    TileKernel(
        "transpose",
        "transpose",
        [[256, 320]],
        [("bf16", [320, 256]), ("f32", [4, 320])],
        [{"ptr": 0}, {"ptr": 1}, {"ptr": 2}, {"i32": 256}, {"i32": 320}],
        [5, 4, 1],
        4,
        10240,
        transpose,
    ),
    attention(64),
    attention(1000),
]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, kernel in enumerate(KERNELS):
        (folder / f"{number}-{kernel.name}.json").write_text(kernel.plan())
        (folder / f"{number}-{kernel.name}.ptx").write_text(compile_to_ptx(kernel.path)[kernel.name])


if __name__ == "__main__":
    main(Path(sys.argv[1])) if len(sys.argv) == 2 else sys.exit(__doc__)
