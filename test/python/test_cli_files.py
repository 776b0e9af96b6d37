"""MLIR files on the command line: any level is taken, from there on, for the target that it is for; and what passes chose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emmy.cli import main
from emmy.pipeline import detect_stage, make_context, parse, run_pipeline
from emmy.toolchain import find_ptxas

LINEAR = """
func.func @main(%x: tensor<512x64xbf16>, %w: tensor<2048x64xbf16>, %b: tensor<2048xbf16>) -> tensor<512x2048xbf16> {
  %y = emmy_graph.linear %x, %w bias %b : (tensor<512x64xbf16>, tensor<2048x64xbf16>, tensor<2048xbf16>) -> tensor<512x2048xbf16>
  return %y : tensor<512x2048xbf16>
}
"""
KERNEL = """
emmy_tile.kernel @mere(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1 {
}
"""


def lowered(*passes: str) -> str:
    module = parse(LINEAR, make_context())
    for name in passes:
        run_pipeline(module, [name])
    return str(module)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "linear.mlir"
    path.write_text(LINEAR)
    return path


def output(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def error(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(argument) for argument in arguments]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("passes", "stage"),
    [
        ((), "torch"),
        (("emmy-torch-to-graph",), "graph"),
        (("emmy-fuse",), "fuse"),
        (("emmy-fuse", "emmy-schedule"), "fuse"),
        (("emmy-fuse", "emmy-fuse-to-sched"), "sched"),
        (("emmy-fuse", "emmy-fuse-to-sched", "emmy-sched-to-tile"), "tile"),
        (("emmy-fuse", "emmy-fuse-to-sched", "emmy-sched-to-tile", "emmy-tile-to-nvvm"), "nvvm"),
        (("emmy-fuse", "emmy-fuse-to-cpu"), "llvm"),
    ],
)
def test_every_level_is_known(passes: tuple[str, ...], stage: str) -> None:
    assert detect_stage(parse(lowered(*passes), make_context())) == stage


def test_composite_operations_are_decomposed(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    assert "emmy_fuse.kernel" in output(capsys, "compile", file, "--ir", "fuse")


def test_an_edited_schedule_reaches_the_ptx(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    scheduled = lowered("emmy-fuse", "emmy-schedule")
    for columns in (64, 128):
        fewer = re.sub(r"stages = \d+", "stages = 3", scheduled)
        file.write_text(re.sub(r"tile = \[m: \d+, n: \d+\]", f"tile = [m: 128, n: {columns}]", fewer))
        assert f"m64n{columns}k16" in output(capsys, "compile", file, "--ir", "ptx")


def test_a_file_keeps_its_target(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    for target in ("sm_80", "sm_90a"):
        text = output(capsys, "compile", file, "--ir", "fuse", "--target", target)
        assert f'emmy.target<"{target}"' in text
        (file.parent / "fuse.mlir").write_text(text)
        other = "sm_90a" if target == "sm_80" else "sm_80"
        message = error(capsys, "compile", file.parent / "fuse.mlir", "--ir", "ptx", "--target", other)
        assert f"was lowered for {target}, so it cannot become {other}" in message and message.count("\n") == 1
        assert f".target {target}" in output(capsys, "compile", file.parent / "fuse.mlir", "--ir", "ptx")


def test_a_graph_may_be_lowered_for_another_target(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    file.write_text(output(capsys, "compile", file, "--ir", "graph", "--target", "sm_90a"))
    assert ".target sm_80" in output(capsys, "compile", file, "--ir", "ptx", "--target", "sm_80")


def test_locations_name_the_file(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    file.write_text(re.sub(r"stages = \d+", "stages = 0", lowered("emmy-fuse", "emmy-schedule")))
    message = error(capsys, "compile", file, "--ir", "sched")
    assert f"{file}:" in message and "has an illegal schedule" in message


def test_options_that_mean_nothing_for_a_file(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    assert "--input has no meaning" in error(capsys, "compile", file, "--input", "3x3xf32")
    assert "--dynamic has no meaning" in error(capsys, "compile", file, "--dynamic", "x.0=m")


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_mere_kernels_are_assembled(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    file.write_text(KERNEL)
    assert "assembled mere for sm_90a" in output(capsys, "compile", file)
    assert "the program has no host function" in error(capsys, "compile", file, "-o", file.with_suffix(".json"))


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_the_files_that_were_written_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = "(lambda x, w: (x @ w, torch.softmax(x, 0)))(torch.randn(64, 64), torch.randn(64, 64))"
    printed = output(capsys, "compile", "-c", program, "-o", tmp_path / "a.cubin").splitlines()
    paths = [Path(line.removeprefix("wrote ")) for line in printed]
    assert len(paths) == 2 and all(path.is_file() for path in paths)


def test_what_the_passes_chose(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    printed = output(capsys, "compile", file, "--explain")
    assert re.search(r"^schedule of @\w+: #emmy_sched.contraction<.*>; expected: [\d.]+ us, .* \[emmy-pick", printed, re.M)
    printed = output(capsys, "compile", "-c", "F.softmax(torch.randn(64, 512), -1)", "--target", "sm_90a", "--explain")
    assert "schedule of @softmax: #emmy_sched.streaming<" in printed and "piece 1 of 1: not called yet" in printed
    file.write_text(lowered("emmy-fuse", "emmy-schedule"))
    assert "given schedule of @" in output(capsys, "compile", file, "--explain")


def test_explaining_and_partial_compilation_take_what_is_unsupported(capsys: pytest.CaptureFixture[str]) -> None:
    program = "(lambda x: torch.linalg.qr(x.exp())[0].sin())(torch.randn(3, 3))"
    assert "eager: aten.linalg_qr" in output(capsys, "compile", "-c", program, "--explain")
    assert main(["compile", "-c", program, "--partial", "--ir", "graph"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("func.func") == 2 and "left to PyTorch: aten.linalg_qr" in captured.err


def test_what_is_compiled_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["compile", "-c", "nn.Linear(8, 3)(torch.randn(4, 8)).relu()", "--ir", "graph"]) == 0
    said = capsys.readouterr().err
    assert "compiled relu, called with 4x3" in said and "the target is sm_90a; no GPU is here" in said


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0 and capsys.readouterr().out.startswith("emmy ")
