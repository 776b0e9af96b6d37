"""The hardware maths against the PTX ISA's tables: builds the C++ unit tests, which need no MLIR, and runs them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_tables(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("clang++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    sources = [*(ROOT / "lib" / "Support" / "Math").glob("*.cpp"), *(ROOT / "unittest" / "Math").glob("*.cpp")]
    binary = tmp_path / "math-test"
    subprocess.run([compiler, "-std=c++17", f"-I{ROOT / 'include'}", *map(str, sources), "-o", str(binary)], check=True)
    result = subprocess.run([str(binary)], capture_output=True, text=True)
    assert result.stdout.rstrip().endswith(" passed, 0 failed"), result.stdout
