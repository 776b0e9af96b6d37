// RUN: emmy-opt %s --emmy-simulate=schedules=2 -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Threads that write one place by one op: a race, unless the threads of a warp write equal values.

#line = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>
emmy_tile.kernel @scatters_different_values(%y: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1xi32>}]}} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %at = emmy_tile.splat %zero : i64 -> !emmy_tile.frag<32xi64, #line>
  %v = emmy_tile.coord 0 from %c0 : !emmy_tile.frag<32xi32, #line>
  // expected-error@below {{violates data-race: CTA 0 writes byte 0 of buffer #0 twice by one op, with different values: either may stay}}
  emmy_tile.scatter %v to %y at %at : !emmy_tile.frag<32xi32, #line>, !emmy_tile.ptr<i32>, !emmy_tile.frag<32xi64, #line>
}

// -----

#line = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>
emmy_tile.kernel @stores_different_values(%y: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1xi32>}]}} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %v = emmy_tile.coord 0 from %c0 : !emmy_tile.frag<32xi32, #line>
  // expected-error@below {{violates data-race: CTA 0 writes byte 0 of buffer #0 twice by one op}}
  emmy_tile.store %v to %y[%zero] strides(%zero) : !emmy_tile.frag<32xi32, #line>, !emmy_tile.ptr<i32>
}

// -----

// Of several warps, any may come last, whatever they write.
#line = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = [4:(32)]>
emmy_tile.kernel @warps_store_one_value(%y: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<1xi32>}]}} {
  %c7 = arith.constant 7 : i32
  %zero = arith.constant 0 : i64
  %v = emmy_tile.splat %c7 : i32 -> !emmy_tile.frag<128xi32, #line>
  // expected-error@below {{violates data-race: CTA 0 writes byte 0 of buffer #0 without an order after an access of the same bytes}}
  emmy_tile.store %v to %y[%zero] strides(%zero) : !emmy_tile.frag<128xi32, #line>, !emmy_tile.ptr<i32>
}

// -----

#line = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>
emmy_tile.kernel @scatters_one_value_and_then_another(%y: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1xi32>, expect = "constant 8"}]}} {
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c9 = arith.constant 9 : i32
  %zero = arith.constant 0 : i64
  %at = emmy_tile.splat %zero : i64 -> !emmy_tile.frag<32xi64, #line>
  scf.for %i = %c7 to %c9 step %c1 : i32 {
    %v = emmy_tile.splat %i : i32 -> !emmy_tile.frag<32xi32, #line>
    emmy_tile.scatter %v to %y at %at : !emmy_tile.frag<32xi32, #line>, !emmy_tile.ptr<i32>, !emmy_tile.frag<32xi64, #line>
  }
}

// -----

// Rows of a tensor map without a stride lie on one another.
#rows = #emmy_tile.layout<reg = [2:(4,0)], lane = [32:(0,1)], warp = [4:(1,0)]>
emmy_tile.kernel @stores_rows_over_one_another(%y: !emmy_tile.tmap<8x32xf32> {emmy.bind = #emmy.bind_tma<0, sizes = [8, 32], strides = [0], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 4 attributes {emmy.simulate = {buffers = [{type = tensor<1x32xf32>}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<8x32xf32>
  %c0 = arith.constant 0 : i32
  %row = emmy_tile.coord 0 from %c0 : !emmy_tile.frag<8x32xi32, #rows>
  %v = emmy_tile.map(%row) : (!emmy_tile.frag<8x32xi32, #rows>) -> !emmy_tile.frag<8x32xf32, #rows> {
  ^bb0(%a: i32):
    %r = arith.sitofp %a : i32 to f32
    emmy_tile.yield %r : f32
  }
  emmy_tile.store_shared %v to %tile : !emmy_tile.frag<8x32xf32, #rows>, !emmy_tile.shared<8x32xf32>
  emmy_tile.fence_async
  emmy_tile.sync cta
  emmy_tile.one_thread {
    // expected-error@below {{violates data-race: CTA 0 writes byte 2 of buffer #0 twice by one op, with different values}}
    emmy_tile.tma_store %tile to %y[%c0, %c0] : !emmy_tile.shared<8x32xf32>, !emmy_tile.tmap<8x32xf32>
    emmy_tile.tma_commit
    emmy_tile.tma_wait 0
  }
}
