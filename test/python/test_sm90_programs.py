"""Whole operators written in emmy_tile as an expert would write them for Hopper: right under every schedule, clean through ptxas,
and the hangs that such kernels have had are found when put back."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import emmy
import pytest
from attention_program import attention
from emmy import ir
from emmy._mlir_libs import _emmy
from emmy.passmanager import PassManager
from gemm_programs import gemm, gemv, splitk
from tile_kernels import compile_to_ptx

PROGRAMS = {
    "gemm": gemm(200, 72, 136),
    "gemm_group_in_flight": gemm(100, 136, 136, wait=1, bn=128, epi=2),
    "gemm_two_blocks": gemm(300, 72, 136, mi=2, wait=1, epi=2),
    "gemm_three_consumers": gemm(200, 72, 136, wgs=3),
    "gemm_cluster_shares_b": gemm(300, 40, 200, cluster=2, wait=1),
    "gemm_cluster_shares_a": gemm(200, 72, 136, cluster=2, share="a", clusters=1),
    "gemm_ping_pong": gemm(200, 72, 136, pingpong=True),
    "gemm_ping_pong_group_in_flight": gemm(200, 72, 200, pingpong=True, wait=1, stages=4, clusters=1),
    "gemm_ping_pong_cluster": gemm(200, 72, 136, pingpong=True, wait=1, cluster=2, clusters=1),
    "splitk_unsplit": splitk(40, 72, 328),
    "splitk_push": splitk(20, 72, 328, split=2, push=True),
    "splitk_pull": splitk(20, 72, 328, split=4),
    "splitk_multicast": splitk(20, 136, 328, mc=2),
    "splitk_workspace": splitk(20, 72, 328, gsplit=3),
    "splitk_push_and_workspace": splitk(20, 72, 328, split=2, push=True, gsplit=2),
    "splitk_dependent_launch": splitk(20, 72, 328, pdl=True),
    "gemv": gemv(3, 20, 520),
    "attention": attention(140, 140),
    "attention_causal": attention(200, 200, causal=True),
    "attention_wide_heads": attention(100, 140, hd=128, k_stages=3),
    "attention_lazy": attention(100, 200, softmax="lazy", slack=0.5),
    "attention_lazy_ping_pong": attention(100, 200, wgs=3, softmax="lazy", slack=0.5, pingpong=True),
    "attention_stale": attention(140, 200, softmax="stale", slack=1, k_stages=3),
    "attention_stale_causal": attention(140, 140, hd=128, softmax="stale", slack=0.5, k_stages=3, causal=True),
}

FAULTS = {
    "attention_waits_again": (attention(200, 300, fault="rewait"), "parity-lag: this completes phase"),
    "attention_without_products": (attention(200, 300, fault="no_products"), "parity-lag: this completes phase"),
    "gemm_no_turns": (gemm(300, 136, 136, pingpong=True, turns=False), "(uninitialized|async-write-not-waited|parity-lag)"),
    "splitk_relaxed_count": (splitk(40, 136, 520, gsplit=3, counts=""), "data-race: consumer of CTA .* reads byte"),
}

PTXAS = shutil.which("ptxas")
BUNDLED = Path(emmy.__file__).parent / "bin" / "emmy-opt"
EMMY_OPT = str(BUNDLED) if BUNDLED.exists() else shutil.which("emmy-opt")


def simulate(text: str, schedules: int = 1, schedule: str = "random") -> None:
    with ir.Context() as context:
        _emmy.register_dialects(context)
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module(emmy-simulate{{schedules={schedules} schedule={schedule}}})").run(module.operation)


@pytest.mark.skipif(EMMY_OPT is None, reason="no emmy-opt")
@pytest.mark.parametrize("name", PROGRAMS)
def test_right_under_every_schedule(name: str) -> None:
    assert EMMY_OPT is not None
    random = [f"schedules=10 seed={seed}" for seed in (0, 10)]
    roles = ["async", *(role for role in ("producer", "consumer") if f'role "{role}"' in PROGRAMS[name])]
    runs = [*random, *(f"schedules=1 schedule=delay={role}" for role in roles)]

    def said(options: str) -> str:
        command = [EMMY_OPT, "-", f"--emmy-simulate={options}", "-o", "/dev/null"]
        return subprocess.run(command, input=PROGRAMS[name], capture_output=True, text=True, check=False).stderr

    with ThreadPoolExecutor(2) as pool:
        for line in pool.map(said, runs):
            assert re.fullmatch(
                r"emmy-simulate: (@\w+: )?\d launch(es)? of \d programs? under \d+ schedules?, \d buffers? compared\n", line
            )


@pytest.mark.skipif(EMMY_OPT is None, reason="no emmy-opt")
def test_a_gemm_of_two_clusters_takes_less_than_ten_seconds() -> None:
    assert EMMY_OPT is not None
    text = gemm(256, 256, 256, bn=128, epi=2, cluster=2, wait=1, wgs=1)
    before = os.times().children_user
    subprocess.run([EMMY_OPT, "-", "--emmy-simulate=schedules=1", "-o", "/dev/null"], input=text, text=True, check=True)
    assert os.times().children_user - before < 10


@pytest.mark.parametrize("name", FAULTS)
def test_found_when_put_back(name: str) -> None:
    text, message = FAULTS[name]
    with pytest.raises(ir.MLIRError, match=message):
        simulate(text, schedules=20)


def test_a_barrier_cures_the_kernel_without_products() -> None:
    simulate(attention(200, 300, fault="no_products_gathered"), schedules=3)


@pytest.mark.skipif(PTXAS is None, reason="no ptxas on PATH")
@pytest.mark.parametrize("name", PROGRAMS)
def test_assembles_cleanly(name: str, tmp_path: Path) -> None:
    assert PTXAS is not None
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAMS[name])
    for kernel, ptx in compile_to_ptx(path).items():
        (tmp_path / f"{kernel}.ptx").write_text(ptx)
        command = [PTXAS, "-v", "-arch=sm_90a", str(tmp_path / f"{kernel}.ptx"), "-o", str(tmp_path / f"{kernel}.cubin")]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        assert not re.search(r"C7[56]\d\d|[1-9]\d* bytes (stack|spill)", run.stderr), run.stderr
