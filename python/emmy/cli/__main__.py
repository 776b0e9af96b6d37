"""`python -m emmy.cli`: the `emmy` command."""

from __future__ import annotations

import sys

from emmy.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
