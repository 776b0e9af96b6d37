// RUN: emmy-opt %s --split-input-file --emmy-fuse-kernels | FileCheck %s
// Each group of primitives becomes the one kernel that it can be.

// CHECK-LABEL: emmy_fuse.kernel @contract
// CHECK-SAME: axes(m = s0, n = 16, k = 64)
// CHECK: %[[A:.+]] = emmy_fuse.load %{{.*}} over [m, k] at [m, k]
// CHECK: %[[B:.+]] = emmy_fuse.load %{{.*}} over [n, k] at [n, k]
// CHECK: %[[C:.+]] = emmy_fuse.contract %[[A]], %[[B]] over [k]
// CHECK: %[[BIAS:.+]] = emmy_fuse.load %{{.*}} over [n] at [n]
// CHECK: %[[Y:.+]] = emmy_fuse.map(%[[C]], %[[BIAS]])
// CHECK: emmy_fuse.store %[[Y]] to %{{.*}} over [m, n] at [m, n]
// CHECK-LABEL: func.func @linear_takes_its_bias
// CHECK: emmy.launch @contract
// CHECK-NOT: emmy_graph
func.func @linear_takes_its_bias(%x: tensor<?x64xbf16, #emmy.dims<[s0, 64]>>, %w: tensor<16x64xbf16>, %b: tensor<16xbf16>)
    -> tensor<?x16xbf16, #emmy.dims<[s0, 16]>> {
  %c = emmy_graph.contract %x, %w batch [] over [1, 1]
      : (tensor<?x64xbf16, #emmy.dims<[s0, 64]>>, tensor<16x64xbf16>) -> tensor<?x16xf32, #emmy.dims<[s0, 16]>>
  %y = emmy_graph.map(%c, %b) : (tensor<?x16xf32, #emmy.dims<[s0, 16]>>, tensor<16xbf16>) -> tensor<?x16xbf16, #emmy.dims<[s0, 16]>> {
  ^bb0(%p: f32, %q: bf16):
    %0 = arith.extf %q : bf16 to f32
    %1 = arith.addf %p, %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    emmy_graph.yield %2 : bf16
  }
  return %y : tensor<?x16xbf16, #emmy.dims<[s0, 16]>>
}

// -----

// CHECK-LABEL: emmy_fuse.kernel @reduce
// CHECK-SAME: axes(m = 8, n = 4096)
// CHECK-COUNT-1: emmy_fuse.load
// CHECK-NOT: emmy_fuse.load
// CHECK: emmy_fuse.reduce max %{{.*}} over [n]
// CHECK: emmy_fuse.reduce add %{{.*}} over [n]
// CHECK: emmy_fuse.store %{{.*}} over [m, n] at [m, n]
// CHECK-LABEL: func.func @softmax_reads_rows_once
// CHECK-COUNT-1: emmy.launch
// CHECK-NOT: emmy.launch
func.func @softmax_reads_rows_once(%x: tensor<8x4096xf32>) -> tensor<8x4096xf32> {
  %m = emmy_graph.reduce max %x dims [1] : tensor<8x4096xf32> -> tensor<8xf32>
  %mk = emmy_graph.reshape %m : tensor<8xf32> -> tensor<8x1xf32>
  %e = emmy_graph.map(%x, %mk) : (tensor<8x4096xf32>, tensor<8x1xf32>) -> tensor<8x4096xf32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.subf %p, %q : f32
    %1 = math.exp %0 : f32
    emmy_graph.yield %1 : f32
  }
  %s = emmy_graph.reduce add %e dims [1] : tensor<8x4096xf32> -> tensor<8xf32>
  %sk = emmy_graph.reshape %s : tensor<8xf32> -> tensor<8x1xf32>
  %y = emmy_graph.map(%e, %sk) : (tensor<8x4096xf32>, tensor<8x1xf32>) -> tensor<8x4096xf32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    emmy_graph.yield %0 : f32
  }
  return %y : tensor<8x4096xf32>
}

// -----

