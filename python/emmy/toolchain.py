"""Finds and runs the external programs: ptxas, which assembles PTX, and nvdisasm or cuobjdump, which print SASS."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from emmy import config
from emmy.errors import CompileError, ToolNotFoundError

__all__ = ["Assembled", "assemble", "disassemble", "find_disassembler", "find_ptxas", "ptxas_version", "require_ptxas"]

_TOOLKITS = ("/usr/local/cuda/bin", "/opt/cuda/bin")
# Namespace packages of NVIDIA's wheels, newest layout first.
_WHEELS = ("nvidia/cu13/bin", "nvidia/cuda_nvcc/bin", "nvidia/cuda_cuobjdump/bin", "nvidia/cuda_nvdisasm/bin")


@dataclass(frozen=True)
class Assembled:
    """A cubin and what ptxas said about its registers, spills and warnings."""

    cubin: bytes
    report: str


def find_ptxas() -> Path | None:
    """ptxas from `$EMMY_PTXAS`, `PATH`, a CUDA toolkit, NVIDIA's wheel or Triton's package, in this order."""
    if explicit := config.ptxas_path():
        return Path(explicit)
    return _find("ptxas")


def find_disassembler() -> Path | None:
    """nvdisasm or cuobjdump, searched for in the same places as ptxas."""
    return _find("nvdisasm") or _find("cuobjdump")


def require_ptxas() -> Path:
    """Like `find_ptxas`, but an error says what to install."""
    path = find_ptxas()
    if path is None:
        raise ToolNotFoundError("no ptxas was found; install one with `pip install nvidia-cuda-nvcc` or set EMMY_PTXAS")
    if not os.access(path, os.X_OK):
        raise ToolNotFoundError(f"{path} is not an executable ptxas; correct EMMY_PTXAS")
    return path


def assemble(ptx: str, arch: str) -> Assembled:
    """Assembles PTX for one architecture (`sm_90a`)."""
    ptxas = require_ptxas()
    with tempfile.TemporaryDirectory(prefix="emmy-ptxas-") as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        command = [str(ptxas), f"-arch={arch}", "-O3", "-v", "--generate-line-info", str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            kept = Path(tempfile.mkdtemp(prefix="emmy-"), "kernel.ptx")
            kept.write_text(ptx)
            command[command.index(str(source))] = str(kept)
            command[-1] = os.devnull
            lines = "\n  ".join(done.stderr.strip().splitlines()[:5])
            raise CompileError(f"ptxas failed: {lines}", ir_path=kept, command=" ".join(command))
        return Assembled(target.read_bytes(), done.stderr)


def disassemble(cubin: bytes) -> str:
    """SASS text of a cubin."""
    tool = find_disassembler()
    if tool is None:
        raise ToolNotFoundError(
            "no nvdisasm or cuobjdump was found; install one with `pip install nvidia-cuda-nvdisasm` or a CUDA toolkit"
        )
    with tempfile.TemporaryDirectory(prefix="emmy-sass-") as folder:
        source = Path(folder, "kernel.cubin")
        source.write_bytes(cubin)
        flags = ["--dump-sass"] if tool.name.startswith("cuobjdump") else ["--print-code"]
        done = subprocess.run([str(tool), *flags, str(source)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"{tool.name} failed: {done.stderr.strip()}")
    return done.stdout


@cache
def ptxas_version(path: Path) -> str:
    """The release that a ptxas reports, for the cache key and `emmy doctor`."""
    try:
        done = subprocess.run([str(path), "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        return f"unusable: {error.strerror}"
    lines = [line for line in done.stdout.splitlines() if "release" in line]
    return lines[0].split("release")[1].strip() if lines else "unknown"


def _find(name: str) -> Path | None:
    for candidate in _candidates(name):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def _candidates(name: str) -> Iterator[Path]:
    if found := shutil.which(name):
        yield Path(found)
    for folder in _TOOLKITS:
        yield Path(folder, name)
    site = Path(sysconfig.get_path("purelib"))
    for wheel in _WHEELS:
        yield site / wheel / name
    spec = importlib.util.find_spec("triton")
    if spec is not None and spec.origin:
        yield Path(spec.origin).parent / "backends/nvidia/bin" / name
