"""CPU kernels and plan pieces that the runtime tests share."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from emmy._runtime import Plan

# Parameters arrive as pointers to their values.
SOURCE = r"""
#include <stdint.h>
void scale(void **p) {  // x, y, n, factor
  const float *x = *(const float **)p[0];
  float *y = *(float **)p[1];
  int64_t n = *(int64_t *)p[2];
  float factor = *(float *)p[3];
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}
void store(void **p) {  // y, value
  **(int64_t **)p[0] = *(int64_t *)p[1];
}
void store32(void **p) {  // y, value
  **(int64_t **)p[0] = *(int32_t *)p[1];
}
void spin(void **p) {  // x, y, n: slow enough that threads overlap
  const float *x = *(const float **)p[0];
  float *y = *(float **)p[1];
  int64_t n = *(int64_t *)p[2];
  for (int64_t i = 0; i < n; ++i) {
    volatile float v = x[i];
    for (int k = 0; k < 50; ++k) v += 1;
    y[i] = v;
  }
}
"""


@cache
def library() -> ctypes.CDLL:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = Path(tempfile.mkdtemp(prefix="emmy-test-"))
    source = folder / "kernels.c"
    source.write_text(SOURCE)
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", folder / "kernels.so", source], check=True)
    return ctypes.CDLL(str(folder / "kernels.so"))


def code(*names: str) -> dict[str, int]:
    """Function addresses by kernel name."""
    return {name: ctypes.cast(getattr(library(), name), ctypes.c_void_p).value for name in names}


def tensor(sizes: list[Any], dtype: str = "f32", name: str = "x", **more: Any) -> dict[str, Any]:
    return {"name": name, "dtype": dtype, "sizes": sizes, **more}


def document(**sections: Any) -> str:
    plan = {"version": 1, "target": "cpu", "symbols": [], "args": [], "buffers": [], "outputs": [], "steps": []}
    return json.dumps(plan | sections)


def launch(kernel: str, *params: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"launch": kernel, "grid": [1, 1, 1], "params": list(params), **more}


def scale_plan(sizes: list[Any], count: Any, symbols: list[dict[str, Any]], **arg: Any) -> Plan:
    """y = 2 x, with y contiguous."""
    return Plan(
        document(
            symbols=symbols,
            args=[tensor(sizes, **arg)],
            buffers=[{"arg": 0}, {"output": 0, "dtype": "f32", "sizes": sizes}],
            outputs=[1],
            steps=[launch("scale", {"ptr": 0}, {"ptr": 1}, {"i64": count}, {"f32": 2.0})],
        ),
        code("scale"),
    )


def store_plan(expr: Any, num_symbols: int = 1, when: Any = None, kind: str = "i64") -> Plan:
    """Returns a one-element tensor with the value of `expr`; the symbols are integer arguments."""
    name = "store32" if kind == "i32" else "store"
    step = launch(name, {"ptr": 0}, {kind: expr})
    other = launch(name, {"ptr": 0}, {kind: -1})
    steps = [step] if when is None else [{"switch": [{"when": when, "steps": [step]}, {"steps": [other]}]}]
    return Plan(
        document(
            symbols=[{"id": i, "arg": i, "scalar": True} for i in range(num_symbols)],
            args=[{"scalar": "i64"}] * num_symbols,
            buffers=[{"output": 0, "dtype": "i64", "sizes": [1]}],
            outputs=[0],
            steps=steps,
        ),
        code(name),
    )
