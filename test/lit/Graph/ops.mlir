// RUN: emmy-opt %s --verify-roundtrip | FileCheck %s
// The primitives keep their meaning through text.

// CHECK-LABEL: func.func @primitives
func.func @primitives(%x: tensor<?x8xbf16, #emmy.dims<[s0, 8]>>, %w: tensor<16x8xbf16>) -> tensor<?xf32, #emmy.dims<[s0]>> {
  // CHECK: emmy_graph.contract %{{.*}}, %{{.*}} batch [] over [1, 1]
  %c = emmy_graph.contract %x, %w batch [] over [1, 1] : (tensor<?x8xbf16, #emmy.dims<[s0, 8]>>, tensor<16x8xbf16>) -> tensor<?x16xf32, #emmy.dims<[s0, 16]>>
  // CHECK: emmy_graph.slice %{{.*}} starts <[0, 2]> steps [1, 2]
  %h = emmy_graph.slice %c starts <[0, 2]> steps [1, 2] : tensor<?x16xf32, #emmy.dims<[s0, 16]>> -> tensor<?x7xf32, #emmy.dims<[s0, 7]>>
  // CHECK: emmy_graph.reduce add %{{.*}} dims [1]
  %r = emmy_graph.reduce add %h dims [1] : tensor<?x7xf32, #emmy.dims<[s0, 7]>> -> tensor<?xf32, #emmy.dims<[s0]>>
  return %r : tensor<?xf32, #emmy.dims<[s0]>>
}

// CHECK-LABEL: func.func @indices_and_edges
func.func @indices_and_edges(%x: tensor<4x8xf32>, %v: tensor<f32>, %i: tensor<3x8xi64>) {
  // CHECK: emmy_graph.pad %{{.+}}, %{{.+}} low [0, 1]
  %p = emmy_graph.pad %x, %v low [0, 1] : tensor<4x8xf32>, tensor<f32> -> tensor<4x10xf32>
  // CHECK: emmy_graph.size <[s0 * 2]>
  %n = emmy_graph.size <[s0 * 2]> : tensor<i64>
  // CHECK: emmy_graph.gather
  %g = emmy_graph.gather %x, %i dim 0 : (tensor<4x8xf32>, tensor<3x8xi64>) -> tensor<3x8xf32>
  return
}
