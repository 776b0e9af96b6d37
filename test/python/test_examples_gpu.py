"""The examples on a GPU in bf16: static and symbolic lengths, odd layouts, threads and streams, weights changed in place.

Memory is poisoned first, so that what a kernel leaves unwritten shows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import emmy
import pytest
import torch
from emmy._testing import assert_close_to_eager, needs_gpu, poison, reference64
from example_models import EXAMPLES, Example, Shape
from torch import nn

pytestmark = [pytest.mark.gpu, needs_gpu]

SHAPE = Shape()
LENGTHS = (1, 17, 512, 1000, 2048)
Inputs = tuple[torch.Tensor, ...]


def prepare(example: Example, length: int) -> tuple[nn.Module, Inputs]:
    model = example.make_model(SHAPE).to("cuda", torch.bfloat16).eval()
    return model, inputs_of(example, length)


def inputs_of(example: Example, length: int) -> Inputs:
    return tuple(x.to("cuda", torch.bfloat16) for x in example.make_inputs(SHAPE, length))


def poison_free_memory() -> None:
    """Leaves NaN in the blocks that the allocator gives out next."""
    sizes = [1 << power for power in range(9, 28)]
    blocks = [poison(torch.empty(size // 2, device="cuda", dtype=torch.bfloat16)) for size in sizes for _ in range(2)]
    del blocks


def check(compiled: Callable[..., object], model: nn.Module, inputs: Inputs) -> None:
    with torch.no_grad():
        eager, exact = model(*inputs), reference64(model, inputs)
        poison_free_memory()
        assert_close_to_eager(compiled(*inputs), eager, exact)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_static_length(example: Example) -> None:
    model, inputs = prepare(example, 512)
    check(emmy.compile(model, inputs, fullgraph=True), model, inputs)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_symbolic_length(example: Example) -> None:
    model, inputs = prepare(example, 64)
    compiled = emmy.compile(model, inputs, dynamic=example.dynamic(4096), fullgraph=True)
    for length in LENGTHS:
        check(compiled, model, inputs_of(example, length))


def offset(x: torch.Tensor) -> torch.Tensor:
    """One element behind an aligned address; that one is a number, since PyTorch's own attention reads it."""
    storage = torch.zeros(x.numel() + 1, device=x.device, dtype=x.dtype)
    return storage[1:].view(x.shape).copy_(x)


def permuted(x: torch.Tensor) -> torch.Tensor:
    """The innermost axis has a large stride."""
    return x.transpose(0, -1).contiguous().transpose(0, -1)


def expanded(x: torch.Tensor) -> torch.Tensor:
    """The outermost axis has stride 0."""
    return x[:1].expand(x.shape)


def sliced(x: torch.Tensor) -> torch.Tensor:
    """Every second element of the outermost axis, and part of the innermost."""
    storage = torch.empty(2 * x.shape[0], *x.shape[1:-1], x.shape[-1] + 24, device=x.device, dtype=x.dtype)
    return storage[::2, ..., 8 : x.shape[-1] + 8].copy_(x)


@pytest.mark.parametrize("lay_out", [offset, permuted, expanded, sliced], ids=lambda lay_out: lay_out.__name__)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_layouts(example: Example, lay_out: Callable[[torch.Tensor], torch.Tensor]) -> None:
    model, inputs = prepare(example, 200)
    inputs = (lay_out(inputs[0]), *inputs[1:])
    check(emmy.compile(model, inputs, fullgraph=True), model, inputs)
    symbolic = emmy.compile(model, inputs_of(example, 64), dynamic=example.dynamic(4096), fullgraph=True)
    check(symbolic, model, inputs)


def test_threads_and_streams() -> None:
    """8 threads with 8 streams of their own make 1,000 calls on each; every result has the bits of the first."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.RMSNorm(256), nn.Linear(256, 128)).to("cuda", torch.bfloat16).eval()
    x = torch.randn(64, 256, device="cuda", dtype=torch.bfloat16)
    compiled = emmy.compile(model, (x,), fullgraph=True)
    with torch.no_grad():
        expected = compiled(x)
    torch.cuda.synchronize()
    wrong: list[int] = []

    def work() -> None:
        streams = [torch.cuda.Stream() for _ in range(8)]
        flags = []
        with torch.no_grad():
            for _ in range(1000):
                for stream in streams:
                    with torch.cuda.stream(stream):
                        flags.append((compiled(x) != expected).any())
                if len(flags) >= 800:
                    torch.cuda.synchronize()
                    wrong.append(int(torch.stack(flags).sum()))
                    flags.clear()
        torch.cuda.synchronize()
        wrong.append(int(torch.stack(flags).sum()) if flags else 0)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) >= 8 and sum(wrong) == 0


def test_weight_changed_in_place() -> None:
    model = nn.Linear(256, 128).to("cuda", torch.bfloat16).eval()
    x = torch.randn(64, 256, device="cuda", dtype=torch.bfloat16)
    compiled = emmy.compile(model, (x,), fullgraph=True)
    check(compiled, model, (x,))
    with torch.no_grad():
        model.weight.mul_(-3)
        model.bias.add_(1)
    check(compiled, model, (x,))
