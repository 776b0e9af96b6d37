// RUN: emmy-opt %s -split-input-file -verify-diagnostics
// Each constraint of the composite ops.

func.func @linear_c1(%x: tensor<4x8xf32>, %w: tensor<16x9xf32>) {
  // expected-error @below {{expects a weight whose dimension 1 is the operand's last, but got 'tensor<16x9xf32>'}}
  %y = emmy_graph.linear %x, %w : (tensor<4x8xf32>, tensor<16x9xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @linear_c2(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{expects a bias with the weight's dimension 0, but got 'tensor<8xf32>'}}
  %y = emmy_graph.linear %x, %w bias %b : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @linear_c3(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) {
  // expected-error @below {{expects a result of type 'tensor<4x16xf32>', but got 'tensor<4x8xf32>'}}
  %y = emmy_graph.linear %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @matmul_c1(%x: tensor<f32>, %w: tensor<8xf32>) {
  // expected-error @below {{expects operands with a dimension, but got 'tensor<f32>'}}
  %y = emmy_graph.matmul %x, %w : (tensor<f32>, tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @matmul_c2(%x: tensor<4x8xf32>, %w: tensor<9x4xf32>) {
  // expected-error @below {{expects equal summed sizes, but got 'tensor<4x8xf32>' and 'tensor<9x4xf32>'}}
  %y = emmy_graph.matmul %x, %w : (tensor<4x8xf32>, tensor<9x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_c3(%x: tensor<2x4x8xf32>, %w: tensor<3x8x4xf32>) {
  // expected-error @below {{expects leading sizes that broadcast, but got 'tensor<2x4x8xf32>' and 'tensor<3x8x4xf32>'}}
  %y = emmy_graph.matmul %x, %w : (tensor<2x4x8xf32>, tensor<3x8x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @softmax_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a dimension below 2, but got 2}}
  %y = emmy_graph.softmax %x dim 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @norm_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a 'rank' between 1 and 2, but got 3}}
  %y = emmy_graph.rms_norm %x {eps = 1.0e-06 : f64, rank = 3 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @norm_c2(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{expects a weight and bias with the operand's last 1 sizes, but got 'tensor<4xf32>'}}
  %y = emmy_graph.rms_norm %x weight %g {eps = 1.0e-06 : f64, rank = 1 : i64} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @group_norm_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects channels that 3 groups divide, but got 'tensor<4x8xf32>'}}
  %y = emmy_graph.group_norm %x {eps = 1.0e-05 : f64, groups = 3 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @group_norm_c2(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{expects a weight and bias of 8 elements, but got 'tensor<4xf32>'}}
  %y = emmy_graph.group_norm %x weight %g {eps = 1.0e-05 : f64, groups = 2 : i64} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @embedding_c1(%t: tensor<4x8xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{expects a matrix and integers, but got 'tensor<4x8xf32>' and 'tensor<3xf32>'}}
  %y = emmy_graph.embedding %t, %i : (tensor<4x8xf32>, tensor<3xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @attention_c1(%q: tensor<4x8xf32>, %k: tensor<1x4x8xf32>) {
  // expected-error @below {{expects operands of one rank above 1, but got 'tensor<4x8xf32>', 'tensor<1x4x8xf32>' and 'tensor<4x8xf32>'}}
  %y = emmy_graph.attention %q, %k, %q {scale = 1.0 : f64} : (tensor<4x8xf32>, tensor<1x4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @attention_c2(%q: tensor<4x8xf32>, %k: tensor<4x9xf32>) {
  // expected-error @below {{expects query and key of one width, and key and value of as many rows, but got 'tensor<4x8xf32>', 'tensor<4x9xf32>' and 'tensor<4x9xf32>'}}
  %y = emmy_graph.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<4x8xf32>, tensor<4x9xf32>, tensor<4x9xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @attention_c3(%q: tensor<3x4x8xf32>, %k: tensor<2x4x8xf32>) {
  // expected-error @below {{expects operands that agree in dimension 0, but got 'tensor<3x4x8xf32>', 'tensor<2x4x8xf32>' and 'tensor<2x4x8xf32>'}}
  %y = emmy_graph.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<3x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @attention_c4(%q: tensor<4x8xf32>, %k: tensor<5x8xf32>, %m: tensor<5x4xi1>) {
  // expected-error @below {{expects a mask that broadcasts to 'tensor<4x5xi1>', but got 'tensor<5x4xi1>'}}
  %y = emmy_graph.attention %q, %k, %k mask %m {scale = 1.0 : f64}
      : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x4xi1>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pointwise_c1(%x: tensor<4xf32>) {
  // expected-error @below {{expects 2 operands for mul, but got 1}}
  %y = emmy_graph.pointwise mul(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pointwise_c2(%x: tensor<3xf32>) {
  // expected-error @below {{expects operand #0 to broadcast to 'tensor<4xf32>', but got 'tensor<3xf32>'}}
  %y = emmy_graph.pointwise exp(%x) : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @element_type(%x: tensor<4xindex>) {
  // expected-error @below {{operand #0 must be variadic of ranked tensor of signless integer or floating-point values, but got 'tensor<4xindex>'}}
  %y = emmy_graph.pointwise neg(%x) : (tensor<4xindex>) -> tensor<4xindex>
  return
}
