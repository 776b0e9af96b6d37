// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce,emmy-pick-schedule),emmy-apply-schedule)' | FileCheck %s
// A causal fold around two products: bounds from the condition, the scale folded into the exponential, rescaled sums as accumulators.

// CHECK-LABEL: emmy_sched.program @causal
// CHECK-SAME:  m = 4096 by 64 grid, n = 4096 by 128 serial, d = 128 by 128 whole, c = 128 by 128 whole
// CHECK:       %[[Q:.+]] = emmy_sched.stage %{{.+}} over [m, d]
// CHECK:       emmy_sched.pipeline over n
// CHECK-SAME:  range = #emmy_sched.range<over [m] from [0] to [4096, m + 64] plain [0] to [4096, m + 1]>
// CHECK:       %[[K:.+]] = emmy_sched.stage %{{.+}} over [n, d]
// CHECK:       %[[S:.+]] = emmy_sched.mma %[[Q]], %[[K]] into
// CHECK:       %[[MASKED:.+]] = emmy_sched.map({{.*}}%[[S]])
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    arith.cmpi sge, %{{.+}}, %{{.+}} {emmy_sched.plain}
// CHECK-NOT:     arith.mulf
// CHECK:       emmy_sched.reduce max %[[MASKED]]
// CHECK:       %[[EXP:.+]] = emmy_sched.map(%[[MASKED]]
// CHECK:         arith.constant 0.127517432 : f32
// CHECK:         math.exp2
// CHECK:       emmy_sched.reduce add %[[EXP]]
// CHECK:       %[[P:.+]] = emmy_sched.map(%[[EXP]])
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    arith.truncf
// CHECK:       %[[V:.+]] = emmy_sched.stage %{{.+}} over [n, c]
// CHECK:       %[[RESCALED:.+]] = emmy_sched.map(%{{.+}}, %{{.+}}) : (!emmy_sched.tile<[m: 64, c: 128] x f32
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    arith.mulf
// CHECK:       emmy_sched.mma %[[P]], %[[V]] into %[[RESCALED]]
// CHECK:       emmy_sched.write %{{.+}} to %{{.+}} over [m, c] at m * 128 + c via tma
emmy_fuse.kernel @causal(%q: tensor<4096x128xbf16>, %k: tensor<4096x128xbf16>, %v: tensor<4096x128xbf16>) outs(%o: tensor<4096x128xbf16>) axes(m = 4096, n = 4096, d = 128, c = 128) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 64], over = [n: 128], stages = [2, 2], consumers = 1, registers = [24, 240], section = 1, epilogue = tma>} {
  %a = emmy_fuse.load %q over [m, d] at [m, d] : tensor<4096x128xbf16>
  %b = emmy_fuse.load %k over [n, d] at [n, d] : tensor<4096x128xbf16>
  %e = emmy_fuse.load %v over [n, c] at [n, c] : tensor<4096x128xbf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[m, d] x bf16>, !emmy_fuse.value<[n, d] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %i = emmy_fuse.index over [m] at m
  %j = emmy_fuse.index over [n] at n
  %t = emmy_fuse.map(%s, %i, %j) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x i64>, !emmy_fuse.value<[n] x i64>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%x: f32, %y: i64, %z: i64):
    %c = arith.constant 0.08838834764831845 : f32
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
  emmy_fuse.store %y to %o over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x bf16>, tensor<4096x128xbf16>
}

// With a mask of the least finite numbers a score times log2(e) would be infinite: the maximum is taken off first.
// CHECK-LABEL: emmy_sched.program @added_mask
// CHECK:       arith.addf
// CHECK:       emmy_sched.reduce max
// CHECK:       %[[SCALE:.+]] = arith.subf
// CHECK:       arith.mulf %[[SCALE]]
// CHECK-NEXT:  math.exp2
// CHECK:       %[[WEIGHT:.+]] = arith.subf
// CHECK:       arith.mulf %[[WEIGHT]]
// CHECK-NEXT:  math.exp2
emmy_fuse.kernel @added_mask(%q: tensor<4096x128xbf16>, %k: tensor<4096x128xbf16>, %v: tensor<4096x128xbf16>, %w: tensor<4096x4096xbf16>) outs(%o: tensor<4096x128xbf16>) axes(m = 4096, n = 4096, d = 128, c = 128) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 64], over = [n: 128], stages = [2, 2], consumers = 1, registers = [24, 240], section = 1, epilogue = tma>} {
  %a = emmy_fuse.load %q over [m, d] at [m, d] : tensor<4096x128xbf16>
  %b = emmy_fuse.load %k over [n, d] at [n, d] : tensor<4096x128xbf16>
  %e = emmy_fuse.load %v over [n, c] at [n, c] : tensor<4096x128xbf16>
  %mask = emmy_fuse.load %w over [m, n] at [m, n] : tensor<4096x4096xbf16>
  %s = emmy_fuse.contract %a, %b over [d] : (!emmy_fuse.value<[m, d] x bf16>, !emmy_fuse.value<[n, d] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %t = emmy_fuse.map(%s, %mask) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m, n] x bf16>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%x: f32, %y: bf16):
    %z = arith.extf %y : bf16 to f32
    %u = arith.addf %x, %z : f32
    emmy_fuse.yield %u : f32
  }
  %max = emmy_fuse.reduce max %t over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %exp = emmy_fuse.map(%t, %max) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%x: f32, %y: f32):
    %p = arith.subf %x, %y : f32
    %u = math.exp %p : f32
    emmy_fuse.yield %u : f32
  }
  %wt = emmy_fuse.map(%exp) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%x: f32):
    %p = arith.truncf %x : f32 to bf16
    emmy_fuse.yield %p : bf16
  }
  %sum = emmy_fuse.reduce add %exp over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %r = emmy_fuse.contract %wt, %e over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  %y = emmy_fuse.map(%r, %sum) : (!emmy_fuse.value<[m, c] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, c] x bf16> {
  ^bb0(%x: f32, %z: f32):
    %p = arith.divf %x, %z : f32
    %u = arith.truncf %p : f32 to bf16
    emmy_fuse.yield %u : bf16
  }
  emmy_fuse.store %y to %o over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x bf16>, tensor<4096x128xbf16>
}
