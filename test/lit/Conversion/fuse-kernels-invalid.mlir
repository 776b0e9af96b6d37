// RUN: emmy-opt %s --split-input-file --verify-diagnostics --emmy-fuse-kernels
// What the pass refuses, and what to do about it.

func.func @holds_a_composite(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expects primitives of emmy_graph, but got 'emmy_graph.softmax'}}
  // expected-note @below {{--emmy-decompose turns composite operations into primitives}}
  %y = emmy_graph.softmax %x dim 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// expected-error @below {{expects tensors with known or symbolic sizes (#emmy.dims), but got 'tensor<?x8xf32>'}}
func.func @has_a_nameless_size(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %y = emmy_graph.reduce add %x dims [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-error @below {{expects one block in a function of primitives}}
func.func @branches(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = emmy_graph.map(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: f32):
    emmy_graph.yield %p : f32
  }
  return %y : tensor<8xf32>
^unused:
  return %x : tensor<8xf32>
}

// -----

func.func @scatters_another_rank(%x: tensor<4x8xf32>, %i: tensor<2xi64>, %u: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'emmy_graph.scatter' op expects updates of type 'tensor<2x8xf32>', but got 'tensor<8xf32>'}}
  %y = emmy_graph.scatter %x, %i, %u dim 0 : (tensor<4x8xf32>, tensor<2xi64>, tensor<8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @mixes_levels(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{expects primitives of emmy_graph, but got 'emmy.launch'}}
  // expected-note @below {{--emmy-decompose turns composite operations into primitives}}
  %y = emmy.launch @mixes_levels(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = emmy_graph.permute %y dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}
