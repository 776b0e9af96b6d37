// RUN: emmy-opt %s -split-input-file -verify-diagnostics --emmy-decompose
// A size without an expression cannot be computed with.

func.func @size_without_expression(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'emmy_graph.softmax' op needs sizes with expressions (#emmy.dims) to be decomposed, but got 'tensor<?xf32>'}}
  %y = emmy_graph.softmax %x dim 0 : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
