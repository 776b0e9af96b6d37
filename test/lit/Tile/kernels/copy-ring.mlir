// RUN: emmy-opt %s --verify-roundtrip --emmy-tile-to-nvvm | FileCheck %s
// Copies a bf16 matrix of `rows` tiles of 64 rows by 64 columns through a ring of three stages: one warp loads, one stores.

!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<3x64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!bars = !emmy_tile.barrier<3>

// CHECK-LABEL: llvm.func @copy
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
emmy_tile.kernel @copy(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [4096, 1024], strides = [2048], offset = 0, l2_promotion = 256>},
                       %y: !map {emmy.bind = #emmy.bind_tma<1, sizes = [4096, 1024], strides = [2048], offset = 0, l2_promotion = 256>},
                       %tiles: i32 {emmy.bind = #emmy.bind_size<64>}) grid [16, 1, 1] warps 2 {
  %buffer = emmy_tile.alloc : !ring
  %full = emmy_tile.alloc : !bars
  %empty = emmy_tile.alloc : !bars
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %x_block = emmy_tile.read cta_x
  %col = arith.muli %x_block, %c64 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bars
    emmy_tile.barrier_init %empty, 1 : !bars
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "load" warps 1 {
      emmy_tile.one_thread {
        scf.for %i = %c0 to %tiles step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %i of 3
          %free = arith.xori %p, %c1 : i32
          emmy_tile.barrier_wait %empty[%s] parity %free : !bars
          emmy_tile.barrier_expect %full[%s], 8192 : !bars
          %row = arith.muli %i, %c64 : i32
          %t = emmy_tile.subview %buffer[%s, %c0, %c0] : !ring -> !tile
          emmy_tile.tma_load %x[%row, %col] to %t, %full[%s] evict_first : !map, !tile, !bars
        }
      }
    }
    emmy_tile.role "store" warps 1 {
      emmy_tile.one_thread {
        scf.for %i = %c0 to %tiles step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %i of 3
          emmy_tile.barrier_wait %full[%s] parity %p : !bars
          %row = arith.muli %i, %c64 : i32
          %t = emmy_tile.subview %buffer[%s, %c0, %c0] : !ring -> !tile
          emmy_tile.tma_store %t to %y[%row, %col] : !tile, !map
          emmy_tile.tma_commit
          emmy_tile.tma_wait 0 read
          emmy_tile.barrier_arrive %empty[%s] : !bars
        }
        emmy_tile.tma_wait 0
      }
    }
  }
}
