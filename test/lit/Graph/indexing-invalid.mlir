// RUN: emmy-opt %s -split-input-file -verify-diagnostics
// Each constraint of the primitives that read and write by index.

func.func @take_c1(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{expects a dimension below 1, but got 1}}
  %y = emmy_graph.take %x, %i dim 1 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @take_c2(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error @below {{expects integer indices, but got 'tensor<2xf32>'}}
  %y = emmy_graph.take %x, %i dim 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{expects a dimension below 1, but got 1}}
  %y = emmy_graph.gather %x, %i dim 1 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error @below {{expects integer indices, but got 'tensor<2xf32>'}}
  %y = emmy_graph.gather %x, %i dim 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @scatter_c1(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{expects a dimension below 1, but got 1}}
  %y = emmy_graph.scatter %x, %i, %u dim 1 : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scatter_c2(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{expects a vector of integer indices, but got 'tensor<2x1xi64>'}}
  %y = emmy_graph.scatter %x, %i, %u dim 0 : (tensor<4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scatter_c3(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<3xf32>) {
  // expected-error @below {{expects updates of type 'tensor<2xf32>', but got 'tensor<3xf32>'}}
  %y = emmy_graph.scatter %x, %i, %u dim 0 : (tensor<4xf32>, tensor<2xi64>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scatter_c4(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{expects a result of the operand's type, but got 'tensor<5xf32>'}}
  %y = emmy_graph.scatter %x, %i, %u dim 0 : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<5xf32>
  return
}
