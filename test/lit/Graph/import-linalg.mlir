// RUN: emmy-opt %s --emmy-import-linalg | FileCheck %s
// Structured ops of linalg become primitives by their indexing maps and bodies.

// CHECK-LABEL: func.func @matmul
// CHECK-SAME:    (%[[A:.+]]: tensor<4x8xf32>, %[[B:.+]]: tensor<8x16xf32>)
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  // CHECK: %[[C:.+]] = emmy_graph.contract %[[A]], %[[B]] batch [] over [1, 0]
  // CHECK: return %[[C]]
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// An initial value that is not zero is added after the sum.
// CHECK-LABEL: func.func @batch_matmul_onto
func.func @batch_matmul_onto(%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>, %c: tensor<2x4x16xf32>) -> tensor<2x4x16xf32> {
  // CHECK: %[[C:.+]] = emmy_graph.contract %{{.+}}, %{{.+}} batch [0, 0] over [2, 1]
  // CHECK: emmy_graph.map(%[[C]], %{{.+}})
  // CHECK: arith.addf
  %y = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x16xf32>) outs(%c : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  return %y : tensor<2x4x16xf32>
}

// A vector and a transposed matrix are aligned with the loops.
// CHECK-LABEL: func.func @broadcast_and_transpose
// CHECK-SAME:    (%[[X:.+]]: tensor<8x4xf32>, %[[V:.+]]: tensor<4xf32>)
func.func @broadcast_and_transpose(%x: tensor<8x4xf32>, %v: tensor<4xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[T:.+]] = emmy_graph.permute %[[X]] dims [1, 0]
  // CHECK: %[[R:.+]] = emmy_graph.reshape %[[V]] : tensor<4xf32> -> tensor<4x1xf32>
  // CHECK: emmy_graph.map(%[[T]], %[[R]])
  // CHECK: arith.constant 2.000000e+00 : f32
  %two = arith.constant 2.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : tensor<8x4xf32>, tensor<4xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    %d = arith.mulf %c, %two : f32
    linalg.yield %d : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @row_maximum
func.func @row_maximum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: %[[E:.+]] = emmy_graph.map
  // CHECK: math.exp
  // CHECK: emmy_graph.reduce max %[[E]] dims [1]
  %least = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%least : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %m = arith.maximumf %e, %o : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @loop_index
func.func @loop_index() -> tensor<8xi64> {
  // CHECK: emmy_graph.iota dim 0 : tensor<8xi64>
  %empty = tensor.empty() : tensor<8xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<8xi64>
  return %y : tensor<8xi64>
}

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<4x8xf32>) -> tensor<10xf32> {
  // CHECK: emmy_graph.slice %{{.+}} starts <[1, 0]> steps [1, 1]
  // CHECK: emmy_graph.slice %{{.+}} starts <[0, 0]> steps [1, 2]
  // CHECK: emmy_graph.reshape %{{.+}} : tensor<2x4xf32> -> tensor<8xf32>
  // CHECK: emmy_graph.pad %{{.+}}, %{{.+}} low [1]
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract_slice %x[1, 0] [2, 4] [1, 2] : tensor<4x8xf32> to tensor<2x4xf32>
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %p = tensor.pad %c low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %p : tensor<10xf32>
}

// CHECK-LABEL: func.func @arith_on_tensors
func.func @arith_on_tensors(%x: tensor<8xf32>) -> tensor<8xi1> {
  // CHECK: emmy_graph.map
  // CHECK: arith.cmpf olt
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %y = arith.cmpf olt, %x, %one : tensor<8xf32>
  return %y : tensor<8xi1>
}
