// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce{min-row-elements=1}))' | FileCheck %s
// Reductions that depend on each other run in one pass.
!mn = !emmy_fuse.value<[m, n] x f32>
!m = !emmy_fuse.value<[m] x f32>

// The maximum is carried, the sum is rescaled when it moves; -inf rows weigh nothing inside the stream.
// CHECK-LABEL: emmy_fuse.kernel @log_sum_exp
// CHECK: %[[LOW:.+]] = arith.constant 0xFF800000
// CHECK: %[[TOP:.+]]:2 = emmy_fuse.fold over n init
// CHECK: ^bb0(%[[PM:.+]]: !emmy_fuse.value<[m] x f32>, %[[PL:.+]]: !emmy_fuse.value<[m] x f32>):
// CHECK: %[[BM:.+]] = emmy_fuse.reduce max %{{.*}} over [n]
// CHECK: %[[NM:.+]] = emmy_fuse.map(%[[PM]], %[[BM]])
// CHECK: arith.maximumf
// CHECK: %[[SAFE:.+]] = emmy_fuse.map(%[[NM]])
// CHECK: arith.cmpf oeq
// CHECK: %[[E:.+]] = emmy_fuse.map(%{{.*}}, %[[SAFE]])
// CHECK: math.exp
// CHECK: %[[BL:.+]] = emmy_fuse.reduce add %[[E]] over [n]
// CHECK: %[[SCALE:.+]] = emmy_fuse.map(%[[PM]], %[[SAFE]])
// CHECK: math.exp
// CHECK: %[[NL:.+]] = emmy_fuse.map(%[[PL]], %[[SCALE]], %[[BL]])
// CHECK: emmy_fuse.yield %[[NM]], %[[NL]]
// CHECK: emmy_fuse.map(%[[TOP]]#0, %[[TOP]]#1)
// CHECK-NOT: emmy_fuse.reduce
emmy_fuse.kernel @log_sum_exp(%x: tensor<8x512xf32>) outs(%y: tensor<8xf32>) axes(m = 8, n = 512) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x512xf32>
  %t = emmy_fuse.reduce max %a over [n] : !mn -> !m
  %e = emmy_fuse.map(%a, %t) : (!mn, !m) -> !mn {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.subf %p, %q : f32
    %1 = math.exp %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %l = emmy_fuse.reduce add %e over [n] : !mn -> !m
  %r = emmy_fuse.map(%t, %l) : (!m, !m) -> !m {
  ^bb0(%p: f32, %q: f32):
    %0 = math.log %q : f32
    %1 = arith.addf %p, %0 : f32
    emmy_fuse.yield %1 : f32
  }
  emmy_fuse.store %r to %y over [m] at [m] : !m, tensor<8xf32>
}

// An exponent that only follows a maximum may have jumped down from nothing to a first block: the scale stays finite.
// CHECK-LABEL: emmy_fuse.kernel @guarded_maximum
// CHECK: emmy_fuse.fold over n
// CHECK: math.exp
// CHECK: math.exp
// CHECK-NEXT: %[[LARGEST:.+]] = arith.constant 3.40282347E+38 : f32
// CHECK-NEXT: arith.minimumf %{{.+}}, %[[LARGEST]]
emmy_fuse.kernel @guarded_maximum(%x: tensor<8x512xf32>) outs(%y: tensor<8xf32>) axes(m = 8, n = 512) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x512xf32>
  %t = emmy_fuse.reduce max %a over [n] : !mn -> !m
  %e = emmy_fuse.map(%a, %t) : (!mn, !m) -> !mn {
  ^bb0(%p: f32, %q: f32):
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %hidden = arith.cmpf oeq, %q, %low : f32
    %shift = arith.select %hidden, %zero, %q : f32
    %0 = arith.subf %p, %shift : f32
    %1 = math.exp %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %l = emmy_fuse.reduce add %e over [n] : !mn -> !m
  emmy_fuse.store %l to %y over [m] at [m] : !m, tensor<8xf32>
}

