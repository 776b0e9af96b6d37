"""Values of emmy_fuse kernels on the CPU target against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from cpu_kernels import Kernels

RNG = np.random.default_rng(0)


def normal(*shape: int, dtype: str = "f4") -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def value(axes: str, element: str = "f32") -> str:
    return f"!emmy_fuse.value<[{', '.join(axes)}] x {element}>"


def contraction(rhs_type: str, rhs_map: str) -> str:
    return f"""
    emmy_fuse.kernel @contract(%x: tensor<5x7xf32>, %w: {rhs_type}) outs(%y: tensor<5x9xf32>) axes(m = 5, n = 9, k = 7) {{
      %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<5x7xf32>
      %b = emmy_fuse.load %w over [n, k] at {rhs_map} : {rhs_type}
      %c = emmy_fuse.contract %a, %b over [k] : ({value("mk")}, {value("nk")}) -> {value("mn")}
      emmy_fuse.store %c to %y over [m, n] at [m, n] : {value("mn")}, tensor<5x9xf32>
    }}"""


@pytest.mark.parametrize("transposed", [False, True])
def test_contraction(transposed: bool) -> None:
    text = contraction("tensor<9x7xf32>", "[n, k]") if transposed else contraction("tensor<7x9xf32>", "[k, n]")
    x, w, y = normal(5, 7), normal(*((9, 7) if transposed else (7, 9))), np.full((5, 9), np.nan, "f4")
    Kernels(text).call("contract", [x, w, y])
    np.testing.assert_allclose(y, x @ (w.T if transposed else w), rtol=1e-5, atol=1e-5)


SOFTMAX = f"""
emmy_fuse.kernel @softmax(%x: tensor<?x?xf32, #emmy.dims<[s0, s2]>> {{emmy.layout = #emmy.layout<strides = [s3, 1], align = 4>}})
    outs(%y: tensor<?x?xf32, #emmy.dims<[s0, s2]>>) axes(m = s0, n = s2) {{
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<?x?xf32, #emmy.dims<[s0, s2]>>
  %top = emmy_fuse.reduce max %a over [n] : {value("mn")} -> {value("m")}
  %e = emmy_fuse.map(%a, %top) : ({value("mn")}, {value("m")}) -> {value("mn")} {{
  ^bb0(%p: f32, %q: f32):
    %d = arith.subf %p, %q : f32
    %r = math.exp %d : f32
    emmy_fuse.yield %r : f32
  }}
  %sum = emmy_fuse.reduce add %e over [n] : {value("mn")} -> {value("m")}
  %s = emmy_fuse.map(%e, %sum) : ({value("mn")}, {value("m")}) -> {value("mn")} {{
  ^bb0(%p: f32, %q: f32):
    %r = arith.divf %p, %q : f32
    emmy_fuse.yield %r : f32
  }}
  emmy_fuse.store %s to %y over [m, n] at [m, n] : {value("mn")}, tensor<?x?xf32, #emmy.dims<[s0, s2]>>
}}"""


def test_softmax_with_symbolic_sizes_and_strides() -> None:
    kernels = Kernels(SOFTMAX)
    for rows, columns in [(3, 100), (1, 1), (0, 5), (4, 3000)]:
        storage = normal(rows, columns + 3)
        y = np.full((rows, columns), np.nan, "f4")
        kernels.call("softmax", [storage, y], [rows, columns, columns + 3])
        e = np.exp(storage[:, :columns] - storage[:, :columns].max(axis=1, keepdims=True))
        np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=2e-5, atol=1e-7)


def test_reductions() -> None:
    lines, outs = [], []
    for i, (kind, element) in enumerate([("add", "f32"), ("mul", "f32"), ("max", "f32"), ("min", "f32")]):
        outs.append(f"%y{i}: tensor<6x{element}>")
        lines.append(f"%r{i} = emmy_fuse.reduce {kind} %a over [n] : {value('mn')} -> {value('m', element)}")
        lines.append(f"emmy_fuse.store %r{i} to %y{i} over [m] at [m] : {value('m', element)}, tensor<6x{element}>")
    text = f"""
    emmy_fuse.kernel @reduce(%x: tensor<6x33xf32>) outs({", ".join(outs)}) axes(m = 6, n = 33) {{
      %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<6x33xf32>
      {chr(10).join(lines)}
    }}"""
    x, ys = normal(6, 33), [np.zeros(6, "f4") for _ in range(4)]
    x[2, 5] = np.nan
    Kernels(text).call("reduce", [x, *ys])
    for y, f in zip(ys, [np.sum, np.prod, np.max, np.min], strict=True):
        np.testing.assert_allclose(y, f(x.astype("f8"), axis=1), rtol=1e-4)


def test_column_reduction_and_booleans() -> None:
    text = f"""
    emmy_fuse.kernel @columns(%x: tensor<17x5xi1>) outs(%any: tensor<5xi1>, %all: tensor<5xi1>, %count: tensor<5xi64>)
        axes(m = 17, n = 5) {{
      %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<17x5xi1>
      %o = emmy_fuse.reduce any %a over [m] : {value("mn", "i1")} -> {value("n", "i1")}
      %l = emmy_fuse.reduce all %a over [m] : {value("mn", "i1")} -> {value("n", "i1")}
      %c = emmy_fuse.reduce add %a over [m] : {value("mn", "i1")} -> {value("n", "i64")}
      emmy_fuse.store %o to %any over [n] at [n] : {value("n", "i1")}, tensor<5xi1>
      emmy_fuse.store %l to %all over [n] at [n] : {value("n", "i1")}, tensor<5xi1>
      emmy_fuse.store %c to %count over [n] at [n] : {value("n", "i64")}, tensor<5xi64>
    }}"""
    x = RNG.random((17, 5)) < 0.2
    x[:, 0], x[:, 1] = False, True
    some, every, count = np.zeros(5, bool), np.zeros(5, bool), np.zeros(5, "i8")
    Kernels(text).call("columns", [x, some, every, count])
    np.testing.assert_array_equal(some, x.any(axis=0))
    np.testing.assert_array_equal(every, x.all(axis=0))
    np.testing.assert_array_equal(count, x.sum(axis=0))


def test_guarded_shift_and_gather() -> None:
    text = f"""
    emmy_fuse.kernel @rows(%ids: tensor<6xi64>, %t: tensor<10x4xf32>) outs(%y: tensor<6x7xf32>) axes(m = 6, n = 7) {{
      %i = emmy_fuse.load %ids over [m] at [m] : tensor<6xi64>
      %a = emmy_fuse.load %t over [m, n] using(%i : {value("m", "i64")}) at [i0, n - 2] guarded : tensor<10x4xf32>
      emmy_fuse.store %a to %y over [m, n] at [m, n] : {value("mn")}, tensor<6x7xf32>
    }}"""
    table, y = normal(10, 4), np.full((6, 7), np.nan, "f4")
    Kernels(text).call("rows", [np.array([3, 9, 0, -1, 10, 3]), table, y])
    expected = np.zeros((6, 7), "f4")
    for row, source in [(0, 3), (1, 9), (2, 0), (5, 3)]:
        expected[row, 2:6] = table[source]
    np.testing.assert_array_equal(y, expected)


def attention(rows: int, keys: int) -> str:
    """softmax(q·kᵀ)·v of two heads as one fold over the keys."""
    hm, hmn, hmd = value("hm"), value("hmn"), value("hmd")
    return f"""
    emmy_fuse.kernel @attention(%q: tensor<2x{rows}x8xf32>, %k: tensor<2x{keys}x8xf32>, %v: tensor<2x{keys}x12xf32>)
        outs(%y: tensor<2x{rows}x12xf32>) axes(h = 2, m = {rows}, n = {keys}, e = 8, d = 12) {{
      %zero = emmy_fuse.index over [h, m, d] at 0
      %o0 = emmy_fuse.map(%zero) : ({value("hmd", "i64")}) -> {hmd} {{
      ^bb0(%i: i64):
        %f = arith.constant 0.0 : f32
        emmy_fuse.yield %f : f32
      }}
      %one = emmy_fuse.index over [h, m] at 0
      %m0 = emmy_fuse.map(%one) : ({value("hm", "i64")}) -> {hm} {{
      ^bb0(%i: i64):
        %f = arith.constant 0xFF800000 : f32
        emmy_fuse.yield %f : f32
      }}
      %l0 = emmy_fuse.map(%one) : ({value("hm", "i64")}) -> {hm} {{
      ^bb0(%i: i64):
        %f = arith.constant 0.0 : f32
        emmy_fuse.yield %f : f32
      }}
      %mf, %lf, %of = emmy_fuse.fold over n init(%m0, %l0, %o0 : {hm}, {hm}, {hmd}) {{
      ^bb0(%mp: {hm}, %lp: {hm}, %op: {hmd}):
        %qe = emmy_fuse.load %q over [h, m, e] at [h, m, e] : tensor<2x{rows}x8xf32>
        %ke = emmy_fuse.load %k over [h, n, e] at [h, n, e] : tensor<2x{keys}x8xf32>
        %ve = emmy_fuse.load %v over [h, n, d] at [h, n, d] : tensor<2x{keys}x12xf32>
        %s = emmy_fuse.contract %qe, %ke over [e] : ({value("hme")}, {value("hne")}) -> {hmn}
        %t = emmy_fuse.reduce max %s over [n] : {hmn} -> {hm}
        %mn = emmy_fuse.map(%mp, %t) : ({hm}, {hm}) -> {hm} {{
        ^bb0(%a: f32, %b: f32):
          %r = arith.maximumf %a, %b : f32
          emmy_fuse.yield %r : f32
        }}
        %c = emmy_fuse.map(%mp, %mn) : ({hm}, {hm}) -> {hm} {{
        ^bb0(%a: f32, %b: f32):
          %d = arith.subf %a, %b : f32
          %r = math.exp %d : f32
          emmy_fuse.yield %r : f32
        }}
        %p = emmy_fuse.map(%s, %mn) : ({hmn}, {hm}) -> {hmn} {{
        ^bb0(%a: f32, %b: f32):
          %d = arith.subf %a, %b : f32
          %r = math.exp %d : f32
          emmy_fuse.yield %r : f32
        }}
        %ps = emmy_fuse.reduce add %p over [n] : {hmn} -> {hm}
        %ln = emmy_fuse.map(%lp, %c, %ps) : ({hm}, {hm}, {hm}) -> {hm} {{
        ^bb0(%a: f32, %b: f32, %g: f32):
          %d = arith.mulf %a, %b : f32
          %r = arith.addf %d, %g : f32
          emmy_fuse.yield %r : f32
        }}
        %pv = emmy_fuse.contract %p, %ve over [n] : ({hmn}, {value("hnd")}) -> {hmd}
        %on = emmy_fuse.map(%op, %c, %pv) : ({hmd}, {hm}, {hmd}) -> {hmd} {{
        ^bb0(%a: f32, %b: f32, %g: f32):
          %d = arith.mulf %a, %b : f32
          %r = arith.addf %d, %g : f32
          emmy_fuse.yield %r : f32
        }}
        emmy_fuse.yield %mn, %ln, %on : {hm}, {hm}, {hmd}
      }}
      %z = emmy_fuse.map(%of, %lf) : ({hmd}, {hm}) -> {hmd} {{
      ^bb0(%a: f32, %b: f32):
        %r = arith.divf %a, %b : f32
        emmy_fuse.yield %r : f32
      }}
      emmy_fuse.store %z to %y over [h, m, d] at [h, m, d] : {hmd}, tensor<2x{rows}x12xf32>
    }}"""


@pytest.mark.parametrize("keys", [1, 64, 65, 200])
def test_fold(keys: int) -> None:
    q, k, v, y = normal(2, 5, 8), normal(2, keys, 8), normal(2, keys, 12), np.full((2, 5, 12), np.nan, "f4")
    Kernels(attention(5, keys)).call("attention", [q, k, v, y])
    e = np.exp(np.einsum("hme,hne->hmn", q, k, dtype="f8"))
    np.testing.assert_allclose(y, np.einsum("hmn,hnd->hmd", e / e.sum(axis=-1, keepdims=True), v), rtol=1e-4, atol=1e-5)


def test_stores_in_other_orders() -> None:
    """A reduction that is stored by itself and used under loops in another order."""
    text = f"""
    emmy_fuse.kernel @normalize(%x: tensor<5x6xf32>) outs(%y: tensor<6x5xf32>, %s: tensor<5xf32>) axes(m = 5, n = 6) {{
      %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<5x6xf32>
      %t = emmy_fuse.reduce add %a over [n] : {value("mn")} -> {value("m")}
      %b = emmy_fuse.map(%a, %t) : ({value("mn")}, {value("m")}) -> {value("mn")} {{
      ^bb0(%p: f32, %q: f32):
        %r = arith.divf %p, %q : f32
        emmy_fuse.yield %r : f32
      }}
      emmy_fuse.store %b to %y over [n, m] at [n, m] : {value("mn")}, tensor<6x5xf32>
      emmy_fuse.store %t to %s over [m] at [m] : {value("m")}, tensor<5xf32>
    }}"""
    x, y, s = normal(5, 6), np.zeros((6, 5), "f4"), np.zeros(5, "f4")
    Kernels(text).call("normalize", [x, y, s])
    np.testing.assert_allclose(s, x.sum(axis=1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(y, (x / s[:, None]).T, rtol=1e-5)


def test_large_temporary_lives_to_the_end() -> None:
    """Two loop nests read one temporary that is too large for the stack."""
    text = f"""
    emmy_fuse.kernel @both(%x: tensor<64x65xf32>) outs(%y: tensor<64x65xf32>, %z: tensor<65x64xf32>) axes(m = 64, n = 65) {{
      %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<64x65xf32>
      %b = emmy_fuse.map(%a) : ({value("mn")}) -> {value("mn")} {{
      ^bb0(%p: f32):
        %r = math.exp %p : f32
        emmy_fuse.yield %r : f32
      }}
      emmy_fuse.store %b to %y over [m, n] at [m, n] : {value("mn")}, tensor<64x65xf32>
      emmy_fuse.store %b to %z over [n, m] at [n, m] : {value("mn")}, tensor<65x64xf32>
    }}"""
    x, y, z = normal(64, 65), np.zeros((64, 65), "f4"), np.zeros((65, 64), "f4")
    Kernels(text).call("both", [x, y, z])
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)
    np.testing.assert_array_equal(z, y.T)
