// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce),emmy-fuse-to-sched,emmy-sched-to-tile)' | FileCheck %s
// Attention of 8 × 4 heads of 128 over 8192 keys, 4 query heads to a key head.
// CHECK: emmy_tile.role "producer" warps 1 registers 24
// CHECK: emmy_tile.role "consumer" warpgroups 2 registers 240

emmy_fuse.kernel @attention(%q: tensor<8x4x8192x128xbf16>, %k: tensor<8x8192x128xbf16>, %v: tensor<8x8192x128xbf16>) outs(%o: tensor<8x4x8192x128xbf16>) axes(h = 8, g = 4, m = 8192, n = 8192, d = 128, c = 128) {
  %a = emmy_fuse.load %q over [h, g, m, d] at [h, g, m, d] : tensor<8x4x8192x128xbf16>
  %b = emmy_fuse.load %k over [h, n, d] at [h, n, d] : tensor<8x8192x128xbf16>
  %e = emmy_fuse.load %v over [h, n, c] at [h, n, c] : tensor<8x8192x128xbf16>
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
  emmy_fuse.store %y to %o over [h, g, m, c] at [h, g, m, c] : !emmy_fuse.value<[h, g, m, c] x bf16>, tensor<8x4x8192x128xbf16>
}