// The statistics of a row are folded; its elements are read again for the result.
// CHECK-LABEL: emmy_fuse.kernel @softmax_rows
// CHECK: emmy_fuse.fold over n
// CHECK: emmy_fuse.load
// CHECK: emmy_fuse.yield %{{.*}}, %{{.*}} : !emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[m] x f32>
// CHECK: emmy_fuse.store %{{.*}} over [m, n]
emmy_fuse.kernel @softmax_rows(%x: tensor<8x512xf32>) outs(%y: tensor<8x512xf32>) axes(m = 8, n = 512) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x512xf32>
  %t = emmy_fuse.reduce max %a over [n] : !mn -> !m
  %e = emmy_fuse.map(%a, %t) : (!mn, !m) -> !mn {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.subf %p, %q : f32
    %1 = math.exp %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %l = emmy_fuse.reduce add %e over [n] : !mn -> !m
  %r = emmy_fuse.map(%e, %l) : (!mn, !m) -> !mn {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    emmy_fuse.yield %0 : f32
  }
  emmy_fuse.store %r to %y over [m, n] at [m, n] : !mn, tensor<8x512xf32>
}

// Sums of squares around a mean are merged with the distance between means; the count is carried.
// CHECK-LABEL: emmy_fuse.kernel @variance
// CHECK: %[[R:.+]]:3 = emmy_fuse.fold over n init(%{{.*}} : !emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[] x f32>)
// CHECK: %[[COUNT:.+]] = emmy_fuse.reduce add %{{.*}} over [n] : !emmy_fuse.value<[n] x f32> -> !emmy_fuse.value<[] x f32>
// CHECK: emmy_fuse.map(%{{.*}}, %[[COUNT]])
// CHECK: arith.divf
// CHECK: emmy_fuse.yield
// CHECK: emmy_fuse.store %[[R]]#1
emmy_fuse.kernel @variance(%x: tensor<8x512xbf16>) outs(%y: tensor<8xf32>) axes(m = 8, n = 512) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x512xbf16>
  %s = emmy_fuse.reduce add %a over [n] : !emmy_fuse.value<[m, n] x bf16> -> !m
  %mean = emmy_fuse.map(%s) : (!m) -> !m {
  ^bb0(%p: f32):
    %c = arith.constant 512.0 : f32
    %0 = arith.divf %p, %c : f32
    emmy_fuse.yield %0 : f32
  }
  %d = emmy_fuse.map(%a, %mean) : (!emmy_fuse.value<[m, n] x bf16>, !m) -> !mn {
  ^bb0(%p: bf16, %q: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.subf %0, %q : f32
    %2 = arith.mulf %1, %1 : f32
    emmy_fuse.yield %2 : f32
  }
  %v = emmy_fuse.reduce add %d over [n] : !mn -> !m
  emmy_fuse.store %v to %y over [m] at [m] : !m, tensor<8xf32>
}

// A sum that depends on another as no rule allows stays as it is.
// CHECK-LABEL: emmy_fuse.kernel @keeps_other_dependences
// CHECK-NOT: emmy_fuse.fold
emmy_fuse.kernel @keeps_other_dependences(%x: tensor<8x512xf32>) outs(%y: tensor<8xf32>) axes(m = 8, n = 512) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x512xf32>
  %t = emmy_fuse.reduce max %a over [n] : !mn -> !m
  %e = emmy_fuse.map(%a, %t) : (!mn, !m) -> !mn {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.subf %p, %q : f32
    %1 = math.absf %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %l = emmy_fuse.reduce add %e over [n] : !mn -> !m
  emmy_fuse.store %l to %y over [m] at [m] : !m, tensor<8xf32>
}

// Independent reductions need no running correction.
// CHECK-LABEL: emmy_fuse.kernel @keeps_independent_sums
// CHECK-NOT: emmy_fuse.fold
emmy_fuse.kernel @keeps_independent_sums(%x: tensor<8x512xf32>) outs(%y: tensor<8xf32>, %z: tensor<8xf32>) axes(m = 8, n = 512) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x512xf32>
  %t = emmy_fuse.reduce max %a over [n] : !mn -> !m
  %l = emmy_fuse.reduce add %a over [n] : !mn -> !m
  emmy_fuse.store %t to %y over [m] at [m] : !m, tensor<8xf32>
  emmy_fuse.store %l to %z over [m] at [m] : !m, tensor<8xf32>
}
