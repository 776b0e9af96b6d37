// RUN: emmy-opt %s --convert-emmy-fuse-to-llvm | FileCheck %s
// A kernel becomes a function of loops; each value is computed in the outermost loop that allows it.

// Softmax over rows: in the loop over rows one loop each for the maximum, the exponentials, their sum and the result.
// CHECK-LABEL: llvm.func @softmax
// CHECK-SAME:    (%[[PARAMETERS:.+]]: !llvm.ptr, %[[FAULT:.+]]: !llvm.ptr)
// CHECK:         llvm.getelementptr %[[PARAMETERS]][0]
// CHECK:         %[[ROWS:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i64
// CHECK:         llvm.alloca
// CHECK:         scf.for %{{.+}} = %{{.+}} to %[[ROWS]]
// CHECK:           scf.for {{.+}} iter_args
// CHECK:             arith.maximumf
// CHECK:           scf.for
// CHECK:             math.exp
// CHECK:             llvm.store
// CHECK:           scf.for {{.+}} iter_args
// CHECK-NOT:         math.exp
// CHECK:             arith.addf {{.+}} fastmath<reassoc,contract>
// CHECK:           scf.for
// CHECK-NOT:         math.exp
// CHECK:             arith.divf
// CHECK:         llvm.return
emmy_fuse.kernel @softmax(%x: tensor<?x64xf32, #emmy.dims<[s0, 64]>>) outs(%y: tensor<?x64xf32, #emmy.dims<[s0, 64]>>)
    axes(m = s0, n = 64) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<?x64xf32, #emmy.dims<[s0, 64]>>
  %top = emmy_fuse.reduce max %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %e = emmy_fuse.map(%a, %top) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32):
    %d = arith.subf %p, %q : f32
    %r = math.exp %d : f32
    emmy_fuse.yield %r : f32
  }
  %sum = emmy_fuse.reduce add %e over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %s = emmy_fuse.map(%e, %sum) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.divf %p, %q : f32
    emmy_fuse.yield %r : f32
  }
  emmy_fuse.store %s to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<?x64xf32, #emmy.dims<[s0, 64]>>
}

// The right operand moves by one element with n, so that n is the innermost loop of the contraction.
// CHECK-LABEL: llvm.func @accumulates_along_contiguous_axis
// CHECK:         scf.for %[[M:.+]] =
// CHECK:           scf.for {{.+}}
// CHECK:             llvm.store
// CHECK:           scf.for %[[K:.+]] =
// CHECK:             %[[LHS:.+]] = llvm.load
// CHECK:             scf.for %[[N:.+]] =
// CHECK:               arith.mulf %[[LHS]]
// CHECK:           scf.for
emmy_fuse.kernel @accumulates_along_contiguous_axis(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) outs(%y: tensor<4x16xf32>)
    axes(m = 4, n = 16, k = 8) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<4x8xf32>
  %b = emmy_fuse.load %w over [n, k] at [k, n] : tensor<8x16xf32>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f32>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<4x16xf32>
}

// CHECK-LABEL: llvm.func @guards_what_may_be_outside
// CHECK:         %[[LOW:.+]] = arith.cmpi sge
// CHECK:         %[[HIGH:.+]] = arith.cmpi slt
// CHECK:         %[[INSIDE:.+]] = arith.andi %[[LOW]], %[[HIGH]]
// CHECK:         scf.if %[[INSIDE]] -> (f32)
// CHECK-NOT:     arith.cmpi
// CHECK:         llvm.return
emmy_fuse.kernel @guards_what_may_be_outside(%x: tensor<4x8xf32>) outs(%y: tensor<4x10xf32>) axes(m = 4, n = 10) {
  %a = emmy_fuse.load %x over [m, n] at [m, n - 1] guarded : tensor<4x8xf32>
  emmy_fuse.store %a to %y over [m, n] at [m, n] guarded : !emmy_fuse.value<[m, n] x f32>, tensor<4x10xf32>
}

// A fold is a loop over blocks of 64 with what it carries in memory.
// CHECK-LABEL: llvm.func @fold
// CHECK:         scf.for
// CHECK:           scf.for %[[BLOCK:.+]] = %{{.+}} to %{{.+}} step %[[STEP:.+]] : i64
// CHECK:             arith.minsi
// CHECK:             scf.for %{{.+}} = %[[BLOCK]] to
emmy_fuse.kernel @fold(%x: tensor<4x100xf32>) outs(%y: tensor<4xf32>) axes(m = 4, n = 100) {
  %zero = emmy_fuse.index over [m] at 0
  %m0 = emmy_fuse.map(%zero) : (!emmy_fuse.value<[m] x i64>) -> !emmy_fuse.value<[m] x f32> {
  ^bb0(%i: i64):
    %f = arith.sitofp %i : i64 to f32
    emmy_fuse.yield %f : f32
  }
  %top = emmy_fuse.fold over n init(%m0 : !emmy_fuse.value<[m] x f32>) {
  ^bb0(%before: !emmy_fuse.value<[m] x f32>):
    %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<4x100xf32>
    %t = emmy_fuse.reduce add %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
    %u = emmy_fuse.map(%before, %t) : (!emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x f32> {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      emmy_fuse.yield %r : f32
    }
    emmy_fuse.yield %u : !emmy_fuse.value<[m] x f32>
  }
  emmy_fuse.store %top to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<4xf32>
}

// An index that a tensor gives is compared with the size, as an unsigned number, and reported where it is outside.
// CHECK-LABEL: llvm.func @indexed
// CHECK-SAME:    (%{{.+}}: !llvm.ptr, %[[FAULT:.+]]: !llvm.ptr)
// CHECK:         %[[INSIDE:.+]] = arith.cmpi ult, %[[INDEX:.+]], %[[SIZE:.+]] : i64
// CHECK:         scf.if
// CHECK:           llvm.getelementptr %[[FAULT]][0]
// CHECK:           llvm.store %[[INDEX]]
// CHECK:           llvm.store %[[SIZE]]
// CHECK:         scf.if %[[INSIDE]] -> (f32)
emmy_fuse.kernel @indexed(%x: tensor<10xf32>, %i: tensor<4xi64>) outs(%y: tensor<4xf32>) axes(m = 4) {
  %at = emmy_fuse.load %i over [m] at [m] : tensor<4xi64>
  %a = emmy_fuse.load %x over [m] using(%at : !emmy_fuse.value<[m] x i64>) at [i0] : tensor<10xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<4xf32>
}
