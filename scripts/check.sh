#!/usr/bin/env bash
# check.sh BIN: lint, then lit, then pytest, with their closing lines.
set -euo pipefail
bin=$1
export PATH="$PWD/$bin:$PATH"
"$bin/python" scripts/lint_tests.py
"$bin/lit" -sv test/lit
"$bin/python" -m pytest -q test/python
