"""`emmy.compile` as a user meets it: structures, state, layouts, shapes, symbolic sizes, unsupported pieces."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import emmy
import pytest
import torch
import torch.nn.functional as F
from emmy._testing import assert_close_to_eager, reference64
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(16)
        self.linear = nn.Linear(16, 8)

    def forward(self, x: torch.Tensor, scale: float = 1.0, *, mask: torch.Tensor | None = None) -> dict[str, Any]:
        y = self.linear(self.norm(x)) * scale
        return {"y": y if mask is None else y * mask, "more": [y.sum(-1), None]}


@dataclass
class Output:
    logits: torch.Tensor
    hidden: torch.Tensor | None = None


def check(compiled: Any, eager: Any, *args: Any, **kwargs: Any) -> None:
    with torch.no_grad():
        expected = eager(*args, **kwargs)
    assert_close_to_eager(compiled(*args, **kwargs), expected, reference64(eager, args, kwargs))


def test_structures_and_keywords() -> None:
    net, x, mask = Net().eval(), torch.randn(3, 16), torch.randn(3, 8)
    compiled = emmy.compile(net, target="cpu")
    check(compiled, net, x)
    check(compiled, net, x, 2.0)
    check(compiled, net, x, mask=mask)
    check(compiled, net, mask=mask, x=x)


def test_dataclasses_come_back() -> None:
    compiled = emmy.compile(lambda x: Output(x * 2), target="cpu")
    result = compiled(torch.ones(3))
    assert isinstance(result, Output) and result.hidden is None
    assert torch.equal(result.logits, torch.full((3,), 2.0))


def test_state_is_read_at_every_call() -> None:
    net, x = Net().eval(), torch.randn(3, 16)
    compiled = emmy.compile(net, (x,), target="cpu")
    check(compiled, net, x)
    with torch.no_grad():
        net.linear.weight.mul_(2)
    check(compiled, net, x)
    net.load_state_dict(Net().state_dict())
    check(compiled, net, x)
    net.linear.weight = nn.Parameter(torch.randn(8, 16))
    check(compiled, net, x)


def test_a_module_may_change_its_type() -> None:
    net = Net().eval()
    compiled = emmy.compile(net, target="cpu")
    check(compiled, net, torch.randn(3, 16))
    net.to(torch.bfloat16)
    check(compiled, net, torch.randn(3, 16).bfloat16())


def test_buffers_that_the_program_changes() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count += x
            return self.count * 2

    counter = Counter()
    compiled = emmy.compile(counter, target="cpu")
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 2.0))
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 4.0))
    assert torch.equal(counter.count, torch.full((2,), 2.0))


def test_inputs_that_the_program_changes() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 2

    x = torch.zeros(3)
    assert torch.equal(emmy.compile(function, target="cpu")(x), torch.full((3,), 2.0))
    assert torch.equal(x, torch.ones(3))


@pytest.mark.parametrize("kind", ["offset", "transposed", "expanded", "sliced", "size_one"])
def test_every_layout_is_right_without_a_copy(kind: str) -> None:
    base = torch.randn(17, 33)
    x = {
        "offset": torch.randn(1 + 4 * 16)[1:].view(4, 16),
        "transposed": torch.randn(16, 4).t(),
        "expanded": torch.randn(16).expand(4, 16),
        "sliced": base[1:9:2, 3:19],
        "size_one": torch.randn(4, 1, 16).transpose(0, 1)[0],
    }[kind]
    function = lambda x: F.softmax(x * 2, -1)  # noqa: E731
    compiled = emmy.compile(function, (torch.randn(4, 16),), target="cpu")
    check(compiled, function, x)
    check(compiled, function, torch.randn(4, 16))


def test_symbolic_sizes() -> None:
    net = Net().eval()
    compiled = emmy.compile(net, (torch.randn(3, 16),), target="cpu", dynamic={"x": {0: ("m", 1, 64)}})
    for rows in (1, 2, 17, 64):
        check(compiled, net, torch.randn(rows, 16))
    with pytest.raises(emmy.ShapeError, match=r"argument 'x': expected m\(1..64\)x16xf32, but got 65x16xf32"):
        compiled(torch.randn(65, 16))


def test_wrong_shapes_say_expected_and_got() -> None:
    compiled = emmy.compile(Net().eval(), (torch.randn(3, 16),), target="cpu")
    with pytest.raises(emmy.ShapeError, match="argument 'x': expected 3x16xf32, but got 3x15xf32"):
        compiled(torch.randn(3, 15))
    with pytest.raises(emmy.ShapeError, match="expected 3x16xf32, but got 3x16xbf16"):
        compiled(torch.randn(3, 16).bfloat16())


def test_without_examples_every_shape_is_compiled_when_it_comes() -> None:
    function = torch.sin
    compiled = emmy.compile(function, target="cpu")
    check(compiled, function, torch.randn(3))
    check(compiled, function, torch.randn(4, 5))
    check(compiled, function, torch.randn(3))


def test_unsupported_pieces_run_eagerly() -> None:
    function = lambda x: torch.linalg.qr(x.exp())[0].abs() * 2  # noqa: E731
    x = torch.randn(4, 4)
    compiled = emmy.compile(function, target="cpu")
    torch.testing.assert_close(compiled(x), function(x))
    assert "linalg_qr" in compiled.explain()
    with pytest.raises(emmy.UnsupportedOpError):
        emmy.compile(function, (x,), target="cpu", fullgraph=True)


def test_gradients_run_eagerly() -> None:
    x = torch.randn(3, requires_grad=True)
    emmy.compile(torch.sin, target="cpu")(x).sum().backward()
    assert x.grad is not None


def test_parameters_that_require_gradients_are_noted_once(caplog: pytest.LogCaptureFixture) -> None:
    compiled = emmy.compile(nn.Linear(4, 2), target="cpu")
    for _ in range(2):
        assert not compiled(torch.randn(3, 4)).requires_grad
    assert [record.message for record in caplog.records if "compiles inference only" in record.message] == [
        "Linear has parameters that require gradients, and its compiled result has none: Emmy compiles inference only; "
        "call it under torch.no_grad(), or use torch.compile(backend='emmy'), which then runs eagerly"
    ]
    caplog.clear()
    with torch.no_grad():
        emmy.compile(nn.Linear(4, 2), target="cpu")(torch.randn(3, 4))
    assert not [record for record in caplog.records if record.name.startswith("emmy")]


def test_arguments_that_are_missing_are_named() -> None:
    compiled = emmy.compile(lambda x, y: x + y, (torch.randn(3), torch.randn(3)), target="cpu")
    with pytest.raises(emmy.UsageError, match="missing a required argument: 'y'"):
        compiled(torch.randn(3))
    with pytest.raises(emmy.UsageError, match="too many positional arguments"):
        compiled(*[torch.randn(3)] * 3)


def test_code_for_a_gpu_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(emmy.DeviceError, match="target='cpu' to run here"):
        emmy.compile(torch.sin, target="sm_90a")(torch.randn(8))


def test_control_flow_over_data_has_advice() -> None:
    with pytest.raises(emmy.TraceError, match='backend="emmy"'):
        emmy.compile(lambda x: x if x.sum() > 0 else -x, (torch.ones(2),), target="cpu")


def test_copies_and_attributes() -> None:
    net = Net().eval()
    compiled = emmy.compile(net, target="cpu")
    compiled(torch.randn(3, 16))
    twin = copy.deepcopy(compiled)
    assert twin.linear is not net.linear and compiled.linear is net.linear
    check(twin, net, torch.randn(3, 16))


def test_programs_that_compute_nothing() -> None:
    x = torch.randn(3)
    assert emmy.compile(lambda x: (x, 3), (x,), target="cpu")(x)[1] == 3


def test_dynamo_backend() -> None:
    from emmy.frontend.dynamo import emmy_backend

    net = Net().eval()
    compiled = torch.compile(net, backend=emmy_backend, dynamic=True)
    with torch.no_grad():
        for rows in (3, 5, 8):
            check(compiled, net, torch.randn(rows, 16))


@pytest.mark.parametrize(
    "net",
    [torch.nn.LayerNorm(16), torch.nn.RMSNorm(16, eps=1e-6), torch.nn.Sequential(torch.nn.Linear(16, 4), torch.nn.Dropout(0.3))],
    ids=["layer_norm", "rms_norm", "dropout"],
)
def test_dynamo_backend_fixes_python_floats(net: torch.nn.Module, caplog: pytest.LogCaptureFixture) -> None:
    from emmy.frontend.dynamo import emmy_backend

    torch._dynamo.reset()
    net.eval()
    compiled = torch.compile(net, backend=emmy_backend, dynamic=True)
    with torch.no_grad():
        for rows in (3, 5):
            check(compiled, net, torch.randn(rows, 16))
        if hasattr(net, "eps"):
            net.eps = 0.5
            check(compiled, net, torch.randn(3, 16))
    assert "runs eagerly" not in caplog.text
