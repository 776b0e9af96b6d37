// RUN: emmy-opt %s --emmy-simulate=schedules=1 -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Integer ops without a value, and loops that never pause.

emmy_tile.kernel @divides_by_zero(%n: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {symbols = array<i64: 0>}} {
  %c7 = arith.constant 7 : i32
  // expected-error@below {{'arith.divsi' op violates arithmetic: CTA 0 divides 7 by 0}}
  %q = arith.divsi %c7, %n : i32
}

// -----

#line = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>
emmy_tile.kernel @divides_elements_by_zero(%n: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {symbols = array<i64: 3>}} {
  %c0 = arith.constant 0 : i32
  %x = emmy_tile.coord 0 from %c0 : !emmy_tile.frag<32xi32, #line>
  %y = emmy_tile.map(%x, %n) : (!emmy_tile.frag<32xi32, #line>, i32) -> !emmy_tile.frag<32xi32, #line> {
  ^bb0(%a: i32, %b: i32):
    // expected-error@below {{'arith.remui' op violates arithmetic: CTA 0 divides 3 by 0}}
    %r = arith.remui %b, %a : i32
    emmy_tile.yield %r : i32
  }
}

// -----

emmy_tile.kernel @quotient_that_does_not_fit(%n: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {symbols = array<i64: -2147483648>}} {
  %minus = arith.constant -1 : i32
  // expected-error@below {{violates arithmetic: CTA 0 divides -2147483648 by -1, which does not fit 32 bits}}
  %q = arith.floordivsi %n, %minus : i32
}

// -----

emmy_tile.kernel @remainder_of_the_least_number(%n: i64 {emmy.bind = #emmy.bind_size<s0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {symbols = array<i64: -9223372036854775808>}} {
  %minus = arith.constant -1 : i64
  // expected-error@below {{violates arithmetic: CTA 0 divides -9223372036854775808 by -1, which does not fit 64 bits}}
  %q = arith.remsi %n, %minus : i64
}

// -----

emmy_tile.kernel @shifts_too_far(%n: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {symbols = array<i64: 32>}} {
  %c1 = arith.constant 1 : i32
  // expected-error@below {{'arith.shli' op violates arithmetic: CTA 0 shifts 32 bits by 32}}
  %q = arith.shli %c1, %n : i32
}

// -----

emmy_tile.kernel @shifts_backwards(%n: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {symbols = array<i64: -1>}} {
  %c1 = arith.constant 1 : i32
  // expected-error@below {{'arith.shrsi' op violates arithmetic: CTA 0 shifts 32 bits by -1}}
  %q = arith.shrsi %c1, %n : i32
}

// -----

emmy_tile.kernel @counts_for_ever() grid [1, 1, 1] warps 1 attributes {emmy.simulate = {}} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = arith.constant 100000000 : i32
  // expected-error@below {{'scf.for' op violates livelock: CTA 0 executes more than 2000000 ops without a pause}}
  scf.for %i = %c0 to %end step %c1 : i32 {
  }
}

// -----

// The last step goes beyond what 64 bits hold.
emmy_tile.kernel @counts_to_the_end(%y: !emmy_tile.ptr<i64> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1xi64>, fill = "zero", expect = "constant 2"}]}} {
  %start = arith.constant 9223372036854775800 : i64
  %end = arith.constant 9223372036854775807 : i64
  %c4 = arith.constant 4 : i64
  %zero = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %count = scf.for %i = %start to %end step %c4 iter_args(%n = %zero) -> (i64) : i64 {
    %next = arith.addi %n, %c1 : i64
    scf.yield %next : i64
  }
  %all = emmy_tile.splat %count : i64 -> !emmy_tile.frag<1xi64, #emmy_tile.layout<reg = [], lane = [32:(0)], warp = []>>
  emmy_tile.store %all to %y[%zero] strides(%c1) : !emmy_tile.frag<1xi64, #emmy_tile.layout<reg = [], lane = [32:(0)], warp = []>>, !emmy_tile.ptr<i64>
}
