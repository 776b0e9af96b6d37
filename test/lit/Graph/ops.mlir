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
