// RUN: emmy-opt %s -split-input-file -verify-diagnostics
// Every branch of the dialect's verifiers and parsers.

// program_c1
// expected-error @below {{declares axis 'm' twice}}
emmy_sched.program @twice() outs() axes(m = 8 by 8 grid, m = 8 by 8 grid) {
}

// -----

// program_c2
// expected-error @below {{expects a positive block of axis 'm', but got 0}}
emmy_sched.program @no_block() outs() axes(m = 8 by 0 grid) {
}

// -----

// program_c3
// expected-error @below {{expects tensors, but argument #0 is 'f32'}}
emmy_sched.program @scalar(%x: f32) outs() axes(m = 8 by 8 grid) {
}

// -----

// program_c4
emmy_sched.program @unknown_axis() outs() axes(m = 8 by 8 grid) {
  // expected-error @below {{spans axis 'n', which the program does not declare}}
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[n: 8] x f32, register>
}

// -----

// program_c4
emmy_sched.program @other_block() outs() axes(m = 8 by 8 grid) {
  // expected-error @below {{expects a tile of the program's blocks, '!emmy_sched.tile<[m: 8] x f32, register>', but got '!emmy_sched.tile<[m: 4] x f32, register>'}}
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 4] x f32, register>
}

// -----

// expected-error @below {{expects '#emmy_sched.axis' attributes in 'axes', but got 1 : i64}}
"emmy_sched.program"() <{sym_name = "p", numInputs = 0, axes = [1]}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @below {{expects at least 2 arguments, but got 0}}
"emmy_sched.program"() <{sym_name = "p", numInputs = 2, axes = []}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @below {{expects grid, serial or whole, but got odd}}
emmy_sched.program @kind() outs() axes(m = 8 by 8 odd) {
}

// -----

// pipeline_c1
emmy_sched.program @no_yield() outs() axes(m = 8 by 8 grid, k = 8 by 4 serial) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  // expected-error @below {{expects initial tiles, block arguments, yielded tiles and results of the same types}}
  %s = emmy_sched.pipeline over k init(%z : !emmy_sched.tile<[m: 8] x f32, register>) {
  ^bb0(%c: !emmy_sched.tile<[m: 8] x f32, register>):
    %d = emmy_sched.fill 0 : i32 -> !emmy_sched.tile<[m: 8] x i32, register>
    emmy_sched.yield %d : !emmy_sched.tile<[m: 8] x i32, register>
  }
}

// -----

// pipeline_c2
emmy_sched.program @own_axis() outs() axes(m = 8 by 8 grid, k = 8 by 4 serial) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[k: 4] x f32, register>
  // expected-error @below {{carries a tile over its own axis 'k'}}
  %s = emmy_sched.pipeline over k init(%z : !emmy_sched.tile<[k: 4] x f32, register>) {
  ^bb0(%c: !emmy_sched.tile<[k: 4] x f32, register>):
    emmy_sched.yield %c : !emmy_sched.tile<[k: 4] x f32, register>
  }
}

// -----

// pipeline_c2
emmy_sched.program @grid_axis() outs() axes(m = 8 by 8 grid, k = 8 by 4 grid) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  // expected-error @below {{expects a serial axis of the program, but got 'k'}}
  %s = emmy_sched.pipeline over k init(%z : !emmy_sched.tile<[m: 8] x f32, register>) {
  ^bb0(%c: !emmy_sched.tile<[m: 8] x f32, register>):
    emmy_sched.yield %c : !emmy_sched.tile<[m: 8] x f32, register>
  }
}

// -----

// access_c1
emmy_sched.program @two_offsets(%x: tensor<8xf32>) outs() axes(m = 8 by 8 grid) {
  // expected-error @below {{expects one offset over 1 axes and indices}}
  %a = "emmy_sched.read"(%x) <{over = ["m"], map = affine_map<(d0) -> (d0, d0)>}> : (tensor<8xf32>) -> !emmy_sched.tile<[m: 8] x f32, register>
}

// -----

// access_c2
emmy_sched.program @outside_over(%x: tensor<8xf32>) outs() axes(m = 8 by 8 grid, n = 4 by 4 grid) {
  // expected-error @below {{expects a tile over the axes of the access only, but it spans 'n'}}
  %a = emmy_sched.read %x over [m] at m : tensor<8xf32> -> !emmy_sched.tile<[m: 8, n: 4] x f32, register>
}

// -----

