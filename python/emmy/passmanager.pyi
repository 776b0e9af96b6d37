# MLIR's own bindings, which have no types; `passmanager.py` comes from its wheel at build time.
from typing import Any

def __getattr__(name: str) -> Any: ...
