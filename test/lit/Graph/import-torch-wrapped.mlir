// RUN: emmy-opt %s --emmy-import-torch | FileCheck %s
// torch-mlir wraps ops that it does not define in torch.operator; their name is an attribute.

// CHECK-LABEL: func.func @index_copy
// CHECK-SAME:    (%[[X:.+]]: tensor<4x6xf32>, %[[I:.+]]: tensor<2xi64>, %[[U:.+]]: tensor<2x6xf32>)
func.func @index_copy(%x: !torch.vtensor<[4,6],f32>, %i: !torch.vtensor<[2],si64>, %u: !torch.vtensor<[2,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %dim = "torch.constant.int"() <{value = 0 : i64}> : () -> !torch.int
  // CHECK-NEXT: emmy_graph.scatter %[[X]], %[[I]], %[[U]] dim 0
  %y = "torch.operator"(%x, %dim, %i, %u) <{name = "torch.aten.index_copy"}>
      : (!torch.vtensor<[4,6],f32>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2,6],f32>) -> !torch.vtensor<[4,6],f32>
  return %y : !torch.vtensor<[4,6],f32>
}
