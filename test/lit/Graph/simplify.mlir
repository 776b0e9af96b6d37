// RUN: emmy-opt %s --emmy-simplify | FileCheck %s
// RUN: emmy-opt %s --emmy-simplify=precise-casts=true | FileCheck %s --check-prefix=PRECISE
// Views compose, constants move into regions, and roundings between maps go where the reader is continuous.

// CHECK-LABEL: func.func @permutes_compose
// CHECK-SAME:    (%[[X:.+]]: tensor<2x3x4xf32>)
func.func @permutes_compose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  // CHECK-NEXT: %[[Y:.+]] = emmy_graph.permute %[[X]] dims [2, 0, 1]
  // CHECK-NEXT: return %[[Y]]
  %a = emmy_graph.permute %x dims [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %b = emmy_graph.permute %a dims [1, 0, 2] : tensor<2x4x3xf32> -> tensor<4x2x3xf32>
  return %b : tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @slices_compose
func.func @slices_compose(%x: tensor<20xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: emmy_graph.slice %{{.+}} starts <[4]> steps [6]
  %a = emmy_graph.slice %x starts <[1]> steps [3] : tensor<20xf32> -> tensor<6xf32>
  %b = emmy_graph.slice %a starts <[1]> steps [2] : tensor<6xf32> -> tensor<3xf32>
  return %b : tensor<3xf32>
}

// CHECK-LABEL: func.func @reshapes_compose
// CHECK-SAME:    (%[[X:.+]]: tensor<4x6xf32>)
func.func @reshapes_compose(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: return %[[X]]
  %a = emmy_graph.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  %b = emmy_graph.reshape %a : tensor<24xf32> -> tensor<4x6xf32>
  return %b : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @permute_of_ones_is_a_reshape
func.func @permute_of_ones_is_a_reshape(%x: tensor<1x3x1x4xf32>) -> tensor<3x1x1x4xf32> {
  // CHECK-NEXT: emmy_graph.reshape
  %a = emmy_graph.permute %x dims [1, 0, 2, 3] : tensor<1x3x1x4xf32> -> tensor<3x1x1x4xf32>
  return %a : tensor<3x1x1x4xf32>
}

// CHECK-LABEL: func.func @map_reads_through_broadcasting_views
// CHECK-SAME:    (%[[X:.+]]: tensor<8xf32>)
func.func @map_reads_through_broadcasting_views(%x: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: emmy_graph.map(%[[X]])
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
  // CHECK-NEXT: arith.mulf %{{.+}}, %[[HALF]]
  %two = arith.constant dense<2.0> : tensor<f32>
  %r = emmy_graph.reshape %x : tensor<8xf32> -> tensor<1x8xf32>
  %e = emmy_graph.expand %r : tensor<1x8xf32> -> tensor<4x8xf32>
  %y = emmy_graph.map(%e, %two) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %b : f32
    emmy_graph.yield %c : f32
  }
  return %y : tensor<4x8xf32>
}

// Known numbers fold all the way to a repeated constant.
// CHECK-LABEL: func.func @constants_fold
func.func @constants_fold() -> tensor<4x8xf32> {
  // CHECK: %[[C:.+]] = arith.constant dense<6.000000e+00> : tensor<f32>
  // CHECK: emmy_graph.expand %[[C]] : tensor<f32> -> tensor<4x8xf32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %three = arith.constant dense<3.0> : tensor<f32>
  %e = emmy_graph.expand %two : tensor<f32> -> tensor<8x4xf32>
  %p = emmy_graph.permute %e dims [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %y = emmy_graph.map(%p, %three) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    emmy_graph.yield %c : f32
  }
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @operands_read_once
// CHECK-SAME:    (%[[X:.+]]: tensor<8xf32>, %{{.+}}: tensor<8xf32>)
func.func @operands_read_once(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: emmy_graph.map(%[[X]])
  %z = emmy_graph.map(%x, %y, %x) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.mulf %a, %c : f32
    emmy_graph.yield %d : f32
  }
  return %z : tensor<8xf32>
}

// CHECK-LABEL: func.func @drops_a_rounding_before_a_product
// PRECISE-LABEL: func.func @drops_a_rounding_before_a_product
func.func @drops_a_rounding_before_a_product(%x: tensor<8xf32>, %y: tensor<8xbf16>) -> tensor<8xbf16> {
  // CHECK:     emmy_graph.map(%{{.+}}) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NOT: arith.truncf
  // CHECK:     emmy_graph.map
  // PRECISE-COUNT-2: arith.truncf
  %a = emmy_graph.map(%x) : (tensor<8xf32>) -> tensor<8xbf16> {
  ^bb0(%e: f32):
    %f = math.exp %e : f32
    %g = arith.truncf %f : f32 to bf16
    emmy_graph.yield %g : bf16
  }
  %b = emmy_graph.map(%a, %y) : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16> {
  ^bb0(%e: bf16, %f: bf16):
    %g = arith.extf %e : bf16 to f32
    %h = arith.extf %f : bf16 to f32
    %i = arith.mulf %g, %h : f32
    %j = arith.truncf %i : f32 to bf16
    emmy_graph.yield %j : bf16
  }
  return %b : tensor<8xbf16>
}

// CHECK-LABEL: func.func @keeps_a_rounding_before_a_comparison
func.func @keeps_a_rounding_before_a_comparison(%x: tensor<8xf32>) -> tensor<8xi1> {
  // CHECK: arith.truncf
  // CHECK: arith.extf
  %a = emmy_graph.map(%x) : (tensor<8xf32>) -> tensor<8xbf16> {
  ^bb0(%e: f32):
    %g = arith.truncf %e : f32 to bf16
    emmy_graph.yield %g : bf16
  }
  %b = emmy_graph.map(%a) : (tensor<8xbf16>) -> tensor<8xi1> {
  ^bb0(%e: bf16):
    %zero = arith.constant 0.0 : f32
    %g = arith.extf %e : bf16 to f32
    %h = arith.mulf %g, %g : f32
    %i = arith.cmpf ogt, %h, %zero : f32
    emmy_graph.yield %i : i1
  }
  return %b : tensor<8xi1>
}

// CHECK-LABEL: func.func @keeps_a_rounding_that_is_returned
func.func @keeps_a_rounding_that_is_returned(%x: tensor<8xf32>) -> (tensor<8xbf16>, tensor<8xf32>) {
  // CHECK: arith.truncf
  %a = emmy_graph.map(%x) : (tensor<8xf32>) -> tensor<8xbf16> {
  ^bb0(%e: f32):
    %g = arith.truncf %e : f32 to bf16
    emmy_graph.yield %g : bf16
  }
  %b = emmy_graph.map(%a) : (tensor<8xbf16>) -> tensor<8xf32> {
  ^bb0(%e: bf16):
    %g = arith.extf %e : bf16 to f32
    emmy_graph.yield %g : f32
  }
  return %a, %b : tensor<8xbf16>, tensor<8xf32>
}

// Scores are read by their maximum and by the exponentials.
// CHECK-LABEL: func.func @drops_a_rounding_before_a_maximum
// PRECISE-LABEL: func.func @drops_a_rounding_before_a_maximum
func.func @drops_a_rounding_before_a_maximum(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  // CHECK: %[[SCALED:.+]] = emmy_graph.map(%{{.+}}) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: emmy_graph.reduce max %[[SCALED]] dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  // PRECISE: emmy_graph.reduce max %{{.+}} dims [1] : tensor<4x8xbf16> -> tensor<4xf32>
  %s = emmy_graph.map(%x) : (tensor<4x8xf32>) -> tensor<4x8xbf16> {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    %c = arith.truncf %b : f32 to bf16
    emmy_graph.yield %c : bf16
  }
  %m = emmy_graph.reduce max %s dims [1] : tensor<4x8xbf16> -> tensor<4xf32>
  %e = emmy_graph.map(%s) : (tensor<4x8xbf16>) -> tensor<4x8xf32> {
  ^bb0(%a: bf16):
    %b = arith.extf %a : bf16 to f32
    %c = math.exp %b : f32
    emmy_graph.yield %c : f32
  }
  return %m, %e : tensor<4xf32>, tensor<4x8xf32>
}
