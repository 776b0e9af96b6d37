// RUN: emmy-opt %s --split-input-file --verify-diagnostics
// Each verifier branch of the base dialect.

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'emmy.launch' op names kernel 'missing', but the module has no such symbol}}
  %y = emmy.launch @missing(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func private @k()
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'emmy.launch' op expects pairs (result, operand) in 'tied', but got 1 numbers}}
  %y = emmy.launch @k(%x) tied [0] : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
