// RUN: emmy-opt %s --emmy-pick-schedule | FileCheck %s --check-prefix=PICK
// RUN: emmy-opt %s --emmy-fuse-to-sched --verify-roundtrip | FileCheck %s --check-prefix=APPLY
// Kernels without a fast product stream: a whole row in one CTA where it fits, otherwise passes over blocks of it.

// PICK-LABEL: emmy_fuse.kernel @row_statistics
// PICK-SAME: #emmy_sched.streaming<block = [m: 1, n: 4096], threads = [m: 1, n: 256], serial = [], vector = [n: 8]>
// APPLY-LABEL: emmy_sched.program @row_statistics
// APPLY-SAME: axes(m = s0 by 1 grid, n = 4096 by 4096 whole)
// APPLY: emmy_sched.read
// APPLY-NEXT: emmy_sched.reduce max
// APPLY-NOT: emmy_sched.pipeline
emmy_fuse.kernel @row_statistics(%x: tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>) outs(%y: tensor<?xf32, #emmy.dims<[s0]>>) axes(m = s0, n = 4096) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>
  %t = emmy_fuse.reduce max %a over [n] : !emmy_fuse.value<[m, n] x bf16> -> !emmy_fuse.value<[m] x f32>
  emmy_fuse.store %t to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<?xf32, #emmy.dims<[s0]>>
}

// Warps that meet twice are fewer, and with three tensors in registers the gains are read where they are used.
// PICK-LABEL: emmy_fuse.kernel @centred_and_scaled
// PICK-SAME: threads = [m: 1, n: 128]
// APPLY-LABEL: emmy_sched.program @centred_and_scaled
// APPLY: emmy_sched.read %arg0
// APPLY-NEXT: emmy_sched.reduce add
// APPLY: emmy_sched.reduce max
// APPLY: emmy_sched.read %arg1
// APPLY-NEXT: emmy_sched.read %arg2
emmy_fuse.kernel @centred_and_scaled(%x: tensor<64x4096xbf16>, %g: tensor<4096xbf16>, %h: tensor<4096xbf16>) outs(%y: tensor<64x4096xf32>) axes(m = 64, n = 4096) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<64x4096xbf16>
  %s = emmy_fuse.reduce add %a over [n] : !emmy_fuse.value<[m, n] x bf16> -> !emmy_fuse.value<[m] x f32>
  %d = emmy_fuse.map(%a, %s) : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: bf16, %q: f32):
    %e = arith.extf %p : bf16 to f32
    %r = arith.subf %e, %q : f32
    emmy_fuse.yield %r : f32
  }
  %t = emmy_fuse.reduce max %d over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %u = emmy_fuse.load %g over [n] at [n] : tensor<4096xbf16>
  %v = emmy_fuse.load %h over [n] at [n] : tensor<4096xbf16>
  %b = emmy_fuse.map(%d, %t, %u, %v) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[n] x bf16>, !emmy_fuse.value<[n] x bf16>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32, %i: bf16, %j: bf16):
    %e = arith.extf %i : bf16 to f32
    %f = arith.extf %j : bf16 to f32
    %z = arith.divf %p, %q : f32
    %r = arith.mulf %z, %e : f32
    %o = arith.addf %r, %f : f32
    emmy_fuse.yield %o : f32
  }
  emmy_fuse.store %b to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<64x4096xf32>
}

// Two sums that do not depend on each other share the pass over the symbolic axis.
// PICK-LABEL: emmy_fuse.kernel @two_sums_of_any_length
// PICK-SAME: serial = [n]
// APPLY-LABEL: emmy_sched.program @two_sums_of_any_length
// APPLY: emmy_sched.pipeline over n init(%{{.*}}, %{{.*}} :
// APPLY-NOT: emmy_sched.pipeline
emmy_fuse.kernel @two_sums_of_any_length(%x: tensor<8x?xf32, #emmy.dims<[8, s0]>>) outs(%y: tensor<8xf32>, %z: tensor<8xf32>) axes(m = 8, n = s0) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x?xf32, #emmy.dims<[8, s0]>>
  %s = emmy_fuse.reduce add %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %t = emmy_fuse.reduce max %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  emmy_fuse.store %s to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8xf32>
  emmy_fuse.store %t to %z over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8xf32>
}

// A row too long for one CTA is written in a pass that carries nothing.
// PICK-LABEL: emmy_fuse.kernel @scaled_by_its_sum
// APPLY-LABEL: emmy_sched.program @scaled_by_its_sum
// APPLY: emmy_sched.pipeline over n init
// APPLY: emmy_sched.pipeline over n {
// APPLY: emmy_sched.write
emmy_fuse.kernel @scaled_by_its_sum(%x: tensor<8x?xf32, #emmy.dims<[8, s0]>>) outs(%y: tensor<8x?xf32, #emmy.dims<[8, s0]>>) axes(m = 8, n = s0) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<8x?xf32, #emmy.dims<[8, s0]>>
  %s = emmy_fuse.reduce add %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %b = emmy_fuse.map(%a, %s) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    emmy_fuse.yield %r : f32
  }
  emmy_fuse.store %b to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<8x?xf32, #emmy.dims<[8, s0]>>
}
