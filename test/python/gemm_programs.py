"""Matrix products D = A · B^T in bf16 as emmy_tile programs: persistent and warp-specialised, split along k, for one token."""

from __future__ import annotations

from tile_writer import Writer, accumulator, bind, shared, tmap

__all__ = ["gemm", "gemv", "splitk"]


def simulation(*buffers: str) -> str:
    return f" attributes {{emmy.simulate = {{buffers = [{', '.join(buffers)}]}}}}"


def filled(rows: int, columns: int, seed: int) -> str:
    return f'{{type = tensor<{rows}x{columns}xbf16>, fill = "random {seed}"}}'


def expected(rows: int, columns: int, what: str) -> str:
    return f'{{type = tensor<{rows}x{columns}xbf16>, expect = "{what}"}}'


def ceil(a: int, b: int) -> int:
    return -(-a // b)


def init(w: Writer, **barriers: tuple[str, int, str]) -> None:
    """One thread initialises barriers given as (name, arrivals, type); the cluster (or CTA) then goes on."""
    with w.region("emmy_tile.one_thread"):
        for name, arrivals, type_ in barriers.values():
            w.line(f"emmy_tile.barrier_init {name}, {arrivals} : {type_}")
        w.line("emmy_tile.fence_barrier_init")


def gemm(
    m: int,
    n: int,
    k: int,
    *,
    bn: int = 64,
    stages: int = 3,
    wait: int = 0,
    cluster: int = 1,
    mi: int = 1,
    wgs: int = 2,
    pingpong: bool = False,
    share: str = "b",
    epi: int = 1,
    clusters: int = 2,
    turns: bool = True,
) -> str:
    """`wgs` consumer warpgroups of 64·mi rows split one tile, or (ping-pong) take whole tiles in turn. CTAs of a cluster share B
    (they are stacked along m) or A (along n). `wait`: groups of wgmma left in flight. `turns`: see the faults."""
    w = Writer()
    owners = 1 if pingpong else wgs
    bm, kt = 64 * mi * owners, ceil(k, 64)
    along_m, along_n = (cluster, 1) if share == "b" else (1, cluster)
    tiles_m, tiles_n = ceil(m, bm * along_m), ceil(n, bn * along_n)
    total = tiles_m * tiles_n
    # A panel is written `epi` steps after its last use, in the next tile, too.
    assert (mi * bn // 64) % epi == 0
    box_a, box_b = (bm // cluster, bn) if share == "a" else (bm, bn // cluster)
    a_ring, b_ring, a_box, b_box = shared(stages, bm, 64), shared(stages, bn, 64), shared(box_a, 64), shared(box_b, 64)
    rows, b_tile, staging = shared(64, 64), shared(bn, 64), shared(wgs, epi, 64, 64)
    bars, turn_bars = f"!emmy_tile.barrier<{stages}>", "!emmy_tile.barrier<2>"
    acc = f"!emmy_tile.frag<64x{bn}xf32, {accumulator(bn)}>"
    part32, part16 = (f"!emmy_tile.frag<64x64x{t}, {accumulator(64)}>" for t in ("f32", "bf16"))
    a_s, b_s, d_s = (w.op(f"emmy_tile.alloc : {t}") for t in (a_ring, b_ring, staging))
    full, empty, turn = (w.op(f"emmy_tile.alloc : {t}") for t in (bars, bars, turn_bars))
    rank, first = w.op("emmy_tile.read cluster_rank"), w.op("emmy_tile.read cluster_id")
    init(w, full=(full, 1, bars), empty=(empty, owners * cluster, bars), turn=(turn, 1, turn_bars))
    w.line("emmy_tile.sync cluster")

    def origin(tile: str) -> tuple[str, str]:
        row = w.mul(w.binary("remui", tile, tiles_m), bm * along_m)
        col = w.mul(w.binary("divui", tile, tiles_m), bn * along_n)
        if share == "b":
            return w.add(row, w.mul(rank, bm)), col
        return row, w.add(col, w.mul(rank, bn))

    def release(stage: str) -> None:
        w.line(f"emmy_tile.barrier_arrive {empty}[{stage}]{' to_all' if cluster > 1 else ''} : {bars}")

    def tiles(start: str, step: int, counter: str, more: str) -> tuple[str, str]:
        """Opens the loop over tiles; gives the tile and the count of stages used before it."""
        tile, base, result = w.name(), w.name(), w.name()
        head = f"{result}:{(2 if ', i32)' in more else 1)} = scf.for {tile} = {start} to {w.i32(total)} step {w.i32(step)}"
        w.line(f"{head} iter_args({base} = {counter}{more} {{")
        return tile, base

    with w.region("emmy_tile.warp_specialize"):
        registers = {1: ("", ""), 2: (" registers 40", " registers 232"), 3: (" registers 32", " registers 160")}[wgs]
        with w.region(f'emmy_tile.role "producer" warps 1{registers[0]}'), w.region("emmy_tile.one_thread"):
            tile, base = tiles(first, clusters, w.i32(0), ") -> (i32) : i32")
            row, col = origin(tile)
            slice_rows = w.mul(rank, box_b if share == "b" else box_a)
            with w.loop(0, kt) as steps:
                stage, parity = w.slot(w.add(base, steps.index), stages)
                w.line(f"emmy_tile.barrier_wait {empty}[{stage}] parity {w.binary('xori', parity, 1)} : {bars}")
                w.line(f"emmy_tile.barrier_expect {full}[{stage}], {128 * (bm + bn)} : {bars}")
                kc = w.mul(steps.index, 64)
                for ring, ring_type, box, map_, at, shares, height in (
                    (a_s, a_ring, a_box, "%map_a", row, share == "a", box_a),
                    (b_s, b_ring, b_box, "%map_b", col, share == "b", box_b),
                ):
                    part = slice_rows if shares and cluster > 1 else w.i32(0)
                    target = w.subview(ring, ring_type, (stage, part, 0), box)
                    multicast = f" multicast {(1 << cluster) - 1}" if shares and cluster > 1 else ""
                    at = w.add(at, part)
                    w.line(
                        f"emmy_tile.tma_load {map_}[{at}, {kc}] to {target}, {full}[{stage}]{multicast} "
                        f": {tmap(height)}, {box}, {bars}"
                    )
            w.line(f"scf.yield {w.add(base, kt)} : i32\n  }}")
        with w.region(f'emmy_tile.role "consumer" warpgroups {wgs}{registers[1]}'):
            w.line("^bb0(%w: i32):")
            wg_row = w.i32(0) if pingpong else w.mul("%w", 64 * mi)
            other = w.binary("xori", "%w", 1)
            begin = w.add(first, w.mul("%w", clusters)) if pingpong else first
            used = w.mul("%w", kt) if pingpong else w.i32(0)
            my_turn = w.name()
            tile, base = tiles(begin, clusters * (wgs if pingpong else 1), used, f", {my_turn} = {other}) -> (i32, i32) : i32")
            if pingpong and turns:
                w.line(f"emmy_tile.barrier_wait {turn}[%w] parity {my_turn} : {turn_bars}")

            def multiply(stage: str, parity: str, accs: list[str], zero: str) -> list[str]:
                w.line(f"emmy_tile.barrier_wait {full}[{stage}] parity {parity} : {bars}")
                b_t = w.subview(b_s, b_ring, (stage, 0, 0), b_tile)
                a_t = [w.subview(a_s, a_ring, (stage, w.add(wg_row, 64 * i), 0), rows) for i in range(mi)]
                w.line("emmy_tile.wgmma_fence")
                out = [
                    w.op(f"emmy_tile.wgmma {a}, {b_t}, {c}{zero} : {rows}, {b_tile} -> {acc}")
                    for a, c in zip(a_t, accs, strict=True)
                ]
                w.line("emmy_tile.wgmma_commit")
                return out

            def settle(pending: int, accs: list[str]) -> list[str]:
                types = ", ".join([acc] * mi)
                return w.ops(mi, f"emmy_tile.wgmma_wait {pending} {', '.join(accs)} : {types} -> {types}")

            stage, parity = w.slot(base, stages)
            accs = multiply(stage, parity, [w.op(f"emmy_tile.undef : {acc}") for _ in range(mi)], " zero")
            if not wait:
                accs = settle(0, accs)
                release(stage)
            with w.loop(1, kt, [*((c, acc) for c in accs), (stage, "i32")]) as steps:
                now, parity = w.slot(w.add(base, steps.index), stages)
                accs = settle(wait, multiply(now, parity, steps.values[:-1], ""))
                release(steps.values[-1] if wait else now)
                steps.next = [*accs, now]
            accs = steps.results[:-1]
            if pingpong:
                # No warp may still look for its turn when the turn comes round again.
                w.line("emmy_tile.sync unit")
                w.line(f"emmy_tile.barrier_arrive {turn}[{other}] : {turn_bars}")
            if wait:
                accs = settle(0, accs)
                release(steps.results[-1])
            row, col = origin(tile)
            row = w.add(row, wg_row)
            for panel in range(mi * bn // 64):
                i, j = panel // (bn // 64), panel % (bn // 64)
                some = w.op(f"emmy_tile.extract {accs[i]} [0, {64 * j}] : {acc} -> {part32}")
                half = w.map(part16, [(some, part32)], ["%h = arith.truncf %a : f32 to bf16"], "%h", "bf16")
                target = w.subview(d_s, staging, ("%w", panel % epi, 0, 0), rows)
                with w.region("emmy_tile.one_thread"):
                    w.line(f"emmy_tile.tma_wait {epi - 1} read")
                w.line("emmy_tile.sync unit")
                w.line(f"emmy_tile.store_shared {half} to {target} matrix : {part16}, {rows}")
                w.line("emmy_tile.fence_async\n  emmy_tile.sync unit")
                at = f"{w.add(row, 64 * i)}, {w.add(col, 64 * j)}"
                with w.region("emmy_tile.one_thread"):
                    w.line(f"emmy_tile.tma_store {target} to %map_d[{at}] : {rows}, {tmap(64)}")
                    w.line("emmy_tile.tma_commit")
            following = w.add(base, kt * (wgs if pingpong else 1))
            w.line(f"scf.yield {following}, {w.binary('xori', my_turn, 1)} : i32, i32\n  }}")
            with w.region("emmy_tile.one_thread"):
                w.line("emmy_tile.tma_wait 0")
    w.line("emmy_tile.sync cluster")
    arguments = [
        f"%map_a: {tmap(box_a)} {bind(0, m, k)}",
        f"%map_b: {tmap(box_b)} {bind(1, n, k)}",
        f"%map_d: {tmap(64)} {bind(2, m, n)}",
    ]
    buffers = simulation(filled(m, k, 1), filled(n, k, 2), expected(m, n, "matmul_nt 0 1"))
    return w.kernel("gemm", arguments, (clusters * cluster, 1, 1), buffers, 4 * (wgs + 1), cluster)


def splitk(
    tokens: int,
    rows: int,
    k: int,
    *,
    n: int = 32,
    stages: int = 3,
    split: int = 1,
    push: bool = False,
    gsplit: int = 1,
    mc: int = 1,
    pdl: bool = False,
    counts: str = " acq_rel",
) -> str:
    """For few tokens: 64 weight rows by `n` tokens for each cluster, whose `split` CTAs take a range of k each and sum a part of
    the columns: partial sums are pushed to their owner or pulled from their maker. `gsplit` splits further over the grid, through
    a workspace of f32 that the last arriver converts and leaves zero. `mc` row tiles share the tokens by multicast. With `pdl`,
    an earlier launch writes the tokens, and the weights are requested before waiting for it."""
    w = Writer()
    kt, cluster, own = ceil(k, 64), split * mc, n // split
    row_tiles = ceil(ceil(rows, 64), mc) * mc
    w_ring, x_ring, w_box, x_box = shared(stages, 64, 64), shared(stages, n, 64), shared(64, 64), shared(n // mc, 64)
    x_tile, bars, one = shared(n, 64), f"!emmy_tile.barrier<{stages}>", "!emmy_tile.barrier<1>"
    acc, part = f"!emmy_tile.frag<64x{n}xf32, {accumulator(n)}>", f"!emmy_tile.frag<64x{own}xf32, {accumulator(own)}>"
    part16, sums = f"!emmy_tile.frag<64x{own}xbf16, {accumulator(own)}>", f"!emmy_tile.shared<64x{own}xf32>"
    parts, flag = f"!emmy_tile.shared<{split}x64x{own}xf32>", "!emmy_tile.shared<1xi32>"
    w_s, x_s, full, empty = (w.op(f"emmy_tile.alloc : {t}") for t in (w_ring, x_ring, bars, bars))
    left, got, seen = (w.op(f"emmy_tile.alloc : {t}") for t in (parts, one, flag))
    rank, x, y, z = (w.op(f"emmy_tile.read {which}") for which in ("cluster_rank", "cta_x", "cta_y", "cta_z"))
    row0 = w.mul(w.binary("divui", x, split), 64)
    token0 = w.mul(y, n)
    piece = w.add(w.mul(z, split), rank if split > 1 else 0)
    low, high = (w.binary("divui", w.mul(p, kt), split * gsplit) for p in (piece, w.add(piece, 1)))
    steps = w.sub(high, low)
    init(w, full=(full, 1, bars), empty=(empty, mc, bars), got=(got, split, one))
    w.line("emmy_tile.sync cluster")
    to_all = " to_all" if mc > 1 else ""

    def request(step: str, what: str) -> None:
        stage, parity = w.slot(step, stages)
        kc = w.mul(w.add(low, step), 64)
        if "w" in what:
            w.line(f"emmy_tile.barrier_wait {empty}[{stage}] parity {w.binary('xori', parity, 1)} : {bars}")
            w.line(f"emmy_tile.barrier_expect {full}[{stage}], {128 * (64 + n)} : {bars}")
            target = w.subview(w_s, w_ring, (stage, 0, 0), w_box)
            w.line(
                f"emmy_tile.tma_load %map_w[{row0}, {kc}] to {target}, {full}[{stage}] evict_first : {tmap(64)}, {w_box}, {bars}"
            )
        if "x" in what:
            some = w.mul(rank, n // mc) if mc > 1 else w.i32(0)
            target, at = w.subview(x_s, x_ring, (stage, some, 0), x_box), w.add(token0, some)
            multicast = f" multicast {(1 << mc) - 1}" if mc > 1 else ""
            w.line(
                f"emmy_tile.tma_load %map_x[{at}, {kc}] to {target}, {full}[{stage}]{multicast} "
                f": {tmap(n // mc)}, {x_box}, {bars}"
            )

    def address(column: str) -> tuple[str, str, str]:
        """Offset of (row0, token0 + column) in the transposed output, and its limits."""
        token = w.add(token0, column)
        return w.wide(w.add(w.mul(token, rows), row0)), w.sub(rows, row0), w.sub(tokens, token)

    with w.region("emmy_tile.warp_specialize"):
        with w.region('emmy_tile.role "producer" warps 1'), w.region("emmy_tile.one_thread"):
            early = w.binary("minui", steps, stages)
            if pdl:
                with w.loop(0, early) as loop:
                    request(loop.index, "w")
                w.line("emmy_tile.pdl_wait")
                with w.loop(0, early) as loop:
                    request(loop.index, "x")
            with w.loop(early if pdl else 0, steps) as loop:
                request(loop.index, "wx")
            if pdl:
                w.line("emmy_tile.pdl_launch")
        with w.region('emmy_tile.role "consumer" warpgroups 1'):
            w.line("^bb0(%w: i32):")
            zero = w.constant("0.0", "f32")
            if pdl:
                w.line("emmy_tile.pdl_wait")
            with w.loop(0, steps, [(w.op(f"emmy_tile.splat {zero} : f32 -> {acc}"), acc)]) as loop:
                stage, parity = w.slot(loop.index, stages)
                w.line(f"emmy_tile.barrier_wait {full}[{stage}] parity {parity} : {bars}")
                w_t, x_t = w.subview(w_s, w_ring, (stage, 0, 0), w_box), w.subview(x_s, x_ring, (stage, 0, 0), x_tile)
                w.line("emmy_tile.wgmma_fence")
                product = w.op(f"emmy_tile.wgmma {w_t}, {x_t}, {loop.values[0]} : {w_box}, {x_tile} -> {acc}")
                w.line("emmy_tile.wgmma_commit")
                loop.next = [w.op(f"emmy_tile.wgmma_wait 0 {product} : {acc} -> {acc}")]
                w.line(f"emmy_tile.barrier_arrive {empty}[{stage}]{to_all} : {bars}")
            total = loop.results[0]
            column = w.mul(rank, own) if split > 1 else w.i32(0)
            if split > 1:
                for r in range(split):
                    some = w.op(f"emmy_tile.extract {total} [0, {own * r}] : {acc} -> {part}")
                    target = w.subview(left, parts, (rank if push else r, 0, 0), sums)
                    w.line(f"emmy_tile.store_shared {some} to {target}{f' in_cta {w.i32(r)}' if push else ''} : {part}, {sums}")
                w.line("emmy_tile.sync unit")
                w.line(f"emmy_tile.barrier_arrive {got}[{w.i32(0)}] to_all : {one}")
                w.line(f"emmy_tile.barrier_wait {got}[{w.i32(0)}] parity {w.i32(0)} : {one}")
                total = ""
                for r in range(split):
                    source = w.subview(left, parts, (r if push else rank, 0, 0), sums)
                    theirs = w.op(f"emmy_tile.load_shared {source}{'' if push else f' in_cta {w.i32(r)}'} : {sums} -> {part}")
                    both = [(total, part), (theirs, part)]
                    total = w.map(part, both, ["%c = arith.addf %a, %b : f32"], "%c", "f32") if total else theirs
            at, rows_left, tokens_left = address(column)
            where = f"strides({w.constant(1, 'i64')}, {w.constant(rows, 'i64')}) limits({rows_left}, {tokens_left})"

            def store(value: str) -> None:
                half = w.map(part16, [(value, part)], ["%h = arith.truncf %a : f32 to bf16"], "%h", "bf16")
                w.line(f"emmy_tile.store {half} to %d[{at}] {where} : {part16}, !emmy_tile.ptr<bf16>")

            if gsplit == 1:
                store(total)
            else:
                w.line(f"emmy_tile.store {total} to %ws[{at}] {where} add : {part}, !emmy_tile.ptr<f32>")
                w.line("emmy_tile.sync unit")
                slot = w.wide(w.add(x, w.mul(y, row_tiles * split)))
                with w.region("emmy_tile.one_thread"):
                    old = w.op(f"emmy_tile.atomic_add %count[{slot}], {w.i32(1)}{counts} : !emmy_tile.ptr<i32>, i32 -> i32")
                    w.line(f"emmy_tile.put {old} to {seen}[{w.i32(0)}] : i32, {flag}")
                w.line("emmy_tile.sync unit")
                drawn = w.op(f"emmy_tile.get {seen}[{w.i32(0)}] : {flag} -> i32")
                with w.region(f"scf.if {w.compare('eq', drawn, gsplit - 1)}"):
                    store(w.op(f"emmy_tile.load %ws[{at}] {where} : !emmy_tile.ptr<f32> -> {part}"))
                    cleared = w.op(f"emmy_tile.splat {zero} : f32 -> {part}")
                    w.line(f"emmy_tile.store {cleared} to %ws[{at}] {where} : {part}, !emmy_tile.ptr<f32>")
                    with w.region("emmy_tile.one_thread"):
                        w.op(f"emmy_tile.atomic_add %count[{slot}], {w.i32(-gsplit)} : !emmy_tile.ptr<i32>, i32 -> i32")
    w.line("emmy_tile.sync cluster")
    pointers = [("%ws", "f32"), ("%count", "i32"), ("%d", "bf16")]
    arguments = [f"%map_w: {tmap(64)} {bind(0, rows, k)}", f"%map_x: {tmap(n // mc)} {bind(1, tokens, k)}"]
    arguments += [
        f"{name}: !emmy_tile.ptr<{t}> {{emmy.bind = #emmy.bind_pointer<{i + 2}>}}" for i, (name, t) in enumerate(pointers)
    ]
    grid, slots = (row_tiles * split, ceil(tokens, n), gsplit), row_tiles * split * ceil(tokens, n)
    kernel_attributes = " pdl" if pdl else ""
    outputs = [
        f'{{type = tensor<{tokens}x{rows}xf32>, fill = "zero", expect = "constant 0"}}',
        f'{{type = tensor<{slots}xi32>, fill = "zero", expect = "constant 0"}}',
        expected(tokens, rows, "matmul_nt 1 0"),
    ]
    if not pdl:
        buffers = simulation(filled(rows, k, 1), filled(tokens, k, 2), *outputs)
        return w.kernel("splitk", arguments, grid, buffers, 8, cluster)
    # The tokens come from an earlier launch, which copies them.
    body = w.kernel("splitk", arguments, grid, kernel_attributes, 8, cluster)
    made = ", ".join([filled(rows, k, 1), f"{{type = tensor<{tokens}x{k}xbf16>}}", *outputs, filled(tokens, k, 2)])
    launches = "{kernel = @copy, operands = array<i64: 5, 1>}, {kernel = @splitk, operands = array<i64: 0, 1, 2, 3, 4>}"
    head = f"module attributes {{emmy.simulate = {{buffers = [{made}], launches = [{launches}]}}}} {{\n"
    return head + copy(tokens * k) + body + "}\n"


def copy(elements: int) -> str:
    """Copies a bf16 buffer, letting dependent launches begin first."""
    w = Writer()
    line = "!emmy_tile.frag<256xbf16, #emmy_tile.layout<reg = [8:(1)], lane = [32:(8)], warp = [1:(0)]>>"
    first = w.mul(w.op("emmy_tile.read cta_x"), 256)
    at, one = w.wide(first), w.constant(1, "i64")
    where = f"[{at}] strides({one}) limits({w.sub(elements, first)}) vector 8"
    value = w.op(f"emmy_tile.load %from{where} : !emmy_tile.ptr<bf16> -> {line}")
    w.line("emmy_tile.pdl_launch")
    w.line(f"emmy_tile.store {value} to %to{where} : {line}, !emmy_tile.ptr<bf16>")
    arguments = [
        f"{name}: !emmy_tile.ptr<bf16> {{emmy.bind = #emmy.bind_pointer<{i}>}}" for i, name in enumerate(("%from", "%to"))
    ]
    return w.kernel("copy", arguments, (ceil(elements, 256), 1, 1), "", 1)


def gemv(tokens: int, rows: int, k: int, *, per_warp: int = 2, warps: int = 4) -> str:
    """For one to four tokens on CUDA cores: a warp for each `per_warp` weight rows, f32 sums, a butterfly at the end."""
    w = Writer()
    layout = f"#emmy_tile.layout<reg = [8:(0,1), {per_warp}:(1,0)], lane = [32:(0,8)], warp = [1:(0,0)]>"
    line = "#emmy_tile.layout<reg = [8:(1)], lane = [32:(8)], warp = [1:(0)]>"
    sums = f"#emmy_tile.layout<reg = [{per_warp}:(1)], lane = [32:(0)], warp = [1:(0)]>"
    tile, tile16 = (f"!emmy_tile.frag<{per_warp}x256x{t}, {layout}>" for t in ("f32", "bf16"))
    vector16, result, result16 = (
        f"!emmy_tile.frag<256xbf16, {line}>",
        f"!emmy_tile.frag<{per_warp}xf32, {sums}>",
        f"!emmy_tile.frag<{per_warp}xbf16, {sums}>",
    )
    x = w.op("emmy_tile.read cta_x")
    with w.region("emmy_tile.warp_specialize"), w.region(f'emmy_tile.role "rows" warps {warps}'):
        w.line("^bb0(%w: i32):")
        row = w.mul(w.add(w.mul(x, warps), "%w"), per_warp)
        zero = w.op(f"emmy_tile.splat {w.constant('0.0', 'f32')} : f32 -> {tile}")
        one, pitch = w.constant(1, "i64"), w.constant(k, "i64")
        with w.loop(0, ceil(k, 256), [(zero, tile)] * tokens) as loop:
            column = w.mul(loop.index, 256)
            left = w.sub(k, column)
            at = w.wide(w.add(w.mul(row, k), column))
            limits = f"limits({w.sub(rows, row)}, {left}) vector 8 evict_first"
            weights = w.op(f"emmy_tile.load %weights[{at}] strides({pitch}, {one}) {limits} : !emmy_tile.ptr<bf16> -> {tile16}")
            for t in range(tokens):
                at = w.wide(w.add(w.i32(t * k), column))
                some = w.op(
                    f"emmy_tile.load %x[{at}] strides({one}) limits({left}) vector 8 : !emmy_tile.ptr<bf16> -> {vector16}"
                )
                wide = w.op(f"emmy_tile.broadcast {some} along 0 : {vector16} -> {tile16}")
                body = ["%e = arith.extf %a : bf16 to f32", "%f = arith.extf %b : bf16 to f32", "%g = math.fma %e, %f, %c : f32"]
                loop.next.append(w.map(tile, [(weights, tile16), (wide, tile16), (loop.values[t], tile)], body, "%g", "f32"))
        for t in range(tokens):
            total = w.reduce("addf", loop.results[t], tile, result)
            half = w.map(result16, [(total, result)], ["%h = arith.truncf %a : f32 to bf16"], "%h", "bf16")
            at = w.wide(w.add(w.i32(t * rows), row))
            w.line(
                f"emmy_tile.store {half} to %d[{at}] strides({one}) limits({w.sub(rows, row)}) : {result16}, !emmy_tile.ptr<bf16>"
            )
    names = ("%weights", "%x", "%d")
    arguments = [f"{name}: !emmy_tile.ptr<bf16> {{emmy.bind = #emmy.bind_pointer<{i}>}}" for i, name in enumerate(names)]
    buffers = simulation(filled(rows, k, 1), filled(tokens, k, 2), expected(tokens, rows, "matmul_nt 1 0"))
    return w.kernel("gemv", arguments, (ceil(rows, per_warp * warps), 1, 1), buffers, warps)
