// RUN: emmy-opt %s -split-input-file --emmy-import-torch | FileCheck %s
// Ops of the raw torch dialect become emmy_graph ops on builtin tensors; constants, lists and sizes leave nothing behind.

// CHECK-LABEL: func.func @linear_layer
// CHECK-SAME:    (%[[X:.+]]: tensor<?x8xbf16, #emmy.dims<[s0, 8]>> {emmy.name = "x"}, %[[W:.+]]: tensor<16x8xbf16>
func.func @linear_layer(%x: !torch.vtensor<[?,8],bf16> {emmy.dims = #emmy.dims<[s0, 8]>, emmy.name = "x"},
                        %w: !torch.vtensor<[16,8],bf16>) -> !torch.vtensor<[?,16],bf16> attributes {emmy.symbols = {s0 = [1, 64]}} {
  %none = "torch.constant.none"() : () -> !torch.none
  // CHECK-NEXT: %[[Y:.+]] = emmy_graph.linear %[[X]], %[[W]]
  %y = "torch.aten.linear"(%x, %w, %none) {emmy.dims = [#emmy.dims<[s0, 16]>]}
      : (!torch.vtensor<[?,8],bf16>, !torch.vtensor<[16,8],bf16>, !torch.none) -> !torch.vtensor<[?,16],bf16>
  // CHECK-NEXT: return %[[Y]] : tensor<?x16xbf16, #emmy.dims<[s0, 16]>>
  return %y : !torch.vtensor<[?,16],bf16>
}

// -----

// CHECK-LABEL: func.func @symbols_from_the_exporter
// CHECK-SAME:    tensor<?x4xf32, #emmy.dims<[s0, 4]>>
// CHECK-SAME:    emmy.symbols = {s0 = [2, 100]}
func.func @symbols_from_the_exporter(%x: !torch.vtensor<[?,4],f32>) -> !torch.vtensor<[?,4],f32> {
  %s = "torch.symbolic_int"() <{max_val = 100 : i64, min_val = 2 : i64, symbol_name = "s77"}> : () -> !torch.int
  "torch.bind_symbolic_shape"(%x, %s) <{shape_expressions = affine_map<()[s0] -> (s0, 4)>}> : (!torch.vtensor<[?,4],f32>, !torch.int) -> ()
  // CHECK-NEXT: emmy_graph.pointwise silu
  %y = "torch.aten.silu"(%x) : (!torch.vtensor<[?,4],f32>) -> !torch.vtensor<[?,4],f32>
  "torch.bind_symbolic_shape"(%y, %s) <{shape_expressions = affine_map<()[s0] -> (s0, 4)>}> : (!torch.vtensor<[?,4],f32>, !torch.int) -> ()
  return %y : !torch.vtensor<[?,4],f32>
}

// -----

// A size that no tensor shows stays an argument.
// CHECK-LABEL: func.func @size_argument
// CHECK-SAME:    (%{{.+}}: i64 {emmy.symbol = "s1"})
func.func @size_argument(%n: !torch.int {emmy.symbol = "s1"}) -> !torch.vtensor<[?],si64> {
  %none = "torch.constant.none"() : () -> !torch.none
  // CHECK: emmy_graph.iota dim 0 : tensor<?xi64, #emmy.dims<[s1]>>
  %y = "torch.aten.arange"(%n, %none, %none, %none, %none) {emmy.dims = [#emmy.dims<[s1]>]}
      : (!torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.vtensor<[?],si64>
  return %y : !torch.vtensor<[?],si64>
}

// -----

// CHECK-LABEL: func.func @lists_of_slices
// CHECK-SAME:    (%[[X:.+]]: tensor<4x10xf32>)
func.func @lists_of_slices(%x: !torch.vtensor<[4,10],f32>) -> (!torch.vtensor<[4,6],f32>, !torch.vtensor<[4,4],f32>) {
  %size = "torch.constant.int"() <{value = 6 : i64}> : () -> !torch.int
  %dim = "torch.constant.int"() <{value = -1 : i64}> : () -> !torch.int
  %list = "torch.aten.split.Tensor"(%x, %size, %dim) : (!torch.vtensor<[4,10],f32>, !torch.int, !torch.int) -> !torch.list<vtensor>
  // CHECK-DAG: %[[A:.+]] = emmy_graph.slice %[[X]] starts <[0, 0]> steps [1, 1] {{.*}} -> tensor<4x6xf32>
  // CHECK-DAG: %[[B:.+]] = emmy_graph.slice %[[X]] starts <[0, 6]> steps [1, 1] {{.*}} -> tensor<4x4xf32>
  %a, %b = "torch.prim.ListUnpack"(%list) : (!torch.list<vtensor>) -> (!torch.vtensor<[4,6],f32>, !torch.vtensor<[4,4],f32>)
  // CHECK: return %[[A]], %[[B]]
  return %a, %b : !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,4],f32>
}

// -----

// The dispatched spelling; its second result is not made.
// CHECK-LABEL: func.func @flash_attention
// CHECK-SAME:    (%[[Q:.+]]: tensor<1x4x16x64xbf16>, %[[K:.+]]: tensor<1x4x16x64xbf16>, %[[V:.+]]: tensor<1x4x16x64xbf16>)
func.func @flash_attention(%q: !torch.vtensor<[1,4,16,64],bf16>, %k: !torch.vtensor<[1,4,16,64],bf16>,
                           %v: !torch.vtensor<[1,4,16,64],bf16>) -> !torch.vtensor<[1,4,16,64],bf16> {
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  // CHECK-NEXT: emmy_graph.attention %[[Q]], %[[K]], %[[V]] {causal, scale = 1.250000e-01 : f64}
  %o:2 = "torch.aten._scaled_dot_product_flash_attention_for_cpu"(%q, %k, %v, %zero, %true)
      : (!torch.vtensor<[1,4,16,64],bf16>, !torch.vtensor<[1,4,16,64],bf16>, !torch.vtensor<[1,4,16,64],bf16>, !torch.float, !torch.bool)
      -> (!torch.vtensor<[1,4,16,64],bf16>, !torch.vtensor<[1,4,16],f32>)
  return %o#0 : !torch.vtensor<[1,4,16,64],bf16>
}

// -----

// The first index among equal ones; a NaN counts as the maximum.
// CHECK-LABEL: func.func @argmax
func.func @argmax(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4],si64> {
  %dim = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // CHECK: emmy_graph.reduce max %{{.+}} dims [1]
  // CHECK: emmy_graph.iota dim 1 : tensor<1x8xi64>
  // CHECK: arith.cmpf oeq
  // CHECK: arith.cmpf uno
  // CHECK: emmy_graph.reduce min %{{.+}} dims [1]
  %y = "torch.aten.argmax"(%x, %dim, %false) : (!torch.vtensor<[4,8],f32>, !torch.int, !torch.bool) -> !torch.vtensor<[4],si64>
  return %y : !torch.vtensor<[4],si64>
}