// access_c3
emmy_sched.program @no_limit(%x: tensor<8xf32>) outs() axes(m = 8 by 8 grid) {
  // expected-error @below {{expects as many limits as guards over 1 axes and indices, but got 2}}
  %a = emmy_sched.read %x over [m] at m inside [m - 1] of [8, 8] : tensor<8xf32> -> !emmy_sched.tile<[m: 8] x f32, register>
}

// -----

// access_c4
emmy_sched.program @element(%x: tensor<8xf32>) outs() axes(m = 8 by 8 grid) {
  // expected-error @below {{expects element type 'f32', but got 'bf16'}}
  %a = emmy_sched.read %x over [m] at m : tensor<8xf32> -> !emmy_sched.tile<[m: 8] x bf16, register>
}

// -----

// access_c5
emmy_sched.program @level(%x: tensor<8xf32>) outs() axes(m = 8 by 8 grid) {
  // expected-error @below {{expects a tile in shared memory, but got '!emmy_sched.tile<[m: 8] x f32, register>'}}
  %a = emmy_sched.stage %x over [m] at m via tma : tensor<8xf32> -> !emmy_sched.tile<[m: 8] x f32, register>
}

// -----

// access_c5
emmy_sched.program @level_of_write() outs(%y: tensor<8xf32>) axes(m = 8 by 8 grid) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  %s = emmy_sched.share %z : !emmy_sched.tile<[m: 8] x f32, register> -> !emmy_sched.tile<[m: 8] x f32, shared>
  // expected-error @below {{expects a tile in registers, but got '!emmy_sched.tile<[m: 8] x f32, shared>'}}
  emmy_sched.write %s to %y over [m] at m via direct : !emmy_sched.tile<[m: 8] x f32, shared>, tensor<8xf32>
}

// -----

// share_c1
emmy_sched.program @share() outs() axes(m = 8 by 8 grid) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  // expected-error @below {{expects a register tile and the same tile in shared memory, but got '!emmy_sched.tile<[m: 8] x f32, register>' and '!emmy_sched.tile<[m: 8] x f32, register>'}}
  %s = emmy_sched.share %z : !emmy_sched.tile<[m: 8] x f32, register> -> !emmy_sched.tile<[m: 8] x f32, register>
}

// -----

// fill_c1
emmy_sched.program @fill() outs() axes(m = 8 by 8 grid) {
  // expected-error @below {{expects a number of type 'f32', but got 'i32'}}
  %z = emmy_sched.fill 0 : i32 -> !emmy_sched.tile<[m: 8] x f32, register>
}

// -----

// index_c1
emmy_sched.program @index() outs() axes(m = 8 by 8 grid, n = 4 by 4 grid) {
  // expected-error @below {{expects a tile over the axes of the expression only, but it spans 'n'}}
  %i = emmy_sched.index over [m] at m -> !emmy_sched.tile<[m: 8, n: 4] x i64, register>
}

// -----

// index_c1
emmy_sched.program @index_map() outs() axes(m = 8 by 8 grid) {
  // expected-error @below {{expects one expression over 1 axes}}
  %i = "emmy_sched.index"() <{over = ["m"], map = affine_map<(d0, d1) -> (d0)>}> : () -> !emmy_sched.tile<[m: 8] x i64, register>
}

// -----

// map_c1
emmy_sched.program @map_axes() outs() axes(m = 8 by 8 grid, n = 4 by 4 grid) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  // expected-error @below {{expects a result over the union of its operands' axes, but got '!emmy_sched.tile<[n: 4] x f32, register>'}}
  %a = emmy_sched.map(%z) : (!emmy_sched.tile<[m: 8] x f32, register>) -> !emmy_sched.tile<[n: 4] x f32, register> {
  ^bb0(%e: f32):
    emmy_sched.yield %e : f32
  }
}

// -----

// map_c2
emmy_sched.program @map_arguments() outs() axes(m = 8 by 8 grid) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  // expected-error @below {{expects 1 block arguments, but got 2}}
  %a = emmy_sched.map(%z) : (!emmy_sched.tile<[m: 8] x f32, register>) -> !emmy_sched.tile<[m: 8] x f32, register> {
  ^bb0(%e: f32, %f: f32):
    emmy_sched.yield %e : f32
  }
}

// -----

// map_c2
emmy_sched.program @map_types() outs() axes(m = 8 by 8 grid) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  // expected-error @below {{expects block argument #0 of type 'f32', but got 'f64'}}
  %a = emmy_sched.map(%z) : (!emmy_sched.tile<[m: 8] x f32, register>) -> !emmy_sched.tile<[m: 8] x f64, register> {
  ^bb0(%e: f64):
    emmy_sched.yield %e : f64
  }
}

