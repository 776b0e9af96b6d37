// RUN: emmy-opt %s --convert-emmy-tile-to-nvvm | FileCheck %s
// TMA loads, stores and additions, and cp.async with limits.

!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<2x64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>

// Coordinates reach the hardware innermost first.
// CHECK-LABEL: llvm.func @tma
// CHECK-SAME: %{{.*}}: !llvm.ptr {{{.*}}}, %[[ROW:.+]]: i32, %[[COL:.+]]: i32, %[[S:.+]]: i32)
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%[[COL]], %[[ROW]]] : !llvm.ptr<7>, !llvm.ptr
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%[[COL]], %[[ROW]]] multicast_mask = %{{.*}} l2_cache_hint = %{{.*}} :
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, box[%[[COL]], %[[ROW]]]
// CHECK: nvvm.cp.async.bulk.tensor.reduce
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
emmy_tile.kernel @tma(%m: !map, %row: i32, %col: i32, %s: i32) grid [1, 1, 1] cluster 2 warps 1 {
  %ring = emmy_tile.alloc : !ring
  %full = emmy_tile.alloc : !emmy_tile.barrier<2>
  %c0 = arith.constant 0 : i32
  %t = emmy_tile.subview %ring[%s, %c0, %c0] : !ring -> !tile
  emmy_tile.one_thread {
    emmy_tile.tma_load %m[%row, %col] to %t, %full[%s] : !map, !tile, !emmy_tile.barrier<2>
    emmy_tile.tma_load %m[%row, %col] to %t, %full[%s] multicast 3 evict_first : !map, !tile, !emmy_tile.barrier<2>
    emmy_tile.tma_store %t to %m[%row, %col] : !tile, !map
    emmy_tile.tma_store %t to %m[%row, %col] add : !tile, !map
    emmy_tile.tma_commit
    emmy_tile.tma_wait 1 read
  }
}

// 64 rows of eight vectors over 128 threads: four rounds, the column stays. The limit on columns covers the tile, so only rows
// decide how many bytes are read.
// CHECK-LABEL: llvm.func @cp_async
// CHECK: %[[INSIDE:.+]] = arith.cmpi slt
// CHECK: %[[BYTES:.+]] = arith.select %[[INSIDE]]
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[BYTES]]
// CHECK-COUNT-3: nvvm.cp.async.shared.global
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 0
emmy_tile.kernel @cp_async(%p: !emmy_tile.ptr<bf16>, %offset: i64, %pitch: i64, %rows: i32) grid [1, 1, 1] warps 4 {
  %t = emmy_tile.alloc : !tile
  %one = arith.constant 1 : i64
  %columns = arith.constant 64 : i32
  emmy_tile.cp_async %p[%offset] strides(%pitch, %one) limits(%rows, %columns) to %t vector 8 : !emmy_tile.ptr<bf16>, !tile
  emmy_tile.cp_async_commit
  emmy_tile.cp_async_wait 0
}

// A tile of fewer vectors than threads is guarded, and four bytes go through the first-level cache.
// CHECK-LABEL: llvm.func @small_cp_async
// CHECK: llvm.cond_br
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
emmy_tile.kernel @small_cp_async(%p: !emmy_tile.ptr<f32>, %offset: i64, %n: i32) grid [1, 1, 1] warps 4 {
  %t = emmy_tile.alloc : !emmy_tile.shared<33xf32>
  %one = arith.constant 1 : i64
  emmy_tile.cp_async %p[%offset] strides(%one) limits(%n) to %t vector 1 : !emmy_tile.ptr<f32>, !emmy_tile.shared<33xf32>
}
