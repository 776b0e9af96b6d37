"""Every op of every dialect survives its pretty form, its generic form and bytecode: each op of the .td files occurs in some lit
file, and all that occurs there comes back the same."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from emmy import ir
from emmy.errors import CompileError
from emmy.pipeline import make_context, parse

ROOT = Path(__file__).parents[2]
DIALECTS = ("emmy", "emmy_graph", "emmy_fuse", "emmy_sched", "emmy_tile")


def declared_ops() -> set[str]:
    """The names of all ops, read off the operation pages of the reference, which TableGen makes."""
    pages = (ROOT / "docs" / "generated" / "dialects").glob("*.md")
    return {name for page in pages for name in re.findall(r"^### `([\w.]+)` \(", page.read_text(), re.MULTILINE)}


def programs() -> Iterator[ir.Module]:
    """Every valid program in the lit tests."""
    for path in sorted((ROOT / "test" / "lit").rglob("*.mlir")):
        for part in path.read_text().split("// -----"):
            try:
                module = parse(part, make_context(), path.name)
                if module.operation.verify():
                    yield module
            except (CompileError, ir.MLIRError):
                continue


def forms(module: ir.Module) -> Iterator[tuple[str, str | bytes]]:
    yield "pretty", module.operation.get_asm()
    yield "generic", module.operation.get_asm(print_generic_op_form=True)
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    yield "bytecode", buffer.getvalue()


def test_every_op_comes_back() -> None:
    seen: set[str] = set()
    count = 0
    for module in programs():
        expected = module.operation.get_asm(print_generic_op_form=True)
        for form, text in forms(module):
            again = ir.Module.parse(text, make_context())
            assert again.operation.get_asm(print_generic_op_form=True) == expected, form
        seen.update(re.findall(r'"(emmy\w*\.\w+)"', expected))
        count += 1
    assert count > 100
    missing = declared_ops() - seen
    assert not missing, f"no lit file holds {sorted(missing)}"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_reference_lists_ops(dialect: str) -> None:
    assert any(name.startswith(f"{dialect}.") for name in declared_ops())
