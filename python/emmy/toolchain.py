"""The external programs: ptxas, which assembles PTX, and nvdisasm or cuobjdump, which print SASS.

A caller without ptxas (`find_ptxas() is None`) may hand the PTX to the runtime: the driver then assembles it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from emmy import config
from emmy.errors import CompileError, Diagnostic, ToolNotFoundError

__all__ = [
    "Assembled",
    "KernelResources",
    "assemble",
    "disassemble",
    "find_disassembler",
    "find_ptxas",
    "parse_report",
    "ptxas_version",
    "require_ptxas",
]

_FUNCTION = re.compile(r"Function properties for (\S+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_REGISTERS = re.compile(r"Used (\d+) registers(?:, used (\d+) barriers)?")
_SHARED = re.compile(r"(\d+) bytes smem")
# Performance warnings come as plain notes with a code.
_WARNING = re.compile(r"^ptxas (?:warning\s*: |info\s*: (?=.*\(C\d+\)))(.*)$")
_FAULT = re.compile(r"^ptxas (?:(?P<file>.+), line (?P<line>\d+); )?(?P<kind>error|fatal)\s*: (?P<text>.*)$")


@dataclass(frozen=True)
class KernelResources:
    """What one kernel needs, as ptxas reports it; spills and stack are per thread, shared memory is the static part."""

    name: str
    registers: int
    barriers: int = 0
    shared_bytes: int = 0
    stack_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0


@dataclass(frozen=True)
class Assembled:
    """A cubin, the resources of its kernels, and ptxas's warnings (C7510 and its kin mean serialised wgmma)."""

    cubin: bytes
    kernels: tuple[KernelResources, ...]
    warnings: tuple[str, ...]
    report: str

    @property
    def defects(self) -> tuple[str, ...]:
        """What should not be in a good kernel: spills, stack frames, performance warnings; empty if there is none."""
        found = [text for text in self.warnings if "(C75" in text]
        for kernel in self.kernels:
            spills = kernel.spill_store_bytes + kernel.spill_load_bytes
            if spills:
                found.append(f"{kernel.name}: {spills} bytes of spills")
            if kernel.stack_bytes:
                found.append(f"{kernel.name}: {kernel.stack_bytes} bytes of stack")
        return tuple(found)


def find_ptxas() -> Path | None:
    """ptxas from `$EMMY_PTXAS`, `PATH`, a CUDA toolkit, NVIDIA's wheel or Triton's package, in this order."""
    explicit = config.ptxas_path()
    return Path(explicit) if explicit else _find("ptxas")


def require_ptxas() -> Path:
    """Like `find_ptxas`, but an error says what to install."""
    path = find_ptxas()
    if path is None:
        raise ToolNotFoundError("no ptxas was found; install one with `pip install nvidia-cuda-nvcc` or set EMMY_PTXAS")
    if not _is_program(path):
        raise ToolNotFoundError(f"{path} is not an executable ptxas; correct EMMY_PTXAS")
    return path


def find_disassembler() -> Path | None:
    """nvdisasm or cuobjdump, searched for in the same places as ptxas."""
    return _find("nvdisasm") or _find("cuobjdump")


