// RUN: emmy-opt %s --verify-roundtrip | FileCheck %s
// Every op of the dialect keeps its meaning through text.

// CHECK-LABEL: emmy_fuse.kernel @softmax_rows
// CHECK-SAME: axes(m = s0, n = 4096)
emmy_fuse.kernel @softmax_rows(%x: tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>> {emmy.layout = #emmy.layout<strides = [s1, 1], align = 2>})
    outs(%y: tensor<?x4096xf32, #emmy.dims<[s0, 4096]>>) axes(m = s0, n = 4096) {
  // CHECK: emmy_fuse.load %{{.*}} over [m, n] at [m, n]
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>
  // CHECK: emmy_fuse.reduce max
  %t = emmy_fuse.reduce max %a over [n] : !emmy_fuse.value<[m, n] x bf16> -> !emmy_fuse.value<[m] x f32>
  %e = emmy_fuse.map(%a, %t) : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: bf16, %q: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.subf %0, %q : f32
    %2 = math.exp %1 : f32
    emmy_fuse.yield %2 : f32
  }
  // CHECK: emmy_fuse.store %{{.*}} to %{{.*}} over [m, n] at [m, n]
  emmy_fuse.store %e to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<?x4096xf32, #emmy.dims<[s0, 4096]>>
}

// CHECK-LABEL: emmy_fuse.kernel @contract_rows_by_index
emmy_fuse.kernel @contract_rows_by_index(%ids: tensor<8xi64>, %t: tensor<100x64xbf16>, %w: tensor<2x32x64xbf16>) outs(%y: tensor<8x32xf32>)
    axes(m = 8, n = 32, k = 64) {
  %i = emmy_fuse.load %ids over [m] at [m] : tensor<8xi64>
  // CHECK: emmy_fuse.load %{{.*}} over [m, k] using(%{{.*}} : !emmy_fuse.value<[m] x i64>) at [i0, k] guarded
  %a = emmy_fuse.load %t over [m, k] using(%i : !emmy_fuse.value<[m] x i64>) at [i0, k] guarded : tensor<100x64xbf16>
  // CHECK: at [n floordiv 16, n mod 16 + 16, k]
  %b = emmy_fuse.load %w over [n, k] at [n floordiv 16, n mod 16 + 16, k] : tensor<2x32x64xbf16>
  // CHECK: emmy_fuse.contract %{{.*}}, %{{.*}} over [k]
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  // CHECK: emmy_fuse.index over [m, n] at m - n
  %d = emmy_fuse.index over [m, n] at m - n
  %s = emmy_fuse.map(%c, %d) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m, n] x i64>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: i64):
    %f = arith.sitofp %q : i64 to f32
    %r = arith.addf %p, %f : f32
    emmy_fuse.yield %r : f32
  }
  emmy_fuse.store %s to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<8x32xf32>
}

// CHECK-LABEL: emmy_fuse.kernel @running_max
emmy_fuse.kernel @running_max(%x: tensor<4x64xf32>) outs(%y: tensor<4xf32>) axes(m = 4, n = 64) {
  %low = emmy_fuse.map() : () -> !emmy_fuse.value<[] x f32> {
    %c = arith.constant 0xFF800000 : f32
    emmy_fuse.yield %c : f32
  }
  %start = emmy_fuse.index over [m] at m
  %m0 = emmy_fuse.map(%low, %start) : (!emmy_fuse.value<[] x f32>, !emmy_fuse.value<[m] x i64>) -> !emmy_fuse.value<[m] x f32> {
  ^bb0(%a: f32, %i: i64):
    emmy_fuse.yield %a : f32
  }
  // CHECK: emmy_fuse.fold over n init(%{{.*}} : !emmy_fuse.value<[m] x f32>)
  %top = emmy_fuse.fold over n init(%m0 : !emmy_fuse.value<[m] x f32>) {
  ^bb0(%before: !emmy_fuse.value<[m] x f32>):
    %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<4x64xf32>
    %t = emmy_fuse.reduce max %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
    %u = emmy_fuse.map(%before, %t) : (!emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x f32> {
    ^bb0(%p: f32, %q: f32):
      %r = arith.maximumf %p, %q : f32
      emmy_fuse.yield %r : f32
    }
    emmy_fuse.yield %u : !emmy_fuse.value<[m] x f32>
  }
  emmy_fuse.store %top to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<4xf32>
}
