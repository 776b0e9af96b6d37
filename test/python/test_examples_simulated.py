"""The examples with a symbolic length, compiled for an H200, on the simulator: right results, no rule broken."""

from __future__ import annotations

import emmy
import pytest
import torch
from emmy._testing import assert_close_to_eager, reference64
from emmy.simulator import simulating
from example_models import EXAMPLES, Example, Shape

# 192 columns are three blocks of 64: a cluster of two CTAs takes a fourth one that lies past the end.
SHAPE = Shape(batch=1, hidden=128, inner=192, heads=2, kv_heads=1, head=64)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_symbolic_length(example: Example) -> None:
    model = example.make_model(SHAPE).to(torch.bfloat16).eval()
    with simulating(seed=1), torch.no_grad():
        first = tuple(x.to(torch.bfloat16) for x in example.make_inputs(SHAPE, 64))
        compiled = emmy.compile(model, first, target="sm_90a", dynamic=example.dynamic(512), fullgraph=True)
        for length in (1, 17) if "layer" in example.name else (1, 17, 70):
            inputs = tuple(x.to(torch.bfloat16) for x in example.make_inputs(SHAPE, length))
            assert_close_to_eager(compiled(*inputs), model(*inputs), reference64(model, inputs))


def test_attention_that_tensor_cores_cannot_take() -> None:
    """Queries of a head lie apart in memory, so both products stream: a pass over its elements inside one over keys."""
    shape = Shape(batch=1, heads=2, kv_heads=1, head=128)
    example = next(example for example in EXAMPLES if example.name == "causal_attention")
    q, k, v = (x.to(torch.bfloat16) for x in example.make_inputs(shape, 9))
    inputs = (q.transpose(0, -1).contiguous().transpose(0, -1), k, v)
    model = example.make_model(shape)
    with simulating(seed=1), torch.no_grad():
        compiled = emmy.compile(model, inputs, target="sm_90a", fullgraph=True)
        assert_close_to_eager(compiled(*inputs), model(*inputs), reference64(model, inputs))
