// RUN: emmy-opt %s --emmy-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=RUNS
// RUN: emmy-opt %s --emmy-simulate=schedule=delay=taker -o /dev/null 2>&1 | FileCheck %s --check-prefix=RUNS
// RUN: not emmy-opt %s --emmy-simulate=schedule=bogus -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not emmy-opt %s --emmy-simulate=schedule=delay=NOSUCH -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROLE
// RUN: not emmy-opt %s --emmy-simulate=schedules=0 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: echo "module {}" | not emmy-opt --emmy-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY
// What is asked for and cannot be is an error, and what ran is said.

// RUNS: emmy-simulate: @hands_over: 1 launch of 1 program under 20 schedules, 1 buffer compared
// NAME: error: 'emmy_tile.kernel' op expects a schedule of 'random', 'delay=async', 'delay=maker', 'delay=taker', but got 'bogus'
// NAME-NOT: see current operation
// ROLE: but got 'delay=NOSUCH'
// NONE: error: 'builtin.module' op expects at least one schedule, but got schedules=0
// NONE-NOT: see current operation
// EMPTY: error: 'builtin.module' op expects a kernel, or the module, to carry emmy.simulate: nothing was simulated

emmy_tile.kernel @hands_over(%y: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 2
    attributes {emmy.simulate = {buffers = [{type = tensor<1xi32>, fill = "zero", expect = "constant 2"}]}} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  emmy_tile.warp_specialize {
    emmy_tile.role "maker" warps 1 {
      emmy_tile.one_thread {
        %old = emmy_tile.atomic_add %y[%zero], %c1 : !emmy_tile.ptr<i32>, i32 -> i32
      }
    }
    emmy_tile.role "taker" warps 1 {
      emmy_tile.one_thread {
        %old = emmy_tile.atomic_add %y[%zero], %c1 : !emmy_tile.ptr<i32>, i32 -> i32
      }
    }
  }
}
