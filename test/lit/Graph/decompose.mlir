// RUN: emmy-opt %s --emmy-decompose | FileCheck %s
// Composite ops become primitives; sums accumulate in f32 and every result is rounded once.

// CHECK-LABEL: func.func @linear_adds_its_bias_before_rounding
// CHECK-SAME:    (%[[X:.+]]: tensor<4x8xbf16>, %[[W:.+]]: tensor<16x8xbf16>, %[[B:.+]]: tensor<16xbf16>)
func.func @linear_adds_its_bias_before_rounding(%x: tensor<4x8xbf16>, %w: tensor<16x8xbf16>, %b: tensor<16xbf16>) -> tensor<4x16xbf16> {
  // CHECK-NEXT: %[[C:.+]] = emmy_graph.contract %[[X]], %[[W]] batch [] over [1, 1] {{.*}} -> tensor<4x16xf32>
  // CHECK-NEXT: emmy_graph.map(%[[C]], %[[B]])
  // CHECK:      arith.addf
  // CHECK-NEXT: arith.truncf
  %y = emmy_graph.linear %x, %w bias %b : (tensor<4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
  return %y : tensor<4x16xbf16>
}

// A leading dimension that only one side has stays a free one.
// CHECK-LABEL: func.func @matmul_does_not_repeat_operands
func.func @matmul_does_not_repeat_operands(%a: tensor<2x1x4x8xf32>, %b: tensor<2x3x8x16xf32>) -> tensor<2x3x4x16xf32> {
  // CHECK: %[[A:.+]] = emmy_graph.reshape %{{.+}} -> tensor<2x4x8xf32>
  // CHECK: %[[C:.+]] = emmy_graph.contract %[[A]], %{{.+}} batch [0, 0] over [2, 2] {{.*}} -> tensor<2x4x3x16xf32>
  // CHECK: emmy_graph.permute %[[C]] dims [0, 2, 1, 3]
  %y = emmy_graph.matmul %a, %b : (tensor<2x1x4x8xf32>, tensor<2x3x8x16xf32>) -> tensor<2x3x4x16xf32>
  return %y : tensor<2x3x4x16xf32>
}

// CHECK-LABEL: func.func @vector_times_matrix
func.func @vector_times_matrix(%a: tensor<8xf32>, %b: tensor<8x16xf32>) -> tensor<16xf32> {
  // CHECK-NEXT: emmy_graph.contract %{{.+}}, %{{.+}} batch [] over [0, 0] {{.*}} -> tensor<16xf32>
  %y = emmy_graph.matmul %a, %b : (tensor<8xf32>, tensor<8x16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  // CHECK:      %[[M:.+]] = emmy_graph.reduce max %{{.+}} dims [1] : tensor<4x8xbf16> -> tensor<4xf32>
  // CHECK:      math.exp
  // CHECK:      emmy_graph.reduce add %{{.+}} dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK:      arith.divf
  // CHECK-NEXT: arith.truncf
  %y = emmy_graph.softmax %x dim 1 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// CHECK-LABEL: func.func @mean_over_a_symbolic_size
func.func @mean_over_a_symbolic_size(%x: tensor<4x?xf32, #emmy.dims<[4, s0]>>) -> tensor<4x?xf32, #emmy.dims<[4, s0]>> {
  // CHECK: %[[N:.+]] = emmy_graph.size <[s0]>
  // CHECK: emmy_graph.map(%{{.+}}, %[[N]])
  // CHECK: arith.sitofp
  // CHECK: math.rsqrt
  %y = emmy_graph.rms_norm %x {eps = 1.0e-06 : f64, rank = 1 : i64} : (tensor<4x?xf32, #emmy.dims<[4, s0]>>) -> tensor<4x?xf32, #emmy.dims<[4, s0]>>
  return %y : tensor<4x?xf32, #emmy.dims<[4, s0]>>
}

// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<4x8xbf16>, %g: tensor<8xbf16>, %b: tensor<8xbf16>) -> tensor<4x8xbf16> {
  // CHECK-COUNT-2: emmy_graph.reduce add
  // CHECK:         math.rsqrt
  // CHECK:         emmy_graph.map(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}})
  %y = emmy_graph.layer_norm %x weight %g bias %b {eps = 1.0e-05 : f64, rank = 1 : i64}
      : (tensor<4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// CHECK-LABEL: func.func @group_norm
func.func @group_norm(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  // CHECK: emmy_graph.reshape %{{.+}} : tensor<1x4x8xf32> -> tensor<1x2x2x8xf32>
  // CHECK: emmy_graph.reduce add %{{.+}} dims [2, 3]
  %y = emmy_graph.group_norm %x {eps = 1.0e-05 : f64, groups = 2 : i64} : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return %y : tensor<1x4x8xf32>
}

// Query heads that share keys become a dimension of their own; division comes after the second product.
// CHECK-LABEL: func.func @attention_with_shared_heads
func.func @attention_with_shared_heads(%q: tensor<1x4x16x64xbf16>, %k: tensor<1x2x16x64xbf16>, %v: tensor<1x2x16x64xbf16>) -> tensor<1x4x16x64xbf16> {
  // CHECK: %[[Q:.+]] = emmy_graph.reshape %{{.+}} -> tensor<1x2x2x16x64xbf16>
  // CHECK: emmy_graph.contract %[[Q]], %{{.+}} batch [0, 0, 1, 1] over [4, 3]
  // CHECK: arith.cmpi sge
  // CHECK: emmy_graph.reduce max
  // CHECK: emmy_graph.reduce add
  // CHECK: emmy_graph.contract %{{.+}}, %{{.+}} batch [0, 0, 1, 1] over [4, 2]
  // CHECK: arith.divf
  %o = emmy_graph.attention %q, %k, %v {causal, scale = 0.125 : f64}
      : (tensor<1x4x16x64xbf16>, tensor<1x2x16x64xbf16>, tensor<1x2x16x64xbf16>) -> tensor<1x4x16x64xbf16>
  return %o : tensor<1x4x16x64xbf16>
}

// Scores are relative to their maximum as it is, so that it can be followed through a stream; a row that a mask hides is replaced at
// the end.
// CHECK-LABEL: func.func @attention_with_a_mask
func.func @attention_with_a_mask(%q: tensor<1x4x16x64xbf16>, %m: tensor<16x16xbf16>) -> tensor<1x4x16x64xbf16> {
  // CHECK:      emmy_graph.reduce max
  // CHECK-NEXT: emmy_graph.reshape
  // CHECK-NEXT: emmy_graph.map
  // CHECK-NEXT: ^bb0(%[[SCORE:.+]]: f32, %[[MOST:.+]]: f32):
  // CHECK-NEXT:   arith.subf %[[SCORE]], %[[MOST]]
  // CHECK-NEXT:   math.exp
  // CHECK:      arith.divf
  // CHECK:      arith.cmpf oeq
  // CHECK:      arith.select
  %o = emmy_graph.attention %q, %q, %q mask %m {scale = 0.125 : f64}
      : (tensor<1x4x16x64xbf16>, tensor<1x4x16x64xbf16>, tensor<1x4x16x64xbf16>, tensor<16x16xbf16>) -> tensor<1x4x16x64xbf16>
  return %o : tensor<1x4x16x64xbf16>
}

// CHECK-LABEL: func.func @product_over_nothing_is_zero
func.func @product_over_nothing_is_zero(%a: tensor<4x0xf32>, %b: tensor<0x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: emmy_graph.contract
  // CHECK:     arith.constant dense<0.000000e+00>
  %y = emmy_graph.matmul %a, %b : (tensor<4x0xf32>, tensor<0x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @embedding
func.func @embedding(%t: tensor<100x8xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x8xf32> {
  // CHECK-NEXT: emmy_graph.take %{{.+}}, %{{.+}} dim 0
  %e = emmy_graph.embedding %t, %i : (tensor<100x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  return %e : tensor<2x3x8xf32>
}

// A comparison of integers with a Python float happens in f32, as PyTorch promotes them.
// CHECK-LABEL: func.func @promotion
func.func @promotion(%x: tensor<4xi32>) -> tensor<4xi1> {
  %c = arith.constant dense<1.5> : tensor<f64>
  // CHECK: arith.sitofp %{{.+}} : i32 to f32
  // CHECK: arith.cmpf olt
  %y = emmy_graph.pointwise lt(%x, %c) : (tensor<4xi32>, tensor<f64>) -> tensor<4xi1>
  return %y : tensor<4xi1>
}

// CHECK-LABEL: func.func @integer_remainder_has_the_divisors_sign
func.func @integer_remainder_has_the_divisors_sign(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c = arith.constant dense<3> : tensor<i64>
  // CHECK: arith.divsi
  // CHECK: arith.select
  %y = emmy_graph.pointwise remainder(%x, %c) : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  return %y : tensor<4xi64>
}
