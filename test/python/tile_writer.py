"""Writes emmy_tile text: fresh names, constants collected at the top, nested regions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

__all__ = ["Writer", "accumulator", "bind", "row_layout", "shared", "tmap"]


class Writer:
    """The body of one kernel."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
        self.count = 0

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def op(self, text: str) -> str:
        """The one result of an op."""
        name = self.name()
        self.line(f"{name} = {text}")
        return name

    def ops(self, count: int, text: str) -> list[str]:
        """Several results of an op."""
        names = [self.name() for _ in range(count)]
        self.line(f"{', '.join(names)} = {text}")
        return names

    def constant(self, value: int | float | str, type_: str = "i32") -> str:
        name = f"%const{len(self.constants)}_{type_}"
        known = {text: name for name, text in self.constants.items()}
        text = f"arith.constant {value} : {type_}"
        if text not in known:
            self.constants[name] = text
        return known.get(text, name)

    def i32(self, value: int | str) -> str:
        return value if isinstance(value, str) else self.constant(value)

    def binary(self, op: str, a: int | str, b: int | str, type_: str = "i32") -> str:
        a, b = (x if isinstance(x, str) else self.constant(x, type_) for x in (a, b))
        return self.op(f"arith.{op} {a}, {b} : {type_}")

    def add(self, a: int | str, b: int | str) -> str:
        return self.binary("addi", a, b)

    def sub(self, a: int | str, b: int | str) -> str:
        return self.binary("subi", a, b)

    def mul(self, a: int | str, b: int | str) -> str:
        return self.binary("muli", a, b)

    def compare(self, how: str, a: int | str, b: int | str) -> str:
        return self.op(f"arith.cmpi {how}, {self.i32(a)}, {self.i32(b)} : i32")

    def wide(self, a: int | str) -> str:
        return self.op(f"arith.extsi {self.i32(a)} : i32 to i64")

    @contextmanager
    def region(self, head: str, foot: str = "}") -> Iterator[None]:
        self.line(head + " {")
        yield
        self.line(foot)

    @contextmanager
    def loop(self, begin: int | str, end: int | str, carried: Sequence[tuple[str, str]] = ()) -> Iterator[Loop]:
        """`scf.for` in steps of one; `carried` are (start, type). The body sets `loop.next`."""
        loop = Loop(self.name(), [self.name() for _ in carried])
        results = [self.name() for _ in carried]
        types = ", ".join(type_ for _, type_ in carried)
        head = f"scf.for {loop.index} = {self.i32(begin)} to {self.i32(end)} step {self.i32(1)}"
        if carried:
            starts = ", ".join(f"{inner} = {start}" for inner, (start, _) in zip(loop.values, carried, strict=True))
            head = f"{', '.join(results)} = {head} iter_args({starts}) -> ({types})"
        self.line(head + " : i32 {")
        yield loop
        if carried:
            self.line(f"scf.yield {', '.join(loop.next)} : {types}")
        self.line("}")
        loop.results = results

    def map(self, result: str, inputs: Sequence[tuple[str, str]], body: Sequence[str], value: str, element: str) -> str:
        """`emmy_tile.map`: inputs are (name, type); the body names their elements %a, %b, … and yields `value`."""
        names = ", ".join(name for name, _ in inputs)
        types = ", ".join(type_ for _, type_ in inputs)
        out = self.name()
        self.line(f"{out} = emmy_tile.map({names}) : ({types}) -> {result} {{")
        arguments = ", ".join(f"%{'abcdefgh'[i]}: {element_of(type_)}" for i, (_, type_) in enumerate(inputs))
        self.line(f"^bb0({arguments}):")
        for text in body:
            self.line("  " + text)
        self.line(f"  emmy_tile.yield {value} : {element}")
        self.line("}")
        return out

    def reduce(self, op: str, value: str, type_: str, result: str) -> str:
        """Combines the f32 columns of each row."""
        out = self.name()
        self.line(f"{out} = emmy_tile.reduce {value} over 1 : {type_} -> {result} {{")
        self.line(f"^bb0(%a: f32, %b: f32):\n    %c = arith.{op} %a, %b : f32\n    emmy_tile.yield %c : f32\n  }}")
        return out

    def slot(self, counter: str, stages: int) -> list[str]:
        return self.ops(2, f"emmy_tile.ring_slot {counter} of {stages}")

    def subview(self, source: str, source_type: str, at: Sequence[int | str], type_: str) -> str:
        offsets = ", ".join(self.i32(x) for x in at)
        return self.op(f"emmy_tile.subview {source}[{offsets}] : {source_type} -> {type_}")

    def kernel(
        self, name: str, arguments: Sequence[str], grid: Sequence[int], attributes: str, warps: int, cluster: int = 1
    ) -> str:
        """The whole kernel, with what was written as its body."""
        head = f"emmy_tile.kernel @{name}({', '.join(arguments)}) grid [{', '.join(map(str, grid))}]"
        head += (f" cluster {cluster}" if cluster > 1 else "") + f" warps {warps}{attributes} {{"
        constants = [f"  {name} = {text}" for name, text in self.constants.items()]
        return "\n".join([head, *constants, *self.lines, "}"]) + "\n"


class Loop:
    """The inside of `Writer.loop`, and its results afterwards."""

    def __init__(self, index: str, values: list[str]) -> None:
        self.index, self.values = index, values
        self.next: list[str] = []
        self.results: list[str] = []


def element_of(type_: str) -> str:
    return type_.split(",")[0].split("x")[-1].rstrip(">") if "frag<" in type_ else type_


def accumulator(n: int) -> str:
    """The layout of the accumulator of m64nN."""
    return f"#emmy_tile.layout<reg = [2:(0,1), 2:(8,0), {n // 8}:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>"


def row_layout() -> str:
    """One number for each row of an accumulator, in all threads that hold a part of the row."""
    return "#emmy_tile.layout<reg = [2:(8)], lane = [4:(0), 8:(1)], warp = [4:(16)]>"


def shared(*sizes: int) -> str:
    return f"!emmy_tile.shared<{'x'.join(map(str, sizes))}xbf16, swizzle = 128>"


def tmap(rows: int) -> str:
    return f"!emmy_tile.tmap<{rows}x64xbf16, swizzle = 128>"


def bind(buffer: int, rows: int, columns: int) -> str:
    """The binding of a TMA descriptor to a row-major bf16 matrix."""
    return (
        f"{{emmy.bind = #emmy.bind_tma<{buffer}, sizes = [{rows}, {columns}], strides = [{2 * columns}], offset = 0, "
        "l2_promotion = 256>}"
    )
