"""Hardware maths against the PTX ISA's tables, and vector clocks: builds C++ unit tests, which need no MLIR, and runs them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


SOURCES = {
    "hardware maths": ("lib/Support/Math/*.cpp", "unittest/Math/*.cpp"),
    "vector clocks": ("lib/Simulator/VectorClock.cpp", "unittest/Simulator/VectorClockTest.cpp"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_unit(tmp_path: Path, name: str) -> None:
    compiler = shutil.which("c++") or shutil.which("clang++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    sources = [source for pattern in SOURCES[name] for source in ROOT.glob(pattern)]
    binary = tmp_path / "unit-test"
    subprocess.run([compiler, "-std=c++17", f"-I{ROOT / 'include'}", *map(str, sources), "-o", str(binary)], check=True)
    result = subprocess.run([str(binary)], capture_output=True, text=True)
    assert result.stdout.rstrip().endswith(" passed, 0 failed"), result.stdout
