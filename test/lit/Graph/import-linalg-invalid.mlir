// RUN: emmy-opt %s -split-input-file -verify-diagnostics --emmy-import-linalg
// What has no primitives is refused with the reason.

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'linalg.exp' cannot be imported: it has dynamic sizes}}
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @windows(%x: tensor<1x8x8x1xf32>, %k: tensor<3x3x1x1xf32>, %o: tensor<1x6x6x1xf32>) -> tensor<1x6x6x1xf32> {
  // expected-error @below {{'linalg.conv_2d_nhwc_hwcf' cannot be imported: its indexing is no permutation of loops}}
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x8x8x1xf32>, tensor<3x3x1x1xf32>) outs(%o : tensor<1x6x6x1xf32>) -> tensor<1x6x6x1xf32>
  return %y : tensor<1x6x6x1xf32>
}

// -----

func.func @fill_with_an_argument(%v: f32, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.fill' cannot be imported: it fills with a value that is not constant}}
  %y = linalg.fill ins(%v : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @other_tensor_op(%x: tensor<4xf32>, %i: index) -> tensor<1xf32> {
  // expected-error @below {{'tensor.extract' cannot be imported: it is not among the supported ops}}
  %y = tensor.extract %x[%i] : tensor<4xf32>
  %z = tensor.from_elements %y : tensor<1xf32>
  return %z : tensor<1xf32>
}

// -----

func.func @odd_reduction(%x: tensor<4x8xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.generic' cannot be imported: its body is no sum, product, maximum or minimum of the output and an element}}
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %c: f32):
    %m = arith.subf %c, %a : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
