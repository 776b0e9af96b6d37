"""Flash attention O = softmax(Q · K^T / sqrt(d)) · V for one head as an emmy_tile program: persistent and warp-specialised.

A consumer issues QK of the next block of keys, then PV of the current one (P stays in registers as the first operand), and runs
the next block's softmax while PV is in flight. Blocks of keys are visited last to first: the masked ones come first. Tiles of
queries come from an atomic counter that resets itself, and reach the consumers through shared memory.

softmax: "online" rescales O after every block; "lazy" keeps the row maxima until a score passes one by `slack` powers of two, so
that O is hardly ever rescaled; "stale" does not even wait for the block's maxima: it takes the exponentials against the old ones
and redoes the block, QK included, in the rare case that one came out above 2^slack.
"""

from __future__ import annotations

import math

from gemm_programs import ceil, expected, filled, init, simulation
from tile_writer import Writer, accumulator, bind, row_layout, shared, tmap

__all__ = ["attention"]


def attention(
    queries: int,
    keys: int,
    *,
    hd: int = 64,
    bn: int = 64,
    wgs: int = 2,
    softmax: str = "online",
    pingpong: bool = False,
    causal: bool = False,
    k_stages: int = 2,
    v_stages: int = 2,
    slack: float = 8,
    grid: int = 2,
    fault: str = "",
) -> str:
    """`fault`: "rewait" tests V's barrier once more after its release; "no_products" leaves wgmma out, so that nothing gathers a
    warpgroup's warps before its leader arrives; "no_products_gathered" has a barrier do that."""
    multiplies, gathers = not fault.startswith("no_products"), fault == "no_products_gathered"
    w = Writer()
    panels, bm = hd // 64, 64 * wgs
    tiles = ceil(queries, bm)
    q_all, q_mine, q_panel = shared(wgs, panels, 64, 64), shared(panels, 64, 64), shared(64, 64)
    k_ring, k_tile, k_panel = shared(k_stages, panels, bn, 64), shared(panels, bn, 64), shared(bn, 64)
    v_ring = shared(v_stages, panels, bn, 64)
    one, k_bars, v_bars = "!emmy_tile.barrier<1>", f"!emmy_tile.barrier<{k_stages}>", f"!emmy_tile.barrier<{v_stages}>"
    turns, word = f"!emmy_tile.barrier<{wgs}>", "!emmy_tile.shared<1xi32>"
    frag = "!emmy_tile.frag"
    s_t, p_t, index = (f"{frag}<64x{bn}x{t}, {accumulator(bn)}>" for t in ("f32", "bf16", "i32"))
    o_t, part32, part16 = (
        f"{frag}<64x{hd}xf32, {accumulator(hd)}>",
        f"{frag}<64x64xf32, {accumulator(64)}>",
        f"{frag}<64x64xbf16, {accumulator(64)}>",
    )
    row, row_bits, s_bits = (
        f"{frag}<64xf32, {row_layout()}>",
        f"{frag}<64xi1, {row_layout()}>",
        f"{frag}<64x{bn}xi1, {accumulator(bn)}>",
    )
    q_s, k_s, v_s, o_s = (w.op(f"emmy_tile.alloc : {t}") for t in (q_all, k_ring, v_ring, q_all))
    slot, q_full, q_empty = (w.op(f"emmy_tile.alloc : {t}") for t in (word, one, one))
    k_full, k_empty, v_full, v_empty = (w.op(f"emmy_tile.alloc : {t}") for t in (k_bars, k_bars, v_bars, v_bars))
    turn = w.op(f"emmy_tile.alloc : {turns}")
    cta = w.op("emmy_tile.read cta_x")
    init(
        w,
        q_full=(q_full, 1, one),
        q_empty=(q_empty, wgs, one),
        k_full=(k_full, 1, k_bars),
        k_empty=(k_empty, wgs, k_bars),
        v_full=(v_full, 1, v_bars),
        v_empty=(v_empty, wgs, v_bars),
        turn=(turn, 1, turns),
    )
    w.line("emmy_tile.sync cta")
    zero, one_f, low = (w.constant(x, "f32") for x in ("0.0", "1.0", "-1.0e+30"))
    scale = w.constant(repr(math.log2(math.e) / math.sqrt(hd)), "f32")
    above = w.constant(repr(float(slack)), "f32")
    c0 = w.i32(0)

    def blocks(m: str) -> str:
        """Blocks of keys that the rows of tile m see."""
        if not causal:
            return w.i32(ceil(keys, bn))
        last = w.binary("minsi", w.mul(w.add(m, 1), bm), keys)
        return w.binary("ceildivsi", last, bn)

    def load(map_: str, ring: str, ring_type: str, full: str, empty: str, stages: int, bars: str, counter: str, n: str) -> None:
        stage, parity = w.slot(counter, stages)
        w.line(f"emmy_tile.barrier_wait {empty}[{stage}] parity {w.binary('xori', parity, 1)} : {bars}")
        w.line(f"emmy_tile.barrier_expect {full}[{stage}], {128 * bn * panels} : {bars}")
        for panel in range(panels):
            target = w.subview(ring, ring_type, (stage, panel, 0, 0), k_panel)
            at = f"{w.mul(n, bn)}, {w.i32(64 * panel)}"
            w.line(f"emmy_tile.tma_load {map_}[{at}] to {target}, {full}[{stage}] : {tmap(bn)}, {k_panel}, {bars}")

    def load_k(counter: str, n: str) -> None:
        load("%map_k", k_s, k_ring, k_full, k_empty, k_stages, k_bars, counter, n)

    def load_v(counter: str, n: str) -> None:
        load("%map_v", v_s, v_ring, v_full, v_empty, v_stages, v_bars, counter, n)

    def produce() -> None:
        t, c, p, t2, c2, p2, loop_results = (w.name() for _ in range(7))
        w.line(f"{loop_results}:3 = scf.while ({t} = {cta}, {c} = {c0}, {p} = {c0}) : (i32, i32, i32) -> (i32, i32, i32) {{")
        w.line(f"scf.condition({w.compare('slt', t, tiles)}) {t}, {c}, {p} : i32, i32, i32\n  }} do {{")
        w.line(f"^bb0({t2}: i32, {c2}: i32, {p2}: i32):")
        m = w.sub(w.i32(tiles - 1), t2)
        count = blocks(m)
        last = w.sub(count, 1)
        load_k(c2, last)
        w.line(f"emmy_tile.barrier_wait {q_empty}[{c0}] parity {w.binary('xori', p2, 1)} : {one}")
        w.line(f"emmy_tile.put {m} to {slot}[{c0}] : i32, {word}")
        w.line(f"emmy_tile.barrier_expect {q_full}[{c0}], {128 * bm * panels} : {one}")
        for wg in range(wgs):
            for panel in range(panels):
                target = w.subview(q_s, q_all, (wg, panel, 0, 0), q_panel)
                at = f"{w.add(w.mul(m, bm), 64 * wg)}, {w.i32(64 * panel)}"
                w.line(f"emmy_tile.tma_load %map_q[{at}] to {target}, {q_full}[{c0}] : {tmap(64)}, {q_panel}, {one}")
        with w.loop(1, count) as loop:
            load_k(w.add(c2, loop.index), w.sub(last, loop.index))
            before = w.sub(loop.index, 1)
            load_v(w.add(c2, before), w.sub(last, before))
        load_v(w.add(c2, last), c0)
        old = w.op(f"emmy_tile.atomic_add %counter[{w.constant(0, 'i64')}], {w.i32(1)} : !emmy_tile.ptr<i32>, i32 -> i32")
        # A launch draws one number for each tile; whoever gets the last one leaves the counter as it was found.
        with w.region(f"scf.if {w.compare('eq', old, tiles - 1)}"):
            w.op(f"emmy_tile.atomic_add %counter[{w.constant(0, 'i64')}], {w.i32(-tiles)} : !emmy_tile.ptr<i32>, i32 -> i32")
        w.line(f"scf.yield {w.add(old, grid)}, {w.add(c2, count)}, {w.binary('xori', p2, 1)} : i32, i32, i32\n  }}")
        # A negative tile ends the consumers.
        w.line(f"emmy_tile.barrier_wait {q_empty}[{c0}] parity {w.binary('xori', f'{loop_results}#2', 1)} : {one}")
        w.line(f"emmy_tile.put {w.i32(-1)} to {slot}[{c0}] : i32, {word}")
        w.line(f"emmy_tile.barrier_arrive {q_full}[{c0}] : {one}")

    def body() -> None:
        with w.region("emmy_tile.warp_specialize"):
            registers = (" registers 24", " registers 240") if wgs == 2 else (" registers 32", " registers 160")
            with w.region(f'emmy_tile.role "producer" warps 1{registers[0]}'), w.region("emmy_tile.one_thread"):
                produce()
            with w.region(f'emmy_tile.role "consumer" warpgroups {wgs}{registers[1]}'):
                w.line("^bb0(%w: i32):")
                consume()

    def release(bar: str, stage: str, type_: str) -> None:
        """One arrival for each warpgroup; it follows a wgmma_wait, which no warp passes before all have issued."""
        if gathers:
            w.line("emmy_tile.sync unit")
        w.line(f"emmy_tile.barrier_arrive {bar}[{stage}] : {type_}")

    def score(counter: str, wait: bool = True) -> str:
        stage, parity = w.slot(counter, k_stages)
        if wait:
            w.line(f"emmy_tile.barrier_wait {k_full}[{stage}] parity {parity} : {k_bars}")
        if not multiplies:
            return w.op(f"emmy_tile.splat {zero} : f32 -> {s_t}")
        q = w.subview(q_s, q_all, ("%w", 0, 0, 0), q_mine)
        k = w.subview(k_s, k_ring, (stage, 0, 0, 0), k_tile)
        undef = w.op(f"emmy_tile.undef : {s_t}")
        w.line("emmy_tile.wgmma_fence")
        if panels == 1:
            q, k = w.subview(q, q_mine, (0, 0, 0), q_panel), w.subview(k, k_tile, (0, 0, 0), k_panel)
        types = f"{q_panel}, {k_panel}" if panels == 1 else f"{q_mine}, {k_tile}"
        s = w.op(f"emmy_tile.wgmma {q}, {k}, {undef} zero : {types} -> {s_t}")
        w.line("emmy_tile.wgmma_commit")
        return s

    def weigh(counter: str, p: str, o: str) -> str:
        """PV of one block, in flight."""
        stage, parity = w.slot(counter, v_stages)
        w.line(f"emmy_tile.barrier_wait {v_full}[{stage}] parity {parity} : {v_bars}")
        if not multiplies:
            return o
        v = w.subview(v_s, v_ring, (stage, 0, 0, 0), k_tile)
        if panels == 1:
            v = w.subview(v, k_tile, (0, 0, 0), k_panel)
        w.line("emmy_tile.wgmma_fence")
        o = w.op(f"emmy_tile.wgmma {p}, {v}, {o} transpose_b : {p_t}, {k_panel if panels == 1 else k_tile} -> {o_t}")
        w.line("emmy_tile.wgmma_commit")
        return o

    def settle(pending: int, *values: tuple[str, str]) -> list[str]:
        if not multiplies:
            return [name for name, _ in values]
        names, types = ", ".join(name for name, _ in values), ", ".join(type_ for _, type_ in values)
        return w.ops(len(values), f"emmy_tile.wgmma_wait {pending} {names} : {types} -> {types}")

    def mask(s: str, m: str, n: str) -> str:
        column = w.op(f"emmy_tile.coord 1 from {w.mul(n, bn)} : {index}")
        first = w.add(w.mul(m, bm), w.mul("%w", 64))
        line = w.op(f"emmy_tile.coord 0 from {first} : {index}")
        text = ["%n = arith.constant 0xFF800000 : f32", f"%k = arith.constant {keys} : i32", "%i = arith.cmpi slt, %b, %k : i32"]
        if causal:
            text += ["%j = arith.cmpi sle, %b, %c : i32", "%l = arith.andi %i, %j : i1"]
        text += [f"%r = arith.select {'%l' if causal else '%i'}, %a, %n : f32"]
        return w.map(s_t, [(s, s_t), (column, index), (line, index)], text, "%r", "f32")

    def wide(value: str, type_: str) -> str:
        return w.op(f"emmy_tile.broadcast {value} along 1 : {row} -> {type_}")

    def exps(s: str, top: str) -> str:
        text = ["%d = arith.subf %a, %b : f32", "%e = arith.mulf %d, %c : f32", "%f = math.exp2 %e : f32"]
        return w.map(s_t, [(s, s_t), (wide(top, s_t), s_t), (scale, "f32")], text, "%f", "f32")

    def pack(p: str) -> str:
        return w.map(p_t, [(p, s_t)], ["%h = arith.truncf %a : f32 to bf16"], "%h", "bf16")

    def raise_top(s: str, top: str) -> tuple[str, str]:
        """Row maxima with the block's, and the factor that old sums and O need."""
        new = w.map(
            row, [(w.reduce("maximumf", s, s_t, row), row), (top, row)], ["%c = arith.maximumf %a, %b : f32"], "%c", "f32"
        )
        text = ["%d = arith.subf %a, %b : f32", "%e = arith.mulf %d, %c : f32", "%f = math.exp2 %e : f32"]
        return new, w.map(row, [(top, row), (new, row), (scale, "f32")], text, "%f", "f32")

    def scaled_sum(sums: str, factor: str, p: str | None) -> str:
        text, inputs = ["%d = arith.mulf %a, %b : f32"], [(sums, row), (factor, row)]
        if p is None:
            return w.map(row, inputs, text, "%d", "f32")
        inputs.append((w.reduce("addf", p, s_t, row), row))
        return w.map(row, inputs, [*text, "%e = arith.addf %d, %c : f32"], "%e", "f32")

    def branch(condition: str, types: list[str], yes: list[str] | None, no: list[str], write_yes: object = None) -> list[str]:
        results = [w.name() for _ in types]
        w.line(f"{', '.join(results)} = scf.if {condition} -> ({', '.join(types)}) {{")
        values = write_yes() if callable(write_yes) else yes
        assert values is not None
        w.line(f"scf.yield {', '.join(values)} : {', '.join(types)}\n  }} else {{")
        w.line(f"scf.yield {', '.join(no)} : {', '.join(types)}\n  }}")
        return results

    def soften(s: str, top: str, sums: str, counter: str, masked: bool) -> list[str]:
        """[P in f32, maxima, sums, whether O must be rescaled, by what]."""
        always, ones = w.compare("eq", c0, c0), w.op(f"emmy_tile.splat {one_f} : f32 -> {row}")
        if softmax == "online":
            top, factor = raise_top(s, top)
            p = exps(s, top)
            return [p, top, scaled_sum(sums, factor, p), always, factor]
        if softmax == "lazy" or masked:
            here = w.reduce("maximumf", s, s_t, row)
            text = ["%e = arith.subf %a, %b : f32", "%f = arith.mulf %e, %c : f32", "%g = arith.cmpf ogt, %f, %d : f32"]
            far = w.map(row_bits, [(here, row), (top, row), (scale, "f32"), (above, "f32")], text, "%g", "i1")
            grow = w.op(f"emmy_tile.any {far} : {row_bits}")

            def raised() -> list[str]:
                new, factor = raise_top(s, top)
                return [new, factor, scaled_sum(sums, factor, None)]

            new, factor, kept = branch(grow, [row] * 3, None, [top, ones, sums], raised)
            p = exps(s, new)
            return [p, new, scaled_sum(kept, ones, p), grow, factor]
        p = exps(s, top)
        limit = w.constant(repr(float(2**slack)), "f32")
        far = w.map(s_bits, [(p, s_t), (limit, "f32")], ["%c = arith.cmpf ugt, %a, %b : f32"], "%c", "i1")
        # The redone block runs wgmma, so the whole warpgroup must agree.
        grow = w.op(f"emmy_tile.any {far} : {s_bits}")

        def redone() -> list[str]:
            (again,) = settle(0, (score(counter, wait=False), s_t))
            new, factor = raise_top(again, top)
            q = exps(again, new)
            return [new, factor, scaled_sum(sums, factor, q), q]

        new, factor, total, p = branch(grow, [row] * 3 + [s_t], None, [top, ones, scaled_sum(sums, ones, p), p], redone)
        return [p, new, total, grow, factor]

    def rescale(o: str, grow: str, factor: str) -> str:
        def scaled() -> list[str]:
            return [w.map(o_t, [(o, o_t), (wide(factor, o_t), o_t)], ["%c = arith.mulf %a, %b : f32"], "%c", "f32")]

        return branch(grow, [o_t], None, [o], scaled)[0]

    def step(m: str, n: str, counter: str, turn_count: str, state: list[str], masked: bool) -> list[str]:
        """QK of block n overlapped with PV of the block after it, whose P is in the state."""
        o, top, sums, grow, factor, p = state
        if pingpong:
            w.line(f"emmy_tile.barrier_wait {turn}[%w] parity {w.binary('andi', turn_count, 1)} : {turns}")
        s = score(counter)
        o = weigh(w.sub(counter, 1), p, rescale(o, grow, factor))
        if pingpong:
            # No warp may still look for its turn when the turn comes round again.
            w.line("emmy_tile.sync unit")
            following = w.binary("remui", w.add("%w", 1), wgs)
            w.line(f"emmy_tile.barrier_arrive {turn}[{following}] : {turns}")
        (s,) = settle(1, (s, s_t))
        k_stage = w.slot(counter, k_stages)[0]
        late = softmax == "stale" and not masked
        if not late:
            release(k_empty, k_stage, k_bars)
        p32, top, sums, grow, factor = soften(mask(s, m, n) if masked else s, top, sums, counter, masked)
        if late:
            release(k_empty, k_stage, k_bars)
        o, _ = settle(0, (o, o_t), (p, p_t))
        v_stage, v_parity = w.slot(w.sub(counter, 1), v_stages)
        release(v_empty, v_stage, v_bars)
        if fault == "rewait":
            w.line(f"emmy_tile.barrier_wait {v_full}[{v_stage}] parity {v_parity} : {v_bars}")
        return [o, top, sums, grow, factor, pack(p32)]

    def consume() -> None:
        if pingpong:
            with w.region(f"scf.if {w.compare('eq', '%w', 0)}"):
                w.line(f"emmy_tile.barrier_arrive {turn}[{c0}] : {turns}")
        types = "i32, i32, i32, i32"
        c, p, m, k, c2, p2, m2, k2 = (w.name() for _ in range(8))
        w.line(f"{w.name()}:4 = scf.while ({c} = {c0}, {p} = {c0}, {m} = {c0}, {k} = {c0}) : ({types}) -> ({types}) {{")
        w.line(f"emmy_tile.barrier_wait {q_full}[{c0}] parity {p} : {one}")
        tile = w.op(f"emmy_tile.get {slot}[{c0}] : {word} -> i32")
        w.line(f"scf.condition({w.compare('sge', tile, 0)}) {c}, {p}, {tile}, {k} : {types}\n  }} do {{")
        w.line(f"^bb0({c2}: i32, {p2}: i32, {m2}: i32, {k2}: i32):")
        count = blocks(m2)
        last = w.sub(count, 1)
        # The first block: nothing to overlap with yet.
        (s,) = settle(0, (score(c2), s_t))
        release(k_empty, w.slot(c2, k_stages)[0], k_bars)
        top, _ = raise_top(mask(s, m2, last), w.op(f"emmy_tile.splat {low} : f32 -> {row}"))
        p32 = exps(mask(s, m2, last), top)
        never, ones = w.compare("ne", c0, c0), w.op(f"emmy_tile.splat {one_f} : f32 -> {row}")
        state = [w.op(f"emmy_tile.splat {zero} : f32 -> {o_t}"), top, w.reduce("addf", p32, s_t, row), never, ones, pack(p32)]
        state_types = [o_t, row, row, "i1", row, p_t]
        # The leading blocks that need a mask, then those that need none.
        whole = w.binary("divsi", w.binary("minsi", w.add(w.mul(m2, bm), 1), keys), bn) if causal else w.i32(keys // bn)
        masked = w.binary("maxsi", w.sub(last, whole), 0)
        masked = w.binary("minsi", w.add(masked, 1), count)
        for begin, end, with_mask in ((w.i32(1), masked, True), (masked, count, False)):
            with w.loop(begin, end, list(zip(state, state_types, strict=True))) as loop:
                n, counter = w.sub(last, loop.index), w.add(c2, loop.index)
                loop.next = step(m2, n, counter, w.add(k2, w.sub(loop.index, 1)), loop.values, with_mask)
            state = loop.results
        o, top, sums, grow, factor, packed = state
        release(q_empty, c0, one)
        counter = w.add(c2, last)
        o, _ = settle(0, (weigh(counter, packed, rescale(o, grow, factor)), o_t), (packed, p_t))
        release(v_empty, w.slot(counter, v_stages)[0], v_bars)
        o = w.map(o_t, [(o, o_t), (wide(sums, o_t), o_t)], ["%c = arith.divf %a, %b : f32"], "%c", "f32")
        with w.region("emmy_tile.one_thread"):
            w.line("emmy_tile.tma_wait 0 read")
        w.line("emmy_tile.sync unit")
        targets = [w.subview(o_s, q_all, ("%w", panel, 0, 0), q_panel) for panel in range(panels)]
        for panel, target in enumerate(targets):
            some = o if panels == 1 else w.op(f"emmy_tile.extract {o} [0, {64 * panel}] : {o_t} -> {part32}")
            half = w.map(part16, [(some, part32)], ["%h = arith.truncf %a : f32 to bf16"], "%h", "bf16")
            w.line(f"emmy_tile.store_shared {half} to {target} matrix : {part16}, {q_panel}")
        w.line("emmy_tile.fence_async\n  emmy_tile.sync unit")
        with w.region("emmy_tile.one_thread"):
            for panel, target in enumerate(targets):
                at = f"{w.add(w.mul(m2, bm), w.mul('%w', 64))}, {w.i32(64 * panel)}"
                w.line(f"emmy_tile.tma_store {target} to %map_o[{at}] : {q_panel}, {tmap(64)}")
            w.line("emmy_tile.tma_commit")
        w.line(f"scf.yield {w.add(c2, count)}, {w.binary('xori', p2, 1)}, {m2}, {w.add(k2, last)} : {types}\n  }}")
        with w.region("emmy_tile.one_thread"):
            w.line("emmy_tile.tma_wait 0")

    body()
    maps = {"q": (0, 64, queries), "k": (1, bn, keys), "v": (2, bn, keys), "o": (4, 64, queries)}
    arguments = [f"%map_{x}: {tmap(box)} {bind(buffer, size, hd)}" for x, (buffer, box, size) in maps.items()]
    arguments.append("%counter: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<3>}")
    buffers = simulation(
        filled(queries, hd, 1),
        filled(keys, hd, 2),
        filled(keys, hd, 3),
        '{type = tensor<1xi32>, fill = "zero", expect = "constant 0"}',
        expected(queries, hd, f"{'causal_' if causal else ''}attention 0 1 2" if multiplies else "constant 0"),
    )
    return w.kernel("attention", arguments, (min(grid, tiles), 1, 1), buffers, 4 * (wgs + 1))
