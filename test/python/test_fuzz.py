"""The compiler says what is wrong with broken programs and never aborts or hangs; `python fuzz.py EMMY_OPT 10000` tries more."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import emmy
import pytest
from fuzz import mutants, run

TOOLS = [Path(os.environ.get("EMMY_BIN", "")), Path(emmy.__file__).parent / "bin"]
FOUND = [str(folder / "emmy-opt") for folder in TOOLS if (folder / "emmy-opt").is_file()]
EMMY_OPT = FOUND[0] if FOUND else shutil.which("emmy-opt")


@pytest.mark.skipif(EMMY_OPT is None, reason="no emmy-opt")
@pytest.mark.parametrize("seed", [0, 1000])
def test_mutants(seed: int) -> None:
    assert EMMY_OPT is not None
    failures = run(EMMY_OPT, list(mutants(150, seed)))
    assert [(failure.mutant.source, failure.mutant.seed, failure.mutant.passes, failure.reason) for failure in failures] == []
