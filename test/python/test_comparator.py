"""The comparison that all value tests rest on must reject what is wrong."""

from __future__ import annotations

import pytest
import torch
from emmy._testing import assert_close_to_eager, compare, poison, reference64

DTYPES = [torch.bfloat16, torch.float16, torch.float32]


def make(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """An honest result, eager's, and the reference: a matmul accumulated in two orders."""
    torch.manual_seed(0)
    a, b = torch.randn(32, 256).to(dtype), torch.randn(256, 64).to(dtype)
    eager = a @ b
    ref64 = reference64(torch.matmul, (a, b))
    out = (a.float()[:, :128] @ b.float()[:128] + a.float()[:, 128:] @ b.float()[128:]).to(dtype)
    return out, eager, ref64


@pytest.mark.parametrize("dtype", DTYPES)
def test_accepts_another_summation_order(dtype: torch.dtype) -> None:
    out, eager, ref64 = make(dtype)
    assert compare(out, eager, ref64).ok
    assert_close_to_eager({"y": [out]}, {"y": [eager]}, {"y": [ref64]})


@pytest.mark.parametrize("dtype", DTYPES)
def test_rejects_one_wrong_row(dtype: torch.dtype) -> None:
    out, eager, ref64 = make(dtype)
    out[7] = out[8]
    assert not compare(out, eager, ref64).ok


@pytest.mark.parametrize("dtype", DTYPES)
def test_rejects_one_row_that_is_slightly_off(dtype: torch.dtype) -> None:
    out, eager, ref64 = make(dtype)
    out[7] = (out[7].float() * 1.05).to(dtype)
    assert "row" in compare(out, eager, ref64).reason


@pytest.mark.parametrize("dtype", DTYPES)
def test_rejects_one_wrong_element(dtype: torch.dtype) -> None:
    out, eager, ref64 = make(dtype)
    out[3, 5] = out[3, 5] + 4
    assert not compare(out, eager, ref64).ok


def test_rejects_one_wrong_element_in_a_long_row() -> None:
    """A single element hides in the norm of its row; the element-wise bound finds it."""
    ref64 = torch.ones(4, 65536, dtype=torch.float64)
    eager = ref64.bfloat16()
    out = eager.clone()
    out[2, 100] = 1.5
    assert compare(out, eager, ref64).reason == "an element is wrong"


@pytest.mark.parametrize("dtype", DTYPES)
def test_rejects_a_stale_output(dtype: torch.dtype) -> None:
    out, eager, ref64 = make(dtype)
    assert not compare(poison(out.clone()), eager, ref64).ok
    assert not compare(torch.zeros_like(out), eager, ref64).ok
    partly = out.clone()
    poison(partly[16:])
    assert "NaN" in compare(partly, eager, ref64).reason


def test_rejects_another_sign_of_infinity() -> None:
    eager = torch.tensor([1.0, float("inf")])
    out = torch.tensor([1.0, -float("inf")])
    assert compare(out, eager, eager.double()).reason == "infinities differ"


def test_rejects_another_shape_or_type() -> None:
    value = torch.ones(3)
    assert "expected" in compare(value[None], value, value.double()).reason
    assert "expected" in compare(value.double(), value, value.double()).reason


def test_compares_integers_exactly() -> None:
    eager = torch.arange(4)
    out = eager.clone()
    out[1] = 7
    assert compare(eager.clone(), eager, eager).ok
    assert compare(out, eager, eager).reason == "1 elements differ"


def test_fully_masked_rows_may_be_nan_in_both() -> None:
    eager = torch.tensor([[float("nan")] * 2, [1.0, 2.0]])
    assert compare(eager.clone(), eager, eager.double()).ok


def test_rejects_another_structure() -> None:
    value = torch.ones(2)
    with pytest.raises(AssertionError, match="structure"):
        assert_close_to_eager([value], (value,), (value,))
