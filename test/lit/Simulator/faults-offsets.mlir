// RUN: emmy-opt %s --emmy-simulate=schedules=1 -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Offsets that 64-bit arithmetic would wrap back into a buffer, and ones before its start, are out of bounds.

emmy_tile.kernel @scalar_far_away(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<32xf32>, fill = "iota"}]}} {
  %far = arith.constant 4611686018427387904 : i64
  // expected-error@below {{violates out-of-bounds: CTA 0 reads more than 2^62 bytes away from buffer #0, which has 128}}
  %v = emmy_tile.load_scalar %x[%far] : !emmy_tile.ptr<f32> -> f32
}

// -----

#line = #emmy_tile.layout<reg = [2:(32)], lane = [32:(1)], warp = []>
emmy_tile.kernel @strides_far_away(%y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}, %v: f32 {emmy.bind = 1.0 : f32})
    grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = [{type = tensor<64xf32>}]}} {
  %zero = arith.constant 0 : i64
  // Element 32 is 2^64 bytes away.
  %stride = arith.constant 144115188075855872 : i64
  %x = emmy_tile.splat %v : f32 -> !emmy_tile.frag<64xf32, #line>
  // expected-error@below {{violates out-of-bounds: CTA 0 writes}}
  emmy_tile.store %x to %y[%zero] strides(%stride) : !emmy_tile.frag<64xf32, #line>, !emmy_tile.ptr<f32>
}

// -----

#line = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>
emmy_tile.kernel @before_the_start(%y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}, %v: f32 {emmy.bind = 1.0 : f32})
    grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = [{type = tensor<32xf32>}]}} {
  %one = arith.constant 1 : i64
  %before = arith.constant -1 : i64
  %x = emmy_tile.splat %v : f32 -> !emmy_tile.frag<32xf32, #line>
  // expected-error@below {{violates out-of-bounds: CTA 0 writes bytes -4 to -1 of buffer #0, which has 128}}
  emmy_tile.store %x to %y[%before] strides(%one) : !emmy_tile.frag<32xf32, #line>, !emmy_tile.ptr<f32>
}

// -----

#line = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>
emmy_tile.kernel @gathers_before_the_start(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<32xf32>, fill = "iota"}]}} {
  %before = arith.constant -1 : i64
  %at = emmy_tile.splat %before : i64 -> !emmy_tile.frag<32xi64, #line>
  // expected-error@below {{violates out-of-bounds: CTA 0 reads bytes -4 to -1 of buffer #0}}
  %v = emmy_tile.gather %x at %at : !emmy_tile.ptr<f32>, !emmy_tile.frag<32xi64, #line> -> !emmy_tile.frag<32xf32, #line>
}

// -----

emmy_tile.kernel @counter_far_away(%x: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1xi32>, fill = "zero"}]}} {
  %one = arith.constant 1 : i32
  %far = arith.constant 4611686018427387904 : i64
  emmy_tile.one_thread {
    // expected-error@below {{violates out-of-bounds: CTA 0 writes more than 2^62 bytes away}}
    %old = emmy_tile.atomic_add %x[%far], %one : !emmy_tile.ptr<i32>, i32 -> i32
  }
}

// -----

emmy_tile.kernel @copies_from_far_away(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<32xf32>, fill = "iota"}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<32xf32>
  %one = arith.constant 1 : i64
  %c32 = arith.constant 32 : i32
  %far = arith.constant 4611686018427387904 : i64
  // expected-error@below {{violates out-of-bounds: CTA 0 reads more than 2^62 bytes away}}
  emmy_tile.cp_async %x[%far] strides(%one) limits(%c32) to %tile vector 4 : !emmy_tile.ptr<f32>, !emmy_tile.shared<32xf32>
  emmy_tile.cp_async_commit
  emmy_tile.cp_async_wait 0
}

// -----

emmy_tile.kernel @copies_from_an_odd_place(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<64xf32>, fill = "iota"}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<32xf32>
  %one = arith.constant 1 : i64
  %c32 = arith.constant 32 : i32
  // expected-error@below {{violates alignment: CTA 0 copies 16 bytes at a time from byte 4 of buffer #0 to byte 0 of shared memory}}
  emmy_tile.cp_async %x[%one] strides(%one) limits(%c32) to %tile vector 4 : !emmy_tile.ptr<f32>, !emmy_tile.shared<32xf32>
}

// -----

emmy_tile.kernel @copies_to_a_limit_inside_a_vector(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<64xf32>, fill = "iota"}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<32xf32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c30 = arith.constant 30 : i32
  // expected-error@below {{violates alignment: CTA 0 has a limit inside a vector of 4 elements}}
  emmy_tile.cp_async %x[%zero] strides(%one) limits(%c30) to %tile vector 4 : !emmy_tile.ptr<f32>, !emmy_tile.shared<32xf32>
}

// -----

emmy_tile.kernel @copies_every_other_element(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<64xf32>, fill = "iota"}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<32xf32>
  %zero = arith.constant 0 : i64
  %two = arith.constant 2 : i64
  %c32 = arith.constant 32 : i32
  // expected-error@below {{violates alignment: CTA 0 copies vectors of 4 elements that are not neighbours}}
  emmy_tile.cp_async %x[%zero] strides(%two) limits(%c32) to %tile vector 4 : !emmy_tile.ptr<f32>, !emmy_tile.shared<32xf32>
}

// -----

// The last element of the tensor is 2^72 bytes away; only its first rows exist.
emmy_tile.kernel @row_far_away(%x: !emmy_tile.tmap<1x16xf32> {emmy.bind = #emmy.bind_tma<0, sizes = [4294967296, 16], strides = [1099511627760], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = [{type = tensor<16xf32>, fill = "iota"}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<1x16xf32>
  %full = emmy_tile.alloc : !emmy_tile.barrier<1>
  %c0 = arith.constant 0 : i32
  %row = arith.constant 16777216 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !emmy_tile.barrier<1>
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.one_thread {
    emmy_tile.barrier_expect %full[%c0], 64 : !emmy_tile.barrier<1>
    // expected-error@below {{violates out-of-bounds: CTA 0 reads more than 2^62 bytes away from buffer #0}}
    emmy_tile.tma_load %x[%row, %c0] to %tile, %full[%c0] : !emmy_tile.tmap<1x16xf32>, !emmy_tile.shared<1x16xf32>, !emmy_tile.barrier<1>
  }
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !emmy_tile.barrier<1>
}
