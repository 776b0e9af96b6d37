// RUN: emmy-opt %s --verify-roundtrip | FileCheck %s
// Every op of the dialect keeps its meaning through text.

!x = tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>
!y = tensor<?x6144xbf16, #emmy.dims<[s0, 6144]>>
!acc = !emmy_sched.tile<[m: 128, n: 256] x f32, register>

// CHECK-LABEL: emmy_sched.program @linear
// CHECK-SAME:  axes(m = s0 by 128 grid, n = 6144 by 256 grid, k = 4096 by 64 serial)
// CHECK-SAME:  schedule #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 2, multicast = b, raster = 8, wait = 1, epilogue = tma, mma = wgmma, persistent>
emmy_sched.program @linear(%x: !x {emmy.layout = #emmy.layout<strides = [4096, 1], align = 16>}, %w: tensor<6144x4096xbf16>, %bias: tensor<6144xbf16>) outs(%y: !y)
    axes(m = s0 by 128 grid, n = 6144 by 256 grid, k = 4096 by 64 serial)
    schedule #emmy_sched.contraction<tile = [m: 128, n: 256], stages = 4, consumers = 2, cluster = 2, multicast = b, raster = 8,
                                     wait = 1, epilogue = tma, mma = wgmma, persistent, step = 64> {
  // CHECK: emmy_sched.fill 0.000000e+00 : f32
  %zero = emmy_sched.fill 0.0 : f32 -> !acc
  // CHECK: emmy_sched.pipeline over k init(
  %sum = emmy_sched.pipeline over k init(%zero : !acc) {
  ^bb0(%c: !acc):
    // CHECK: emmy_sched.stage %{{.*}} over [m, k] at m * 4096 + k via tma :
    %a = emmy_sched.stage %x over [m, k] at m * 4096 + k via tma : !x -> !emmy_sched.tile<[m: 128, k: 64] x bf16, shared>
    // CHECK: emmy_sched.stage %{{.*}} via tma multicast :
    %b = emmy_sched.stage %w over [n, k] at n * 4096 + k via tma multicast : tensor<6144x4096xbf16> -> !emmy_sched.tile<[n: 256, k: 64] x bf16, shared>
    // CHECK: emmy_sched.mma
    %d = emmy_sched.mma %a, %b into %c : !emmy_sched.tile<[m: 128, k: 64] x bf16, shared>, !emmy_sched.tile<[n: 256, k: 64] x bf16, shared> -> !acc
    emmy_sched.yield %d : !acc
  }
  // CHECK: emmy_sched.read %{{.*}} over [n] at n :
  %v = emmy_sched.read %bias over [n] at n : tensor<6144xbf16> -> !emmy_sched.tile<[n: 256] x bf16, register>
  // CHECK: emmy_sched.map(
  %out = emmy_sched.map(%sum, %v) : (!acc, !emmy_sched.tile<[n: 256] x bf16, register>) -> !emmy_sched.tile<[m: 128, n: 256] x bf16, register> {
  ^bb0(%e: f32, %f: bf16):
    %g = arith.extf %f : bf16 to f32
    %h = arith.addf %e, %g : f32
    %r = arith.truncf %h : f32 to bf16
    emmy_sched.yield %r : bf16
  }
  // CHECK: emmy_sched.write %{{.*}} to %{{.*}} over [m, n] at m * 6144 + n via tma :
  emmy_sched.write %out to %y over [m, n] at m * 6144 + n via tma : !emmy_sched.tile<[m: 128, n: 256] x bf16, register>, !y
}

// CHECK-LABEL: emmy_sched.program @rows
emmy_sched.program @rows(%ids: tensor<64xi64>, %t: tensor<100x256xf32>) outs(%y: tensor<64x8xf32>) axes(b = 8 by 1 grid, m = 8 by 4 grid, n = 256 by 256 whole) {
  %i = emmy_sched.read %ids over [b, m] at b * 8 + m : tensor<64xi64> -> !emmy_sched.tile<[m: 4] x i64, register>
  // CHECK: over [m, n] using(%{{.*}} : !emmy_sched.tile<[m: 4] x i64, register>) at i0 * 256 + n inside [i0, n - 1] of [100, 256]
  %a = emmy_sched.read %t over [m, n] using(%i : !emmy_sched.tile<[m: 4] x i64, register>) at i0 * 256 + n inside [i0, n - 1] of [100, 256]
      : tensor<100x256xf32> -> !emmy_sched.tile<[m: 4, n: 256] x f32, register>
  // CHECK: emmy_sched.share
  %h = emmy_sched.share %a : !emmy_sched.tile<[m: 4, n: 256] x f32, register> -> !emmy_sched.tile<[m: 4, n: 256] x f32, shared>
  // CHECK: emmy_sched.reduce add %{{.*}} over [n] :
  %s = emmy_sched.reduce add %a over [n] : !emmy_sched.tile<[m: 4, n: 256] x f32, register> -> !emmy_sched.tile<[m: 4] x f32, register>
  // CHECK: emmy_sched.index over [b, m] at b * 8 + m
  %p = emmy_sched.index over [b, m] at b * 8 + m -> !emmy_sched.tile<[m: 4] x i64, register>
  emmy_sched.write %s to %y over [b, m] at b * 8 + m via direct : !emmy_sched.tile<[m: 4] x f32, register>, tensor<64x8xf32>
}
