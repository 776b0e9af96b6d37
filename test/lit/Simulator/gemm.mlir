// RUN: emmy-opt %s --emmy-simulate -o /dev/null -verify-diagnostics
// RUN: emmy-opt %s --emmy-simulate="schedules=4 schedule=delay=producer" -o /dev/null -verify-diagnostics
// RUN: emmy-opt %s --emmy-simulate="schedules=4 schedule=delay=consumer" -o /dev/null -verify-diagnostics
// RUN: emmy-opt %s --emmy-simulate="schedules=4 schedule=delay=async" -o /dev/null -verify-diagnostics
// A GEMM with a ring of stages, one group of wgmma left in flight, and an epilogue through stmatrix and TMA.

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<2x64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!bar = !emmy_tile.barrier<2>

emmy_tile.kernel @gemm(%a: !map {emmy.bind = #emmy.bind_tma<0, sizes = [s0, s2], strides = [s2 * 2], offset = 0, l2_promotion = 256>},
                       %b: !map {emmy.bind = #emmy.bind_tma<1, sizes = [s1, s2], strides = [s2 * 2], offset = 0, l2_promotion = 256>},
                       %d: !map {emmy.bind = #emmy.bind_tma<2, sizes = [s0, s1], strides = [s1 * 2], offset = 0, l2_promotion = 256>},
                       %steps: i32 {emmy.bind = #emmy.bind_size<s2 ceildiv 64>}) grid [s0 ceildiv 64, s1 ceildiv 64, 1] warps 8
    attributes {emmy.simulate = {symbols = array<i64: 72, 64, 264>,
                                 buffers = [{type = tensor<72x264xbf16>, fill = "random 1"},
                                            {type = tensor<64x264xbf16>, fill = "random 2"},
                                            {type = tensor<72x64xbf16>, expect = "matmul_nt 0 1"}]}} {
  %as = emmy_tile.alloc : !ring
  %bs = emmy_tile.alloc : !ring
  %ds = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %x = emmy_tile.read cta_x
  %y = emmy_tile.read cta_y
  %row = arith.muli %x, %c64 : i32
  %col = arith.muli %y, %c64 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 1 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 registers 40 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 2
          %free = arith.xori %p, %c1 : i32
          emmy_tile.barrier_wait %empty[%s] parity %free : !bar
          emmy_tile.barrier_expect %full[%s], 16384 : !bar
          %kc = arith.muli %k, %c64 : i32
          %at = emmy_tile.subview %as[%s, %c0, %c0] : !ring -> !tile
          %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !ring -> !tile
          emmy_tile.tma_load %a[%row, %kc] to %at, %full[%s] : !map, !tile, !bar
          emmy_tile.tma_load %b[%col, %kc] to %bt, %full[%s] : !map, !tile, !bar
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 1 registers 232 {
    ^bb0(%wg: i32):
      // The first step is peeled: it defines the accumulator.
      %undef = emmy_tile.undef : !frag
      emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
      %a0 = emmy_tile.subview %as[%c0, %c0, %c0] : !ring -> !tile
      %b0 = emmy_tile.subview %bs[%c0, %c0, %c0] : !ring -> !tile
      emmy_tile.wgmma_fence
      %first = emmy_tile.wgmma %a0, %b0, %undef zero : !tile, !tile -> !frag
      emmy_tile.wgmma_commit
      %last, %sum = scf.for %k = %c1 to %steps step %c1 iter_args(%previous = %c0, %acc = %first) -> (i32, !frag) : i32 {
        %s, %p = emmy_tile.ring_slot %k of 2
        emmy_tile.barrier_wait %full[%s] parity %p : !bar
        %at = emmy_tile.subview %as[%s, %c0, %c0] : !ring -> !tile
        %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !ring -> !tile
        emmy_tile.wgmma_fence
        %next = emmy_tile.wgmma %at, %bt, %acc : !tile, !tile -> !frag
        emmy_tile.wgmma_commit
        %pending = emmy_tile.wgmma_wait 1 %next : !frag -> !frag
        emmy_tile.barrier_arrive %empty[%previous] : !bar
        scf.yield %s, %pending : i32, !frag
      }
      %done = emmy_tile.wgmma_wait 0 %sum : !frag -> !frag
      emmy_tile.barrier_arrive %empty[%last] : !bar
      %out = emmy_tile.map(%done) : (!frag) -> !emmy_tile.frag<64x64xbf16, #acc> {
      ^bb0(%e: f32):
        %h = arith.truncf %e : f32 to bf16
        emmy_tile.yield %h : bf16
      }
      emmy_tile.store_shared %out to %ds matrix : !emmy_tile.frag<64x64xbf16, #acc>, !tile
      emmy_tile.fence_async
      emmy_tile.sync unit
      emmy_tile.one_thread {
        emmy_tile.tma_store %ds to %d[%row, %col] : !tile, !map
        emmy_tile.tma_commit
        emmy_tile.tma_wait 0
      }
    }
  }
}
