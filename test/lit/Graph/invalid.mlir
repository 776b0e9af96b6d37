// RUN: emmy-opt %s -split-input-file -verify-diagnostics
// Each constraint of the primitives.

func.func @map_c1(%x: tensor<3xf32>) {
  // expected-error @below {{expects operand #0 to broadcast to 'tensor<4xf32>', but got 'tensor<3xf32>'}}
  %y = emmy_graph.map(%x) : (tensor<3xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32):
    emmy_graph.yield %a : f32
  }
  return
}

// -----

func.func @map_c2_count(%x: tensor<4xf32>) {
  // expected-error @below {{expects 1 block arguments, but got 2}}
  %y = emmy_graph.map(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    emmy_graph.yield %a : f32
  }
  return
}

// -----

func.func @map_c2_type(%x: tensor<4xf32>) {
  // expected-error @below {{expects block argument #0 of type 'f32', but got 'f16'}}
  %y = emmy_graph.map(%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: f16):
    emmy_graph.yield %a : f16
  }
  return
}

// -----

func.func @map_c2_yield(%x: tensor<4xf32>) {
  // expected-error @below {{expects its region to yield one 'f16'}}
  %y = emmy_graph.map(%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: f32):
    emmy_graph.yield %a : f32
  }
  return
}

// -----

func.func @reduce_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects ascending dimensions below 2, but got 0}}
  %y = emmy_graph.reduce add %x dims [1, 0] : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a result of type 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %y = emmy_graph.reduce add %x dims [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @contract_c1_pairs(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects pairs of dimensions, but got 1 numbers}}
  %y = emmy_graph.contract %x, %x batch [0] over [1, 1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @contract_c1_range(%x: tensor<4x8xf32>) {
  // expected-error @below {{pairs dimensions 2 and 1, which are out of range}}
  %y = emmy_graph.contract %x, %x batch [] over [2, 1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @contract_c1_size(%x: tensor<4x8xf32>) {
  // expected-error @below {{pairs dimensions 0 and 1, which are used twice or differ in size}}
  %y = emmy_graph.contract %x, %x batch [] over [0, 1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @iota_dimension() {
  // expected-error @below {{expects a dimension of 'tensor<4xi64>', but got 1}}
  %y = emmy_graph.iota dim 1 : tensor<4xi64>
  return
}

// -----

func.func @reshape_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects 32 elements, but got 'tensor<31xf32>'}}
  %y = emmy_graph.reshape %x : tensor<4x8xf32> -> tensor<31xf32>
  return
}

// -----

func.func @permute_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a permutation of 2 dimensions, but got 0}}
  %y = emmy_graph.permute %x dims [0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @permute_c1_count(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a permutation of 2 dimensions, but got 1}}
  %y = emmy_graph.permute %x dims [0] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @expand_c1(%x: tensor<3xf32>) {
  // expected-error @below {{expects an operand that broadcasts to 'tensor<4xf32>', but got 'tensor<3xf32>'}}
  %y = emmy_graph.expand %x : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects 2 starts and steps}}
  %y = emmy_graph.slice %x starts <[0]> steps [1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<4xf32>) {
  // expected-error @below {{expects no step of 0}}
  %y = emmy_graph.slice %x starts <[0]> steps [0] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @concat_c1_rank(%x: tensor<4xf32>, %z: tensor<4x1xf32>) {
  // expected-error @below {{expects operands of rank 1, but got 'tensor<4x1xf32>'}}
  %y = emmy_graph.concat %x, %z dim 0 : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_c1_sizes(%x: tensor<4x8xf32>, %z: tensor<4x7xf32>) {
  // expected-error @below {{expects operands that agree but along dimension 0, but got 'tensor<4x7xf32>'}}
  %y = emmy_graph.concat %x, %z dim 0 : (tensor<4x8xf32>, tensor<4x7xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<4xf32>) {
  // expected-error @below {{expects a padding value of no dimensions, but got 'tensor<4xf32>'}}
  %y = emmy_graph.pad %x, %x low [1] : tensor<4xf32>, tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @pad_low(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @below {{expects one number in 'low' for each dimension, but got 2}}
  %y = emmy_graph.pad %x, %v low [1, 1] : tensor<4xf32>, tensor<f32> -> tensor<5xf32>
  return
}

// -----

func.func @take_dimension(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{expects a dimension below 1, but got 1}}
  %y = emmy_graph.take %x, %i dim 1 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_c1(%x: tensor<4x8xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{expects indices of the operand's rank, but got 'tensor<2xi64>'}}
  %y = emmy_graph.gather %x, %i dim 1 : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c3(%x: tensor<4xf32>) {
  // expected-error @below {{expects i1 elements for any, but got 'tensor<4xf32>'}}
  %y = emmy_graph.reduce any %x dims [0] : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @iota_c2() {
  // expected-error @below {{expects i64 elements, but got 'tensor<4xf32>'}}
  %y = emmy_graph.iota dim 0 : tensor<4xf32>
  return
}
