// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Barriers that are counted wrongly, and exits and tails that come too early or too late.

// The barrier expects one arrival and gets two before the bytes land.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @an_arrival_too_many(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    // expected-note@below {{the last one counted}}
    emmy_tile.barrier_expect %full[%c0], 1024 : !bar
    // expected-error@below {{violates arrive-over-count: all 1 arrivals of phase 0 have happened}}
    emmy_tile.barrier_arrive %full[%c0] : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %tile, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %v = emmy_tile.load_shared %tile : !tile -> !frag
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
}

// -----

// Nobody makes the last arrival, and nobody waits for it.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @leaves_a_phase_half_counted(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  // expected-error@below {{violates arrive-under-count: CTA 0 ends with phase 0 of barrier 0 lacking 1 of 2 arrivals and 0 bytes}}
  %spare = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %spare, 2 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 1024 : !bar
    emmy_tile.barrier_arrive %spare[%c0] : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %tile, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %v = emmy_tile.load_shared %tile : !tile -> !frag
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
}

// -----

// The copy lands after the CTA has left.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @exits_under_a_copy(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 1024 : !bar
    // expected-error@below {{violates exit-before-copies: a copy issued by CTA 0 may land after CTA 0 has exited}}
    emmy_tile.tma_load %x[%c0, %c0] to %tile, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
}

// -----

// Off by one in the offset of a tail.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @store_past_the_end(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 4 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 1024 : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %tile, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %v = emmy_tile.load_shared %tile : !tile -> !frag
  // expected-error@below {{violates out-of-bounds: CTA 0 writes bytes 1024 to 1031 of buffer #1, which has 1024}}
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
}

// -----

emmy_tile.kernel @no_parity() grid [1, 1, 1] warps 1 attributes {emmy.simulate = {}} {
  %full = emmy_tile.alloc : !emmy_tile.barrier<1>
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !emmy_tile.barrier<1>
  }
  emmy_tile.sync cta
  // expected-error@below {{violates parity: CTA 0 waits for a phase of parity 2, which is 0 or 1}}
  emmy_tile.barrier_wait %full[%c0] parity %c2 : !emmy_tile.barrier<1>
}

// -----

// Bytes of one phase are counted in 20 bits.
emmy_tile.kernel @too_many_bytes() grid [1, 1, 1] warps 1 attributes {emmy.simulate = {}} {
  %full = emmy_tile.alloc : !emmy_tile.barrier<1>
  %c0 = arith.constant 0 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 2 : !emmy_tile.barrier<1>
    emmy_tile.barrier_expect %full[%c0], 1048575 : !emmy_tile.barrier<1>
    // expected-error@below {{violates expect-tx: 1048576 bytes are expected in phase 0 of the barrier, which counts at most 1048575}}
    emmy_tile.barrier_expect %full[%c0], 1 : !emmy_tile.barrier<1>
  }
}
