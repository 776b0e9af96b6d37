"""Plans on the CPU target: binding, outputs, steps, errors."""

from __future__ import annotations

import ctypes
import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from emmy._runtime import Plan, PlanMismatch, device_info
from runtime_kernels import code, document, launch, scale_plan, store_plan, tensor

DYNAMIC = [{"id": 0, "arg": 0, "dim": 0, "range": [0, 100]}]


def dynamic_plan() -> Plan:
    return scale_plan(["s0", 4], ["*", "s0", 4], DYNAMIC)


def alias_plan(alias: dict[str, Any]) -> Plan:
    """Doubles its argument in place and returns an alias of it."""
    return Plan(
        document(
            args=[tensor([4, 6], mutable=True)],
            buffers=[{"arg": 0}],
            outputs=[{"alias_of": 0, **alias}],
            steps=[launch("scale", {"ptr": 0}, {"ptr": 0}, {"i64": 24}, {"f32": 2.0})],
        ),
        code("scale"),
    )


def test_runs_with_symbolic_size() -> None:
    plan = dynamic_plan()
    for rows in (1, 3, 100):
        x = torch.randn(rows, 4)
        (y,) = plan(x)
        assert torch.equal(y, 2 * x)
        assert y.shape == x.shape and y.dtype == torch.float32
        assert y.untyped_storage().nbytes() == rows * 16


def test_describes_itself() -> None:
    plan = dynamic_plan()
    assert plan.target == "cpu" and plan.kernels == ["scale"]


def test_runs_python_callback() -> None:
    seen: list[int] = []
    kernel = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p))

    @kernel
    def callback(params: Any) -> None:
        seen.append(ctypes.cast(params[0], ctypes.POINTER(ctypes.c_int64))[0])

    address = ctypes.cast(callback, ctypes.c_void_p).value
    Plan(document(steps=[launch("k", {"i64": 42})]), {"k": address}, owner=callback)()
    assert seen == [42]


def test_function_is_found_by_kernel_or_by_a_module_of_its_own() -> None:
    steps = [launch("store", {"ptr": 0}, {"i64": i}, module="m") for i in (1, 2)]
    parts = {"buffers": [{"output": 0, "dtype": "i64", "sizes": [1]}], "outputs": [0]}
    assert Plan(document(**parts, steps=steps), {"m": code("store")["store"]})()[0].item() == 2
    steps.append(launch("store32", {"ptr": 0}, {"i32": 3}, module="m"))
    assert Plan(document(**parts, steps=steps), code("store", "store32"))()[0].item() == 3
    with pytest.raises(ValueError, match="no function for kernel 'store'"):
        Plan(document(**parts, steps=steps), {"m": code("store")["store"]})


def test_owner_lives_as_long_as_the_plan() -> None:
    class Owner:
        pass

    deleted: list[bool] = []
    owner = Owner()
    owner.guard = type("Guard", (), {"__del__": lambda self: deleted.append(True)})()
    plan = Plan(document(), {}, owner=owner)
    del owner
    gc.collect()
    assert not deleted
    del plan
    gc.collect()
    assert deleted


def test_empty_tensor_skips_launch_with_empty_grid() -> None:
    plan = Plan(
        document(
            symbols=[{"id": 0, "arg": 0, "dim": 0}],
            args=[tensor(["s0"])],
            buffers=[{"arg": 0}, {"output": 0, "dtype": "f32", "sizes": ["s0"]}],
            outputs=[1],
            steps=[{"launch": "absent", "grid": [["ceildiv", "s0", 4]], "params": []}],
        ),
        {"absent": 1},  # Would crash if it were called.
    )
    (y,) = plan(torch.empty(0))
    assert y.shape == (0,)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (torch.zeros(2, 4, dtype=torch.float64), r"argument #0 'x': expected dtype f32, but got dtype f64"),
        (torch.zeros(2, 4, dtype=torch.complex64), r"expected dtype f32, but got another dtype"),
        (torch.zeros(4), r"expected rank 2, but got rank 1"),
        (torch.zeros(2, 5), r"expected sizes \[2, 4\], but got sizes \[2, 5\]"),
        (torch.zeros(4, 2).t(), r"expected strides \[4, 1\], but got strides \[1, 2\]"),
        (torch.zeros(101, 4), r"expected a size of dimension 0 from 0 to 100, but got 101"),
    ],
)
def test_mismatch_names_argument_and_both_sides(argument: torch.Tensor, message: str) -> None:
    with pytest.raises(PlanMismatch, match=message):
        dynamic_plan()(argument)


def test_mismatch_is_a_value_error() -> None:
    assert issubclass(PlanMismatch, ValueError)


def test_misaligned_address() -> None:
    plan = scale_plan([4], 4, [], align=16)
    base = torch.zeros(9)
    plan(base[:4])
    with pytest.raises(PlanMismatch, match="multiple of 16 bytes, but got one that is 4 bytes past"):
        plan(base[1:5])


def test_strides_of_single_and_absent_elements_are_free() -> None:
    plan = dynamic_plan()
    x = torch.randn(4)
    assert torch.equal(plan(x.as_strided((1, 4), (77, 1)))[0], 2 * x[None])
    plan(torch.zeros(4, 0).t())


