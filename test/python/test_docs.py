"""Pages with output of the compiler say what it prints today."""

from __future__ import annotations

import runpy
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"


def test_stages() -> None:
    assert runpy.run_path(str(SCRIPTS / "gen_stages.py"))["stale"]() == []
