// RUN: emmy-opt %s --emmy-simulate=schedules=2 -o /dev/null -verify-diagnostics
// RUN: emmy-opt %s --emmy-simulate="schedules=1 schedule=delay=consumer" -o /dev/null -verify-diagnostics
// 256 x 256 x 256 on two clusters of two CTAs: two consumers of 64 rows each, halves of B multicast to both CTAs.

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 16:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!frag = !emmy_tile.frag<64x128xf32, #acc>
!out = !emmy_tile.frag<64x128xbf16, #acc>
!mapA = !emmy_tile.tmap<128x64xbf16, swizzle = 128>
!mapB = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<3x128x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<128x64xbf16, swizzle = 128>
!half = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!bar = !emmy_tile.barrier<3>

emmy_tile.kernel @gemm(%a: !mapA {emmy.bind = #emmy.bind_tma<0, sizes = [s0, s2], strides = [s2 * 2], offset = 0, l2_promotion = 256>},
                       %b: !mapB {emmy.bind = #emmy.bind_tma<1, sizes = [s1, s2], strides = [s2 * 2], offset = 0, l2_promotion = 256>},
                       %d: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<2>},
                       %steps: i32 {emmy.bind = #emmy.bind_size<s2 ceildiv 64>}, %n: i32 {emmy.bind = #emmy.bind_size<s1>})
    grid [s0 ceildiv 128, s1 ceildiv 128, 1] cluster 2 warps 12
    attributes {emmy.simulate = {symbols = array<i64: 256, 256, 256>,
                                 buffers = [{type = tensor<256x256xbf16>, fill = "random 1"},
                                            {type = tensor<256x256xbf16>, fill = "random 2"},
                                            {type = tensor<256x256xbf16>, expect = "matmul_nt 0 1"}]}} {
  %as = emmy_tile.alloc : !ring
  %bs = emmy_tile.alloc : !ring
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %x = emmy_tile.read cta_x
  %y = emmy_tile.read cta_y
  %rank = emmy_tile.read cluster_rank
  %row = arith.muli %x, %c128 : i32
  %col = arith.muli %y, %c128 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 4 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cluster
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 registers 40 {
      %part = arith.muli %rank, %c64 : i32
      %shared = arith.addi %col, %part : i32
      emmy_tile.one_thread {
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 3
          %free = arith.xori %p, %c1 : i32
          emmy_tile.barrier_wait %empty[%s] parity %free : !bar
          emmy_tile.barrier_expect %full[%s], 32768 : !bar
          %kc = arith.muli %k, %c64 : i32
          %at = emmy_tile.subview %as[%s, %c0, %c0] : !ring -> !tile
          %bt = emmy_tile.subview %bs[%s, %part, %c0] : !ring -> !half
          emmy_tile.tma_load %a[%row, %kc] to %at, %full[%s] : !mapA, !tile, !bar
          emmy_tile.tma_load %b[%shared, %kc] to %bt, %full[%s] multicast 3 : !mapB, !half, !bar
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 2 registers 232 {
    ^bb0(%wg: i32):
      %zero = arith.constant 0.0 : f32
      %part = arith.muli %wg, %c64 : i32
      %init = emmy_tile.splat %zero : f32 -> !frag
      %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %init) -> (!frag) : i32 {
        %s, %p = emmy_tile.ring_slot %k of 3
        emmy_tile.barrier_wait %full[%s] parity %p : !bar
        %at = emmy_tile.subview %as[%s, %part, %c0] : !ring -> !half
        %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !ring -> !tile
        emmy_tile.wgmma_fence
        %next = emmy_tile.wgmma %at, %bt, %acc : !half, !tile -> !frag
        emmy_tile.wgmma_commit
        %done = emmy_tile.wgmma_wait 0 %next : !frag -> !frag
        emmy_tile.barrier_arrive %empty[%s] to_all : !bar
        scf.yield %done : !frag
      }
      %out = emmy_tile.map(%sum) : (!frag) -> !out {
      ^bb0(%e: f32):
        %h = arith.truncf %e : f32 to bf16
        emmy_tile.yield %h : bf16
      }
      %one = arith.constant 1 : i64
      %n64 = arith.extsi %n : i32 to i64
      %r = arith.addi %row, %part : i32
      %r64 = arith.extsi %r : i32 to i64
      %col64 = arith.extsi %col : i32 to i64
      %start = arith.muli %r64, %n64 : i64
      %offset = arith.addi %start, %col64 : i64
      emmy_tile.store %out to %d[%offset] strides(%n64, %one) vector 2 : !out, !emmy_tile.ptr<bf16>
    }
  }
  // Nobody leaves while a peer may still release one of its stages.
  emmy_tile.sync cluster
}
