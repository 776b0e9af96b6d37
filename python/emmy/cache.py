"""The disk cache of compiled code.

Values are files named by the hash of their key. Any number of processes may share a folder: a value appears by rename,
so readers see all of it or nothing, and a checksum catches what a crash or a full disk left behind. A folder that
cannot be written is read; one that cannot be read is a cache miss.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from emmy import config

__all__ = ["CacheEntry", "DiskCache", "default_cache"]

_log = logging.getLogger("emmy.cache")

_MAGIC = b"emmy-cache-1\n"
_DIGEST_BYTES = hashlib.sha256().digest_size
_HEADER_BYTES = len(_MAGIC) + _DIGEST_BYTES
_SUFFIX = ".entry"
# Temporary files older than this belong to processes that died.
_STALE_SECONDS = 3600.0
# Evicting goes below the cap by this share, so that it does not run at every write.
_EVICT_TO = 0.9


@dataclass(frozen=True)
class CacheEntry:
    """A value on disk: its file, bytes, and the time of its last use (seconds since the epoch)."""

    path: Path
    size: int
    used: float


class DiskCache:
    """Bytes by key, at most `size_limit` of them, the least recently used dropped first.

    Example:
        >>> cache = DiskCache(Path("/tmp/emmy-cache"), size_limit=1 << 20)
        >>> cache.put(b"key", b"value")
        True
        >>> cache.get(b"key")
        b'value'
    """

    def __init__(self, folder: Path, size_limit: int) -> None:
        self.folder, self.size_limit = folder, size_limit
        # Bytes on disk when last counted, plus what this process wrote since; None before the first count.
        self._estimate: int | None = None
        self._warned = False

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None. A damaged file is deleted and counts as absent."""
        digest = hashlib.sha256(key).digest()
        path = self._path(digest)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        value = _unpack(digest, content)
        if value is None:
            _log.warning("dropped a damaged cache entry: %s", path)
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return value

    def put(self, key: bytes, value: bytes) -> bool:
        """Stores a value; False if it is too large or the folder cannot be written, which is logged once."""
        digest = hashlib.sha256(key).digest()
        content = _MAGIC + _checksum(digest, value) + value
        if len(content) > self.size_limit:
            return False
        path = self._path(digest)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_atomically(path, content)
        except OSError as error:
            if not self._warned:
                _log.warning("the cache folder %s cannot be written: %s", self.folder, error)
            self._warned = True
            return False
        self._account(len(content))
        return True

    def entries(self) -> list[CacheEntry]:
        """All values, the most recently used first."""
        return sorted(self._scan(), key=lambda entry: entry.used, reverse=True)

    def read(self, entry: CacheEntry) -> bytes | None:
        """The value in a file, which does not count as a use; None if it is damaged or gone."""
        digest = bytes.fromhex(entry.path.parent.name + entry.path.stem)
        try:
            return _unpack(digest, entry.path.read_bytes())
        except OSError:
            return None

    def clear(self) -> int:
        """Deletes all values; returns the bytes freed."""
        self._estimate = None
        return sum(entry.size for entry in self._scan() if _delete(entry.path))

    def _path(self, digest: bytes) -> Path:
        name = digest.hex()
        return self.folder / name[:2] / (name[2:] + _SUFFIX)

    def _scan(self) -> Iterator[CacheEntry]:
        """Entries as they are; other processes may delete some meanwhile. Removes leftovers of dead writers."""
        oldest = time.time() - _STALE_SECONDS
        for path in self.folder.glob("??/*"):
            try:
                status = path.stat()
            except OSError:
                continue
            if path.suffix == _SUFFIX:
                yield CacheEntry(path, status.st_size, status.st_mtime)
            elif path.suffix == ".tmp" and status.st_mtime < oldest:
                _delete(path)

    def _account(self, written: int) -> None:
        if self._estimate is not None:
            self._estimate += written
        if self._estimate is None or self._estimate > self.size_limit:
            self._evict()

    def _evict(self) -> None:
        entries = self.entries()
        total = sum(entry.size for entry in entries)
        if total > self.size_limit:
            while entries and total > self.size_limit * _EVICT_TO:
                entry = entries.pop()
                _delete(entry.path)
                total -= entry.size
        self._estimate = total


def default_cache() -> DiskCache | None:
    """The user's cache, or None if it is switched off."""
    if not config.cache_enabled():
        return None
    return DiskCache(config.cache_dir(), config.cache_size_bytes())


def _checksum(digest: bytes, value: bytes) -> bytes:
    """Covers the key, too: a renamed file is damaged."""
    return hashlib.sha256(digest + value).digest()


def _unpack(digest: bytes, content: bytes) -> bytes | None:
    value = content[_HEADER_BYTES:]
    intact = content.startswith(_MAGIC) and content[len(_MAGIC) : _HEADER_BYTES] == _checksum(digest, value)
    return value if intact else None


def _write_atomically(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        _delete(Path(name))
        raise


def _delete(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True
