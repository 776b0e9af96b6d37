"""Random emmy_tile programs that a GPU and the simulator must agree on: wgmma, mma.sync, TMA, reductions, atomics, clusters.

Inputs are multiples of 1/64, so that sums of products are exact in f32 in whatever order they are taken.
"""

from __future__ import annotations

import random

from attention_program import attention
from gemm_programs import ceil, filled, gemm, gemv, init, simulation, splitk
from program_plans import Program
from tile_writer import Writer, accumulator, shared, tmap

__all__ = ["PROGRAMS"]


def output(rows: int, columns: int, element: str = "f32") -> str:
    return f"{{type = tensor<{rows}x{columns}x{element}>}}"


def bind(buffer: int, rows: int, columns: int, bytes_: int = 2) -> str:
    sizes = f"sizes = [{rows}, {columns}], strides = [{bytes_ * columns}]"
    return f"{{emmy.bind = #emmy.bind_tma<{buffer}, {sizes}, offset = 0, l2_promotion = 128>}}"


def pointer(name: str, element: str, buffer: int) -> str:
    return f"{name}: !emmy_tile.ptr<{element}> {{emmy.bind = #emmy.bind_pointer<{buffer}>}}"


def wgmma(seed: int) -> Program:
    """One warpgroup multiplies 64 rows by n columns: operands of one to four panels, B in either order, A from shared memory or
    from registers, tensors that the boxes reach over."""
    rng = random.Random(seed)
    turned, in_registers = rng.random() < 0.5, rng.random() < 0.4
    panels = rng.randint(1, 4)
    n, k = (64 * rng.randint(1, 4) if turned else 8 * rng.randint(1, 32)), 64 * panels
    if turned:
        k = 16 * rng.randint(1, 8) if not in_registers else 64
    a_panels = ceil(k, 64)
    m_size, k_size, n_size = rng.randint(1, 64), 8 * rng.randint(1, k // 8), 8 * rng.randint(1, n // 8)
    if k % 64:
        in_registers, k = False, 64 * a_panels
    w = Writer()
    a_t, a_box = shared(a_panels, 64, 64), shared(64, 64)
    b_panels, b_rows = (n // 64, k) if turned else (a_panels, n)
    b_t, b_box = shared(b_panels, b_rows, 64), shared(b_rows, 64)
    bar, acc = "!emmy_tile.barrier<1>", f"!emmy_tile.frag<64x{n}xf32, {accumulator(n)}>"
    a_s, b_s, full = (w.op(f"emmy_tile.alloc : {t}") for t in (a_t, b_t, bar))
    zero = w.i32(0)
    init(w, full=(full, 1, bar))
    w.line("emmy_tile.sync cta")
    with w.region("emmy_tile.one_thread"):
        w.line(f"emmy_tile.barrier_expect {full}[{zero}], {128 * (64 * a_panels + b_rows * b_panels)} : {bar}")
        for map_, buffer, type_, box, rows, count in (
            ("%map_a", a_s, a_t, a_box, 64, a_panels),
            ("%map_b", b_s, b_t, b_box, b_rows, b_panels),
        ):
            for panel in range(count):
                target = w.subview(buffer, type_, (panel, 0, 0), box)
                w.line(
                    f"emmy_tile.tma_load {map_}[{zero}, {w.i32(64 * panel)}] to {target}, {full}[{zero}] "
                    f": {tmap(rows)}, {box}, {bar}"
                )
    w.line(f"emmy_tile.barrier_wait {full}[{zero}] parity {zero} : {bar}")

    def whole(buffer: str, type_: str, box: str, count: int) -> tuple[str, str]:
        return (w.subview(buffer, type_, (0, 0, 0), box), box) if count == 1 else (buffer, type_)

    a, a_type = whole(a_s, a_t, a_box, a_panels)
    b, b_type = whole(b_s, b_t, b_box, b_panels)
    total = w.op(f"emmy_tile.undef : {acc}")
    flags = f"{' transpose_b' if turned else ''} zero"
    if in_registers:
        # One panel of A at a time, each with its part of B.
        part = f"!emmy_tile.frag<64x64xbf16, {accumulator(64)}>"
        kept = []
        for panel in range(a_panels):
            some = w.subview(a_s, a_t, (panel, 0, 0), a_box)
            kept.append(w.op(f"emmy_tile.load_shared {some} matrix : {a_box} -> {part}"))
        w.line("emmy_tile.wgmma_fence")
        for panel, some in enumerate(kept):
            if turned:
                b_part, b_part_type = b, b_type
            else:
                b_part, b_part_type = w.subview(b_s, b_t, (panel, 0, 0), b_box), b_box
            total = w.op(f"emmy_tile.wgmma {some}, {b_part}, {total}{flags} : {part}, {b_part_type} -> {acc}")
            flags = flags.replace(" zero", "")
        types = ", ".join([acc] + [part] * len(kept))
        w.line("emmy_tile.wgmma_commit")
        total = w.ops(1 + len(kept), f"emmy_tile.wgmma_wait 0 {', '.join([total, *kept])} : {types} -> {types}")[0]
    else:
        w.line("emmy_tile.wgmma_fence")
        total = w.op(f"emmy_tile.wgmma {a}, {b}, {total}{flags} : {a_type}, {b_type} -> {acc}")
        w.line("emmy_tile.wgmma_commit")
        total = w.op(f"emmy_tile.wgmma_wait 0 {total} : {acc} -> {acc}")
    one, pitch = w.constant(1, "i64"), w.constant(n, "i64")
    w.line(f"emmy_tile.store {total} to %d[{w.constant(0, 'i64')}] strides({pitch}, {one}) vector 2 : {acc}, !emmy_tile.ptr<f32>")
    b_size = (k_size, n_size) if turned else (n_size, k_size)
    arguments = [
        f"%map_a: {tmap(64)} {bind(0, m_size, k_size)}",
        f"%map_b: {tmap(b_rows)} {bind(1, *b_size)}",
        pointer("%d", "f32", 2),
    ]
    buffers = simulation(filled(m_size, k_size, 1), filled(*b_size, 2), output(64, n))
    return Program(f"wgmma_{seed}", w.kernel("wgmma", arguments, (1, 1, 1), buffers, 4))


def mma(seed: int) -> Program:
    """Warps multiply with mma.sync; operands come from global memory straight into their layouts."""
    rng = random.Random(seed)
    m_blocks, n_blocks, k_blocks, m_warps, n_warps = (rng.choice([1, 2]) for _ in range(5))
    m, n, k = 16 * m_blocks * m_warps, 8 * n_blocks * n_warps, 16 * k_blocks

    def layout(registers: str, m_stride: str, n_stride: str) -> str:
        warps = f"{m_warps}:({m_stride}), {n_warps}:({n_stride})"
        return f"#emmy_tile.layout<reg = [2:(0,1), {registers}], lane = [4:(0,2), 8:(1,0)], warp = [{warps}]>"

    rows_of_warp, columns_of_warp = 16 * m_blocks, 8 * n_blocks
    a_l = layout(f"2:(8,0), 2:(0,8), {m_blocks}:(16,0), {k_blocks}:(0,16)", f"{rows_of_warp},0", "0,0")
    b_l = layout(f"2:(0,8), {n_blocks}:(8,0), {k_blocks}:(0,16)", "0,0", f"{columns_of_warp},0")
    c_l = layout(f"2:(8,0), {n_blocks}:(0,8), {m_blocks}:(16,0)", f"{rows_of_warp},0", f"0,{columns_of_warp}")
    a_t, b_t, c_t = (
        f"!emmy_tile.frag<{m}x{k}xbf16, {a_l}>",
        f"!emmy_tile.frag<{n}x{k}xbf16, {b_l}>",
        f"!emmy_tile.frag<{m}x{n}xf32, {c_l}>",
    )
    w = Writer()
    at, one, pitch = (w.constant(x, "i64") for x in (0, 1, k))
    rows, columns = rng.randint(1, m), rng.randint(1, n)
    load = f"[{at}] strides({pitch}, {one}) limits"
    a = w.op(f"emmy_tile.load %a{load}({w.i32(rows)}, {w.i32(k)}) vector 2 : !emmy_tile.ptr<bf16> -> {a_t}")
    b = w.op(f"emmy_tile.load %b{load}({w.i32(columns)}, {w.i32(k)}) vector 2 : !emmy_tile.ptr<bf16> -> {b_t}")
    c = w.op(f"emmy_tile.splat {w.constant('0.0', 'f32')} : f32 -> {c_t}")
    c = w.op(f"emmy_tile.mma {a}, {b}, {c} : {a_t}, {b_t} -> {c_t}")
    w.line(f"emmy_tile.store {c} to %d[{at}] strides({w.constant(n, 'i64')}, {one}) : {c_t}, !emmy_tile.ptr<f32>")
    arguments = [pointer("%a", "bf16", 0), pointer("%b", "bf16", 1), pointer("%d", "f32", 2)]
    buffers = simulation(filled(m, k, 1), filled(n, k, 2), output(m, n))
    return Program(f"mma_{seed}", w.kernel("mma", arguments, (1, 1, 1), buffers, m_warps * n_warps))


def boxes(seed: int) -> Program:
    """A box of a tensor, also from before its start, goes to shared memory and to another tensor, or is added there."""
    rng = random.Random(seed)
    swizzle = rng.choice([0, 32, 64, 128])
    columns = swizzle // 4 if swizzle else 4 * rng.randint(1, 16)
    rows = 8 * rng.randint(1, 8)
    sizes = [(rng.randint(1, 70), 4 * rng.randint(1, 20)) for _ in range(2)]
    # A load may begin before its tensor, a store may not.
    corners = [
        (rng.randint(-8 * load, size[0] - 1), 4 * rng.randint(-2 * load, size[1] // 4 - 1))
        for size, load in zip(sizes, (1, 0), strict=True)
    ]
    add = rng.random() < 0.4
    mark = f", swizzle = {swizzle}" if swizzle else ""
    box, map_, bar = (
        f"!emmy_tile.shared<{rows}x{columns}xf32{mark}>",
        f"!emmy_tile.tmap<{rows}x{columns}xf32{mark}>",
        "!emmy_tile.barrier<1>",
    )
    w = Writer()
    tile, full, zero = w.op(f"emmy_tile.alloc : {box}"), w.op(f"emmy_tile.alloc : {bar}"), w.i32(0)
    init(w, full=(full, 1, bar))
    w.line("emmy_tile.sync cta")
    (r0, c0), (r1, c1) = corners
    with w.region("emmy_tile.one_thread"):
        w.line(f"emmy_tile.barrier_expect {full}[{zero}], {4 * rows * columns} : {bar}")
        w.line(f"emmy_tile.tma_load %from[{w.i32(r0)}, {w.i32(c0)}] to {tile}, {full}[{zero}] : {map_}, {box}, {bar}")
        w.line(f"emmy_tile.barrier_wait {full}[{zero}] parity {zero} : {bar}")
        for _ in range(2 if add else 1):
            w.line(f"emmy_tile.tma_store {tile} to %to[{w.i32(r1)}, {w.i32(c1)}]{' add' if add else ''} : {box}, {map_}")
        w.line("emmy_tile.tma_commit\n  emmy_tile.tma_wait 0")
    arguments = [f"%from: {map_} {bind(0, *sizes[0], 4)}", f"%to: {map_} {bind(1, *sizes[1], 4)}"]
    fills = [f'{{type = tensor<{r}x{c}xf32>, fill = "{fill}"}}' for (r, c), fill in zip(sizes, ("random 1", "zero"), strict=True)]
    return Program(f"boxes_{seed}", w.kernel("boxes", arguments, (1, 1, 1), simulation(*fills), 4))


def sums(seed: int) -> Program:
    """Rows of a tile are summed across lanes and warps; the sums of all CTAs are added atomically, elements counted in bins."""
    rng = random.Random(seed)
    row_warps, column_warps, per_thread, ctas = rng.choice([1, 2]), rng.choice([1, 2]), rng.choice([2, 4, 8]), rng.randint(1, 5)
    rows, columns = 4 * row_warps, 8 * per_thread * column_warps
    modes = f"lane = [8:(0,{per_thread}), 4:(1,0)], warp = [{row_warps}:(4,0), {column_warps}:(0,{8 * per_thread})]"
    layout = f"#emmy_tile.layout<reg = [{per_thread}:(0,1)], {modes}>"
    line = f"#emmy_tile.layout<reg = [], lane = [8:(0), 4:(1)], warp = [{row_warps}:(4), {column_warps}:(0)]>"
    tile, row = f"!emmy_tile.frag<{rows}x{columns}xf32, {layout}>", f"!emmy_tile.frag<{rows}xf32, {line}>"
    ints, bins = tile.replace("xf32", "xi32"), tile.replace("xf32", "xi64")
    warps = row_warps * column_warps
    w = Writer()
    scratch = f"!emmy_tile.shared<{warps * rows}xf32>"
    memory = w.op(f"emmy_tile.alloc : {scratch}")
    first = w.mul(w.op("emmy_tile.read cta_x"), rows * columns)
    one, zero = w.constant(1, "i64"), w.constant(0, "i64")
    where = f"strides({w.constant(columns, 'i64')}, {one})"
    x = w.op(f"emmy_tile.load %x[{w.wide(first)}] {where} vector {min(per_thread, 4)} : !emmy_tile.ptr<f32> -> {tile}")
    total = w.name()
    spans = f" scratch {memory} : {scratch}" if column_warps > 1 else ""
    w.line(f"{total} = emmy_tile.reduce {x} over 1{spans} : {tile} -> {row} {{")
    w.line("^bb0(%a: f32, %b: f32):\n    %c = arith.addf %a, %b : f32\n    emmy_tile.yield %c : f32\n  }")
    w.line(f"emmy_tile.store {total} to %sums[{zero}] strides({one}) add : {row}, !emmy_tile.ptr<f32>")
    bin_of = [
        "%c = arith.constant 4.0 : f32",
        "%s = arith.mulf %a, %c : f32",
        "%t = arith.addf %s, %c : f32",
        "%b = arith.fptosi %t : f32 to i64",
    ]
    at = w.map(bins, [(x, tile)], bin_of, "%b", "i64")
    ones = w.op(f"emmy_tile.splat {w.i32(1)} : i32 -> {ints}")
    w.line(f"emmy_tile.scatter {ones} to %bins at {at} add : {ints}, !emmy_tile.ptr<i32>, {bins}")
    arguments = [pointer("%x", "f32", 0), pointer("%sums", "f32", 1), pointer("%bins", "i32", 2)]
    buffers = simulation(
        f'{{type = tensor<{ctas * rows}x{columns}xf32>, fill = "random 1"}}',
        f'{{type = tensor<{rows}xf32>, fill = "zero"}}',
        '{type = tensor<8xi32>, fill = "zero"}',
    )
    return Program(f"sums_{seed}", w.kernel("sums", arguments, (ctas, 1, 1), buffers, warps))


def exchange(seed: int) -> Program:
    """CTAs of a cluster write to and read from each other's shared memory, between syncs of the cluster."""
    rng = random.Random(seed)
    cluster, clusters, shift = rng.choice([2, 4, 8]), rng.randint(1, 3), rng.randint(1, 7)
    line = "!emmy_tile.frag<128xf32, #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>>"
    buffer = "!emmy_tile.shared<128xf32>"
    w = Writer()
    pushed, left = w.op(f"emmy_tile.alloc : {buffer}"), w.op(f"emmy_tile.alloc : {buffer}")
    rank, x, one = w.op("emmy_tile.read cluster_rank"), w.op("emmy_tile.read cta_x"), w.constant(1, "i64")
    to, source = (w.binary("remui", w.add(rank, by), cluster) for by in (shift, shift + 1))
    at = w.wide(w.mul(x, 128))
    v = w.op(f"emmy_tile.load %x[{at}] strides({one}) vector 4 : !emmy_tile.ptr<f32> -> {line}")
    w.line(f"emmy_tile.store_shared {v} to {left} : {line}, {buffer}")
    w.line("emmy_tile.sync cluster")
    w.line(f"emmy_tile.store_shared {v} to {pushed} in_cta {to} : {line}, {buffer}")
    u = w.op(f"emmy_tile.load_shared {left} in_cta {source} : {buffer} -> {line}")
    w.line("emmy_tile.sync cluster")
    t = w.op(f"emmy_tile.load_shared {pushed} : {buffer} -> {line}")
    text = ["%c = arith.constant 8.0 : f32", "%d = arith.mulf %b, %c : f32", "%e = arith.addf %a, %d : f32"]
    sum_ = w.map(line, [(t, line), (u, line)], text, "%e", "f32")
    w.line(f"emmy_tile.store {sum_} to %y[{at}] strides({one}) vector 4 : {line}, !emmy_tile.ptr<f32>")
    total = cluster * clusters
    buffers = simulation(f'{{type = tensor<{total}x128xf32>, fill = "random 1"}}', output(total, 128))
    arguments = [pointer("%x", "f32", 0), pointer("%y", "f32", 1)]
    return Program(f"exchange_{seed}", w.kernel("exchange", arguments, (total, 1, 1), buffers, 1, cluster))


PROGRAMS = [
    *(wgmma(seed) for seed in range(14)),
    *(mma(seed) for seed in range(6)),
    *(boxes(seed) for seed in range(10)),
    *(sums(seed) for seed in range(5)),
    *(exchange(seed) for seed in range(3)),
    Program("gemm", gemm(200, 136, 200)),
    Program("gemm_cluster", gemm(300, 136, 200, cluster=2, wait=1)),
    Program("gemm_cluster_of_rows", gemm(200, 200, 200, cluster=2, share="a")),
    Program("gemm_two_blocks", gemm(300, 136, 136, mi=2, wait=1, epi=2)),
    Program("gemm_three_consumers", gemm(200, 136, 136, wgs=3)),
    Program("gemm_ping_pong", gemm(300, 136, 200, pingpong=True, wait=1, stages=4)),
    Program("gemm_ping_pong_cluster", gemm(300, 136, 200, pingpong=True, wait=1, cluster=2)),
    Program("splitk_push", splitk(40, 136, 520, split=2, push=True)),
    Program("splitk_pull", splitk(40, 136, 520, split=4)),
    Program("splitk_multicast", splitk(40, 136, 520, mc=2)),
    Program("splitk_workspace", splitk(40, 136, 520, gsplit=3)),
    Program("splitk_both", splitk(40, 136, 520, split=2, push=True, gsplit=2)),
    Program("splitk_dependent", splitk(40, 136, 520, pdl=True)),
    Program("gemv", gemv(3, 20, 520), exact=False),
    Program("attention", attention(200, 200), exact=False),
    Program("attention_causal", attention(200, 200, hd=128, k_stages=3, causal=True), exact=False),
    Program("attention_lazy", attention(200, 200, wgs=3, softmax="lazy", slack=0.5, pingpong=True), exact=False),
    Program("attention_stale", attention(200, 200, softmax="stale", slack=1, k_stages=3), exact=False),
]
