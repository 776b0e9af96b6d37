// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-simplify-kernels))' | FileCheck %s
// Kernels in fewer and plainer ops.
!mn = !emmy_fuse.value<[m, n] x f32>
!mni = !emmy_fuse.value<[m, n] x i64>

// Comparing two indices is comparing their difference with a constant.
// CHECK-LABEL: emmy_fuse.kernel @compares_one_expression
// CHECK: %[[D:.+]] = emmy_fuse.index over [m, n] at m - n
// CHECK-NEXT: emmy_fuse.map(%{{.*}}, %[[D]])
// CHECK: ^bb0(%{{.*}}: f32, %[[I:.+]]: i64):
// CHECK: %[[C:.+]] = arith.constant -4 : i64
// CHECK: arith.cmpi sge, %[[I]], %[[C]]
emmy_fuse.kernel @compares_one_expression(%x: tensor<8x8xf32>) outs(%y: tensor<8x8xf32>) axes(m = 8, n = 8) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x8xf32>
  %i = emmy_fuse.index over [m] at m
  %j = emmy_fuse.index over [n] at n
  %d = emmy_fuse.map(%i, %j) : (!emmy_fuse.value<[m] x i64>, !emmy_fuse.value<[n] x i64>) -> !emmy_fuse.value<[m, n] x i1> {
  ^bb0(%p: i64, %q: i64):
    %four = arith.constant 4 : i64
    %0 = arith.addi %p, %four : i64
    %1 = arith.cmpi sge, %0, %q : i64
    emmy_fuse.yield %1 : i1
  }
  %r = emmy_fuse.map(%a, %d) : (!mn, !emmy_fuse.value<[m, n] x i1>) -> !mn {
  ^bb0(%p: f32, %c: i1):
    %low = arith.constant 0xFF800000 : f32
    %0 = arith.select %c, %p, %low : f32
    emmy_fuse.yield %0 : f32
  }
  emmy_fuse.store %r to %y over [m, n] at [m, n] : !mn, tensor<8x8xf32>
}

// A map with two users stays; one over fewer axes than its user stays, so that it is not computed again.
// CHECK-LABEL: emmy_fuse.kernel @keeps_shared_and_narrow_maps
// CHECK-COUNT-3: emmy_fuse.map
emmy_fuse.kernel @keeps_shared_and_narrow_maps(%x: tensor<8x8xf32>, %v: tensor<8xf32>) outs(%y: tensor<8x8xf32>) axes(m = 8, n = 8) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x8xf32>
  %b = emmy_fuse.load %v over [m] at [m] : tensor<8xf32>
  %narrow = emmy_fuse.map(%b) : (!emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x f32> {
  ^bb0(%p: f32):
    %0 = math.exp %p : f32
    emmy_fuse.yield %0 : f32
  }
  %shared = emmy_fuse.map(%a, %narrow) : (!mn, !emmy_fuse.value<[m] x f32>) -> !mn {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    emmy_fuse.yield %0 : f32
  }
  %s = emmy_fuse.reduce add %shared over [n] : !mn -> !emmy_fuse.value<[m] x f32>
  %r = emmy_fuse.map(%shared, %s) : (!mn, !emmy_fuse.value<[m] x f32>) -> !mn {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    emmy_fuse.yield %0 : f32
  }
  emmy_fuse.store %r to %y over [m, n] at [m, n] : !mn, tensor<8x8xf32>
}

// Constants move in, repeated and unused operands and dead values go.
// CHECK-LABEL: emmy_fuse.kernel @drops_what_nobody_needs
// CHECK: %[[A:.+]] = emmy_fuse.load
// CHECK-NEXT: emmy_fuse.map(%[[A]]) :
// CHECK-NOT: emmy_fuse.map
emmy_fuse.kernel @drops_what_nobody_needs(%x: tensor<8x8xf32>) outs(%y: tensor<8x8xf32>) axes(m = 8, n = 8) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x8xf32>
  %dead = emmy_fuse.reduce add %a over [n] : !mn -> !emmy_fuse.value<[m] x f32>
  %two = emmy_fuse.map() : () -> !emmy_fuse.value<[] x f32> {
    %c = arith.constant 2.0 : f32
    emmy_fuse.yield %c : f32
  }
  %r = emmy_fuse.map(%a, %a, %two) : (!mn, !mn, !emmy_fuse.value<[] x f32>) -> !mn {
  ^bb0(%p: f32, %q: f32, %c: f32):
    %0 = arith.mulf %p, %c : f32
    %1 = arith.addf %0, %q : f32
    emmy_fuse.yield %1 : f32
  }
  emmy_fuse.store %r to %y over [m, n] at [m, n] : !mn, tensor<8x8xf32>
}

// A predicate on indices moves into every user, whatever its axes, so that bounds stand where they are used.
// CHECK-LABEL: emmy_fuse.kernel @moves_predicates_in
// CHECK: %[[D:.+]] = emmy_fuse.index over [m, n] at m - n
// CHECK-NEXT: emmy_fuse.map(%{{.*}}, %[[D]]) : (!emmy_fuse.value<[h, m, n] x f32>, !emmy_fuse.value<[m, n] x i64>)
// CHECK: arith.cmpi sge
// CHECK: arith.select
// CHECK-NOT: emmy_fuse.map
emmy_fuse.kernel @moves_predicates_in(%x: tensor<2x8x8xf32>) outs(%y: tensor<2x8x8xf32>) axes(h = 2, m = 8, n = 8) {
  %a = emmy_fuse.load %x over [h, m, n] at [h, m, n] : tensor<2x8x8xf32>
  %i = emmy_fuse.index over [m] at m
  %j = emmy_fuse.index over [n] at n
  %c = emmy_fuse.map(%i, %j) : (!emmy_fuse.value<[m] x i64>, !emmy_fuse.value<[n] x i64>) -> !emmy_fuse.value<[m, n] x i1> {
  ^bb0(%p: i64, %q: i64):
    %0 = arith.cmpi sge, %p, %q : i64
    emmy_fuse.yield %0 : i1
  }
  %r = emmy_fuse.map(%a, %c) : (!emmy_fuse.value<[h, m, n] x f32>, !emmy_fuse.value<[m, n] x i1>) -> !emmy_fuse.value<[h, m, n] x f32> {
  ^bb0(%p: f32, %q: i1):
    %low = arith.constant 0xFF800000 : f32
    %0 = arith.select %q, %p, %low : f32
    emmy_fuse.yield %0 : f32
  }
  emmy_fuse.store %r to %y over [h, m, n] at [h, m, n] : !emmy_fuse.value<[h, m, n] x f32>, tensor<2x8x8xf32>
}
