// RUN: emmy-opt %s --split-input-file --verify-diagnostics
// Each branch of the verifiers of maps, reductions, contractions and folds.
!mn = !emmy_fuse.value<[m, n] x f32>
!m = !emmy_fuse.value<[m] x f32>

emmy_fuse.kernel @maps_to_fewer_axes(%x: tensor<4x8xf32>) outs(%y: tensor<4x8xf32>) axes(m = 4, n = 8) { // map_c1
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<4x8xf32>
  // expected-error @below {{'emmy_fuse.map' op expects a result over [m, n], but got [m]}}
  %b = emmy_fuse.map(%a) : (!mn) -> !m {
  ^bb0(%p: f32):
    emmy_fuse.yield %p : f32
  }
}

// -----

emmy_fuse.kernel @lacks_a_block_argument(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) { // map_c2
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.map' op expects 1 block arguments, but got 0}}
  %b = emmy_fuse.map(%a) : (!emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x f32> {
    %c = arith.constant 0.0 : f32
    emmy_fuse.yield %c : f32
  }
}

// -----

emmy_fuse.kernel @has_another_block_argument(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) { // map_c2
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.map' op expects block argument #0 of type 'f32', but got 'bf16'}}
  %b = emmy_fuse.map(%a) : (!emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x bf16> {
  ^bb0(%p: bf16):
    emmy_fuse.yield %p : bf16
  }
}

// -----

emmy_fuse.kernel @yields_another_type(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) { // map_c2
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.map' op expects its region to yield one 'bf16'}}
  %b = emmy_fuse.map(%a) : (!emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x bf16> {
  ^bb0(%p: f32):
    emmy_fuse.yield %p : f32
  }
}

// -----

emmy_fuse.kernel @reduces_an_absent_axis(%x: tensor<4xf32>) outs(%y: tensor<4xf32>) axes(m = 4, n = 8) { // reduce_c1
  %a = emmy_fuse.load %x over [m] at [m] : tensor<4xf32>
  // expected-error @below {{'emmy_fuse.reduce' op expects its operand to vary over "n"}}
  %b = emmy_fuse.reduce add %a over [n] : !emmy_fuse.value<[m] x f32> -> !emmy_fuse.value<[m] x f32>
}

// -----

emmy_fuse.kernel @keeps_a_reduced_axis(%x: tensor<4x8xf32>) outs(%y: tensor<4x8xf32>) axes(m = 4, n = 8) { // reduce_c1
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<4x8xf32>
  // expected-error @below {{'emmy_fuse.reduce' op expects a result over [m], but got [m, n]}}
  %b = emmy_fuse.reduce add %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m, n] x f32>
}

// -----

emmy_fuse.kernel @contracts_an_absent_axis(%x: tensor<4x8xf32>, %w: tensor<4xf32>) outs(%y: tensor<4xf32>) axes(m = 4, k = 8) { // contract_c1
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<4x8xf32>
  %b = emmy_fuse.load %w over [m] at [m] : tensor<4xf32>
  // expected-error @below {{'emmy_fuse.contract' op expects both operands to vary over "k"}}
  %c = emmy_fuse.contract %a, %b over [k]
      : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x f32>
}

// -----

emmy_fuse.kernel @loses_a_kept_axis(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) outs(%y: tensor<4xf32>) axes(m = 4, n = 2, k = 8) { // contract_c2
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<4x8xf32>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<2x8xf32>
  // expected-error @below {{'emmy_fuse.contract' op expects a result over [m, n], but got [m]}}
  %c = emmy_fuse.contract %a, %b over [k]
      : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f32>) -> !emmy_fuse.value<[m] x f32>
}

// -----

emmy_fuse.kernel @carries_its_axis(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(n = 8) { // fold_c1
  %a = emmy_fuse.load %x over [n] at [n] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.fold' op carries a value over its own axis 'n'}}
  %b = emmy_fuse.fold over n init(%a : !emmy_fuse.value<[n] x f32>) {
  ^bb0(%c: !emmy_fuse.value<[n] x f32>):
    emmy_fuse.yield %c : !emmy_fuse.value<[n] x f32>
  }
}

// -----

emmy_fuse.kernel @yields_fewer_values(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8, n = 8) { // fold_c1
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.fold' op expects initial values, block arguments, yielded values and results of the same types}}
  %b = emmy_fuse.fold over n init(%a : !emmy_fuse.value<[m] x f32>) {
  ^bb0(%c: !emmy_fuse.value<[m] x f32>):
    emmy_fuse.yield
  }
}

// -----

emmy_fuse.kernel @ends_otherwise(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8, n = 8) {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{'emmy_fuse.fold' op expects its region to end in 'emmy_fuse.yield'}}
  %b = emmy_fuse.fold over n init(%a : !emmy_fuse.value<[m] x f32>) {
  ^bb0(%c: !emmy_fuse.value<[m] x f32>):
    func.return
  }
}

// -----

emmy_fuse.kernel @reduces_by_another_word(%x: tensor<8xf32>) outs(%y: tensor<f32>) axes(m = 8) {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  // expected-error @below {{expects add, mul, max, min, any or all, but got sub}}
  %b = emmy_fuse.reduce sub %a over [m] : !emmy_fuse.value<[m] x f32> -> !emmy_fuse.value<[] x f32>
}
