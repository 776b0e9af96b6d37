// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-commute-scale))' | FileCheck %s
// A factor of the rows moves behind the contraction along them.

// The statistic of a norm scales the result; what feeds the contraction is the tensor in memory.
// CHECK-LABEL: emmy_fuse.kernel @moves_the_norm_of_a_row
// CHECK: %[[X:.+]] = emmy_fuse.load %{{.*}} over [m, k]
// CHECK: %[[R:.+]] = emmy_fuse.map(%{{.*}}) : (!emmy_fuse.value<[m] x f32>)
// CHECK: %[[W:.+]] = emmy_fuse.load %{{.*}} over [n, k]
// CHECK-NEXT: %[[C:.+]] = emmy_fuse.contract %[[X]], %[[W]] over [k]
// CHECK-NEXT: %[[Y:.+]] = emmy_fuse.map(%[[C]], %[[R]])
// CHECK: arith.mulf
// CHECK: emmy_fuse.store %[[Y]]
emmy_fuse.kernel @moves_the_norm_of_a_row(%x: tensor<4x64xbf16>, %w: tensor<8x64xbf16>) outs(%y: tensor<4x8xf32>) axes(m = 4, n = 8, k = 64) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<4x64xbf16>
  %s = emmy_fuse.map(%a) : (!emmy_fuse.value<[m, k] x bf16>) -> !emmy_fuse.value<[m, k] x f32> {
  ^bb0(%p: bf16):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %ss = emmy_fuse.reduce add %s over [k] : !emmy_fuse.value<[m, k] x f32> -> !emmy_fuse.value<[m] x f32>
  %r = emmy_fuse.map(%ss) : (!emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x f32> {
  ^bb0(%p: f32):
    %0 = math.rsqrt %p : f32
    emmy_fuse.yield %0 : f32
  }
  %h = emmy_fuse.map(%a, %r) : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, k] x bf16> {
  ^bb0(%p: bf16, %q: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.mulf %0, %q : f32
    %2 = arith.truncf %1 : f32 to bf16
    emmy_fuse.yield %2 : bf16
  }
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<8x64xbf16>
  %c = emmy_fuse.contract %h, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<4x8xf32>
}

// A gain varies along the contraction, an f16 operand may need its factor to stay in range.
// CHECK-LABEL: emmy_fuse.kernel @keeps_gains_and_halves
// CHECK: %[[H:.+]] = emmy_fuse.map
// CHECK: emmy_fuse.contract %[[H]]
// CHECK: %[[H2:.+]] = emmy_fuse.map
// CHECK: emmy_fuse.contract %[[H2]]
emmy_fuse.kernel @keeps_gains_and_halves(%x: tensor<4x64xf16>, %g: tensor<64xf32>, %r: tensor<4xf32>, %w: tensor<8x64xf16>)
    outs(%y: tensor<4x8xf32>, %z: tensor<4x8xf32>) axes(m = 4, n = 8, k = 64) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<4x64xf16>
  %gain = emmy_fuse.load %g over [k] at [k] : tensor<64xf32>
  %row = emmy_fuse.load %r over [m] at [m] : tensor<4xf32>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<8x64xf16>
  %h = emmy_fuse.map(%a, %gain) : (!emmy_fuse.value<[m, k] x f16>, !emmy_fuse.value<[k] x f32>) -> !emmy_fuse.value<[m, k] x f32> {
  ^bb0(%p: f16, %q: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.mulf %0, %q : f32
    emmy_fuse.yield %1 : f32
  }
  %c = emmy_fuse.contract %h, %b over [k] : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f16>) -> !emmy_fuse.value<[m, n] x f32>
  %h2 = emmy_fuse.map(%a, %row) : (!emmy_fuse.value<[m, k] x f16>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, k] x f16> {
  ^bb0(%p: f16, %q: f32):
    %0 = arith.truncf %q : f32 to f16
    %1 = arith.mulf %p, %0 : f16
    emmy_fuse.yield %1 : f16
  }
  %c2 = emmy_fuse.contract %h2, %b over [k] : (!emmy_fuse.value<[m, k] x f16>, !emmy_fuse.value<[n, k] x f16>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<4x8xf32>
  emmy_fuse.store %c2 to %z over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<4x8xf32>
}
