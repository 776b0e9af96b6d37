"""What a trace has fixed is checked at each call: modes and state that changed are traced again."""

from __future__ import annotations

import pickle
import threading

import emmy
import pytest
import torch
from emmy.errors import UsageError
from torch import nn


def test_train_and_eval() -> None:
    net = nn.Sequential(nn.Linear(5, 5), nn.Dropout(0.9)).eval()
    compiled = emmy.compile(net, target="cpu")
    x = torch.randn(100, 5)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), net(x))
        net.train()
        assert (compiled(x) == 0).float().mean() > 0.5
        net[1].eval()
        torch.testing.assert_close(compiled(x), net(x))


def test_modes_of_captured_modules() -> None:
    drop = nn.Dropout(0.9).eval()
    compiled = emmy.compile(lambda x: drop(x) + 1, target="cpu")
    torch.testing.assert_close(compiled(torch.ones(100)), torch.full((100,), 2.0))
    drop.train()
    assert (compiled(torch.ones(100)) == 1).float().mean() > 0.5


def test_autocast() -> None:
    compiled = emmy.compile(lambda x: x @ x.t(), target="cpu")
    x = torch.randn(4, 4)
    assert compiled(x).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert compiled(x).dtype == torch.bfloat16
    with torch.autocast("cpu", torch.float16):
        assert compiled(x).dtype == torch.float16
    assert compiled(x).dtype == torch.float32


def test_fixed_programs_refuse_other_modes() -> None:
    net = nn.Sequential(nn.Linear(5, 5), nn.Dropout()).eval()
    compiled = emmy.compile(net, (torch.randn(4, 5),), target="cpu")
    net.train()
    with pytest.raises(emmy.ShapeError, match="modes"):
        compiled(torch.randn(4, 5))


def test_state_that_goes_away() -> None:
    net = nn.Linear(5, 5).eval()
    compiled = emmy.compile(net, target="cpu")
    x = torch.randn(4, 5)
    with torch.no_grad():
        compiled(x)
        net.bias = None
        torch.testing.assert_close(compiled(x), net(x))


def test_pickle() -> None:
    net = nn.Linear(5, 5)
    compiled = emmy.compile(net, target="cpu")
    x = torch.randn(4, 5)
    with torch.no_grad():
        compiled(x)
        torch.testing.assert_close(pickle.loads(pickle.dumps(compiled))(x), net(x))


def test_threads_that_trace_at_once() -> None:
    errors: list[BaseException] = []

    def work(width: int) -> None:
        net, x = nn.Sequential(nn.Linear(width, 5), nn.ReLU()), torch.randn(2, width)
        try:
            with torch.no_grad():
                torch.testing.assert_close(emmy.compile(net, target="cpu")(x), net(x))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(width,)) for width in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.parametrize("dynamic", ["rows", 3, {"x": "rows"}])
def test_bad_dynamic(dynamic: object) -> None:
    with pytest.raises(UsageError, match="dynamic"):
        emmy.compile(lambda x: x * 2, target="cpu", dynamic=dynamic)(torch.randn(3))


def test_bad_examples() -> None:
    with pytest.raises(UsageError, match="example_inputs"):
        emmy.compile(lambda x: x * 2, 5, target="cpu")
