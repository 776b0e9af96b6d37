// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce),emmy-fuse-to-sched,emmy-sched-to-tile,emmy-simulate{schedules=2})' -o /dev/null -verify-diagnostics
// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce),emmy-fuse-to-sched,emmy-sched-to-tile,emmy-simulate{schedules=1 schedule=delay=consumer})' -o /dev/null -verify-diagnostics
// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce),emmy-fuse-to-sched,emmy-sched-to-tile,emmy-simulate{schedules=1 schedule=delay=async})' -o /dev/null -verify-diagnostics
// Folds around two products give the right rows, without a race, under different interleavings.

emmy_fuse.kernel @two_warpgroups(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%o: tensor<128x64xbf16>) axes(m = 128, n = 256, d = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 240], section = 1, epilogue = tma>, emmy.simulate = {buffers = [{type = tensor<128x64xbf16>, fill = "random 1"}, {type = tensor<256x64xbf16>, fill = "random 2"}, {type = tensor<256x64xbf16>, fill = "random 3"}, {type = tensor<128x64xbf16>, expect = "attention 0 1 2"}]}} {
  %a = emmy_fuse.load %q over [m, d] at [m, d] : tensor<128x64xbf16>
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
  emmy_fuse.store %y to %o over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x bf16>, tensor<128x64xbf16>
}

emmy_fuse.kernel @causal(%q: tensor<192x64xbf16>, %k: tensor<192x64xbf16>, %v: tensor<192x64xbf16>) outs(%o: tensor<192x64xbf16>) axes(m = 192, n = 192, d = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 64], over = [n: 64], stages = [2, 1], consumers = 1, registers = [24, 240], section = 1, epilogue = tma, last_first>, emmy.simulate = {buffers = [{type = tensor<192x64xbf16>, fill = "random 1"}, {type = tensor<192x64xbf16>, fill = "random 2"}, {type = tensor<192x64xbf16>, fill = "random 3"}, {type = tensor<192x64xbf16>, expect = "causal_attention 0 1 2"}]}} {
  %a = emmy_fuse.load %q over [m, d] at [m, d] : tensor<192x64xbf16>
  %b = emmy_fuse.load %k over [n, d] at [n, d] : tensor<192x64xbf16>
  %e = emmy_fuse.load %v over [n, c] at [n, c] : tensor<192x64xbf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[m, d] x bf16>, !emmy_fuse.value<[n, d] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %i = emmy_fuse.index over [m] at m
  %j = emmy_fuse.index over [n] at n
  %t = emmy_fuse.map(%s, %i, %j) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x i64>, !emmy_fuse.value<[n] x i64>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%x: f32, %y: i64, %z: i64):
    %c = arith.constant 0.125 : f32
    %p = arith.mulf %x, %c : f32
    %w = arith.constant 0xFF800000 : f32
    %f = arith.cmpi sge, %y, %z : i64
    %u = arith.select %f, %p, %w : f32
    emmy_fuse.yield %u : f32
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
  emmy_fuse.store %y to %o over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x bf16>, tensor<192x64xbf16>
}

emmy_fuse.kernel @tails(%q: tensor<?x64xbf16, #emmy.dims<[s0, 64]>>, %k: tensor<?x64xbf16, #emmy.dims<[s1, 64]>>, %v: tensor<?x64xbf16, #emmy.dims<[s1, 64]>>) outs(%o: tensor<?x64xbf16, #emmy.dims<[s0, 64]>>) axes(m = s0, n = s1, d = 64, c = 64) attributes {emmy.simulate = {symbols = array<i64: 70, 200>, buffers = [{type = tensor<70x64xbf16>, fill = "random 1"}, {type = tensor<200x64xbf16>, fill = "random 2"}, {type = tensor<200x64xbf16>, fill = "random 3"}, {type = tensor<70x64xbf16>, expect = "causal_attention 0 1 2"}]}} {
  %a = emmy_fuse.load %q over [m, d] at [m, d] : tensor<?x64xbf16, #emmy.dims<[s0, 64]>>
  %b = emmy_fuse.load %k over [n, d] at [n, d] : tensor<?x64xbf16, #emmy.dims<[s1, 64]>>
  %e = emmy_fuse.load %v over [n, c] at [n, c] : tensor<?x64xbf16, #emmy.dims<[s1, 64]>>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[m, d] x bf16>, !emmy_fuse.value<[n, d] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %i = emmy_fuse.index over [m] at m
  %j = emmy_fuse.index over [n] at n
  %t = emmy_fuse.map(%s, %i, %j) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x i64>, !emmy_fuse.value<[n] x i64>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%x: f32, %y: i64, %z: i64):
    %c = arith.constant 0.125 : f32
    %p = arith.mulf %x, %c : f32
    %w = arith.constant 0xFF800000 : f32
    %f = arith.cmpi sge, %y, %z : i64
    %u = arith.select %f, %p, %w : f32
    emmy_fuse.yield %u : f32
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
  emmy_fuse.store %y to %o over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x bf16>, tensor<?x64xbf16, #emmy.dims<[s0, 64]>>
}
