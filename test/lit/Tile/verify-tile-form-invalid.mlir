// RUN: emmy-opt %s --emmy-verify-tile-form -split-input-file -verify-diagnostics
// What an earlier pass should have removed is named, with the rule.

// expected-error @below {{violates tile form: tile_f1}}
// expected-note @below {{--emmy-lower-to-tile should have removed it}}
emmy_sched.program @left_over() outs() axes(m = 8 by 8 grid) {
}

// -----

emmy_tile.kernel @foreign_op() grid [1, 1, 1] warps 1 {
  // expected-error @below {{violates tile form: tile_f2}}
  // expected-note @below {{--emmy-lower-to-tile should have removed it}}
  %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[] x f32, register>
}

// -----

// expected-error @below {{violates tile form: tile_f3, argument #0 has no binding}}
emmy_tile.kernel @unbound(%n: i32) grid [1, 1, 1] warps 1 {
}
