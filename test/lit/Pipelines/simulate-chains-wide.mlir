// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce),emmy-fuse-to-sched,emmy-sched-to-tile,emmy-simulate{schedules=1})' -o /dev/null -verify-diagnostics
// Wide rows take panels of 64 columns, f16 the same path, and a row of 80 columns is padded to whole panels.

emmy_fuse.kernel @panels(%q: tensor<64x128xbf16>, %k: tensor<128x128xbf16>, %v: tensor<128x128xbf16>) outs(%o: tensor<64x128xbf16>) axes(m = 64, n = 128, d = 128, c = 128) attributes {emmy.simulate = {buffers = [{type = tensor<64x128xbf16>, fill = "random 1"}, {type = tensor<128x128xbf16>, fill = "random 2"}, {type = tensor<128x128xbf16>, fill = "random 3"}, {type = tensor<64x128xbf16>, expect = "attention 0 1 2"}]}} {
  %a = emmy_fuse.load %q over [m, d] at [m, d] : tensor<64x128xbf16>
  %b = emmy_fuse.load %k over [n, d] at [n, d] : tensor<128x128xbf16>
  %e = emmy_fuse.load %v over [n, c] at [n, c] : tensor<128x128xbf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[m, d] x bf16>, !emmy_fuse.value<[n, d] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %t = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%x: f32):
    %c = arith.constant 0.08838834764831845 : f32
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
  emmy_fuse.store %y to %o over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x bf16>, tensor<64x128xbf16>
}

emmy_fuse.kernel @half(%q: tensor<64x64xf16>, %k: tensor<96x64xf16>, %v: tensor<96x64xf16>) outs(%o: tensor<64x64xf16>) axes(m = 64, n = 96, d = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 64], over = [n: 32], stages = [3, 2], consumers = 1, registers = [24, 240], section = 1, epilogue = direct>, emmy.simulate = {buffers = [{type = tensor<64x64xf16>, fill = "random 1"}, {type = tensor<96x64xf16>, fill = "random 2"}, {type = tensor<96x64xf16>, fill = "random 3"}, {type = tensor<64x64xf16>, expect = "attention 0 1 2"}]}} {
  %a = emmy_fuse.load %q over [m, d] at [m, d] : tensor<64x64xf16>
  %b = emmy_fuse.load %k over [n, d] at [n, d] : tensor<96x64xf16>
  %e = emmy_fuse.load %v over [n, c] at [n, c] : tensor<96x64xf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[m, d] x f16>, !emmy_fuse.value<[n, d] x f16>) -> !emmy_fuse.value<[m, n] x f32>
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
  %wt = emmy_fuse.map(%exp) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x f16> {
  ^bb0(%x: f32):
    %p = arith.truncf %x : f32 to f16
    emmy_fuse.yield %p : f16
  }
  %r = emmy_fuse.contract %wt, %e over [n] : (!emmy_fuse.value<[m, n] x f16>, !emmy_fuse.value<[n, c] x f16>) -> !emmy_fuse.value<[m, c] x f32>
  %y = emmy_fuse.map(%r, %sum) : (!emmy_fuse.value<[m, c] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, c] x f16> {
  ^bb0(%x: f32, %z: f32):
    %p = arith.divf %x, %z : f32
    %u = arith.truncf %p : f32 to f16
    emmy_fuse.yield %u : f16
  }
  emmy_fuse.store %y to %o over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f16>, tensor<64x64xf16>
}

emmy_fuse.kernel @padded(%q: tensor<64x80xbf16>, %k: tensor<128x80xbf16>, %v: tensor<128x80xbf16>) outs(%o: tensor<64x80xbf16>) axes(m = 64, n = 128, d = 80, c = 80) attributes {emmy.simulate = {buffers = [{type = tensor<64x80xbf16>, fill = "random 1"}, {type = tensor<128x80xbf16>, fill = "random 2"}, {type = tensor<128x80xbf16>, fill = "random 3"}, {type = tensor<64x80xbf16>, expect = "attention 0 1 2"}]}} {
  %a = emmy_fuse.load %q over [m, d] at [m, d] : tensor<64x80xbf16>
  %b = emmy_fuse.load %k over [n, d] at [n, d] : tensor<128x80xbf16>
  %e = emmy_fuse.load %v over [n, c] at [n, c] : tensor<128x80xbf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[m, d] x bf16>, !emmy_fuse.value<[n, d] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %t = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%x: f32):
    %c = arith.constant 0.11180339887498948 : f32
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
  emmy_fuse.store %y to %o over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x bf16>, tensor<64x80xbf16>
}
