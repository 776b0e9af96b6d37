"""The disk cache: values, damage, eviction, several processes, folders without permission."""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import time
from pathlib import Path

import pytest
from emmy import cache as cache_module
from emmy.cache import DiskCache, default_cache


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache", size_limit=1 << 20)


def only_file(cache: DiskCache) -> Path:
    (entry,) = cache.entries()
    return entry.path


def test_returns_what_was_put(cache: DiskCache) -> None:
    assert cache.get(b"k") is None
    for value in (b"", b"v", os.urandom(100_000)):
        assert cache.put(b"k", value)
        assert cache.get(b"k") == value
    assert cache.get(b"other") is None


def test_another_instance_sees_it(cache: DiskCache) -> None:
    cache.put(b"k", b"v")
    assert DiskCache(cache.folder, cache.size_limit).get(b"k") == b"v"


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "append", "foreign"])
def test_damaged_entry_is_dropped_with_a_warning(
    cache: DiskCache, damage: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("emmy"), "propagate", True)
    cache.put(b"k", b"value" * 100)
    path = only_file(cache)
    content = path.read_bytes()
    middle = len(content) // 2
    changed = {
        "truncate": content[:middle],
        "flip": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "empty": b"",
        "append": content + b"x",
        "foreign": b"#!/bin/sh\n",
    }
    path.write_bytes(changed[damage])
    with caplog.at_level(logging.WARNING, "emmy.cache"):
        assert cache.get(b"k") is None
    assert "damaged cache entry" in caplog.text and not path.exists()
    cache.put(b"k", b"new")
    assert cache.get(b"k") == b"new"


def test_entry_under_another_name_is_not_trusted(cache: DiskCache) -> None:
    cache.put(b"a", b"value of a")
    path_a = only_file(cache)
    cache.put(b"b", b"value of b")
    (path_b,) = (entry.path for entry in cache.entries() if entry.path != path_a)
    path_b.write_bytes(path_a.read_bytes())
    assert cache.get(b"b") is None and cache.get(b"a") == b"value of a"


def test_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, size_limit=10_000)
    now = time.time()
    for i in range(8):
        cache.put(b"%d" % i, bytes(1000))
        path = next(entry.path for entry in cache.entries() if entry.used >= now - 1)
        os.utime(path, (now - 100 + i, now - 100 + i))
    assert cache.get(b"0") is not None
    for i in range(8, 11):
        cache.put(b"%d" % i, bytes(1000))
    kept = [i for i in range(11) if cache.get(b"%d" % i) is not None]
    assert 0 in kept and 10 in kept and 1 not in kept
    assert sum(entry.size for entry in cache.entries()) <= 10_000


def test_value_larger_than_the_cache_is_not_stored(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, size_limit=1000)
    cache.put(b"small", b"x")
    assert not cache.put(b"large", bytes(2000))
    assert cache.get(b"small") == b"x"


def test_leftovers_of_dead_writers_are_removed(cache: DiskCache) -> None:
    cache.put(b"k", b"v")
    leftover = only_file(cache).parent / "abc.tmp"
    leftover.write_bytes(b"half")
    assert len(cache.entries()) == 1 and leftover.exists()
    os.utime(leftover, (0, 0))
    cache.entries()
    assert not leftover.exists()


def test_clear(cache: DiskCache) -> None:
    cache.put(b"a", bytes(1000))
    cache.put(b"b", bytes(1000))
    assert cache.clear() > 2000
    assert cache.entries() == [] and cache.get(b"a") is None


def test_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = DiskCache(tmp_path / "cache", size_limit=1 << 20)
    cache.put(b"k", b"v")

    def refuse(*args: object, **options: object) -> None:
        raise PermissionError("read-only file system")

    # Permission bits do not stop root, so the refusal is simulated.
    monkeypatch.setattr(cache_module.tempfile, "mkstemp", refuse)
    monkeypatch.setattr(cache_module.os, "utime", refuse)
    assert not cache.put(b"other", b"v")
    assert cache.get(b"k") == b"v"


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a folder")
    cache = DiskCache(tmp_path / "cache", size_limit=1 << 20)
    assert cache.get(b"k") is None and not cache.put(b"k", b"v") and cache.entries() == [] and cache.clear() == 0


def test_environment_decides_folder_and_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMMY_CACHE_DIR", str(tmp_path / "here"))
    monkeypatch.setenv("EMMY_CACHE_SIZE_MB", "3")
    cache = default_cache()
    assert cache is not None and cache.folder == tmp_path / "here" and cache.size_limit == 3 << 20
    monkeypatch.setenv("EMMY_CACHE", "0")
    assert default_cache() is None


def value_of(key: int, version: int) -> bytes:
    return b"%d:%d:" % (key, version) + bytes([key]) * (1000 + 100 * key)


def hammer(folder: Path, seed: int, failures: multiprocessing.Queue[str]) -> None:
    cache, choose = DiskCache(folder, size_limit=12_000), random.Random(seed)
    for i in range(400):
        key = choose.randrange(8)
        if choose.random() < 0.4:
            cache.put(b"%d" % key, value_of(key, choose.randrange(3)))
        elif cache.get(b"%d" % key) not in (None, *(value_of(key, version) for version in range(3))):
            failures.put(f"process {seed}, step {i}: wrong value for {key}")
        if i % 100 == 99:
            cache.clear()


def test_processes_that_write_read_and_evict_together(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    failures = context.Queue()
    processes = [context.Process(target=hammer, args=(tmp_path, seed, failures)) for seed in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    assert failures.empty()
    assert not list(tmp_path.glob("??/*.tmp"))
