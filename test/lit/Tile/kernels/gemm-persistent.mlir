// RUN: emmy-opt %s --verify-roundtrip --emmy-tile-to-nvvm | FileCheck %s
// D[M, N] = A[M, K] · B[N, K]^T in bf16: persistent, a producer warp, two consumer warpgroups that split a 128 x 256 tile, clusters
// of two CTAs stacked along M that share B by multicast, stmatrix into swizzled panels and TMA stores.
// Tiles of a cluster: grouped raster of eight rows of tiles. `tiles_m` and `tiles_n` count cluster tiles, `k_steps` blocks of 64.

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 32:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
#panel = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!acc = !emmy_tile.frag<64x256xf32, #acc>
!panel32 = !emmy_tile.frag<64x64xf32, #panel>
!panel16 = !emmy_tile.frag<64x64xbf16, #panel>
!a_map = !emmy_tile.tmap<128x64xbf16, swizzle = 128>
!b_map = !emmy_tile.tmap<128x64xbf16, swizzle = 128>
!d_map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!a_ring = !emmy_tile.shared<4x128x64xbf16, swizzle = 128>
!b_ring = !emmy_tile.shared<4x256x64xbf16, swizzle = 128>
!a_tile = !emmy_tile.shared<128x64xbf16, swizzle = 128>
!b_tile = !emmy_tile.shared<256x64xbf16, swizzle = 128>
!b_half = !emmy_tile.shared<128x64xbf16, swizzle = 128>
!a_rows = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!staging = !emmy_tile.shared<2x2x64x64xbf16, swizzle = 128>
!bars = !emmy_tile.barrier<4>

