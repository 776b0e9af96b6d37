// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce),emmy-fuse-to-sched,emmy-sched-to-tile,emmy-simulate{schedules=2})' -o /dev/null -verify-diagnostics
// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce),emmy-fuse-to-sched,emmy-sched-to-tile)' | FileCheck %s
// Other folds around products: two products summed into a score, no maximum at all, two values for one score and a result of rows only.

// CHECK-LABEL: emmy_tile.kernel @sum_of_scores
// CHECK: emmy_tile.wgmma_fence
// CHECK-COUNT-2: emmy_tile.wgmma %{{.+}}, %{{.+}}, %{{.+}} zero
// CHECK-NEXT: emmy_tile.wgmma_commit

// CHECK-LABEL: emmy_tile.kernel @sigmoid_scores
// CHECK-NOT: emmy_tile.reduce

// CHECK-LABEL: emmy_tile.kernel @two_values
// CHECK: emmy_tile.wgmma_commit
// CHECK: emmy_tile.wgmma %[[WEIGHTS:.+]], %{{.+}}, %{{.+}} transpose_b
// CHECK-NEXT: emmy_tile.wgmma_fence
// CHECK-NEXT: emmy_tile.wgmma %[[WEIGHTS]], %{{.+}}, %{{.+}} transpose_b

!qk = !emmy_fuse.value<[m, k] x bf16>
!nk = !emmy_fuse.value<[n, k] x bf16>
!mn = !emmy_fuse.value<[m, n] x f32>
!mnb = !emmy_fuse.value<[m, n] x bf16>
!nc = !emmy_fuse.value<[n, c] x bf16>
!m = !emmy_fuse.value<[m] x f32>
!mc = !emmy_fuse.value<[m, c] x f32>
!mcb = !emmy_fuse.value<[m, c] x bf16>
!q = tensor<64x64xbf16>
!t = tensor<160x64xbf16>

emmy_fuse.kernel @sum_of_scores(%q: !q, %k: !t, %q2: !q, %k2: !t, %v: !t) outs(%y: !q) axes(m = 64, n = 160, k = 64, c = 64)
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"}, {type = tensor<160x64xbf16>, fill = "random 2"}, {type = tensor<64x64xbf16>, fill = "random 3"}, {type = tensor<160x64xbf16>, fill = "random 4"}, {type = tensor<160x64xbf16>, fill = "random 5"}, {type = tensor<64x64xbf16>}]}} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : !q
  %b = emmy_fuse.load %k over [n, k] at [n, k] : !t
  %a2 = emmy_fuse.load %q2 over [m, k] at [m, k] : !q
  %b2 = emmy_fuse.load %k2 over [n, k] at [n, k] : !t
  %s = emmy_fuse.contract %a, %b over [k] : (!qk, !nk) -> !mn
  %s2 = emmy_fuse.contract %a2, %b2 over [k] : (!qk, !nk) -> !mn
  %u = emmy_fuse.map(%s, %s2) : (!mn, !mn) -> !mn {
  ^bb0(%x: f32, %z: f32):
    %0 = arith.addf %x, %z : f32
    emmy_fuse.yield %0 : f32
  }
  %t = emmy_fuse.reduce max %u over [n] : !mn -> !m
  %e = emmy_fuse.map(%u, %t) : (!mn, !m) -> !mn {
  ^bb0(%p: f32, %r: f32):
    %0 = arith.subf %p, %r : f32
    %1 = math.exp %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %l = emmy_fuse.reduce add %e over [n] : !mn -> !m
  %w = emmy_fuse.map(%e) : (!mn) -> !mnb {
  ^bb0(%x: f32):
    %0 = arith.truncf %x : f32 to bf16
    emmy_fuse.yield %0 : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : !t
  %o = emmy_fuse.contract %w, %f over [n] : (!mnb, !nc) -> !mc
  %r = emmy_fuse.map(%o, %l) : (!mc, !m) -> !mcb {
  ^bb0(%x: f32, %z: f32):
    %0 = arith.divf %x, %z : f32
    %1 = arith.truncf %0 : f32 to bf16
    emmy_fuse.yield %1 : bf16
  }
  emmy_fuse.store %r to %y over [m, c] at [m, c] : !mcb, !q
}

emmy_fuse.kernel @sigmoid_scores(%q: !q, %k: !t, %v: !t) outs(%y: !q) axes(m = 64, n = 160, k = 64, c = 64)
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"}, {type = tensor<160x64xbf16>, fill = "random 2"}, {type = tensor<160x64xbf16>, fill = "random 3"}, {type = tensor<64x64xbf16>}]}} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : !q
  %b = emmy_fuse.load %k over [n, k] at [n, k] : !t
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
  %f = emmy_fuse.load %v over [n, c] at [n, c] : !t
  %o = emmy_fuse.contract %p, %f over [n] : (!mnb, !nc) -> !mc
  %r = emmy_fuse.map(%o) : (!mc) -> !mcb {
  ^bb0(%x: f32):
    %1 = arith.truncf %x : f32 to bf16
    emmy_fuse.yield %1 : bf16
  }
  emmy_fuse.store %r to %y over [m, c] at [m, c] : !mcb, !q
}

