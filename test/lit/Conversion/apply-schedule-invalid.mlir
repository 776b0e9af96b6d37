// RUN: emmy-opt %s --emmy-apply-schedule -split-input-file -verify-diagnostics
// The pass applies no illegal schedule; the rules themselves are tested with --emmy-pick-schedule.

// expected-error @below {{has an illegal schedule: at most 3 warpgroups consume, but there are 4}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 256, n: 64], step = 64, stages = 2, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<512x512xbf16>
}

// -----

// expected-error @below {{accesses a tensor whose sizes or strides are not known}}
emmy_fuse.kernel @k(%x: tensor<?x8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [m] at [m, m] : tensor<?x8xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8xf32>
}
