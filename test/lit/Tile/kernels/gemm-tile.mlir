// RUN: emmy-opt %s --verify-roundtrip --emmy-tile-to-nvvm | FileCheck %s
// One 64 x 128 tile of D[M, N] = A[M, K] · B[N, K]^T for each CTA: a producer warp, one consumer warpgroup, one wgmma group left in
// flight, the epilogue through stmatrix and TMA.

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 16:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
#panel = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!acc = !emmy_tile.frag<64x128xf32, #acc>
!acc16 = !emmy_tile.frag<64x128xbf16, #acc>
!panel16 = !emmy_tile.frag<64x64xbf16, #panel>
!a_map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!b_map = !emmy_tile.tmap<128x64xbf16, swizzle = 128>
!a_ring = !emmy_tile.shared<4x64x64xbf16, swizzle = 128>
!b_ring = !emmy_tile.shared<4x128x64xbf16, swizzle = 128>
!a_tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!b_tile = !emmy_tile.shared<128x64xbf16, swizzle = 128>
!staging = !emmy_tile.shared<2x64x64xbf16, swizzle = 128>
!bars = !emmy_tile.barrier<4>

// CHECK-LABEL: llvm.func @gemm_tile
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: wgmma.wait_group.sync.aligned 1
// CHECK: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
emmy_tile.kernel @gemm_tile(%a: !a_map {emmy.bind = #emmy.bind_tma<0, sizes = [s0, 512], strides = [1024], offset = 0, l2_promotion = 256>},
                            %b: !b_map {emmy.bind = #emmy.bind_tma<1, sizes = [256, 512], strides = [1024], offset = 0, l2_promotion = 256>},
                            %d: !a_map {emmy.bind = #emmy.bind_tma<2, sizes = [s0, 256], strides = [512], offset = 0, l2_promotion = 256>},
                            %steps: i32 {emmy.bind = #emmy.bind_size<8>}) grid [s0 ceildiv 64, 2, 1] warps 8 {
  %as = emmy_tile.alloc : !a_ring
  %bs = emmy_tile.alloc : !b_ring
  %ds = emmy_tile.alloc : !staging
  %full = emmy_tile.alloc : !bars
  %empty = emmy_tile.alloc : !bars
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %x = emmy_tile.read cta_x
  %y = emmy_tile.read cta_y
  %row = arith.muli %x, %c64 : i32
  %col = arith.muli %y, %c128 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bars
    emmy_tile.barrier_init %empty, 1 : !bars
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 registers 40 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 4
          %free = arith.xori %p, %c1 : i32
          emmy_tile.barrier_wait %empty[%s] parity %free : !bars
          emmy_tile.barrier_expect %full[%s], 24576 : !bars
          %kc = arith.muli %k, %c64 : i32
          %at = emmy_tile.subview %as[%s, %c0, %c0] : !a_ring -> !a_tile
          %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !b_ring -> !b_tile
          emmy_tile.tma_load %a[%row, %kc] to %at, %full[%s] : !a_map, !a_tile, !bars
          emmy_tile.tma_load %b[%col, %kc] to %bt, %full[%s] evict_last : !b_map, !b_tile, !bars
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 1 registers 232 {
    ^bb0(%wg: i32):
      %zero = arith.constant 0.0 : f32
      %init = emmy_tile.splat %zero : f32 -> !acc
      %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %init) -> (!acc) : i32 {
        %s, %p = emmy_tile.ring_slot %k of 4
        emmy_tile.barrier_wait %full[%s] parity %p : !bars
        %at = emmy_tile.subview %as[%s, %c0, %c0] : !a_ring -> !a_tile
        %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !b_ring -> !b_tile
        emmy_tile.wgmma_fence
        %next = emmy_tile.wgmma %at, %bt, %acc : !a_tile, !b_tile -> !acc
        emmy_tile.wgmma_commit
        %pending = emmy_tile.wgmma_wait 1 %next : !acc -> !acc
        %some = arith.cmpi sgt, %k, %c0 : i32
        scf.if %some {
          %before = arith.subi %k, %c1 : i32
          %s_before, %p_before = emmy_tile.ring_slot %before of 4
          emmy_tile.barrier_arrive %empty[%s_before] : !bars
        }
        scf.yield %pending : !acc
      }
      %done = emmy_tile.wgmma_wait 0 %sum : !acc -> !acc
      %out = emmy_tile.map(%done) : (!acc) -> !acc16 {
      ^bb0(%e: f32):
        %h = arith.truncf %e : f32 to bf16
        emmy_tile.yield %h : bf16
      }
      %left = emmy_tile.extract %out [0, 0] : !acc16 -> !panel16
      %right = emmy_tile.extract %out [0, 64] : !acc16 -> !panel16
      %left_panel = emmy_tile.subview %ds[%c0, %c0, %c0] : !staging -> !a_tile
      %right_panel = emmy_tile.subview %ds[%c1, %c0, %c0] : !staging -> !a_tile
      emmy_tile.store_shared %left to %left_panel matrix : !panel16, !a_tile
      emmy_tile.store_shared %right to %right_panel matrix : !panel16, !a_tile
      emmy_tile.fence_async
      emmy_tile.sync unit
      emmy_tile.one_thread {
        %right_col = arith.addi %col, %c64 : i32
        emmy_tile.tma_store %left_panel to %d[%row, %col] : !a_tile, !a_map
        emmy_tile.tma_store %right_panel to %d[%row, %right_col] : !a_tile, !a_map
        emmy_tile.tma_commit
        emmy_tile.tma_wait 0
      }
    }
  }
}
