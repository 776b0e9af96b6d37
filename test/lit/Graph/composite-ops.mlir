// RUN: emmy-opt %s --verify-roundtrip | FileCheck %s
// The composite ops keep their meaning through text.

// CHECK-LABEL: func.func @composites
func.func @composites(%x: tensor<4x8xbf16>, %w: tensor<16x8xbf16>, %b: tensor<16xbf16>, %g: tensor<8xbf16>, %i: tensor<3xi64>) {
  // CHECK: emmy_graph.linear %{{.+}}, %{{.+}} bias %{{.+}}
  %0 = emmy_graph.linear %x, %w bias %b : (tensor<4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
  // CHECK: emmy_graph.matmul
  %1 = emmy_graph.matmul %w, %g : (tensor<16x8xbf16>, tensor<8xbf16>) -> tensor<16xbf16>
  // CHECK: emmy_graph.softmax %{{.+}} dim 1
  %2 = emmy_graph.softmax %x dim 1 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK: emmy_graph.log_softmax %{{.+}} dim 0
  %3 = emmy_graph.log_softmax %x dim 0 : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  // CHECK: emmy_graph.rms_norm %{{.+}} weight %{{.+}} {eps = 9.9999999999999995E-7 : f64, rank = 1 : i64}
  %4 = emmy_graph.rms_norm %x weight %g {eps = 1.0e-06 : f64, rank = 1 : i64} : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  // CHECK: emmy_graph.layer_norm %{{.+}} bias %{{.+}} {
  %5 = emmy_graph.layer_norm %x bias %g {eps = 1.0e-05 : f64, rank = 1 : i64} : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  // CHECK: emmy_graph.group_norm %{{.+}} weight %{{.+}} bias %{{.+}} {
  %6 = emmy_graph.group_norm %x weight %g bias %g {eps = 1.0e-05 : f64, groups = 2 : i64}
      : (tensor<4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  // CHECK: emmy_graph.attention %{{.+}}, %{{.+}}, %{{.+}} {causal, scale = 1.250000e-01 : f64}
  %7 = emmy_graph.attention %x, %w, %w {causal, scale = 0.125 : f64}
      : (tensor<4x8xbf16>, tensor<16x8xbf16>, tensor<16x8xbf16>) -> tensor<4x8xbf16>
  // CHECK: emmy_graph.embedding
  %8 = emmy_graph.embedding %w, %i : (tensor<16x8xbf16>, tensor<3xi64>) -> tensor<3x8xbf16>
  // CHECK: emmy_graph.pointwise gelu_tanh(%{{.+}})
  %9 = emmy_graph.pointwise gelu_tanh(%x) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK: emmy_graph.pointwise add(%{{.+}}, %{{.+}})
  %10 = emmy_graph.pointwise add(%x, %g) : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  return
}
