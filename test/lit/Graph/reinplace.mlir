// RUN: emmy-opt %s --emmy-reinplace | FileCheck %s
// An argument whose new value scatters alone make is written in place, unless something reads what they overwrite.

// CHECK-LABEL: func.func @cache_write
// CHECK-SAME:    (%{{.+}}: tensor<64x8xf32> {emmy.aliases = 0 : i64, emmy.mutable}
func.func @cache_write(%cache: tensor<64x8xf32> {emmy.aliases = 0 : i64}, %at: tensor<1xi64>, %row: tensor<1x8xf32>) -> tensor<64x8xf32> {
  %new = emmy_graph.scatter %cache, %at, %row dim 0 : (tensor<64x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<64x8xf32>
  return %new : tensor<64x8xf32>
}

// CHECK-LABEL: func.func @two_writes
// CHECK-SAME:    emmy.mutable
func.func @two_writes(%cache: tensor<64x8xf32> {emmy.aliases = 0 : i64}, %a: tensor<1xi64>, %b: tensor<1xi64>, %row: tensor<1x8xf32>) -> tensor<64x8xf32> {
  %once = emmy_graph.scatter %cache, %a, %row dim 0 : (tensor<64x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<64x8xf32>
  %twice = emmy_graph.scatter %once, %b, %row dim 0 : (tensor<64x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<64x8xf32>
  return %twice : tensor<64x8xf32>
}

// CHECK-LABEL: func.func @old_value_is_read
// CHECK-NOT:     emmy.mutable
func.func @old_value_is_read(%cache: tensor<64x8xf32> {emmy.aliases = 0 : i64}, %at: tensor<1xi64>, %row: tensor<1x8xf32>) -> (tensor<64x8xf32>, tensor<64xf32>) {
  %new = emmy_graph.scatter %cache, %at, %row dim 0 : (tensor<64x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<64x8xf32>
  %sum = emmy_graph.reduce add %cache dims [1] : tensor<64x8xf32> -> tensor<64xf32>
  return %new, %sum : tensor<64x8xf32>, tensor<64xf32>
}

// CHECK-LABEL: func.func @computed_value
// CHECK-NOT:     emmy.mutable
func.func @computed_value(%x: tensor<8xf32> {emmy.aliases = 0 : i64}, %y: tensor<8xf32>) -> tensor<8xf32> {
  return %y : tensor<8xf32>
}
