#!/usr/bin/env bash
# install.sh VENV: builds Emmy into a virtual environment. The build folder is kept, so that a second run rebuilds what changed.
set -euo pipefail
venv=$1
python=$venv/bin/python
export PATH="$PWD/$venv/bin:$PATH" VIRTUAL_ENV="$PWD/$venv"
pip="$python -m pip --disable-pip-version-check"
# A CPU build of torch is enough to compile, to test and to run on the CPU; where CUDA's is wanted, set EMMY_TORCH=torch.
$python -c 'import torch' 2>/dev/null || $pip install -q "${EMMY_TORCH:-torch==2.13.0}"
requires=$($python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], "cmake", "ninja", sep="\n")')
$pip install -q -r <(echo "$requires")
jobs=$(( $(nproc) < 2 ? 1 : $(nproc) ))
CMAKE_BUILD_PARALLEL_LEVEL=$jobs $pip install -q --no-build-isolation -C build-dir="$venv/build" ".[test]"
