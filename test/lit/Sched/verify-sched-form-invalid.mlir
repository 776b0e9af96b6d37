// RUN: emmy-opt %s --emmy-verify-sched-form -split-input-file -verify-diagnostics
// What an earlier pass should have removed is named, with the rule.

// expected-error @below {{violates sched form: sched_f1}}
// expected-note @below {{--emmy-apply-schedule should have removed it}}
emmy_fuse.kernel @left_over(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8xf32>
}

// -----

emmy_sched.program @foreign_op() outs() axes(m = 8 by 8 grid) schedule #emmy_sched.contraction<tile = [m: 8, n: 8], step = 64, stages = 1, consumers = 1, cluster = 1, multicast = none, raster = 1, wait = 0, epilogue = direct, mma = wgmma> {
  // expected-error @below {{violates sched form: sched_f2}}
  // expected-note @below {{--emmy-apply-schedule should have removed it}}
  %c = arith.constant 1 : i32
}

// -----

// expected-error @below {{violates sched form: sched_f3, it has no schedule}}
emmy_sched.program @unscheduled() outs() axes(m = 8 by 8 grid) {
}
