// RUN: emmy-opt %s --emmy-fuse-kernels --remarks-filter='emmy-fuse-kernels' 2>&1 | FileCheck %s
// Every decision says why.

// CHECK-DAG: remark: [Passed] fused {{.*}} Reason="the element-wise work after it runs on its result in registers"
// CHECK-DAG: remark: [Analysis] in memory {{.*}} Reason="a contraction reads it: tensor cores are fed best by plain tensors"
// CHECK-DAG: remark: [Missed] not fused {{.*}} Reason="kept apart from what makes its operand: a plain operand in memory feeds the contraction better than one computed on the way"
func.func @main(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>, %b: tensor<16xf32>) -> tensor<64x16xf32> {
  %s = emmy_graph.reduce add %x dims [1] : tensor<64x32xf32> -> tensor<64xf32>
  %c = emmy_graph.reshape %s : tensor<64xf32> -> tensor<64x1xf32>
  %h = emmy_graph.map(%x, %c) : (tensor<64x32xf32>, tensor<64x1xf32>) -> tensor<64x32xf32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    emmy_graph.yield %0 : f32
  }
  %o = emmy_graph.contract %h, %w batch [] over [1, 1] : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32>
  %y = emmy_graph.map(%o, %b) : (tensor<64x16xf32>, tensor<16xf32>) -> tensor<64x16xf32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    emmy_graph.yield %0 : f32
  }
  return %y : tensor<64x16xf32>
}
