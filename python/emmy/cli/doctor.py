"""`emmy doctor`: what was found on this machine, what is missing, and what to do about it."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
from collections.abc import Callable

import torch

from emmy import _runtime, config, toolchain
from emmy.cli.render import Printer

__all__ = ["execute"]


def execute(options: argparse.Namespace) -> int:
    """Runs the sub-command. Nothing that is missing makes it fail: a machine without a GPU is a valid one."""
    printer = Printer()
    checks: list[tuple[str, Callable[[], tuple[bool, str]]]] = [
        ("python", lambda: (True, platform.python_version())),
        ("emmy", lambda: _package("emmy-compiler", "not installed as a package")),
        ("torch", lambda: (True, torch.__version__)),
        ("torch-mlir", lambda: _package("torch-mlir", "missing; pip install torch-mlir")),
        ("gpu", _gpu),
        ("ptxas", _ptxas),
        ("disassembler", _disassembler),
        ("cache", _cache),
    ]
    rows: list[tuple[str, ...]] = []
    for name, check in checks:
        good, text = check()
        rows.append(("ok" if good else "--", name, text))
    printer.table(("", "what", "found"), rows)
    return 0


def _package(name: str, missing: str) -> tuple[bool, str]:
    try:
        return True, importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False, missing


def _gpu() -> tuple[bool, str]:
    found, reason = _runtime.device_info(0)
    if found is None:
        return False, f"none: {reason}; programs run on the CPU"
    driver = ".".join(map(str, found["driver"]))
    text = f"{found['name']}, sm_{found['sm']}, {found['multiprocessors']} multiprocessors, driver for CUDA {driver}"
    if not torch.cuda.is_available():
        return False, f"{text}; but this torch has no CUDA support, so programs run on the CPU"
    return True, text


def _ptxas() -> tuple[bool, str]:
    path = toolchain.find_ptxas()
    if path is None:
        return False, "none: the driver assembles PTX at load time; pip install nvidia-cuda-nvcc for cubins"
    return True, f"{path} ({toolchain.ptxas_version(path)})"


def _disassembler() -> tuple[bool, str]:
    path = toolchain.find_disassembler()
    return (True, str(path)) if path else (False, "none: --ir sass needs one; pip install nvidia-cuda-nvdisasm")


def _cache() -> tuple[bool, str]:
    folder = config.cache_dir()
    if not config.cache_enabled():
        return False, "switched off by EMMY_CACHE"
    return True, f"{folder} (at most {config.cache_size_bytes() >> 20} MiB)"
