"""What the pages say is so: generated ones are what the compiler prints today, and commands and examples run."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import emmy
import pytest
import torch
from emmy.frontend.dynamo import emmy_backend

ROOT = Path(__file__).parents[2]
SITE = Path(sysconfig.get_paths()["purelib"])


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with the commands that the package installs."""
    folder = tmp_path_factory.mktemp("bin")
    for name, entry in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"].items():
        module, function = entry.split(":")
        script = folder / name
        script.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
        script.chmod(0o755)
    tools = [str(folder), *(str(SITE / package / "bin") for package in ("llvm", "mlir")), os.environ["PATH"]]
    return {**os.environ, "PATH": os.pathsep.join(tools), "EMMY_CACHE_DIR": str(folder / "cache")}


def run(command: str, shell: dict[str, str], folder: Path, text: str = "") -> str:
    program = ["bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(program, env=shell, cwd=folder, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("script", ["gen_stages", "gen_operations"])
def test_generated_pages(script: str) -> None:
    functions = runpy.run_path(str(ROOT / "scripts" / f"{script}.py"))
    if script == "gen_stages":
        assert functions["stale"]() == []
    else:
        assert functions["PAGE"].read_text() == functions["render"]()


def test_commands_of_the_usage_page(shell: dict[str, str], tmp_path: Path) -> None:
    printed = "".join(run(block, shell, tmp_path) for block in blocks("docs/usage.md", "sh"))
    for part in ("result 0: ok", "schedule of @", "wgmma.mma_async.sync.aligned.m64n128k16", "00-torch.mlir"):
        assert part in printed
    first, second = re.findall(r'emmy_sched.predicted = "(.*)"', printed)
    assert first != second


@pytest.mark.parametrize("page", ["README.md", "docs/usage.md"])
def test_python_of_the_pages(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    if "emmy" not in torch._dynamo.list_backends():  # known by its entry point where the package is installed
        torch._dynamo.register_backend(emmy_backend, name="emmy")
    scope: dict[str, Any] = {}
    for block in blocks(page, "python"):
        exec(block, scope)
    if page == "README.md":
        assert capsys.readouterr().out.startswith("True\n")


def test_the_lit_test_of_the_contributing_page(shell: dict[str, str], tmp_path: Path) -> None:
    (block,) = blocks("docs/contributing.md", "mlir")
    (tmp_path / "two-maps.mlir").write_text(block)
    command = block.splitlines()[0].removeprefix("// RUN: ").replace("%s", "two-maps.mlir")
    run(command, shell, tmp_path)


def test_the_kernel_of_the_simulator_page(shell: dict[str, str], tmp_path: Path) -> None:
    kernels = [block for block in blocks("docs/simulator.md", "mlir") if "emmy.simulate" in block]
    assert kernels
    for kernel in kernels:
        statistics = "emmy-opt --emmy-simulate --mlir-pass-statistics -o /dev/null - 2>&1"
        assert "(S) 20 runs" in run(statistics, shell, tmp_path, kernel)


def test_installed_tools_pass_on_input_and_exit_code(shell: dict[str, str], tmp_path: Path) -> None:
    assert "func.func private @f()" in run("emmy-opt", shell, tmp_path, "func.func private @f()")
    assert "failed" in run("emmy-opt || echo failed with $?", shell, tmp_path, "func.func @(")
    assert "--lit-test" in run("emmy-lsp-server --help", shell, tmp_path)


def test_pipelines_and_settings_are_on_the_usage_page() -> None:
    page = (ROOT / "docs/usage.md").read_text()
    sources = "".join(path.read_text() for path in (ROOT / "lib/Pipelines").glob("*.cpp"))
    names = re.findall(r'PipelineRegistration<\w*>\("([\w-]+)"', sources)
    settings = re.findall(r'environ\.get\("(EMMY_\w+)"', (ROOT / "python/emmy/config.py").read_text())
    assert names and settings
    assert [name for name in [*(f"--{name}" for name in names), *settings] if name not in page] == []


def test_public_names() -> None:
    assert set(emmy.__all__) <= set(dir(emmy))
    assert all(getattr(emmy, name).__doc__ for name in emmy.__all__)
