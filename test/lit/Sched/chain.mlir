// RUN: emmy-opt %s --verify-roundtrip | FileCheck %s
// Attributes of chains: the schedule, its fields in any order, and the range of a pipeline.

// CHECK-LABEL: module @attributes
// CHECK-SAME:  chain = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [3, 2], consumers = 2, registers = [24, 240], section = 8, epilogue = tma, last_first>
// CHECK-SAME:  range = #emmy_sched.range<over [m] from [0, m - 63] to [s0, m + 128] plain [0, m + 64] to [s0, m + 1]>
module @attributes attributes {
  emmy_sched.chain = #emmy_sched.chain<last_first, rows = [m: 128], over = [n: 128], stages = [3, 2], consumers = 2, registers = [24, 240], section = 8, epilogue = tma>,
  emmy_sched.range = #emmy_sched.range<over [m] from [0, m - 63] to [s0, m + 128] plain [0, m + 64] to [s0, m + 1]>
} {
}