emmy_fuse.kernel @two_values(%q: !q, %k: !t, %v: !t, %v2: !t) outs(%y: !q, %y2: !q, %lse: tensor<64xf32>) axes(m = 64, n = 160, k = 64, c = 64)
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"}, {type = tensor<160x64xbf16>, fill = "random 2"}, {type = tensor<160x64xbf16>, fill = "random 3"}, {type = tensor<160x64xbf16>, fill = "random 4"}, {type = tensor<64x64xbf16>}, {type = tensor<64x64xbf16>}, {type = tensor<64xf32>}]}} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : !q
  %b = emmy_fuse.load %k over [n, k] at [n, k] : !t
  %u = emmy_fuse.contract %a, %b over [k] : (!qk, !nk) -> !mn
  %t = emmy_fuse.reduce max %u over [n] : !mn -> !m
  %e = emmy_fuse.map(%u, %t) : (!mn, !m) -> !mn {
  ^bb0(%p: f32, %r: f32):
    %0 = arith.subf %p, %r : f32
    %1 = math.exp %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %l = emmy_fuse.reduce add %e over [n] : !mn -> !m
  %w = emmy_fuse.map(%e, %l) : (!mn, !m) -> !mnb {
  ^bb0(%x: f32, %z: f32):
    %1 = arith.divf %x, %z : f32
    %0 = arith.truncf %1 : f32 to bf16
    emmy_fuse.yield %0 : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : !t
  %f2 = emmy_fuse.load %v2 over [n, c] at [n, c] : !t
  %o = emmy_fuse.contract %w, %f over [n] : (!mnb, !nc) -> !mc
  %o2 = emmy_fuse.contract %w, %f2 over [n] : (!mnb, !nc) -> !mc
  %r = emmy_fuse.map(%o) : (!mc) -> !mcb {
  ^bb0(%x: f32):
    %1 = arith.truncf %x : f32 to bf16
    emmy_fuse.yield %1 : bf16
  }
  %r2 = emmy_fuse.map(%o2) : (!mc) -> !mcb {
  ^bb0(%x: f32):
    %1 = arith.truncf %x : f32 to bf16
    emmy_fuse.yield %1 : bf16
  }
  %z = emmy_fuse.map(%t, %l) : (!m, !m) -> !m {
  ^bb0(%x: f32, %s: f32):
    %0 = math.log %s : f32
    %1 = arith.addf %x, %0 : f32
    emmy_fuse.yield %1 : f32
  }
  emmy_fuse.store %r to %y over [m, c] at [m, c] : !mcb, !q
  emmy_fuse.store %r2 to %y2 over [m, c] at [m, c] : !mcb, !q
  emmy_fuse.store %z to %lse over [m] at [m] : !m, tensor<64xf32>
}
