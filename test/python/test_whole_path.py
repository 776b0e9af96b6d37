"""What a compiled program is made of: our own kernels and nothing else, made from schedules and no operator's name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from emmy import toolchain
from emmy.api import CompiledFunction
from emmy.compiler import Lowering
from emmy.pipeline import make_context, parse, run_pipeline
from example_models import EXAMPLES, Example, Shape

ROOT = Path(__file__).parents[2]
SMALL = Shape(batch=1, hidden=256, inner=512, heads=4, kv_heads=2, head=64)
FOREIGN = re.compile(r"cublas|cudnn|cutlass|triton|flash_|libdevice|__nv_", re.IGNORECASE)


def lower(function: Callable[..., Any], inputs: tuple[torch.Tensor, ...], dynamic: Any = None) -> Lowering:
    compiled = CompiledFunction(function, target="sm_90a", dynamic=dynamic, fullgraph=True)
    (piece,) = compiled.trace(*inputs).executor.pieces
    return piece.lowering()


def lower_example(example: Example) -> Lowering:
    model = example.make_model(SMALL).to(torch.bfloat16).eval()
    inputs = tuple(value.to(torch.bfloat16) for value in example.make_inputs(SMALL, 128))
    return lower(model, inputs, example.dynamic(1024))


def launches(steps: list[dict[str, Any]]) -> Iterator[str]:
    for step in steps:
        kinds = set(step) & {"launch", "switch", "copy", "fill"}
        assert len(kinds) == 1, f"the plan has a step of another kind: {sorted(step)}"
        if "launch" in step:
            yield step["launch"]
        for case in step.get("switch", ()):
            yield from launches(case["steps"])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_a_plan_launches_its_own_kernels_only(example: Example) -> None:
    lowering = lower_example(example)
    kernels = lowering.ptx()
    assert set(launches(json.loads(lowering.plan_json())["steps"])) == set(kernels)
    for name, ptx in kernels.items():
        assert re.findall(r"\.entry (\w+)\(", ptx) == [name]
        assert not re.search(r"^\s*(\.extern \.func|\.func|call)\b", ptx, re.MULTILINE), "the kernel calls a function"
    for stage in ("graph", "fuse", "sched", "tile", "nvvm", "ptx"):
        assert not FOREIGN.search(lowering.text(stage)), stage
    # In the last MLIR stage nothing is declared elsewhere.
    assert not re.search(r"llvm\.func [^{]*\)$", lowering.text("nvvm"), re.MULTILINE)


def names_in_code(path: Path) -> str:
    """A C++ file without its comments, or a .td file without descriptions."""
    text = re.sub(r"\[\{.*?\}\]", "", path.read_text(), flags=re.DOTALL)
    return re.sub(r"//.*", "", text)


def test_no_pass_knows_an_operator_by_name() -> None:
    """Attention is a composite of emmy_graph that decomposes; behind that border nothing knows the word."""
    folders = ("Conversion", "Fuse", "Sched", "Tile", "Plan", "Target", "Pipelines")
    files = [path for folder in folders for path in (ROOT / "lib" / folder).rglob("*.cpp")]
    levels = [path for level in ("Fuse", "Sched", "Tile") for path in (ROOT / "dialects" / level).iterdir()]
    files += [path for path in levels if path.suffix in (".cpp", ".td")]
    assert len(files) > 80
    found = [path.name for path in files if re.search("attention|softmax|flash|sdpa", names_in_code(path), re.IGNORECASE)]
    assert found == []


Q, K, D = 128, 256, 64


def sigmoid_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(q @ k.mT) @ v


def two_values(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    weights = F.softmax((q @ k.mT).float(), dim=-1).to(q.dtype)
    return weights @ v, weights @ w


def two_products(q: torch.Tensor, k: torch.Tensor, p: torch.Tensor, r: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.softmax(q @ k.mT + p @ r.mT, dim=-1) @ v


ONE_KERNEL = [
    (sigmoid_attention, ((2, Q, D), (2, K, D), (2, K, D)), True),
    (two_values, ((2, Q, D), (2, K, D), (2, K, D), (2, K, D)), True),
    (two_products, ((2, Q, D), (2, K, D), (2, Q, D), (2, K, D), (2, K, D)), True),
    (lambda x: torch.logsumexp(x, -1), ((64, 40000),), False),
    (lambda x: x.var(-1), ((64, 40000),), False),
]


@pytest.mark.parametrize(
    ("function", "shapes", "products"), ONE_KERNEL, ids=["sigmoid", "two_values", "two_products", "log_sum_exp", "variance"]
)
def test_one_kernel(function: Callable[..., Any], shapes: tuple[tuple[int, ...], ...], products: bool) -> None:
    lowering = lower(function, tuple(torch.randn(shape).to(torch.bfloat16) for shape in shapes))
    assert lowering.text("fuse").count("emmy.launch @") == 1
    (ptx,) = lowering.ptx().values()
    assert ("wgmma.mma_async" in ptx) == products
    if toolchain.find_ptxas():
        assert toolchain.assemble(ptx, "sm_90a").defects == ()


GEMM = """
!a = !emmy_fuse.value<[m, k] x bf16>
!b = !emmy_fuse.value<[n, k] x bf16>
!c = !emmy_fuse.value<[m, n] x f32>
emmy_fuse.kernel @gemm(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xf32>)
    axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<SCHEDULE>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!a, !b) -> !c
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !c, tensor<512x512xf32>
}
func.func @main(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) -> tensor<512x512xf32> {
  %y = emmy.launch @gemm(%x, %w) : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
"""
SCHEDULE = (
    "tile = [m: 128, n: 256], step = 64, stages = 3, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 0, "
    "epilogue = tma, mma = wgmma, persistent"
)


def compile_gemm(*edits: tuple[str, str]) -> tuple[str, dict[str, Any]]:
    """PTX and the launch of the kernel under the schedule with some attributes edited by hand."""
    schedule = SCHEDULE
    for old, new in edits:
        assert old in schedule
        schedule = schedule.replace(old, new)
    lowering = Lowering(GEMM.replace("SCHEDULE", schedule), "sm_90a", first="fuse")
    (ptx,) = lowering.ptx().values()
    (launch,) = json.loads(lowering.plan_json())["steps"]
    return ptx, launch


def test_edited_schedules_change_the_code() -> None:
    ptx, launch = compile_gemm()
    assert "m64n256k16" in ptx and "multicast" not in ptx and "cp.async.bulk.tensor.2d.global.shared" in ptx

    narrow, _ = compile_gemm(("n: 256", "n: 128"))
    assert "m64n128k16" in narrow and "m64n256k16" not in narrow

    deep, deeper = compile_gemm(("stages = 3", "stages = 2"))
    assert deeper["shared"] < launch["shared"] and deep.count("mbarrier.init") == ptx.count("mbarrier.init") - 2

    pair, together = compile_gemm(("cluster = 1, multicast = none", "cluster = 2, multicast = b"))
    assert "multicast::cluster" in pair and together["cluster"] != launch["cluster"]

    direct, _ = compile_gemm(("epilogue = tma", "epilogue = direct"))
    assert "cp.async.bulk.tensor.2d.global.shared" not in direct and "st.global" in direct

    one, smaller = compile_gemm(("m: 128", "m: 64"), ("consumers = 2", "consumers = 1"))
    assert smaller["block"] < launch["block"] and "m64n256k16" in one

    portable, _ = compile_gemm(
        ("m: 128, n: 256", "m: 64, n: 64"),
        ("stages = 3, consumers = 2", "stages = 1, consumers = 4"),
        ("epilogue = tma, mma = wgmma, persistent", "epilogue = direct, mma = mma_sync"),
    )
    assert "mma.sync.aligned.m16n8k16" in portable and "wgmma" not in portable


def tile_ops() -> set[str]:
    page = (ROOT / "docs" / "generated" / "dialects" / "emmy_tile.md").read_text()
    return set(re.findall(r"^### `(emmy_tile\.\w+)` \(", page, re.MULTILINE))


def test_every_tile_op_lowers() -> None:
    """Each op of emmy_tile occurs in some kernel of the lowering's tests, and nothing of emmy_tile is left behind."""
    seen: set[str] = set()
    files = [
        *(ROOT / "test/lit/Conversion").glob("convert-emmy-tile-to-nvvm-*.mlir"),
        *(ROOT / "test/lit/Tile/kernels").glob("*.mlir"),
    ]
    for path in files:
        if "invalid" in path.name:
            continue
        for part in path.read_text().split("// -----"):
            module = parse(part, make_context(), path.name)
            seen.update(re.findall(r'"(emmy_tile\.\w+)"', module.operation.get_asm(print_generic_op_form=True)))
            run_pipeline(module, ["convert-emmy-tile-to-nvvm"])
            assert '"emmy_tile.' not in module.operation.get_asm(print_generic_op_form=True)
    assert tile_ops() - seen == set()
