"""Settings from the environment. No other module reads `os.environ`.

Each function reads its variable when called, so that tests and users may change it in a running process.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from emmy.errors import UsageError

__all__ = [
    "cache_dir",
    "cache_enabled",
    "cache_size_bytes",
    "configure_logging",
    "cuda_home",
    "ptxas_path",
    "target",
]

_LEVELS = {"+": logging.DEBUG, "-": logging.ERROR, "": logging.INFO}


def cache_dir() -> Path:
    """Folder of the disk cache: `EMMY_CACHE_DIR`, else `$XDG_CACHE_HOME/emmy`, else `~/.cache/emmy`."""
    if explicit := os.environ.get("EMMY_CACHE_DIR"):
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "emmy"


def cache_enabled() -> bool:
    """Whether compiled code is kept on disk (`EMMY_CACHE=0` switches it off)."""
    return os.environ.get("EMMY_CACHE", "1") not in ("0", "off", "false")


def cache_size_bytes() -> int:
    """Largest size of the disk cache (`EMMY_CACHE_SIZE_MB`, 2048 by default)."""
    text = os.environ.get("EMMY_CACHE_SIZE_MB", "2048")
    if not text.isdecimal():
        raise UsageError(f"EMMY_CACHE_SIZE_MB is a number of MiB, but it is {text!r}")
    return int(text) << 20


def cuda_home() -> Path | None:
    """The CUDA toolkit that the user points at (`CUDA_HOME` or `CUDA_PATH`), or None."""
    value = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    return Path(value) if value else None


def ptxas_path() -> str | None:
    """The ptxas that the user asked for (`EMMY_PTXAS`)."""
    return os.environ.get("EMMY_PTXAS") or None


def target() -> str | None:
    """Default target when the caller names none (`EMMY_TARGET`)."""
    return os.environ.get("EMMY_TARGET") or None


def configure_logging(spec: str | None = None) -> None:
    """Applies `EMMY_LOG` (same syntax as TORCH_LOGS): `EMMY_LOG=frontend,+fuse,-runtime`; `all` names every logger.

    A plain name shows notes, `+` adds details and `-` leaves only errors.
    """
    spec = os.environ.get("EMMY_LOG", "") if spec is None else spec
    entries = [entry.strip() for entry in spec.split(",") if entry.strip()]
    if not entries:
        return
    root = logging.getLogger("emmy")
    if not root.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
        root.addHandler(handler)
        root.propagate = False
    for entry in entries:
        sign = entry[0] if entry[0] in "+-" else ""
        name = entry[len(sign) :]
        logger = root if name == "all" else root.getChild(name)
        logger.setLevel(_LEVELS[sign])
