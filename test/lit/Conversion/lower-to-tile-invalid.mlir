// RUN: emmy-opt %s --emmy-lower-to-tile -split-input-file -verify-diagnostics
// A program needs the schedule that says how to lower it.

// expected-error @below {{has no schedule that can be lowered}}
emmy_sched.program @unscheduled() outs() axes(m = 8 by 8 grid) {
}

// -----

// expected-error @below {{has a schedule of products, but no pipeline that multiplies tiles}}
emmy_sched.program @no_products() outs() axes(m = 128 by 128 grid, n = 256 by 256 grid) schedule #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent> {
}

// -----

// expected-error @below {{multiplies by wgmma, which takes staged tiles over 'm' and 'n'}}
emmy_sched.program @not_staged(%arg0: tensor<512x512xbf16>, %arg1: tensor<512x512xbf16>) outs(%arg2: tensor<512x512xf32>) axes(m = 512 by 64 grid, n = 512 by 64 grid, k = 512 by 64 serial) schedule #emmy_sched.contraction<tile = [m: 64, n: 64], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = wgmma> {
  %0 = emmy_sched.fill 0.000000e+00 : f32 -> <[m: 64, n: 64] x f32, register>
  %1 = emmy_sched.pipeline over k init(%0 : !emmy_sched.tile<[m: 64, n: 64] x f32, register>) {
  ^bb0(%arg3: !emmy_sched.tile<[m: 64, n: 64] x f32, register>):
    %2 = emmy_sched.read %arg0 over [m, k] at m * 512 + k : tensor<512x512xbf16> -> <[m: 64, k: 64] x bf16, register>
    %3 = emmy_sched.share %2 : <[m: 64, k: 64] x bf16, register> -> <[m: 64, k: 64] x bf16, shared>
    %4 = emmy_sched.read %arg1 over [n, k] at n * 512 + k : tensor<512x512xbf16> -> <[n: 64, k: 64] x bf16, register>
    %5 = emmy_sched.share %4 : <[n: 64, k: 64] x bf16, register> -> <[n: 64, k: 64] x bf16, shared>
    %6 = emmy_sched.mma %3, %5 into %arg3 : <[m: 64, k: 64] x bf16, shared>, <[n: 64, k: 64] x bf16, shared> -> <[m: 64, n: 64] x f32, register>
    emmy_sched.yield %6 : !emmy_sched.tile<[m: 64, n: 64] x f32, register>
  }
  emmy_sched.write %1 to %arg2 over [m, n] at m * 512 + n via direct : <[m: 64, n: 64] x f32, register>, tensor<512x512xf32>
}

// -----

emmy_sched.program @writes_over(%arg0: tensor<512x512xbf16>, %arg1: tensor<512x512xbf16>) outs(%arg2: tensor<512x512xf32>) axes(h = 4 by 1 grid, m = 512 by 64 grid, n = 512 by 64 grid, k = 512 by 64 serial) schedule #emmy_sched.contraction<tile = [m: 64, n: 64], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync> {
  %0 = emmy_sched.fill 0.000000e+00 : f32 -> <[m: 64, n: 64] x f32, register>
  %1 = emmy_sched.pipeline over k init(%0 : !emmy_sched.tile<[m: 64, n: 64] x f32, register>) {
  ^bb0(%arg3: !emmy_sched.tile<[m: 64, n: 64] x f32, register>):
    %2 = emmy_sched.read %arg0 over [m, k] at m * 512 + k : tensor<512x512xbf16> -> <[m: 64, k: 64] x bf16, register>
    %3 = emmy_sched.share %2 : <[m: 64, k: 64] x bf16, register> -> <[m: 64, k: 64] x bf16, shared>
    %4 = emmy_sched.read %arg1 over [n, k] at n * 512 + k : tensor<512x512xbf16> -> <[n: 64, k: 64] x bf16, register>
    %5 = emmy_sched.share %4 : <[n: 64, k: 64] x bf16, register> -> <[n: 64, k: 64] x bf16, shared>
    %6 = emmy_sched.mma %3, %5 into %arg3 : <[m: 64, k: 64] x bf16, shared>, <[n: 64, k: 64] x bf16, shared> -> <[m: 64, n: 64] x f32, register>
    emmy_sched.yield %6 : !emmy_sched.tile<[m: 64, n: 64] x f32, register>
  }
  // expected-error @below {{does not run over the grid axis 'h', so that every CTA along it would write the same}}
  emmy_sched.write %1 to %arg2 over [m, n] at m * 512 + n via direct : <[m: 64, n: 64] x f32, register>, tensor<512x512xf32>
}
