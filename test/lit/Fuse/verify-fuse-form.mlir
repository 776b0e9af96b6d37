// RUN: emmy-opt %s --emmy-verify-fuse-form | FileCheck %s
// Kernels and launches pass.

// CHECK-LABEL: emmy_fuse.kernel @copy
emmy_fuse.kernel @copy(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(n = 8) {
  %a = emmy_fuse.load %x over [n] at [n] : tensor<8xf32>
  emmy_fuse.store %a to %y over [n] at [n] : !emmy_fuse.value<[n] x f32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = emmy.launch @copy(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
