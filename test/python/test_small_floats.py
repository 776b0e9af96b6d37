"""Conversions to and from bf16 and f16 on the CPU target, over every value of these types."""

from __future__ import annotations

import emmy
import ml_dtypes
import numpy as np
import pytest
import torch
from cpu_kernels import Kernels

TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}


def convert(source: str, target: str, values: np.ndarray) -> np.ndarray:
    op = "extf" if target in ("f32", "f64") and source in TYPES else "truncf"
    kernels = Kernels(f"""
    emmy_fuse.kernel @convert(%x: tensor<?x{source}, #emmy.dims<[s0]>>)
        outs(%y: tensor<?x{target}, #emmy.dims<[s0]>>) axes(m = s0) {{
      %a = emmy_fuse.load %x over [m] at [m] : tensor<?x{source}, #emmy.dims<[s0]>>
      %b = emmy_fuse.map(%a) : (!emmy_fuse.value<[m] x {source}>) -> !emmy_fuse.value<[m] x {target}> {{
      ^bb0(%p: {source}):
        %r = arith.{op} %p : {source} to {target}
        emmy_fuse.yield %r : {target}
      }}
      emmy_fuse.store %b to %y over [m] at [m] : !emmy_fuse.value<[m] x {target}>, tensor<?x{target}, #emmy.dims<[s0]>>
    }}""")
    out = np.empty(values.shape, {"f32": np.float32, "f64": np.float64, **TYPES}[target])
    kernels.call("convert", [values, out], [values.size])
    return out


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("wide", ["f32", "f64"])
def test_extension_is_exact(name: str, wide: str) -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(TYPES[name])
    result, expected = convert(name, wide, values), values.astype(np.float32 if wide == "f32" else np.float64)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


@pytest.mark.parametrize("name", TYPES)
def test_rounding_is_to_nearest_even(name: str) -> None:
    exact = np.arange(1 << 16, dtype=np.uint16).view(TYPES[name]).astype(np.float32)
    finite = np.sort(np.unique(exact[np.isfinite(exact)]))
    middle = ((finite[:-1].astype(np.float64) + finite[1:]) / 2).astype(np.float32)
    special = np.array([np.inf, -np.inf, np.nan, -0.0, 65519.0, 65520.0, 3.4e38, -3.4e38, 1e-45, 2.0**-25], np.float32)
    bits = np.random.default_rng(0).integers(0, 1 << 32, 1 << 20, dtype=np.uint32).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.concatenate(
            [exact, middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf)), special, bits]
        )
        result, expected = convert("f32", name, values), values.astype(TYPES[name])
    nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(result.astype(np.float32)), nan)
    np.testing.assert_array_equal(result.view(np.uint16)[~nan], expected.view(np.uint16)[~nan])


@pytest.mark.parametrize("name", TYPES)
def test_arithmetic_rounds_once(name: str) -> None:
    kernels = Kernels(f"""
    emmy_fuse.kernel @multiply(%x: tensor<1000x{name}>, %y: tensor<1000x{name}>) outs(%z: tensor<1000x{name}>) axes(m = 1000) {{
      %a = emmy_fuse.load %x over [m] at [m] : tensor<1000x{name}>
      %b = emmy_fuse.load %y over [m] at [m] : tensor<1000x{name}>
      %c = emmy_fuse.map(%a, %b) : (!emmy_fuse.value<[m] x {name}>, !emmy_fuse.value<[m] x {name}>)
          -> !emmy_fuse.value<[m] x {name}> {{
      ^bb0(%p: {name}, %q: {name}):
        %r = arith.mulf %p, %q : {name}
        emmy_fuse.yield %r : {name}
      }}
      emmy_fuse.store %c to %z over [m] at [m] : !emmy_fuse.value<[m] x {name}>, tensor<1000x{name}>
    }}""")
    x, y = np.random.default_rng(0).standard_normal((2, 1000)).astype(TYPES[name])
    z = np.empty_like(x)
    kernels.call("multiply", [x, y, z])
    np.testing.assert_array_equal(z, x * y)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_moved_through_selects(dtype: torch.dtype) -> None:
    """Nested choices between loads and constants, which LLVM vectorises."""

    def function(x: torch.Tensor) -> torch.Tensor:
        padded = torch.nn.functional.pad(x, (1, 2), value=0.5)
        twice = torch.cat([padded, padded], 0)
        return twice.sum(2)

    x = torch.randn(33, 4, 4).to(dtype)
    assert torch.equal(emmy.compile(function, fullgraph=True)(x), function(x))