// Heads are cut out of a projection's result and joined again by addressing; grouped queries share a key head.
// CHECK-LABEL: emmy_fuse.kernel @stream
// CHECK-SAME: axes(b = s0, h = 32, m = s1, d = 128, n = s1, k = 128)
// CHECK: %[[Q:.+]] = emmy_fuse.load %{{.*}} over [b, h, m, k] at [b, m, h * 128 + k]
// CHECK: %[[K:.+]] = emmy_fuse.load %{{.*}} over [b, h, n, k] at [b, n, (h floordiv 4) * 128 + k]
// CHECK: emmy_fuse.contract %[[Q]], %[[K]] over [k]
// CHECK: emmy_fuse.index over [m] at m
// CHECK: emmy_fuse.reduce max %{{.*}} over [n]
// CHECK: emmy_fuse.reduce add %{{.*}} over [n]
// CHECK: %[[V:.+]] = emmy_fuse.load %{{.*}} over [b, h, d, n] at [b, n, (h floordiv 4) * 128 + d]
// CHECK: emmy_fuse.contract %{{.*}}, %[[V]] over [n]
// CHECK: emmy_fuse.store %{{.*}} to %{{.*}} over [b, h, m, d] at [b, m, h * 128 + d]
// CHECK-NOT: emmy_fuse.kernel
// CHECK-LABEL: func.func @scores_stay_in_registers
!flat = tensor<?x?x4096xbf16, #emmy.dims<[s0, s1, 4096]>>
!kvflat = tensor<?x?x1024xbf16, #emmy.dims<[s0, s1, 1024]>>
!kvcut = tensor<?x?x8x128xbf16, #emmy.dims<[s0, s1, 8, 128]>>
!kv = tensor<?x8x?x128xbf16, #emmy.dims<[s0, 8, s1, 128]>>
!kv1 = tensor<?x8x1x?x128xbf16, #emmy.dims<[s0, 8, 1, s1, 128]>>
!kv4 = tensor<?x8x4x?x128xbf16, #emmy.dims<[s0, 8, 4, s1, 128]>>
!q = tensor<?x32x?x128xbf16, #emmy.dims<[s0, 32, s1, 128]>>
!cut = tensor<?x?x32x128xbf16, #emmy.dims<[s0, s1, 32, 128]>>
!qf = tensor<?x32x?x128xf32, #emmy.dims<[s0, 32, s1, 128]>>
!s = tensor<?x32x?x?xf32, #emmy.dims<[s0, 32, s1, s1]>>
!p = tensor<?x32x?x?xbf16, #emmy.dims<[s0, 32, s1, s1]>>
!r = tensor<?x32x?xf32, #emmy.dims<[s0, 32, s1]>>
!r1 = tensor<?x32x?x1xf32, #emmy.dims<[s0, 32, s1, 1]>>
!i = tensor<?x?xi64, #emmy.dims<[s1, s1]>>
func.func @scores_stay_in_registers(%xq: !flat, %xk: !kvflat, %xv: !kvflat) -> !flat {
  %qc = emmy_graph.reshape %xq : !flat -> !cut
  %q = emmy_graph.permute %qc dims [0, 2, 1, 3] : !cut -> !q
  %kc = emmy_graph.reshape %xk : !kvflat -> !kvcut
  %kp = emmy_graph.permute %kc dims [0, 2, 1, 3] : !kvcut -> !kv
  %k1 = emmy_graph.reshape %kp : !kv -> !kv1
  %k4 = emmy_graph.expand %k1 : !kv1 -> !kv4
  %k = emmy_graph.reshape %k4 : !kv4 -> !q
  %vc = emmy_graph.reshape %xv : !kvflat -> !kvcut
  %vp = emmy_graph.permute %vc dims [0, 2, 1, 3] : !kvcut -> !kv
  %v1 = emmy_graph.reshape %vp : !kv -> !kv1
  %v4 = emmy_graph.expand %v1 : !kv1 -> !kv4
  %v = emmy_graph.reshape %v4 : !kv4 -> !q
  %s = emmy_graph.contract %q, %k batch [0, 0, 1, 1] over [3, 3] : (!q, !q) -> !s
  %row = emmy_graph.iota dim 0 : !i
  %col = emmy_graph.iota dim 1 : !i
  %diff = emmy_graph.map(%row, %col) : (!i, !i) -> !i {
  ^bb0(%a: i64, %b: i64):
    %0 = arith.subi %a, %b : i64
    emmy_graph.yield %0 : i64
  }
  %z = emmy_graph.map(%s, %diff) : (!s, !i) -> !s {
  ^bb0(%p: f32, %i: i64):
    %scale = arith.constant 0.088388346 : f32
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i64
    %0 = arith.mulf %p, %scale : f32
    %1 = arith.cmpi sge, %i, %zero : i64
    %2 = arith.select %1, %0, %low : f32
    emmy_graph.yield %2 : f32
  }
  %m = emmy_graph.reduce max %z dims [3] : !s -> !r
  %mk = emmy_graph.reshape %m : !r -> !r1
  %e = emmy_graph.map(%z, %mk) : (!s, !r1) -> !s {
  ^bb0(%p: f32, %t: f32):
    %0 = arith.subf %p, %t : f32
    %1 = math.exp %0 : f32
    emmy_graph.yield %1 : f32
  }
  %l = emmy_graph.reduce add %e dims [3] : !s -> !r
  %lk = emmy_graph.reshape %l : !r -> !r1
  %p = emmy_graph.map(%e, %lk) : (!s, !r1) -> !p {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    emmy_graph.yield %1 : bf16
  }
  %o = emmy_graph.contract %p, %v batch [0, 0, 1, 1] over [3, 2] : (!p, !q) -> !qf
  %oc = emmy_graph.map(%o) : (!qf) -> !q {
  ^bb0(%a: f32):
    %0 = arith.truncf %a : f32 to bf16
    emmy_graph.yield %0 : bf16
  }
  %op = emmy_graph.permute %oc dims [0, 2, 1, 3] : !q -> !cut
  %y = emmy_graph.reshape %op : !cut -> !flat
  return %y : !flat
}

