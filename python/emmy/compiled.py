"""What a GPU compilation leaves behind, its plan and its kernels, and its place in the disk cache.

The key is the program's canonical text with everything else that decides the result: target, compiler build, assembler.
Names of arguments and source locations are not part of it, so that equal layers of a model share one entry.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from emmy import toolchain
from emmy._mlir_libs import _emmy

__all__ = ["CompiledCode", "cache_key"]

_LOCATION_LINE = re.compile(r"^#loc\d* = .*\n", re.MULTILINE)
_LOCATION = re.compile(r" loc\((\"[^\"]*\"(:\d+)*|#loc\d*|[^()]*)\)")
_NAME = re.compile(r"emmy\.name = \"[^\"]*\"(, )?")
_PARAMETER = re.compile(r"emmy\.param = \"[^\"]*\"")


@dataclass(frozen=True)
class CompiledCode:
    """A plan in JSON, and its kernels by name: cubins or, without ptxas, PTX."""

    plan: str
    kernels: dict[str, bytes]

    def pack(self) -> bytes:
        """The value of a cache entry: a JSON header with the lengths, then the kernels."""
        sizes = {name: len(code) for name, code in self.kernels.items()}
        header = json.dumps({"plan": self.plan, "kernels": sizes}).encode()
        return len(header).to_bytes(8, "little") + header + b"".join(self.kernels.values())

    @staticmethod
    def unpack(value: bytes) -> CompiledCode:
        """The inverse of `pack`."""
        start = 8 + int.from_bytes(value[:8], "little")
        header = json.loads(value[8:start])
        kernels: dict[str, bytes] = {}
        for name, size in header["kernels"].items():
            kernels[name] = value[start : start + size]
            start += size
        return CompiledCode(header["plan"], kernels)


def cache_key(text: str, target: str) -> bytes:
    """The key of a program's code."""
    ptxas = toolchain.find_ptxas()
    assembler = toolchain.ptxas_version(ptxas) if ptxas else "driver"
    parts = {"program": canonical_text(text), "target": target, "build": _build_id(), "assembler": assembler}
    return json.dumps(parts, sort_keys=True).encode()


def canonical_text(text: str) -> str:
    """MLIR text without what has no influence on the code."""
    text = _LOCATION.sub("", _LOCATION_LINE.sub("", text))
    return _PARAMETER.sub("emmy.param", _NAME.sub("", text))


@cache
def _build_id() -> str:
    """Identifies this build of the compiler: its libraries' sizes and times."""
    folder = Path(_emmy.__file__).parent
    libraries = sorted(folder.glob("*.so"))
    return ",".join(f"{path.name}:{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in libraries)
