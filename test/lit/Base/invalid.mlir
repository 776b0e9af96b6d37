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

// -----

// dims_c1
// expected-error@below {{expects 2 sizes in the encoding, but got 1}}
func.func private @f(tensor<?x8xf32, #emmy.dims<[s0]>>)

// -----

// dims_c2
// expected-error@below {{expects the encoding to have no number for dynamic dimension #0, but got 4}}
func.func private @f(tensor<?x8xf32, #emmy.dims<[4, 8]>>)

// -----

// dims_c2
// expected-error@below {{expects the encoding to have 8 for dimension #1, but got another size}}
func.func private @f(tensor<?x8xf32, #emmy.dims<[s0, s1]>>)

// -----

// expected-error@below {{expects the encoding to have 8 for dimension #1, but got another size}}
func.func private @f(tensor<?x8xf32, #emmy.dims<[s0, -8]>>)

// -----

func.func private @k()
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'emmy.launch' op ties result #0 to operand #1, but has 1 results and 1 operands}}
  %y = emmy.launch @k(%x) tied [0, 1] : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