// CHECK-LABEL: llvm.func @gemm
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: multicast_mask
// CHECK: nvvm.setmaxregister increase 232
// CHECK-COUNT-8: wgmma.mma_async
// CHECK: nvvm.stmatrix
emmy_tile.kernel @gemm(%a: !a_map {emmy.bind = #emmy.bind_tma<0, sizes = [8192, 8192], strides = [16384], offset = 0, l2_promotion = 256>},
                       %b: !b_map {emmy.bind = #emmy.bind_tma<1, sizes = [8192, 8192], strides = [16384], offset = 0, l2_promotion = 256>},
                       %d: !d_map {emmy.bind = #emmy.bind_tma<2, sizes = [8192, 8192], strides = [16384], offset = 0, l2_promotion = 256>},
                       %tiles_m: i32 {emmy.bind = #emmy.bind_size<32>}, %tiles_n: i32 {emmy.bind = #emmy.bind_size<32>},
                       %k_steps: i32 {emmy.bind = #emmy.bind_size<128>}, %clusters: i32 {emmy.bind = #emmy.bind_size<66>})
    grid [132, 1, 1] cluster 2 warps 12 {
  %as = emmy_tile.alloc : !a_ring
  %bs = emmy_tile.alloc : !b_ring
  %ds = emmy_tile.alloc : !staging
  %full = emmy_tile.alloc : !bars
  %empty = emmy_tile.alloc : !bars
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c256 = arith.constant 256 : i32
  %group = arith.constant 8 : i32
  %rank = emmy_tile.read cluster_rank
  %first = emmy_tile.read cluster_id
  %tiles = arith.muli %tiles_m, %tiles_n : i32
  %per = arith.muli %group, %tiles_n : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bars
    emmy_tile.barrier_init %empty, 4 : !bars
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cluster
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 registers 40 {
      emmy_tile.one_thread {
        %half = arith.muli %rank, %c128 : i32
        %end = scf.for %tile = %first to %tiles step %clusters iter_args(%base = %c0) -> (i32) : i32 {
          %gi = arith.divui %tile, %per : i32
          %r = arith.remui %tile, %per : i32
          %m_first = arith.muli %gi, %group : i32
          %left = arith.subi %tiles_m, %m_first : i32
          %gm = arith.minui %left, %group : i32
          %m_in = arith.remui %r, %gm : i32
          %m = arith.addi %m_first, %m_in : i32
          %n = arith.divui %r, %gm : i32
          %row0 = arith.muli %m, %c256 : i32
          %row = arith.addi %row0, %half : i32
          %col0 = arith.muli %n, %c256 : i32
          %col = arith.addi %col0, %half : i32
          scf.for %k = %c0 to %k_steps step %c1 : i32 {
            %use = arith.addi %base, %k : i32
            %s, %p = emmy_tile.ring_slot %use of 4
            %free = arith.xori %p, %c1 : i32
            emmy_tile.barrier_wait %empty[%s] parity %free : !bars
            emmy_tile.barrier_expect %full[%s], 49152 : !bars
            %kc = arith.muli %k, %c64 : i32
            %at = emmy_tile.subview %as[%s, %c0, %c0] : !a_ring -> !a_tile
            %bt = emmy_tile.subview %bs[%s, %half, %c0] : !b_ring -> !b_half
            emmy_tile.tma_load %a[%row, %kc] to %at, %full[%s] : !a_map, !a_tile, !bars
            emmy_tile.tma_load %b[%col, %kc] to %bt, %full[%s] multicast 3 : !b_map, !b_half, !bars
          }
          %next = arith.addi %base, %k_steps : i32
          scf.yield %next : i32
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 2 registers 232 {
    ^bb0(%wg: i32):
      %wg_row = arith.muli %wg, %c64 : i32
      %end = scf.for %tile = %first to %tiles step %clusters iter_args(%base = %c0) -> (i32) : i32 {
        %undef = emmy_tile.undef : !acc
        %s0, %p0 = emmy_tile.ring_slot %base of 4
        emmy_tile.barrier_wait %full[%s0] parity %p0 : !bars
        %at0 = emmy_tile.subview %as[%s0, %wg_row, %c0] : !a_ring -> !a_rows
        %bt0 = emmy_tile.subview %bs[%s0, %c0, %c0] : !b_ring -> !b_tile
        emmy_tile.wgmma_fence
        %peeled = emmy_tile.wgmma %at0, %bt0, %undef zero : !a_rows, !b_tile -> !acc
        emmy_tile.wgmma_commit
        %first_sum = emmy_tile.wgmma_wait 0 %peeled : !acc -> !acc
        emmy_tile.barrier_arrive %empty[%s0] to_all : !bars
        %sum = scf.for %k = %c1 to %k_steps step %c1 iter_args(%acc = %first_sum) -> (!acc) : i32 {
          %use = arith.addi %base, %k : i32
          %s, %p = emmy_tile.ring_slot %use of 4
          emmy_tile.barrier_wait %full[%s] parity %p : !bars
          %at = emmy_tile.subview %as[%s, %wg_row, %c0] : !a_ring -> !a_rows
          %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !b_ring -> !b_tile
          emmy_tile.wgmma_fence
          %mma = emmy_tile.wgmma %at, %bt, %acc : !a_rows, !b_tile -> !acc
          emmy_tile.wgmma_commit
          %done = emmy_tile.wgmma_wait 0 %mma : !acc -> !acc
          emmy_tile.barrier_arrive %empty[%s] to_all : !bars
          scf.yield %done : !acc
        }
        %gi = arith.divui %tile, %per : i32
        %r = arith.remui %tile, %per : i32
        %m_first = arith.muli %gi, %group : i32
        %left = arith.subi %tiles_m, %m_first : i32
        %gm = arith.minui %left, %group : i32
        %m_in = arith.remui %r, %gm : i32
        %m = arith.addi %m_first, %m_in : i32
        %n = arith.divui %r, %gm : i32
        %row0 = arith.muli %m, %c256 : i32
        %half = arith.muli %rank, %c128 : i32
        %row1 = arith.addi %row0, %half : i32
        %row = arith.addi %row1, %wg_row : i32
        %col = arith.muli %n, %c256 : i32
        %col0_offset = arith.constant 0 : i32
        %col0 = arith.addi %col, %col0_offset : i32
        %part0 = emmy_tile.extract %sum [0, 0] : !acc -> !panel32
        %half0 = emmy_tile.map(%part0) : (!panel32) -> !panel16 {
        ^bb0(%e: f32):
          %h = arith.truncf %e : f32 to bf16
          emmy_tile.yield %h : bf16
        }
        %stage0 = emmy_tile.subview %ds[%wg, %c0, %c0, %c0] : !staging -> !a_rows
        emmy_tile.one_thread {
          emmy_tile.tma_wait 1 read
        }
        emmy_tile.sync unit
        emmy_tile.store_shared %half0 to %stage0 matrix : !panel16, !a_rows
        emmy_tile.fence_async
        emmy_tile.sync unit
        emmy_tile.one_thread {
          emmy_tile.tma_store %stage0 to %d[%row, %col0] : !a_rows, !d_map
          emmy_tile.tma_commit
        }
        %col1_offset = arith.constant 64 : i32
        %col1 = arith.addi %col, %col1_offset : i32
        %part1 = emmy_tile.extract %sum [0, 64] : !acc -> !panel32
        %half1 = emmy_tile.map(%part1) : (!panel32) -> !panel16 {
        ^bb0(%e: f32):
          %h = arith.truncf %e : f32 to bf16
          emmy_tile.yield %h : bf16
        }
        %stage1 = emmy_tile.subview %ds[%wg, %c1, %c0, %c0] : !staging -> !a_rows
        emmy_tile.one_thread {
          emmy_tile.tma_wait 1 read
        }
        emmy_tile.sync unit
        emmy_tile.store_shared %half1 to %stage1 matrix : !panel16, !a_rows
        emmy_tile.fence_async
        emmy_tile.sync unit
        emmy_tile.one_thread {
          emmy_tile.tma_store %stage1 to %d[%row, %col1] : !a_rows, !d_map
          emmy_tile.tma_commit
        }
        %col2_offset = arith.constant 128 : i32
        %col2 = arith.addi %col, %col2_offset : i32
        %part2 = emmy_tile.extract %sum [0, 128] : !acc -> !panel32
        %half2 = emmy_tile.map(%part2) : (!panel32) -> !panel16 {
        ^bb0(%e: f32):
          %h = arith.truncf %e : f32 to bf16
          emmy_tile.yield %h : bf16
        }
        %stage2 = emmy_tile.subview %ds[%wg, %c0, %c0, %c0] : !staging -> !a_rows
        emmy_tile.one_thread {
          emmy_tile.tma_wait 1 read
        }
        emmy_tile.sync unit
        emmy_tile.store_shared %half2 to %stage2 matrix : !panel16, !a_rows
        emmy_tile.fence_async
        emmy_tile.sync unit
        emmy_tile.one_thread {
          emmy_tile.tma_store %stage2 to %d[%row, %col2] : !a_rows, !d_map
          emmy_tile.tma_commit
        }
        %col3_offset = arith.constant 192 : i32
        %col3 = arith.addi %col, %col3_offset : i32
        %part3 = emmy_tile.extract %sum [0, 192] : !acc -> !panel32
        %half3 = emmy_tile.map(%part3) : (!panel32) -> !panel16 {
        ^bb0(%e: f32):
          %h = arith.truncf %e : f32 to bf16
          emmy_tile.yield %h : bf16
        }
        %stage3 = emmy_tile.subview %ds[%wg, %c1, %c0, %c0] : !staging -> !a_rows
        emmy_tile.one_thread {
          emmy_tile.tma_wait 1 read
        }
        emmy_tile.sync unit
        emmy_tile.store_shared %half3 to %stage3 matrix : !panel16, !a_rows
        emmy_tile.fence_async
        emmy_tile.sync unit
        emmy_tile.one_thread {
          emmy_tile.tma_store %stage3 to %d[%row, %col3] : !a_rows, !d_map
          emmy_tile.tma_commit
        }
        %next = arith.addi %base, %k_steps : i32
        scf.yield %next : i32
      }
      emmy_tile.one_thread {
        emmy_tile.tma_wait 0
      }
    }
  }
  // A CTA stays until its peer has made its last arrival here.
  emmy_tile.sync cluster
}
