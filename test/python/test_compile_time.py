"""Compile times in new processes: within limits from nothing, and next to nothing with a full disk cache. The limits here leave
room for a busy machine; `python benchmarks/compile_time.py` prints the times."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from emmy import toolchain

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "compile_time.py"
# Milliseconds on two free cores with a release build; a machine that runs the tests may be slower.
COLD = {"norm_and_linear": 2_000, "decoder_layer": 10_000}
WARM_OWN = 300
SLACK = 8


def measure(cache: Path) -> dict[str, dict[str, float]]:
    environment = {**os.environ, "EMMY_CACHE_DIR": str(cache), "EMMY_CACHE": "1"}
    done = subprocess.run([sys.executable, str(BENCHMARK)], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    header, *rows = (line.split() for line in done.stdout.splitlines())
    return {row[0]: dict(zip(header[1:], map(float, row[1:]), strict=True)) for row in rows}


@pytest.mark.skipif(toolchain.find_ptxas() is None, reason="no ptxas")
def test_cold_and_warm(tmp_path: Path) -> None:
    cold, warm = measure(tmp_path), measure(tmp_path)
    for name, limit in COLD.items():
        assert cold[name]["passes"] > 0 and cold[name]["ptxas"] > 0
        assert cold[name]["whole"] < SLACK * limit, cold
        assert [warm[name][part] for part in ("passes", "LLVM", "ptxas")] == [0, 0, 0]
        assert warm[name]["own"] < SLACK * WARM_OWN, warm
