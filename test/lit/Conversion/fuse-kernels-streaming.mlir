// RUN: emmy-opt %s --split-input-file --emmy-decompose --emmy-graph-to-fuse | FileCheck %s
// Chains of reductions and contractions along one axis become one streaming kernel each, whatever they compute.
!q = tensor<2x64x32xbf16>
!k = tensor<2x96x32xbf16>
!kt = tensor<2x32x96xbf16>
!s = tensor<2x64x96xbf16>

// CHECK-LABEL: emmy_fuse.kernel @matmul
// CHECK: emmy_fuse.fold over n init(%{{.*}} : !emmy_fuse.value<[h, m, d] x f32>)
// CHECK-NOT: emmy_fuse.kernel
// CHECK-LABEL: func.func @sigmoid_scores
func.func @sigmoid_scores(%q: !q, %k: !kt, %v: !k) -> !q {
  %s = emmy_graph.matmul %q, %k : (!q, !kt) -> !s
  %p = emmy_graph.pointwise sigmoid(%s) : (!s) -> !s
  %o = emmy_graph.matmul %p, %v : (!s, !k) -> !q
  return %o : !q
}

// -----

!q = tensor<2x64x32xbf16>
!k = tensor<2x96x32xbf16>
!kt = tensor<2x32x96xbf16>
!s = tensor<2x64x96xbf16>

// CHECK-LABEL: emmy_fuse.kernel @matmul_softmax
// CHECK-SAME: outs(%{{.*}}: tensor<2x64x32xbf16>, %{{.*}}: tensor<2x64x32xbf16>)
// CHECK: emmy_fuse.fold over n
// CHECK-COUNT-3: emmy_fuse.contract
// CHECK-COUNT-2: emmy_fuse.store
// CHECK-NOT: emmy_fuse.kernel
// CHECK-LABEL: func.func @softmax_of_two_values
func.func @softmax_of_two_values(%q: !q, %k: !kt, %v: !k, %w: !k) -> (!q, !q) {
  %s = emmy_graph.matmul %q, %k : (!q, !kt) -> !s
  %p = emmy_graph.softmax %s dim 2 : (!s) -> !s
  %o = emmy_graph.matmul %p, %v : (!s, !k) -> !q
  %o2 = emmy_graph.matmul %p, %w : (!s, !k) -> !q
  return %o, %o2 : !q, !q
}

// -----

!q = tensor<2x64x32xbf16>
!k = tensor<2x96x32xbf16>
!kt = tensor<2x32x96xbf16>
!s = tensor<2x64x96xbf16>

// CHECK-LABEL: emmy_fuse.kernel @matmul_softmax
// CHECK: emmy_fuse.fold over n
// CHECK-COUNT-2: emmy_fuse.contract %{{.*}}, %{{.*}} over [k
// CHECK: emmy_fuse.contract %{{.*}}, %{{.*}} over [n]
// CHECK-NOT: emmy_fuse.kernel
// CHECK-LABEL: func.func @softmax_of_two_products
func.func @softmax_of_two_products(%q: !q, %k: !kt, %q2: !q, %k2: !kt, %v: !k) -> !q {
  %s = emmy_graph.matmul %q, %k : (!q, !kt) -> !s
  %s2 = emmy_graph.matmul %q2, %k2 : (!q, !kt) -> !s
  %sum = emmy_graph.pointwise add(%s, %s2) : (!s, !s) -> !s
  %p = emmy_graph.softmax %sum dim 2 : (!s) -> !s
  %o = emmy_graph.matmul %p, %v : (!s, !k) -> !q
  return %o : !q
}

// -----

// Grouped queries: heads that share a key are one axis more; the mask hides whole rows without a NaN.
!q = tensor<?x4x?x64xbf16, #emmy.dims<[s0, 4, s1, 64]>>
!k = tensor<?x2x?x64xbf16, #emmy.dims<[s0, 2, s1, 64]>>
!mask = tensor<?x?xi1, #emmy.dims<[s1, s1]>>
// CHECK-LABEL: emmy_fuse.kernel @attention
// CHECK-SAME: axes(b = s0, h = 2, g = 2, m = s1, d = 64, n = s1, k = 64)
// CHECK: emmy_fuse.fold over n
// CHECK: emmy_fuse.index over [m, n] at m - n
// CHECK-NOT: emmy_fuse.kernel
// CHECK-LABEL: func.func @attention_with_a_mask
func.func @attention_with_a_mask(%q: !q, %k: !k, %v: !k, %mask: !mask) -> !q {
  %o = emmy_graph.attention %q, %k, %v mask %mask {causal, scale = 0.125 : f64} : (!q, !k, !k, !mask) -> !q
  return %o : !q
}

// -----

// A norm of a wide row does not stream into a wide contraction: its operand is a tensor.
// CHECK-LABEL: emmy_fuse.kernel @rms_norm
// CHECK-NOT: emmy_fuse.contract
// CHECK-LABEL: emmy_fuse.kernel @linear
// CHECK: emmy_fuse.load
// CHECK-NEXT: emmy_fuse.load
// CHECK-NEXT: emmy_fuse.contract
// CHECK-LABEL: func.func @keeps_operands_in_memory
func.func @keeps_operands_in_memory(%x: tensor<64x4096xbf16>, %w: tensor<512x4096xbf16>) -> tensor<64x512xbf16> {
  %h = emmy_graph.rms_norm %x {eps = 1.0e-06 : f64, rank = 1 : i64} : (tensor<64x4096xbf16>) -> tensor<64x4096xbf16>
  %y = emmy_graph.linear %h, %w : (tensor<64x4096xbf16>, tensor<512x4096xbf16>) -> tensor<64x512xbf16>
  return %y : tensor<64x512xbf16>
}

// -----

!q = tensor<2x64x32xbf16>
!kt = tensor<2x32x96xbf16>
!s = tensor<2x64x96xbf16>

// Tensor cores stream values along their width. Values that lie along the keys are multiplied in a kernel of their own.
// CHECK-LABEL: emmy_fuse.kernel @matmul
// CHECK-NOT: emmy_fuse.fold
// CHECK: emmy_fuse.kernel
// CHECK-NOT: emmy_fuse.fold
// CHECK-LABEL: func.func @values_along_the_stream
func.func @values_along_the_stream(%q: !q, %k: !kt, %vt: !kt) -> !q {
  %s = emmy_graph.matmul %q, %k : (!q, !kt) -> !s
  %p = emmy_graph.pointwise sigmoid(%s) : (!s) -> !s
  %v = emmy_graph.permute %vt dims [0, 2, 1] : !kt -> tensor<2x96x32xbf16>
  %o = emmy_graph.matmul %p, %v : (!s, tensor<2x96x32xbf16>) -> !q
  return %o : !q
}