def test_stride_symbol() -> None:
    plan = Plan(
        document(
            symbols=[{"id": 0, "arg": 0, "stride": 0}],
            args=[tensor([2, 3], strides=["s0", 1])],
            buffers=[{"output": 0, "dtype": "i64", "sizes": [1]}],
            outputs=[0],
            steps=[launch("store", {"ptr": 0}, {"i64": "s0"})],
        ),
        code("store"),
    )
    assert plan(torch.zeros(2, 9)[:, :3])[0].item() == 9


@pytest.mark.parametrize("arguments", [(), (torch.zeros(2, 4),) * 2, (3,), ("x",), (None,)])
def test_wrong_arguments_are_type_errors(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        dynamic_plan()(*arguments)


def test_float_argument_and_special_values() -> None:
    plan = Plan(
        document(
            args=[tensor([2]), {"scalar": "f64"}],
            buffers=[{"arg": 0}, *({"output": i, "dtype": "f32", "sizes": [2]} for i in (0, 1))],
            outputs=[1, 2],
            steps=[
                launch("scale", {"ptr": 0}, {"ptr": 1}, {"i64": 2}, {"f32": {"arg": 1}}),
                launch("scale", {"ptr": 0}, {"ptr": 2}, {"i64": 2}, {"f32": "-inf"}),
            ],
        ),
        code("scale"),
    )
    y, z = plan(torch.ones(2), 0.5)
    assert y.tolist() == [0.5, 0.5] and z.tolist() == [float("-inf")] * 2
    assert plan(torch.ones(2), 3)[0].tolist() == [3.0, 3.0]


def test_alias_of_whole_argument_is_the_argument() -> None:
    x = torch.ones(4, 6)
    (y,) = alias_plan({})(x)
    assert y is x and x[0, 0] == 2


def test_alias_view_shares_storage() -> None:
    x = torch.arange(24.0).reshape(4, 6)
    expected = 2 * x[1:, 2]
    (y,) = alias_plan({"sizes": [3], "strides": [6], "offset": 8 * 4})(x)
    assert torch.equal(y, expected)
    assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def test_temporaries_copies_and_fills() -> None:
    plan = Plan(
        document(
            args=[tensor([8])],
            buffers=[
                {"arg": 0},
                {"output": 0, "dtype": "f32", "sizes": [8]},
                {"temp": True, "offset": 256, "bytes": 32},
            ],
            arena_bytes=288,
            outputs=[1],
            steps=[
                launch("scale", {"ptr": 0}, {"ptr": 2}, {"i64": 8}, {"f32": 3.0}),
                {"fill": 2, "value": 0, "offset": 16, "bytes": 8},
                {"copy": [1, 2]},
            ],
        ),
        code("scale"),
    )
    assert plan(torch.ones(8))[0].tolist() == [3, 3, 3, 3, 0, 0, 3, 3]


def test_output_strides_are_kept() -> None:
    plan = Plan(document(buffers=[{"output": 0, "dtype": "bf16", "sizes": [2, 3], "strides": [1, 2]}], outputs=[0, 0]), {})
    y, again = plan()
    assert y.stride() == (1, 2) and y.dtype == torch.bfloat16 and again is y


def test_switch_takes_first_true_case() -> None:
    plan = store_plan(7, when=["and", ["<", 2, "s0"], ["not", ["==", ["mod", "s0", 2], 1]]])
    assert [plan(n)[0].item() for n in (1, 2, 3, 4, 5, 6)] == [-1, -1, -1, 7, -1, 7]


def test_switch_on_alignment() -> None:
    steps = [
        {
            "switch": [
                {"when": ["aligned", 0, 16], "steps": [launch("store", {"ptr": 1}, {"i64": 1})]},
                {"steps": [launch("store", {"ptr": 1}, {"i64": 0})]},
            ]
        }
    ]
    buffers = [{"arg": 0}, {"output": 0, "dtype": "i64", "sizes": [1]}]
    plan = Plan(document(args=[tensor([4])], buffers=buffers, outputs=[1], steps=steps), code("store"))
    base = torch.zeros(16)
    assert [plan(base[i : i + 4])[0].item() for i in range(5)] == [1, 0, 0, 0, 1]


def test_threads_share_a_plan() -> None:
    plan = Plan(
        document(
            symbols=[{"id": 0, "arg": 0, "dim": 0}],
            args=[tensor(["s0"])],
            buffers=[
                {"arg": 0},
                {"output": 0, "dtype": "f32", "sizes": ["s0"]},
                {"temp": True, "offset": 0, "bytes": ["*", 4, "s0"]},
            ],
            arena_bytes=["*", 4, "s0"],
            outputs=[1],
            steps=[
                launch("spin", {"ptr": 0}, {"ptr": 2}, {"i64": "s0"}),
                launch("spin", {"ptr": 2}, {"ptr": 1}, {"i64": "s0"}),
            ],
        ),
        code("spin"),
    )

    def work(seed: int) -> bool:
        x = torch.full((100 + seed,), float(seed))
        return all(torch.equal(plan(x)[0], x + 100) for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a driver")
def test_gpu_plan_without_driver_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="no CUDA driver"):
        Plan(document(target="sm_90a"), {})


def test_device_info_gives_description_or_reason() -> None:
    info, reason = device_info()
    assert (info is None) != (reason is None)
    if info is None:
        assert "\n" not in reason
