"""`emmy cache`: what the disk cache holds, and emptying it."""

from __future__ import annotations

import argparse
import time

from emmy import config
from emmy.cache import CacheEntry, DiskCache
from emmy.cli.render import Printer
from emmy.compiled import CompiledCode

__all__ = ["execute"]

_MOST_ROWS = 20


def execute(options: argparse.Namespace) -> int:
    """Runs the sub-command; it works on a cache that is switched off, too."""
    cache = DiskCache(config.cache_dir(), config.cache_size_bytes())
    printer = Printer()
    if options.action == "clear":
        printer.plain(f"freed {_size(cache.clear())} in {cache.folder}")
        return 0
    entries = cache.entries()
    total = _size(sum(entry.size for entry in entries))
    printer.plain(f"{cache.folder}: {len(entries)} entries, {total} of at most {_size(cache.size_limit)}")
    now = time.time()
    shown = entries[:_MOST_ROWS]
    rows = [(entry.path.stem[:12], _size(entry.size), _age(now - entry.used), _kernels(cache, entry)) for entry in shown]
    if rows:
        printer.table(("entry", "size", "last used", "kernels"), rows)
    if len(entries) > _MOST_ROWS:
        printer.plain(f"… and {len(entries) - _MOST_ROWS} more")
    return 0


def _kernels(cache: DiskCache, entry: CacheEntry) -> str:
    value = cache.read(entry)
    try:
        return ", ".join(CompiledCode.unpack(value).kernels) if value is not None else "damaged"
    except (ValueError, KeyError):
        return "of no program"


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count / 2**10:.1f} KiB"


def _age(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"
