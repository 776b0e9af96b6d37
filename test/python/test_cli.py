"""The command line: every kind of bad input is one clear line on stderr and exit code 2, without a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import emmy
import pytest
import torch
from emmy.cache import DiskCache
from emmy.cli import main
from torch import nn

LINEAR = "nn.Linear(3, 2, bias=False)(torch.randn(4, 3))"

MODEL = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 4)

    def forward(self, x):
        return self.linear(x).relu()

class Broken(nn.Module):
    def __init__(self):
        raise ValueError("no weights")

def example_inputs():
    return (torch.randn(2, 8),)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Runs the command, which must fail with code 2 and one line, and returns that line."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("emmy: error: ") and "Traceback" not in captured.err
    assert captured.err.count("\n") == 1, captured.err
    return captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-c", "nn.Linear(3, 2"), "not a Python expression"),
        (("-c", "torch.ones"), "not a call"),
        (("-c", "nn.Liner(3, 2)(torch.randn(4, 3))"), "Liner"),
        (("-c", LINEAR, "--ir", "shed"), "did you mean sched"),
        (("-c", LINEAR, "--ir", "tile", "--target", "cpu"), "cpu target has no stage 'tile'"),
        (("-c", LINEAR, "--target", "sm90"), "no target 'sm90'"),
        (("-c", LINEAR, "-o", "x.exe"), "suffix"),
        (("-c", LINEAR, "--dynamic", "x"), "--dynamic x"),
        (("-c", LINEAR, "--dynamic", "nope.0=m"), "no input 'nope'"),
        (("-c", LINEAR, "--input", "4x3xf32"), "--input belongs to"),
        (("-c", "nn.Linear(3, 2)(torch.randn(4, 5))"), "[4, 5] X [3, 2]"),
        (("-c", "torch.linalg.qr(torch.randn(3, 3))"), "is not supported"),
        (("-c", "(lambda x: x)(torch.ones(2))", "--ir"), "computes nothing"),
        (("-c", "nn.Linear(3, 2)(torch.randn(4, 3), 5)"), "too many positional arguments"),
        (("-c", "(lambda x: x if x.sum() > 0 else -x)(torch.ones(2))"), "cannot be traced"),
        (("-c", LINEAR, "-o", "/proc/none.ptx"), "cannot write /proc/none.ptx"),
        (("missing.py:Model",), "no such file"),
        (("missing.mlir", "--ir"), "cannot read missing.mlir"),
        (("model.txt",), "expected FILE.py:Class"),
        ((), "give either -c EXPRESSION or a program: FILE.py:Class, FILE.py:function or FILE.mlir"),
        (("-c", LINEAR, "-o", "-"), "or --ir to print"),
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    assert message in fails(capsys, "compile", *arguments)


def test_unsupported_operations_say_what_where_and_what_to_do(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    text = MODEL.replace("self.linear(x).relu()", "self.linear(x).sort()[0]")
    model.write_text(text)
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "sort" in line)
    message = fails(capsys, "compile", f"{model}:Model")
    for part in ("aten.sort", "2x4xfloat32", f"{model}:{line}", "rewrite it with supported operations"):
        assert part in message


def test_no_ptxas(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EMMY_PTXAS", str(tmp_path / "absent"))
    assert "correct EMMY_PTXAS" in fails(capsys, "compile", "-c", LINEAR, "-o", str(tmp_path / "x.cubin"))
    monkeypatch.delenv("EMMY_PTXAS")
    monkeypatch.setattr("emmy.toolchain._candidates", lambda name: iter(()))
    assert "pip install nvidia-cuda-nvcc" in fails(capsys, "compile", "-c", LINEAR, "-o", str(tmp_path / "x.cubin"))
    assert "pip install nvidia-cuda-nvcc" in fails(capsys, "compile", "-c", LINEAR, "--ir", "sass")


def test_a_program_that_eager_pytorch_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    expression = "nn.Embedding(4, 3)(torch.tensor([9]))"
    assert main(["run", "-c", expression, "--check"]) == 2
    assert "IndexError" in capsys.readouterr().err


def test_bad_settings(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMMY_CACHE_SIZE_MB", "many")
    assert "EMMY_CACHE_SIZE_MB" in fails(capsys, "cache", "ls")


def test_a_damaged_cache_entry_is_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("EMMY_CACHE_DIR", str(tmp_path))
    assert main(["compile", "-c", LINEAR]) == 0
    (entry,) = tmp_path.glob("*/*.entry")
    entry.write_bytes(entry.read_bytes()[:-1])
    caplog.clear()
    assert main(["compile", "-c", LINEAR]) == 0
    assert [record.message.split(":")[0] for record in caplog.records if record.name == "emmy.cache"] == [
        "dropped a damaged cache entry"
    ]


def test_wrong_shapes_say_expected_and_got() -> None:
    compiled = emmy.compile(nn.Linear(3, 2), (torch.randn(4, 3),), target="cpu")
    with pytest.raises(emmy.ShapeError, match="argument 'input': expected 4x3xf32, but got 5x3xf32"):
        compiled(torch.randn(5, 3))


def test_bad_classes(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    assert "did you mean Model" in fails(capsys, "compile", f"{model}:Modle")
    assert "ValueError: no weights" in fails(capsys, "compile", f"{model}:Broken")
    model.write_text("def f(:")
    assert "model.py:1" in fails(capsys, "compile", f"{model}:Model")
    model.write_text("import no_such_module")
    assert "no_such_module" in fails(capsys, "compile", f"{model}:Model")
    model.write_text("class Model: pass")
    assert "example_inputs()" in fails(capsys, "compile", f"{model}:Model")


def test_bad_mlir(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @main( {")
    assert main(["compile", str(path), "--ir", "fuse"]) == 2
    assert "not valid MLIR" in capsys.readouterr().err


def test_running_needs_a_gpu_when_told_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert "needs a CUDA GPU" in fails(capsys, "run", "-c", LINEAR, "--target", "sm_90a")


def test_the_torch_stage_is_plain_text_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "-c", LINEAR, "--ir", "torch"]) == 0
    out = capsys.readouterr().out
    assert out.count('"torch.aten.linear"') == 1 and "\x1b" not in out


def test_a_class_with_its_example_inputs(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    assert main(["compile", f"{model}:Model", "--ir", "torch"]) == 0
    assert 'emmy.param = "linear.weight"' in capsys.readouterr().out


def test_inputs_given_by_description(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    assert main(["compile", f"{model}:Model", "--ir", "torch", "--input", "5x8xf32", "--dynamic", "0.0=m:1:64"]) == 0
    assert "#emmy.dims<[s0, 8]>" in capsys.readouterr().out


def test_doctor_runs_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    for name in ("python", "torch", "gpu", "ptxas", "cache"):
        assert name in out


def test_cache_lists_and_clears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("EMMY_CACHE_DIR", str(tmp_path))
    assert main(["cache", "ls"]) == 0
    assert "0 entries" in capsys.readouterr().out
    DiskCache(tmp_path, 1 << 20).put(b"key", bytes(3000))
    assert main(["cache"]) == 0
    printed = capsys.readouterr().out
    assert "1 entries, 3.0 KiB" in printed and "of no program" in printed
    assert main(["cache", "clear"]) == 0
    assert "freed 3.0 KiB" in capsys.readouterr().out
    assert not list(tmp_path.glob("*/*"))


def test_run_on_the_simulator(capsys: pytest.CaptureFixture[str]) -> None:
    expression = "F.linear(torch.randn(70, 64).bfloat16(), torch.randn(48, 64).bfloat16())"
    assert main(["run", "--simulate", "--check", "-c", expression]) == 0
    printed = capsys.readouterr().out
    assert "70x48 bfloat16 from the simulator, sm_90a" in printed and "result 0: ok" in printed
    assert "simulated 1 launch of 1 program, seed 0, schedule random" in printed
    assert main(["run", "--simulate", "--schedule", "delay=async", "--seed", "3", "-c", expression]) == 0
    assert "seed 3, schedule delay=async" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--simulate", "--bench", "-c", LINEAR), "--simulate has none"),
        (("--simulate", "--seed", "-1", "-c", LINEAR), "seed -1: expected an integer from 0 to 2**64 - 1"),
        (("--seed", str(1 << 64), "-c", LINEAR), f"seed {1 << 64}: expected an integer from 0 to 2**64 - 1"),
        (("--simulate", "--schedule", "bogus", "-c", LINEAR), "schedule 'bogus': expected 'random', or 'delay=ROLE'"),
        (("--simulate", "--schedule", "delay=NOSUCH", "-c", LINEAR), "but got 'delay=NOSUCH'"),
        (("--schedule", "random", "-c", LINEAR), "--schedule belongs to --simulate"),
        (("--simulate", "--target", "cpu", "-c", LINEAR), "target 'cpu' has no hardware program to simulate"),
        (("--simulate", "-c", "(lambda x: x)(torch.ones(2))"), "nothing was simulated"),
        (("--simulate", "-c", "torch.add(torch.zeros(1, 1 << 26), torch.zeros(1 << 26))"), "tensors of at most 134217728 bytes"),
        (("model.mlir",), "emmy run needs inputs"),
        (("--simulate", "missing.mlir"), "cannot read missing.mlir"),
        (("--simulate", "--check", "missing.mlir"), "describes its inputs and results in emmy.simulate"),
    ],
)
def test_bad_simulations_are_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    assert message in fails(capsys, "run", *arguments)


SCENARIO = """
emmy_tile.kernel @counts(%y: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<0>}) grid [3, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1xi32>, fill = "zero", expect = "constant EXPECTED", dump}]}} {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  emmy_tile.one_thread {
    %old = emmy_tile.atomic_add %y[%zero], %one : !emmy_tile.ptr<i32>, i32 -> i32
  }
}
"""


def test_run_a_file_on_the_simulator(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "counts.mlir"
    path.write_text(SCENARIO.replace("EXPECTED", "3"))
    assert main(["run", "--simulate", str(path)]) == 0
    captured = capfd.readouterr()
    assert "@counts: 1 launch of 1 program under 20 schedules, 1 buffer compared" in captured.err
    assert "// buffer #0: 3.00" in captured.out
    path.write_text(SCENARIO.replace("EXPECTED", "4"))
    assert main(["run", "--simulate", str(path)]) == 1
    captured = capfd.readouterr()
    assert f"{path}:2:1: error: 'emmy_tile.kernel' op gives 3 at element 0 of buffer #0, but expected 4" in captured.err
    assert "see current operation" not in captured.err
    path.write_text("module {}")
    assert main(["run", "--simulate", str(path)]) == 1
    assert "nothing was simulated" in capfd.readouterr().err


@pytest.mark.parametrize("module", ["emmy", "emmy.cli"])
def test_runs_as_a_module(module: str) -> None:
    result = subprocess.run([sys.executable, "-m", module, "cache", "ls"], capture_output=True, text=True, check=True)
    assert "entries" in result.stdout
