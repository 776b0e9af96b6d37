// RUN: emmy-opt %s --emmy-verify-graph-form | FileCheck %s
// Primitives pass unchanged.

// CHECK-LABEL: func.func @primitives
func.func @primitives(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: emmy_graph.permute
  %y = emmy_graph.permute %x dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
