// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce))' | FileCheck %s
// Scores stream into the contractions that consume them, whatever is done to them on the way.
!qk = !emmy_fuse.value<[m, k] x bf16>
!nk = !emmy_fuse.value<[n, k] x bf16>
!nd = !emmy_fuse.value<[d, n] x bf16>
!mn = !emmy_fuse.value<[m, n] x f32>
!mnb = !emmy_fuse.value<[m, n] x bf16>
!m = !emmy_fuse.value<[m] x f32>
!md = !emmy_fuse.value<[m, d] x f32>

// Softmax times two values: both sums are rescaled by the same correction, and divided after the stream.
// CHECK-LABEL: emmy_fuse.kernel @two_values
// CHECK: %[[R:.+]]:4 = emmy_fuse.fold over n
// CHECK: emmy_fuse.contract %{{.*}}, %{{.*}} over [k]
// CHECK: emmy_fuse.reduce max
// CHECK: emmy_fuse.reduce add
// CHECK: %[[P:.+]] = emmy_fuse.map(%{{[a-z0-9]+}}) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16>
// CHECK-NEXT: ^bb0(%[[ARG:[a-z0-9]+]]: f32):
// CHECK-NEXT: arith.truncf %[[ARG]]
// CHECK: emmy_fuse.contract %[[P]], %{{.*}} over [n]
// CHECK: emmy_fuse.contract %[[P]], %{{.*}} over [n]
// CHECK: emmy_fuse.yield
// CHECK: }
// CHECK: %[[O:.+]] = emmy_fuse.map(%[[R]]#2, %[[R]]#1)
// CHECK: arith.divf
// CHECK: %[[O2:.+]] = emmy_fuse.map(%[[R]]#3, %[[R]]#1)
// CHECK: emmy_fuse.store %[[O]]
// CHECK: emmy_fuse.store %[[O2]]
emmy_fuse.kernel @two_values(%q: tensor<64x32xbf16>, %k: tensor<256x32xbf16>, %v: tensor<256x32xbf16>, %w: tensor<256x32xbf16>)
    outs(%y: tensor<64x32xf32>, %z: tensor<64x32xf32>) axes(m = 64, d = 32, n = 256, k = 32) {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<64x32xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x32xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!qk, !nk) -> !mn
  %t = emmy_fuse.reduce max %s over [n] : !mn -> !m
  %e = emmy_fuse.map(%s, %t) : (!mn, !m) -> !mn {
  ^bb0(%p: f32, %r: f32):
    %0 = arith.subf %p, %r : f32
    %1 = math.exp %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %l = emmy_fuse.reduce add %e over [n] : !mn -> !m
  %p = emmy_fuse.map(%e, %l) : (!mn, !m) -> !mnb {
  ^bb0(%c: f32, %r: f32):
    %0 = arith.divf %c, %r : f32
    %1 = arith.truncf %0 : f32 to bf16
    emmy_fuse.yield %1 : bf16
  }
  %f = emmy_fuse.load %v over [d, n] at [n, d] : tensor<256x32xbf16>
  %g = emmy_fuse.load %w over [d, n] at [n, d] : tensor<256x32xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!mnb, !nd) -> !md
  %o2 = emmy_fuse.contract %p, %g over [n] : (!mnb, !nd) -> !md
  emmy_fuse.store %o to %y over [m, d] at [m, d] : !md, tensor<64x32xf32>
  emmy_fuse.store %o2 to %z over [m, d] at [m, d] : !md, tensor<64x32xf32>
}

// Scores that depend on no statistic are only summed.
// CHECK-LABEL: emmy_fuse.kernel @sigmoid_scores
// CHECK: %[[R:.+]] = emmy_fuse.fold over n
// CHECK: ^bb0(%[[BEFORE:.+]]: !emmy_fuse.value<[m, d] x f32>):
// CHECK: %[[BLOCK:.+]] = emmy_fuse.contract %{{.*}}, %{{.*}} over [n]
// CHECK: emmy_fuse.map(%[[BEFORE]], %[[BLOCK]])
// CHECK: emmy_fuse.store %[[R]]
emmy_fuse.kernel @sigmoid_scores(%q: tensor<64x32xbf16>, %k: tensor<256x32xbf16>, %v: tensor<256x32xbf16>) outs(%y: tensor<64x32xf32>)
    axes(m = 64, d = 32, n = 256, k = 32) {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<64x32xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x32xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!qk, !nk) -> !mn
  %p = emmy_fuse.map(%s) : (!mn) -> !mnb {
  ^bb0(%c: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.negf %c : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    emmy_fuse.yield %4 : bf16
  }
  %f = emmy_fuse.load %v over [d, n] at [n, d] : tensor<256x32xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!mnb, !nd) -> !md
  emmy_fuse.store %o to %y over [m, d] at [m, d] : !md, tensor<64x32xf32>
}

// A contraction of tensors in memory is not a chain.
// CHECK-LABEL: emmy_fuse.kernel @keeps_plain_contractions
// CHECK-NOT: emmy_fuse.fold
emmy_fuse.kernel @keeps_plain_contractions(%q: tensor<64x32xbf16>, %k: tensor<256x32xbf16>) outs(%y: tensor<64x256xf32>)
    axes(m = 64, n = 256, k = 32) {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<64x32xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x32xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!qk, !nk) -> !mn
  emmy_fuse.store %s to %y over [m, n] at [m, n] : !mn, tensor<64x256xf32>
}
