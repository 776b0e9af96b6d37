#!/usr/bin/env bash
# check.sh BIN: lint and types, then lit, then pytest, with their closing lines.
set -euo pipefail
bin=$1
export PATH="$PWD/$bin:$PATH"
"$bin/python" scripts/lint_tests.py
"$bin/python" scripts/gen_docs.py --check
"$bin/ruff" check -q
"$bin/mypy"
"$bin/lit" -sv test/lit
"$bin/python" -m pytest -q test/python