// -----

// map_c2
emmy_sched.program @map_yield() outs() axes(m = 8 by 8 grid) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  // expected-error @below {{expects its region to yield one 'f64'}}
  %a = emmy_sched.map(%z) : (!emmy_sched.tile<[m: 8] x f32, register>) -> !emmy_sched.tile<[m: 8] x f64, register> {
  ^bb0(%e: f32):
    emmy_sched.yield %e : f32
  }
}

// -----

// reduce_c1
emmy_sched.program @reduce_axis() outs() axes(m = 8 by 8 grid, n = 4 by 4 whole) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  // expected-error @below {{expects its operand to span 'n'}}
  %a = emmy_sched.reduce add %z over [n] : !emmy_sched.tile<[m: 8] x f32, register> -> !emmy_sched.tile<[m: 8] x f32, register>
}

// -----

// reduce_c1
emmy_sched.program @reduce_kept() outs() axes(m = 8 by 8 grid, n = 4 by 4 whole) {
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8, n: 4] x f32, register>
  // expected-error @below {{expects a result over the axes that are not reduced, but got '!emmy_sched.tile<[n: 4] x f32, register>'}}
  %a = emmy_sched.reduce add %z over [n] : !emmy_sched.tile<[m: 8, n: 4] x f32, register> -> !emmy_sched.tile<[n: 4] x f32, register>
}

// -----

!a = !emmy_sched.tile<[m: 8, k: 4] x f32, register>
!b = !emmy_sched.tile<[n: 4, k: 4] x f32, register>

// mma_c1
emmy_sched.program @mma_axes(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) outs() axes(m = 8 by 8 grid, n = 4 by 4 grid, k = 4 by 4 serial) {
  %a = emmy_sched.read %x over [m, k] at m * 4 + k : tensor<8x4xf32> -> !a
  %b = emmy_sched.read %w over [n, k] at n * 4 + k : tensor<4x4xf32> -> !b
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8] x f32, register>
  // expected-error @below {{expects an accumulator over the axes that are not contracted, but got '!emmy_sched.tile<[m: 8] x f32, register>'}}
  %c = emmy_sched.mma %a, %b into %z : !a, !b -> !emmy_sched.tile<[m: 8] x f32, register>
}

// -----

// mma_c2
emmy_sched.program @mma_nothing(%x: tensor<8xf32>, %w: tensor<4xf32>) outs() axes(m = 8 by 8 grid, n = 4 by 4 grid) {
  %a = emmy_sched.read %x over [m] at m : tensor<8xf32> -> !emmy_sched.tile<[m: 8] x f32, register>
  %b = emmy_sched.read %w over [n] at n : tensor<4xf32> -> !emmy_sched.tile<[n: 4] x f32, register>
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8, n: 4] x f32, register>
  // expected-error @below {{expects an axis that both operands span and the accumulator does not}}
  %c = emmy_sched.mma %a, %b into %z : !emmy_sched.tile<[m: 8] x f32, register>, !emmy_sched.tile<[n: 4] x f32, register> -> !emmy_sched.tile<[m: 8, n: 4] x f32, register>
}

// -----

// mma_c3
emmy_sched.program @mma_elements(%x: tensor<8x4xf32>, %w: tensor<4x4xbf16>) outs() axes(m = 8 by 8 grid, n = 4 by 4 grid, k = 4 by 4 serial) {
  %a = emmy_sched.read %x over [m, k] at m * 4 + k : tensor<8x4xf32> -> !emmy_sched.tile<[m: 8, k: 4] x f32, register>
  %b = emmy_sched.read %w over [n, k] at n * 4 + k : tensor<4x4xbf16> -> !emmy_sched.tile<[n: 4, k: 4] x bf16, register>
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 8, n: 4] x f32, register>
  // expected-error @below {{expects operands of one element type, but got 'f32' and 'bf16'}}
  %c = emmy_sched.mma %a, %b into %z : !emmy_sched.tile<[m: 8, k: 4] x f32, register>, !emmy_sched.tile<[n: 4, k: 4] x bf16, register> -> !emmy_sched.tile<[m: 8, n: 4] x f32, register>
}

// -----

// expected-error @below {{expects register or shared, but got global}}
func.func private @level(!emmy_sched.tile<[m: 8] x f32, global>)
