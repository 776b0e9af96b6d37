"""Elementary functions on the CPU target against float64: every bf16 and f16 value, and samples of f32."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import ml_dtypes
import numpy as np
import pytest
import torch
from cpu_kernels import Kernels

RNG = np.random.default_rng(0)


def special(name: str) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: getattr(torch.special, name)(torch.from_numpy(x)).numpy()


# Operation of the math dialect, exact value in float64, bound in ulp of float32.
UNARY: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "exp": (np.exp, 1),
    "exp2": (np.exp2, 1),
    "expm1": (np.expm1, 2),
    "log": (np.log, 1),
    "log2": (np.log2, 2),
    "log10": (np.log10, 2),
    "log1p": (np.log1p, 2),
    "sin": (np.sin, 3),
    "cos": (np.cos, 3),
    "tan": (np.tan, 4),
    "asin": (np.arcsin, 2),
    "acos": (np.arccos, 2),
    "atan": (np.arctan, 2),
    "sinh": (np.sinh, 3),
    "cosh": (np.cosh, 2),
    "tanh": (np.tanh, 2),
    "asinh": (np.arcsinh, 4),
    "acosh": (np.arccosh, 4),
    "atanh": (np.arctanh, 4),
    "erf": (special("erf"), 2),
    "erfc": (special("erfc"), 16),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2),
    "sqrt": (np.sqrt, 0.5),
    "floor": (np.floor, 0),
    "ceil": (np.ceil, 0),
    "trunc": (np.trunc, 0),
    "roundeven": (np.rint, 0),
    "round": (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), 0),
}
BINARY: dict[str, tuple[Callable[[np.ndarray, np.ndarray], np.ndarray], float]] = {
    "powf": (np.power, 3),
    "atan2": (np.arctan2, 3),
}


def kernel(op: str, arguments: int, element: str = "f32") -> str:
    value, tensor = f"!emmy_fuse.value<[m] x {element}>", f"tensor<?x{element}, #emmy.dims<[s0]>>"
    names = [f"%x{i}" for i in range(arguments)]
    loads = [f"%a{i} = emmy_fuse.load {name} over [m] at [m] : {tensor}" for i, name in enumerate(names)]
    scalars = [f"%s{i}" for i in range(arguments)]
    return f"""
    emmy_fuse.kernel @k_{op}({", ".join(f"{n}: {tensor}" for n in names)}) outs(%y: {tensor}) axes(m = s0) {{
      {chr(10).join(loads)}
      %b = emmy_fuse.map({", ".join(f"%a{i}" for i in range(arguments))}) : ({", ".join([value] * arguments)}) -> {value} {{
      ^bb0({", ".join(f"{s}: {element}" for s in scalars)}):
        %r = math.{op} {", ".join(scalars)} : {element}
        emmy_fuse.yield %r : {element}
      }}
      emmy_fuse.store %b to %y over [m] at [m] : {value}, {tensor}
    }}"""


@cache
def compiled(element: str) -> Kernels:
    return Kernels("".join([kernel(op, 1, element) for op in UNARY] + [kernel(op, 2, element) for op in BINARY]))


def run(op: str, *inputs: np.ndarray, element: str = "f32") -> np.ndarray:
    out = np.full_like(inputs[0], 7)
    compiled(element).call(f"k_{op}", [*inputs, out], [out.size])
    return out


def samples() -> np.ndarray:
    every16 = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        parts = [every16.view(ml_dtypes.bfloat16).astype(np.float32), every16.view(np.float16).astype(np.float32)]
    parts.append(RNG.integers(0, 1 << 32, 1 << 18, dtype=np.uint32).view(np.float32))
    parts += [RNG.uniform(-scale, scale, 1 << 16).astype(np.float32) for scale in (1, 4, 20, 100, 1000, 1e5)]
    parts.append((1 + RNG.uniform(-1, 1, 1 << 14) * 10.0 ** RNG.uniform(-7, 0, 1 << 14)).astype(np.float32))
    return np.concatenate(parts)


def check(result: np.ndarray, exact: np.ndarray, bound: float, inputs: list[np.ndarray]) -> None:
    expected = exact.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(result[np.isinf(expected)], expected[np.isinf(expected)])
    with np.errstate(divide="ignore"):
        exponent = np.floor(np.log2(np.abs(exact[finite])))
    ulp = np.exp2(np.maximum(exponent, -126) - 23)
    error = np.abs(result[finite].astype(np.float64) - exact[finite]) / ulp
    worst = int(np.argmax(error))
    at = [values[finite][worst] for values in inputs]
    assert error[worst] <= max(bound, 0.5), f"{error[worst]:.2f} ulp at {at}: {result[finite][worst]!r}"
    zero = finite & (expected == 0) & (exact == 0)
    np.testing.assert_array_equal(np.signbit(result[zero]), np.signbit(expected[zero]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", UNARY)
def test_unary(op: str) -> None:
    reference, bound = UNARY[op]
    x = samples()
    check(run(op, x), reference(x.astype(np.float64)), bound, [x])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", BINARY)
def test_binary(op: str) -> None:
    reference, bound = BINARY[op]
    x, y = samples(), samples()
    RNG.shuffle(y)
    corner = np.array([0, 1, 2, 3, 0.5, 1.5, 2**24 + 2, 3e38, np.inf, np.nan, 1e-45, 0.99999994, 1.0000001], np.float32)
    corner = np.concatenate([corner, -corner])
    grid = np.meshgrid(corner, corner)
    near = RNG.uniform(0, 4, 1 << 16).astype(np.float32), RNG.uniform(-30, 30, 1 << 16).astype(np.float32)
    x, y = np.concatenate([x, grid[0].ravel(), near[0]]), np.concatenate([y, grid[1].ravel(), near[1]])
    check(run(op, x, y), reference(x.astype(np.float64), y.astype(np.float64)), bound, [x, y])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("element", "dtype"), [("bf16", ml_dtypes.bfloat16), ("f16", np.float16)])
@pytest.mark.parametrize("op", ["exp", "log", "sin", "tanh", "erf", "rsqrt"])
def test_small_floats_round_once(op: str, element: str, dtype: type) -> None:
    """Every value of the type: within one place of the exact value rounded."""
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    result = run(op, x, element=element).astype(np.float64)
    expected = UNARY[op][0](x.astype(np.float64)).astype(np.float32).astype(dtype)
    nan = np.isnan(expected.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(result), nan)
    above, below = np.nextafter(expected, dtype(np.inf)), np.nextafter(expected, dtype(-np.inf))
    inside = (result <= above.astype(np.float64)) & (result >= below.astype(np.float64))
    assert inside[~nan].all(), x[~nan & ~inside]
    assert (result == expected.astype(np.float64))[~nan].mean() > 0.999


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_error_function_of_a_gpu() -> None:
    """The quotient that GPUs compute: 6 ulp, 4e-7 in all; exactly 1 far out. (Their reciprocal adds one ulp to this division.)"""
    gpu = Kernels(kernel("erf", 1), "emmy-expand-math{approx=true},emmy-fuse-to-cpu")
    x = np.concatenate([samples(), np.linspace(-5, 5, 1 << 20, dtype=np.float32)])
    out = np.empty_like(x)
    gpu.call("k_erf", [x, out], [x.size])
    exact = special("erf")(x.astype(np.float64))
    check(out, exact, 6, [x])
    finite = np.isfinite(exact)
    assert np.abs(out[finite] - exact[finite]).max() < 4e-7
    assert (np.abs(out[np.abs(x) > 3.85]) == 1).all()


def test_pow_agrees_with_pytorch_on_special_values() -> None:
    corner = torch.tensor([0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, float("inf"), float("-inf"), float("nan")])
    x, y = (t.flatten() for t in torch.meshgrid(corner, corner, indexing="ij"))
    result = run("powf", x.contiguous().numpy(), y.contiguous().numpy())
    np.testing.assert_allclose(result, torch.pow(x, y).numpy(), rtol=2e-7, atol=0)


def test_doubles_are_exact_to_double() -> None:
    x = RNG.uniform(0.1, 4, 1000)
    for op in ("exp", "log", "erf", "tanh", "sin"):
        np.testing.assert_allclose(run(op, x, element="f64"), UNARY[op][0](x), rtol=1e-14)
