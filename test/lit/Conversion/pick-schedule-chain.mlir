// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce,emmy-pick-schedule))' | FileCheck %s
// Schedules of folds around products.

// Two warpgroups of wide rows fill the registers, and the rows with most keys come first.
// CHECK-LABEL: emmy_fuse.kernel @wide_causal
// CHECK-SAME:  #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 240], section = {{[0-9]+}}, epilogue = tma, last_first>
emmy_fuse.kernel @wide_causal(%q: tensor<8x4x4096x128xbf16>, %k: tensor<8x4096x128xbf16>, %v: tensor<8x4096x128xbf16>) outs(%o: tensor<8x4x4096x128xbf16>) axes(h = 8, g = 4, m = 4096, n = 4096, d = 128, c = 128) {
  %a = emmy_fuse.load %q over [h, g, m, d] at [h, g, m, d] : tensor<8x4x4096x128xbf16>
  %b = emmy_fuse.load %k over [h, n, d] at [h, n, d] : tensor<8x4096x128xbf16>
  %e = emmy_fuse.load %v over [h, n, c] at [h, n, c] : tensor<8x4096x128xbf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[h, g, m, d] x bf16>, !emmy_fuse.value<[h, n, d] x bf16>) -> !emmy_fuse.value<[h, g, m, n] x f32>
  %i = emmy_fuse.index over [m] at m
  %j = emmy_fuse.index over [n] at n
  %t = emmy_fuse.map(%s, %i, %j) : (!emmy_fuse.value<[h, g, m, n] x f32>, !emmy_fuse.value<[m] x i64>, !emmy_fuse.value<[n] x i64>) -> !emmy_fuse.value<[h, g, m, n] x f32> {
  ^bb0(%x: f32, %y: i64, %z: i64):
    %c = arith.constant 0.08838834764831845 : f32
    %p = arith.mulf %x, %c : f32
    %w = arith.constant 0xFF800000 : f32
    %f = arith.cmpi sge, %y, %z : i64
    %u = arith.select %f, %p, %w : f32
    emmy_fuse.yield %u : f32
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

// Narrow rows leave registers for a third.
// CHECK-LABEL: emmy_fuse.kernel @narrow
// CHECK-SAME:  #emmy_sched.chain<rows = [m: 192], over = [n: 128], stages = [2, 2], consumers = 3, registers = [32, 160], section = {{[0-9]+}}, epilogue = tma>
emmy_fuse.kernel @narrow(%q: tensor<8x4x8192x64xbf16>, %k: tensor<8x8192x64xbf16>, %v: tensor<8x8192x64xbf16>) outs(%o: tensor<8x4x8192x64xbf16>) axes(h = 8, g = 4, m = 8192, n = 8192, d = 64, c = 64) {
  %a = emmy_fuse.load %q over [h, g, m, d] at [h, g, m, d] : tensor<8x4x8192x64xbf16>
  %b = emmy_fuse.load %k over [h, n, d] at [h, n, d] : tensor<8x8192x64xbf16>
  %e = emmy_fuse.load %v over [h, n, c] at [h, n, c] : tensor<8x8192x64xbf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[h, g, m, d] x bf16>, !emmy_fuse.value<[h, n, d] x bf16>) -> !emmy_fuse.value<[h, g, m, n] x f32>
  %t = emmy_fuse.map(%s) : (!emmy_fuse.value<[h, g, m, n] x f32>) -> !emmy_fuse.value<[h, g, m, n] x f32> {
  ^bb0(%x: f32):
    %c = arith.constant 0.125 : f32
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
  emmy_fuse.store %y to %o over [h, g, m, c] at [h, g, m, c] : !emmy_fuse.value<[h, g, m, c] x bf16>, tensor<8x4x8192x64xbf16>
}

// A schedule that is there stays.
// CHECK-LABEL: emmy_fuse.kernel @given
// CHECK-SAME:  #emmy_sched.chain<rows = [m: 64], over = [n: 32], stages = [3, 1], consumers = 1, registers = [24, 240], section = 5, epilogue = direct>
emmy_fuse.kernel @given(%q: tensor<256x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%o: tensor<256x64xbf16>) axes(m = 256, n = 256, d = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 64], over = [n: 32], stages = [3, 1], consumers = 1, registers = [24, 240], section = 5, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, d] at [m, d] : tensor<256x64xbf16>
  %b = emmy_fuse.load %k over [n, d] at [n, d] : tensor<256x64xbf16>
  %e = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[m, d] x bf16>, !emmy_fuse.value<[n, d] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %t = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%x: f32):
    %c = arith.constant 0.125 : f32
    %p = arith.mulf %x, %c : f32
    emmy_fuse.yield %p : f32
  }
  %max = emmy_fuse.reduce max %t over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %exp = emmy_fuse.map(%t, %max) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%x: f32, %y: f32):
    %p = arith.subf %x, %y : f32
    %u = math.exp %p : f32
    emmy_fuse.yield %u : f32
  }
  %sum = emmy_fuse.reduce add %exp over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %wt = emmy_fuse.map(%exp) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%x: f32):
    %p = arith.truncf %x : f32 to bf16
    emmy_fuse.yield %p : bf16
  }
  %r = emmy_fuse.contract %wt, %e over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  %y = emmy_fuse.map(%r, %sum) : (!emmy_fuse.value<[m, c] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, c] x bf16> {
  ^bb0(%x: f32, %z: f32):
    %p = arith.divf %x, %z : f32
    %u = arith.truncf %p : f32 to bf16
    emmy_fuse.yield %u : bf16
  }
  emmy_fuse.store %y to %o over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x bf16>, tensor<256x64xbf16>
}
