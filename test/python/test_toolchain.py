"""The external programs: ptxas's report and errors, the search for both, SASS."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from emmy import toolchain
from emmy.errors import CompileError, ToolNotFoundError
from runtime_ptx import BOX, SCALE, ptx

needs_ptxas = pytest.mark.skipif(toolchain.find_ptxas() is None, reason="no ptxas")

REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma \
instructions defining accumulator registers of a wgmma between start and end of the pipeline stage in function 'gemm'
ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
ptxas info    : Function properties for gemm
    480 bytes stack frame, 612 bytes spill stores, 668 bytes spill loads
ptxas info    : Used 168 registers, used 2 barriers, 480 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compile time = 44.500 ms
ptxas info    : Compiling entry function 'rows' for 'sm_90a'
ptxas info    : Function properties for helper
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for rows
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers
"""


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_report() -> None:
    kernels, warnings = toolchain.parse_report(REPORT)
    assert kernels == (
        toolchain.KernelResources("gemm", 168, 2, 1024, 480, 612, 668),
        toolchain.KernelResources("rows", 32),
    )
    assert len(warnings) == 1 and "wgmma.mma_async instructions are serialized" in warnings[0]
    defects = toolchain.Assembled(b"", kernels, warnings, REPORT).defects
    assert [text.split(":")[0] for text in defects] == ["(C7510) Potential Performance Loss", "gemm", "gemm"]


def test_plain_notes_are_no_warnings() -> None:
    assert toolchain.parse_report("ptxas info    : 0 bytes gmem\nptxas info    : Compile time = 1 ms\n")[1] == ()
    assert toolchain.parse_report("ptxas warning : Value of threads is odd\n")[1] == ("Value of threads is odd",)


@needs_ptxas
def test_assembles() -> None:
    result = toolchain.assemble(ptx(SCALE, BOX).decode(), "sm_90a")
    assert result.cubin.startswith(b"\x7fELF")
    by_name = {kernel.name: kernel for kernel in result.kernels}
    assert set(by_name) == {"scale", "box"}
    assert 0 < by_name["scale"].registers < 32 and by_name["box"].shared_bytes >= 128
    assert result.defects == () and result.warnings == ()


@needs_ptxas
def test_error_names_line_and_keeps_the_ptx() -> None:
    with pytest.raises(CompileError, match="ptxas failed") as caught:
        toolchain.assemble(ptx(SCALE.replace("mad.lo", "frobnicate")).decode(), "sm_90a")
    error = caught.value
    assert error.ir_path is not None and "frobnicate" in error.ir_path.read_text()
    assert "frobnicate" in error.diagnostics[0].message and f"{error.ir_path}:" in error.diagnostics[0].location
    assert str(error.ir_path) in error.command


@needs_ptxas
def test_ptx_newer_than_ptxas() -> None:
    with pytest.raises(CompileError, match="is older than the PTX"):
        toolchain.assemble(ptx(SCALE).decode().replace(".version 8.0", ".version 99.0"), "sm_90a")


def test_explicit_ptxas_wins_and_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = program(tmp_path / "ptxas", "#!/bin/sh\necho 'Cuda compilation tools, release 99.1, V99.1.2'\n")
    monkeypatch.setenv("EMMY_PTXAS", str(mine))
    assert toolchain.find_ptxas() == mine
    assert toolchain.ptxas_version(mine) == "99.1, V99.1.2"
    monkeypatch.setenv("EMMY_PTXAS", str(tmp_path / "absent"))
    with pytest.raises(ToolNotFoundError, match="correct EMMY_PTXAS"):
        toolchain.require_ptxas()


def test_search_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each place is used only while all before it are empty."""
    toolkit = program(tmp_path / "toolkit/bin/ptxas")
    wheel = program(tmp_path / "site/nvidia/cu13/bin/ptxas")
    triton = program(tmp_path / "site/triton/backends/nvidia/bin/ptxas")
    on_path = program(tmp_path / "path/ptxas")
    monkeypatch.delenv("EMMY_PTXAS", raising=False)
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setattr(toolchain, "_toolkits", lambda: [tmp_path / "toolkit"])
    monkeypatch.setattr(toolchain, "_package_folders", lambda name: [tmp_path / "site" / name])
    for expected in (on_path, toolkit, wheel, triton):
        assert toolchain.find_ptxas() == expected
        expected.unlink()
    assert toolchain.find_ptxas() is None
    with pytest.raises(ToolNotFoundError, match="pip install nvidia-cuda-nvcc"):
        toolchain.require_ptxas()
    with pytest.raises(ToolNotFoundError, match="no nvdisasm or cuobjdump was found"):
        toolchain.disassemble(b"")


@needs_ptxas
@pytest.mark.parametrize("tool", ["nvdisasm", "cuobjdump"])
def test_sass(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = toolchain._find(tool)
    if path is None:
        pytest.skip(f"no {tool}")
    monkeypatch.setattr(toolchain, "find_disassembler", lambda: path)
    text = toolchain.disassemble(toolchain.assemble(ptx(BOX).decode(), "sm_90a").cubin)
    assert "UTMALDG" in text and "EXIT" in text
    with pytest.raises(CompileError, match=tool):
        toolchain.disassemble(b"no cubin")
