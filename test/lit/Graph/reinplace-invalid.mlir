// RUN: emmy-opt %s -split-input-file -verify-diagnostics --emmy-reinplace
// What `emmy.aliases` may not name, and the remarks on arguments that stay.

// expected-error @below {{argument #0 aliases result #1, but there are 1}}
func.func @no_such_result(%x: tensor<8xf32> {emmy.aliases = 1 : i64}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{argument #0 aliases result #0 of another type}}
func.func @other_type(%x: tensor<8xf32> {emmy.aliases = 0 : i64}, %y: tensor<4xf32>) -> tensor<4xf32> {
  return %y : tensor<4xf32>
}

// -----

// expected-remark @below {{argument #0 is not written in place: its new value is not made by scatters alone}}
func.func @computed(%x: tensor<8xf32> {emmy.aliases = 0 : i64}, %y: tensor<8xf32>) -> tensor<8xf32> {
  return %y : tensor<8xf32>
}

// -----

// expected-remark @below {{argument #0 is not written in place: a value that would be overwritten has another reader}}
func.func @read_twice(%x: tensor<8xf32> {emmy.aliases = 0 : i64}, %i: tensor<1xi64>, %u: tensor<1xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %new = emmy_graph.scatter %x, %i, %u dim 0 : (tensor<8xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<8xf32>
  return %new, %x : tensor<8xf32>, tensor<8xf32>
}

// -----

// expected-remark @below {{argument #0 is not written in place: its new value is the old one}}
func.func @unchanged(%x: tensor<8xf32> {emmy.aliases = 0 : i64}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
