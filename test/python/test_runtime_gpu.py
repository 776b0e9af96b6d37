"""Plans on a GPU: launches, TMA descriptors, streams, CUDA graphs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from emmy._runtime import Plan, PlanMismatch, device_info
from runtime_kernels import document, launch, tensor
from runtime_ptx import BOX, RANKS, SCALE, SHARED, ptx

HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() >= (9, 0)
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not HOPPER, reason="needs a GPU with sm_90 or newer")]

TEMP = {"temp": True, "offset": 0, "bytes": ["*", 4, "s0"]}


def scale(source: int, target: int, factor: float, **more: Any) -> dict[str, Any]:
    params = [{"ptr": source}, {"ptr": target}, {"i32": "s0"}, {"f32": factor}]
    return launch("scale", *params, module="m", grid=[["ceildiv", "s0", 128]], block=128, **more)


def chain_plan(length: int = 3, pdl: bool = False) -> Plan:
    """y = 2**length · x through one temporary, or back and forth."""
    steps = [scale(0, 2, 2.0, pdl=pdl)]
    steps += [scale(2, 2, 2.0, pdl=pdl) for _ in range(length - 2)]
    steps += [scale(2, 1, 2.0, pdl=pdl)]
    return Plan(
        document(
            target="sm_90",
            symbols=[{"id": 0, "arg": 0, "dim": 0}],
            args=[tensor(["s0"])],
            buffers=[{"arg": 0}, {"output": 0, "dtype": "f32", "sizes": ["s0"]}, TEMP],
            arena_bytes=["*", 4, "s0"],
            outputs=[1],
            steps=steps,
        ),
        {"m": ptx(SCALE)},
    )


def one_output_plan(kernel: str, source: str, count: int, **more: Any) -> Plan:
    return Plan(
        document(
            target="sm_90",
            buffers=[{"output": 0, "dtype": "i32", "sizes": [count]}],
            outputs=[0],
            steps=[launch(kernel, {"ptr": 0}, module="m", **more)],
        ),
        {"m": ptx(source)},
    )


def box_plan() -> Plan:
    """The 4x8 box of x at (row, column), zero where it leaves x."""
    tmap = {"buffer": 0, "dtype": "f32", "sizes": ["s0", "s1"], "strides": [["*", "s2", 4]], "box": [4, 8]}
    return Plan(
        document(
            target="sm_90",
            symbols=[
                {"id": 0, "arg": 0, "dim": 0},
                {"id": 1, "arg": 0, "dim": 1},
                {"id": 2, "arg": 0, "stride": 0},
                {"id": 3, "arg": 1, "scalar": True},
                {"id": 4, "arg": 2, "scalar": True},
            ],
            args=[tensor(["s0", "s1"], strides=["s2", 1], align=16), {"scalar": "i64"}, {"scalar": "i64"}],
            buffers=[{"arg": 0}, {"output": 0, "dtype": "f32", "sizes": [4, 8]}],
            outputs=[1],
            steps=[launch("box", {"tmap": tmap}, {"ptr": 1}, {"i32": "s4"}, {"i32": "s3"}, module="m", block=32)],
        ),
        {"m": ptx(BOX)},
    )


@pytest.mark.parametrize("pdl", [False, True])
@pytest.mark.parametrize("size", [0, 1, 1000, 1 << 20])
def test_chain_through_temporary(size: int, pdl: bool) -> None:
    x = torch.randn(size, device="cuda")
    (y,) = chain_plan(8, pdl)(x)
    assert torch.equal(y, 256 * x)
    y.record_stream(torch.cuda.Stream())


def test_argument_on_cpu_is_a_mismatch() -> None:
    with pytest.raises(PlanMismatch, match="argument #0 'x': expected a tensor on the GPU, but got one on the CPU"):
        chain_plan()(torch.zeros(4))


def test_clusters() -> None:
    (ranks,) = one_output_plan("ranks", RANKS, 8, grid=[8, 1, 1], block=32, cluster=[4, 1, 1])()
    assert ranks.tolist() == [400, 401, 402, 403] * 2


def test_large_shared_memory() -> None:
    (value,) = one_output_plan("shared", SHARED, 1, block=1, shared=200_000)()
    assert value.item() == 7


def test_too_much_shared_memory_is_reported() -> None:
    with pytest.raises(RuntimeError, match="kernel 'shared' with 1000000 bytes of shared memory"):
        one_output_plan("shared", SHARED, 1, block=1, shared=1_000_000)()


def test_code_that_does_not_load_shows_the_log() -> None:
    with pytest.raises(RuntimeError, match="(?s)code object 'm' for target sm_90 does not load.*frobnicate"):
        one_output_plan("scale", SCALE.replace("mad.lo", "frobnicate"), 1)()


def test_unknown_kernel_is_reported() -> None:
    with pytest.raises(RuntimeError, match="kernel 'absent' in code object 'm'"):
        one_output_plan("absent", SCALE, 1).load()


def test_tma_descriptor() -> None:
    plan = box_plan()
    for width in (16, 64, 12):
        x = torch.arange(10 * width, device="cuda", dtype=torch.float32).reshape(10, width)
        view = x[:, : width - 4]
        for row, column in ((0, 0), (3, 4), (8, 4)):
            expected = torch.zeros(4, 8, device="cuda")
            part = view[row : row + 4, column : column + 8]
            expected[: part.shape[0], : part.shape[1]] = part
            assert torch.equal(plan(view, row, column)[0], expected)


def test_refused_tma_descriptor_is_reported() -> None:
    with pytest.raises(RuntimeError, match=r"TMA descriptor of f32 was refused.*sizes \[8, 9\], byte strides \[36\]"):
        box_plan()(torch.zeros(8, 9, device="cuda"), 0, 0)


def test_copies_and_fills() -> None:
    plan = Plan(
        document(
            target="sm_90",
            args=[tensor([8])],
            buffers=[{"arg": 0}, {"output": 0, "dtype": "f32", "sizes": [8]}],
            outputs=[1],
            steps=[{"copy": [1, 0]}, {"fill": 1, "value": 0, "offset": 8, "bytes": 4}],
        ),
        {},
    )
    assert plan(torch.ones(8, device="cuda"))[0].tolist() == [1, 1, 0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("loaded", [True, False])
def test_captured_in_a_graph_that_outlives_the_plan(loaded: bool) -> None:
    plan = chain_plan(4, pdl=True)
    if loaded:
        plan.load()
    x = torch.ones(1000, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (y,) = plan(x)
    del plan
    for value in (1.0, 5.0):
        x.fill_(value)
        graph.replay()
        assert torch.equal(y, 16 * x)


@pytest.mark.parametrize("ahead", ["kernel", "copy", "stream", "captured"])
def test_first_launch_waits_for_what_is_ahead(ahead: str) -> None:
    """The launch may overlap foreign work, its reads and writes may not."""
    plan = chain_plan(4, pdl=True)
    plan.load()
    a = torch.randn(4096, 4096, device="cuda")
    expected = torch.mm(a, a)
    side = torch.cuda.Stream()

    def run(x: torch.Tensor) -> torch.Tensor:
        if ahead == "copy":
            x.copy_(torch.mm(a, a))
        elif ahead == "stream":
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.mm(a, a, out=x)
            torch.cuda.current_stream().wait_stream(side)
        else:
            torch.mm(a, a, out=x)
        (y,) = plan(x.view(-1))
        x.fill_(float("nan"))  # after the plan's reads
        return y

    x = torch.full_like(a, float("nan"))
    if ahead == "captured":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = run(x)
    for _ in range(20):
        if ahead == "captured":
            graph.replay()
        else:
            y = run(x)
        assert torch.equal(y, 16 * expected.view(-1))


def test_threads_and_streams() -> None:
    plan = chain_plan(6)
    torch.cuda.synchronize()

    def work(seed: int) -> bool:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            good = True
            for i in range(100):
                x = torch.full((1000 * seed + 1,), float(i), device="cuda")
                good &= torch.equal(plan(x)[0], 64 * x)
        return good

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_follows_the_device_of_its_arguments() -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    plan = chain_plan()
    x = torch.ones(64, device="cuda:1")
    (y,) = plan(x)
    assert y.device == x.device and torch.equal(y, 8 * x)
    with pytest.raises(PlanMismatch):
        plan(torch.ones(64))
    assert torch.equal(plan(torch.ones(64, device="cuda:0"))[0].cpu(), 8 * torch.ones(64))


def test_device_info() -> None:
    info, reason = device_info()
    assert reason is None
    major, minor = torch.cuda.get_device_capability()
    assert info["sm"] == 10 * major + minor and info["name"] == torch.cuda.get_device_name()
