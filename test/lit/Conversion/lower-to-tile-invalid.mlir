// RUN: emmy-opt %s --emmy-lower-to-tile -split-input-file -verify-diagnostics
// A program needs the schedule that says how to lower it.

// expected-error @below {{has no schedule that can be lowered}}
emmy_sched.program @unscheduled() outs() axes(m = 8 by 8 grid) {
}
