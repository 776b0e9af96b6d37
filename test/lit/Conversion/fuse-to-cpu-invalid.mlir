// RUN: emmy-opt %s --convert-emmy-fuse-to-llvm -split-input-file -verify-diagnostics
// Kernels that the loops of the CPU cannot express.

// expected-error@below {{expects tensors of integers or floats with known sizes, but argument #0 is 'tensor<?xf32>'}}
emmy_fuse.kernel @unknown_size(%x: tensor<?xf32>) outs(%y: tensor<4xf32>) axes(m = 4) {
}

// -----

// expected-error@below {{expects tensors of integers or floats with known sizes, but argument #0 is 'tensor<4xcomplex<f32>>'}}
emmy_fuse.kernel @complex(%x: tensor<4xcomplex<f32>>) outs(%y: tensor<4xf32>) axes(m = 4) {
}
