"""Broken emmy_tile programs are refused with a diagnostic: the simulator neither crashes nor hangs on them."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import emmy
import pytest
from mutations import mutants, outcome

BUNDLED = Path(emmy.__file__).parent / "bin" / "emmy-opt"
EMMY_OPT = str(BUNDLED) if BUNDLED.exists() else shutil.which("emmy-opt")


@pytest.mark.skipif(EMMY_OPT is None, reason="no emmy-opt")
def test_mutants_end_with_a_verdict() -> None:
    assert EMMY_OPT is not None
    made = list(mutants(200))
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda mutant: outcome(EMMY_OPT, mutant, seconds=60), made)
    wrong = [f"{mutant.source} seed {mutant.seed}: {text}" for mutant, text in zip(made, found, strict=True) if text]
    assert not wrong, "\n".join(wrong)