@cache
def ptxas_version(path: Path) -> str:
    """The release that a ptxas reports (`13.0, V13.0.88`), for cache keys and for users."""
    try:
        done = subprocess.run([str(path), "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        return f"unusable: {error.strerror}"
    release = re.search(r"release (.+)", done.stdout)
    return release.group(1).strip() if release else "unknown"


def assemble(ptx: str, arch: str, line_info: bool = True) -> Assembled:
    """Assembles PTX for one architecture (`sm_90a`)."""
    ptxas = require_ptxas()
    with tempfile.TemporaryDirectory(prefix="emmy-ptxas-") as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        flags = [f"-arch={arch}", "-O3", "-v", *(["--generate-line-info"] if line_info else [])]
        command = [str(ptxas), *flags, str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        report = done.stderr + done.stdout
        if done.returncode != 0:
            raise _failure(ptx, [str(ptxas), *flags], report or f"exit status {done.returncode}")
        kernels, warnings = parse_report(report)
        return Assembled(target.read_bytes(), kernels, warnings, report)


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
        flag = "-sass" if tool.name.startswith("cuobjdump") else "--print-code"
        done = subprocess.run([str(tool), flag, str(source)], capture_output=True, text=True, check=False)
    # cuobjdump exits with 0 for a file that is no cubin, and prints nothing.
    if done.returncode != 0 or not done.stdout.strip():
        lines = (done.stderr or done.stdout or "no output").strip().splitlines()
        raise CompileError(f"{tool.name} failed: {lines[0]}")
    return done.stdout


def parse_report(report: str) -> tuple[tuple[KernelResources, ...], tuple[str, ...]]:
    """Kernels and warnings in the text that `ptxas -v` prints."""
    kernels: list[KernelResources] = []
    warnings: list[str] = []
    entry, function = "", ""
    frames: dict[str, tuple[int, int, int]] = {}
    for line in report.splitlines():
        if match := _ENTRY.search(line):
            entry = match.group(1)
        elif match := _FUNCTION.search(line):
            function = match.group(1)
        elif match := _STACK.search(line):
            frames[function] = (int(match.group(1)), int(match.group(2)), int(match.group(3)))
        elif match := _REGISTERS.search(line):
            stack, stores, loads = frames.get(entry, (0, 0, 0))
            shared = _SHARED.search(line)
            kernels.append(
                KernelResources(
                    name=entry,
                    registers=int(match.group(1)),
                    barriers=int(match.group(2) or 0),
                    shared_bytes=int(shared.group(1)) if shared else 0,
                    stack_bytes=stack,
                    spill_store_bytes=stores,
                    spill_load_bytes=loads,
                )
            )
        elif match := _WARNING.match(line):
            warnings.append(match.group(1))
    return tuple(kernels), tuple(warnings)


def _failure(ptx: str, command: list[str], report: str) -> CompileError:
    """The error for a failed run; the PTX is kept, so that its command can be repeated."""
    kept = Path(tempfile.mkdtemp(prefix="emmy-"), "kernel.ptx")
    kept.write_text(ptx)
    diagnostics = []
    for line in report.splitlines():
        if (match := _FAULT.match(line)) and "aborted due to errors" not in match["text"]:
            location = f"{kept}:{match['line']}" if match["line"] else ""
            diagnostics.append(Diagnostic("error", match["text"], location))
    if not diagnostics:
        diagnostics = [Diagnostic("error", line) for line in report.strip().splitlines()[:5]]
    summary = "ptxas failed"
    if any("Unsupported .version" in diagnostic.message for diagnostic in diagnostics):
        summary = f"{command[0]} is older than the PTX; install a newer nvidia-cuda-nvcc or set EMMY_PTXAS"
    return CompileError(summary, diagnostics[:10], kept, " ".join([*command, str(kept), "-o", os.devnull]))


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _find(name: str) -> Path | None:
    return next((path for path in _candidates(name) if _is_program(path)), None)


def _candidates(name: str) -> Iterator[Path]:
    if found := shutil.which(name):
        yield Path(found)
    yield from (folder / "bin" / name for folder in _toolkits())
    for folder in _package_folders("nvidia"):
        # nvidia/cu13/bin in newer wheels, nvidia/cuda_nvcc/bin in older ones.
        yield from sorted(folder.glob(f"*/bin/{name}"))
    for folder in _package_folders("triton"):
        yield folder / "backends/nvidia/bin" / name


def _toolkits() -> Iterator[Path]:
    if home := config.cuda_home():
        yield home
    yield Path("/usr/local/cuda")
    # By version, the newest first: cuda-13.0 before cuda-12.8 before cuda-9.2.
    versions = [path for path in Path("/usr/local").glob("cuda-*") if re.fullmatch(r"cuda-[\d.]+", path.name)]
    yield from sorted(versions, key=lambda path: [int(part) for part in path.name[5:].split(".") if part], reverse=True)
    yield Path("/opt/cuda")


def _package_folders(package: str) -> list[Path]:
    """Folders of an installed package, which is not imported."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    return [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
