"""The `emmy` command."""

from __future__ import annotations

from emmy.cli.main import main

__all__ = ["main"]
