// RUN: emmy-opt %s --split-input-file --verify-diagnostics
// Each branch of the verifiers of kernels, accesses and indices.

// expected-error @below {{'emmy_fuse.kernel' op declares axis 'm' twice}}
emmy_fuse.kernel @repeats_an_axis() outs(%y: tensor<8xf32>) axes(m = 8, m = 4) { // kernel_c1
}

// -----

// expected-error @below {{'emmy_fuse.kernel' op expects '#emmy_fuse.axis' attributes in 'axes', but got 3 : i64}}
"emmy_fuse.kernel"() <{axes = [3], numInputs = 0 : i64, sym_name = "has_a_number_for_an_axis"}> ({
^bb0(%y: tensor<8xf32>):
}) : () -> ()

// -----

// expected-error @below {{'emmy_fuse.kernel' op expects at least 2 arguments, but got 1}}
"emmy_fuse.kernel"() <{axes = [], numInputs = 2 : i64, sym_name = "lacks_an_input"}> ({
^bb0(%y: tensor<8xf32>):
}) : () -> ()

// -----

// expected-error @below {{'emmy_fuse.kernel' op expects tensors, but argument #0 is 'f32'}}
emmy_fuse.kernel @takes_a_scalar(%x: f32) outs(%y: tensor<8xf32>) axes(m = 8) {
}

// -----

emmy_fuse.kernel @writes_an_input(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) { // kernel_c2
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.store' op stores to an input of the kernel}}
  emmy_fuse.store %a to %x over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8xf32>
}

// -----

emmy_fuse.kernel @orders_axes_otherwise(%x: tensor<4x8xf32>) outs(%y: tensor<4x8xf32>) axes(m = 4, n = 8) { // kernel_c3
  // expected-error @below {{'emmy_fuse.load' op expects axes of the kernel in its order, but got [n, m]}}
  %a = emmy_fuse.load %x over [n, m] at [m, n] : tensor<4x8xf32>
}

// -----

emmy_fuse.kernel @names_an_unknown_axis(%x: tensor<4x8xf32>) outs(%y: tensor<4x8xf32>) axes(m = 4) { // kernel_c3
  // expected-error @below {{'emmy_fuse.index' op expects axes of the kernel in its order, but got [n]}}
  %a = emmy_fuse.index over [n] at n
}

// -----

emmy_fuse.kernel @has_too_few_indices(%x: tensor<4x8xf32>) outs(%y: tensor<4x8xf32>) axes(m = 4, n = 8) { // load_c1
  // expected-error @below {{'emmy_fuse.load' op expects 2 indices into 'tensor<4x8xf32>', but got 1}}
  %a = emmy_fuse.load %x over [m] at [m] : tensor<4x8xf32>
}

// -----

emmy_fuse.kernel @maps_too_few_dimensions(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8, n = 8) { // load_c2
  // expected-error @below {{'emmy_fuse.load' op expects a map over 2 dimensions, but got 1}}
  %a = "emmy_fuse.load"(%x) <{map = affine_map<(d0) -> (d0)>}> : (tensor<8xf32>) -> !emmy_fuse.value<[m, n] x f32>
}

// -----

emmy_fuse.kernel @loads_another_type(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) {
  // expected-error @below {{'emmy_fuse.load' op expects element type 'f32', but got 'bf16'}}
  %a = "emmy_fuse.load"(%x) <{map = affine_map<(d0) -> (d0)>}> : (tensor<8xf32>) -> !emmy_fuse.value<[m] x bf16>
}

// -----

emmy_fuse.kernel @indexes_by_floats(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) { // load_c3
  %i = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.load' op expects integers in index #0, but got 'f32'}}
  %a = emmy_fuse.load %x over [m] using(%i : !emmy_fuse.value<[m] x f32>) at [i0] : tensor<8xf32>
}

// -----

emmy_fuse.kernel @indexes_over_more_axes(%x: tensor<8xf32>, %ids: tensor<8xi64>) outs(%y: tensor<8xf32>) axes(m = 8, n = 8) { // load_c3
  %i = emmy_fuse.load %ids over [n] at [n] : tensor<8xi64>
  // expected-error @below {{'emmy_fuse.load' op expects index #0 to vary over [m] only, but it varies over "n"}}
  %a = emmy_fuse.load %x over [m] using(%i : !emmy_fuse.value<[n] x i64>) at [i0] : tensor<8xf32>
}

// -----

emmy_fuse.kernel @stores_too_few_indices(%x: tensor<8xf32>) outs(%y: tensor<8x8xf32>) axes(m = 8) { // store_c1
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.store' op expects 2 indices into 'tensor<8x8xf32>', but got 1}}
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8x8xf32>
}

// -----

emmy_fuse.kernel @stores_over_fewer_axes(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8, n = 8) { // store_c2
  %a = emmy_fuse.load %x over [n] at [n] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.store' op expects a value over [m] only, but it varies over "n"}}
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[n] x f32>, tensor<8xf32>
}

// -----

emmy_fuse.kernel @stores_another_type(%x: tensor<8xf32>) outs(%y: tensor<8xbf16>) axes(m = 8) { // store_c3
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.store' op expects element type 'bf16', but got 'f32'}}
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8xbf16>
}

// -----

emmy_fuse.kernel @has_two_expressions() outs(%y: tensor<8xf32>) axes(m = 8) {
  // expected-error @below {{'emmy_fuse.index' op expects one expression over [m]}}
  %a = "emmy_fuse.index"() <{map = affine_map<(d0) -> (d0, d0)>}> : () -> !emmy_fuse.value<[m] x i64>
}
