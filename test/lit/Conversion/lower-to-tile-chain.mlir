// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce),emmy-fuse-to-sched,emmy-sched-to-tile)' | FileCheck %s
// The producer streams both operands through rings; a consumer issues the next scores before the last values and waits for them first.

// CHECK-LABEL: emmy_tile.kernel @attention
// CHECK:       emmy_tile.role "producer" warps 1 registers 24
// CHECK:         emmy_tile.barrier_expect %{{.+}}[%{{.+}}], 32768
// CHECK:         scf.for
// CHECK:           emmy_tile.barrier_expect %{{.+}}[%{{.+}}], 32768
// CHECK-COUNT-2:   emmy_tile.tma_load
// CHECK:           emmy_tile.barrier_expect %{{.+}}[%{{.+}}], 32768
// CHECK-COUNT-2:   emmy_tile.tma_load
// CHECK:       emmy_tile.role "consumer" warpgroups 2 registers 240
// The first block has nothing to overlap with.
// CHECK:         emmy_tile.wgmma %{{.+}}, %{{.+}}, %{{.+}} zero
// CHECK:         emmy_tile.wgmma_wait 0
// CHECK:         scf.for
// CHECK:           emmy_tile.wgmma %{{.+}}, %{{.+}}, %{{.+}} zero
// CHECK:           emmy_tile.wgmma_commit
// CHECK:           emmy_tile.wgmma %{{.+}}, %{{.+}}, %{{.+}} transpose_b
// CHECK:           emmy_tile.wgmma_commit
// CHECK:           emmy_tile.wgmma_wait 1
// CHECK:           emmy_tile.barrier_arrive
// CHECK:           math.exp2
// CHECK:           emmy_tile.wgmma_wait 0
// CHECK:           emmy_tile.barrier_arrive
// CHECK:           arith.truncf
// CHECK:           scf.yield
// CHECK:         emmy_tile.wgmma %{{.+}}, %{{.+}}, %{{.+}} transpose_b
// CHECK:         emmy_tile.wgmma_wait 0
// CHECK-COUNT-2: emmy_tile.store_shared %{{.+}} to %{{.+}} matrix
// CHECK:         emmy_tile.tma_store
emmy_fuse.kernel @attention(%q: tensor<8x4x4096x128xbf16>, %k: tensor<8x4096x128xbf16>, %v: tensor<8x4096x128xbf16>) outs(%o: tensor<8x4x4096x128xbf16>) axes(h = 8, g = 4, m = 4096, n = 4096, d = 128, c = 128) {
  %a = emmy_fuse.load %q over [h, g, m, d] at [h, g, m, d] : tensor<8x4x4096x128xbf16>
  %b = emmy_fuse.load %k over [h, n, d] at [h, n, d] : tensor<8x4096x128xbf16>
  %e = emmy_fuse.load %v over [h, n, c] at [h, n, c] : tensor<8x4096x128xbf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[h, g, m, d] x bf16>, !emmy_fuse.value<[h, n, d] x bf16>) -> !emmy_fuse.value<[h, g, m, n] x f32>
  %t = emmy_fuse.map(%s) : (!emmy_fuse.value<[h, g, m, n] x f32>) -> !emmy_fuse.value<[h, g, m, n] x f32> {
  ^bb0(%x: f32):
    %c = arith.constant 0.08838834764831845 : f32
    %p = arith.mulf %x, %c : f32
    emmy_fuse.yield %p : f32
  }
  %max = emmy_fuse.reduce max %t over [n] : !emmy_fuse.value<[h, g, m, n] x f32> -> !emmy_fuse.value<[h, g, m] x f32>
  %exp = emmy_fuse.map(%t, %max) : (!emmy_fuse.value<[h, g, m, n] x f32>, !emmy_fuse.value<[h, g, m] x f32>) -> !emmy_fuse.value<[h, g, m, n] x f32> {
  ^bb0(%x: f32, %y: f32):
    %p = arith.subf %x, %y : f32
    %u = math.exp %p : f32
    emmy_fuse.yield %u : f32
  }
  %sum = emmy_fuse.reduce add %exp over [n] : !emmy_fuse.value<[h, g, m, n] x f32> -> !emmy_fuse.value<[h, g, m] x f32>
  %wt = emmy_fuse.map(%exp) : (!emmy_fuse.value<[h, g, m, n] x f32>) -> !emmy_fuse.value<[h, g, m, n] x bf16> {
  ^bb0(%x: f32):
    %p = arith.truncf %x : f32 to bf16
    emmy_fuse.yield %p : bf16
  }
  %r = emmy_fuse.contract %wt, %e over [n] : (!emmy_fuse.value<[h, g, m, n] x bf16>, !emmy_fuse.value<[h, n, c] x bf16>) -> !emmy_fuse.value<[h, g, m, c] x f32>
  %y = emmy_fuse.map(%r, %sum) : (!emmy_fuse.value<[h, g, m, c] x f32>, !emmy_fuse.value<[h, g, m] x f32>) -> !emmy_fuse.value<[h, g, m, c] x bf16> {
  ^bb0(%x: f32, %z: f32):
    %p = arith.divf %x, %z : f32
    %u = arith.truncf %p : f32 to bf16
    emmy_fuse.yield %u : bf16
  }
  emmy_fuse.store %y to %o over [h, g, m, c] at [h, g, m, c] : !emmy_fuse.value<[h, g, m, c] x bf16>, tensor<8x4x4096x128xbf16>
}
