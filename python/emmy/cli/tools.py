"""The commands `emmy-opt` and `emmy-lsp-server`: the programs that the package brings, in place of this process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import emmy

__all__ = ["emmy_lsp_server", "emmy_opt"]


def emmy_opt() -> None:
    """Becomes emmy-opt, with this process' arguments and files."""
    _become("emmy-opt")


def emmy_lsp_server() -> None:
    """Becomes the language server for editors."""
    _become("emmy-lsp-server")


def _become(name: str) -> None:
    path = Path(emmy.__file__).parent / "bin" / name
    try:
        os.execv(path, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: cannot run {path}: {error.strerror}; install emmy-compiler again")