// -----

// CTAs share out the axes of the outputs: a row's maximum for each column does not go with the row itself.
// CHECK-LABEL: func.func @outputs_along_different_axes
// CHECK-COUNT-2: emmy.launch
func.func @outputs_along_different_axes(%x: tensor<33xf32>, %z: tensor<16x33xf32>) -> (tensor<16xf32>, tensor<33xf32>) {
  %o = emmy_graph.reshape %x : tensor<33xf32> -> tensor<1x33xf32>
  %b = emmy_graph.expand %o : tensor<1x33xf32> -> tensor<16x33xf32>
  %s = emmy_graph.map(%b, %z) : (tensor<16x33xf32>, tensor<16x33xf32>) -> tensor<16x33xf32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    emmy_graph.yield %0 : f32
  }
  %r = emmy_graph.reduce max %s dims [1] : tensor<16x33xf32> -> tensor<16xf32>
  %e = emmy_graph.map(%x) : (tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: f32):
    %0 = math.exp %p : f32
    emmy_graph.yield %0 : f32
  }
  return %r, %e : tensor<16xf32>, tensor<33xf32>
}

// -----

// What makes an operand of a plain product stays a kernel of its own, which its other reader joins.
// CHECK-LABEL: emmy_fuse.kernel @map
// CHECK-COUNT-2: emmy_fuse.store
// CHECK-LABEL: emmy_fuse.kernel @contract
// CHECK: emmy_fuse.contract %0, %{{.*}} over
// CHECK-LABEL: func.func @operands_of_products_are_plain
// CHECK-COUNT-2: emmy.launch
func.func @operands_of_products_are_plain(%x: tensor<64x32xbf16>, %w: tensor<16x32xbf16>) -> (tensor<64x16xf32>, tensor<64x32xbf16>) {
  %v = emmy_graph.map(%x) : (tensor<64x32xbf16>) -> tensor<64x32xbf16> {
  ^bb0(%p: bf16):
    %0 = arith.negf %p : bf16
    emmy_graph.yield %0 : bf16
  }
  %c = emmy_graph.contract %v, %w batch [] over [1, 1] : (tensor<64x32xbf16>, tensor<16x32xbf16>) -> tensor<64x16xf32>
  %u = emmy_graph.map(%v) : (tensor<64x32xbf16>) -> tensor<64x32xbf16> {
  ^bb0(%p: bf16):
    %0 = arith.addf %p, %p : bf16
    emmy_graph.yield %0 : bf16
  }
  return %c, %u : tensor<64x16xf32>, tensor<64x32xbf16>
}

// -----

// Operands that pass through registers anyway are computed on the way.
// CHECK-LABEL: emmy_fuse.kernel @contract
// CHECK: %[[V:.+]] = emmy_fuse.map
// CHECK: emmy_fuse.contract %[[V]], %{{.*}} over
// CHECK-LABEL: func.func @operands_of_scalar_products
// CHECK-COUNT-1: emmy.launch
// CHECK-NOT: emmy.launch
func.func @operands_of_scalar_products(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>) -> tensor<64x16xf32> {
  %v = emmy_graph.map(%x) : (tensor<64x32xf32>) -> tensor<64x32xf32> {
  ^bb0(%p: f32):
    %0 = arith.negf %p : f32
    emmy_graph.yield %0 : f32
  }
  %c = emmy_graph.contract %v, %w batch [] over [1, 1] : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32>
  return %c : tensor<64x16xf32>
}
