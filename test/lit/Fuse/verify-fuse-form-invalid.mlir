// RUN: emmy-opt %s --split-input-file --verify-diagnostics --emmy-verify-fuse-form
// Each rule of the form, with the pass that should have removed the op.

emmy_fuse.kernel @holds_a_constant() outs(%y: tensor<8xf32>) axes(n = 8) { // fuse_form_1
  // expected-error @below {{violates fuse form: fuse_form_1: 'arith.constant' in a kernel}}
  // expected-note @below {{--emmy-fuse-kernels should have removed it}}
  %c = arith.constant 1.0 : f32
}

// -----

emmy_fuse.kernel @branches_in_a_map(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(n = 8) { // fuse_form_2
  %a = emmy_fuse.load %x over [n] at [n] : tensor<8xf32>
  %b = emmy_fuse.map(%a) : (!emmy_fuse.value<[n] x f32>) -> !emmy_fuse.value<[n] x f32> {
  ^bb0(%p: f32):
    // expected-error @below {{violates fuse form: fuse_form_2: 'scf.execute_region' in the region of a map}}
    // expected-note @below {{--emmy-decompose should have removed it}}
    %r = scf.execute_region -> f32 {
      scf.yield %p : f32
    }
    emmy_fuse.yield %r : f32
  }
  emmy_fuse.store %b to %y over [n] at [n] : !emmy_fuse.value<[n] x f32>, tensor<8xf32>
}

// -----

func.func @main(%x: tensor<4x8xf32>) -> tensor<8x4xf32> { // fuse_form_3
  // expected-error @below {{violates fuse form: fuse_form_3: 'emmy_graph.permute' in a host function}}
  // expected-note @below {{--emmy-fuse-kernels should have removed it}}
  %t = emmy_graph.permute %x dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %t : tensor<8x4xf32>
}
