// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// The copy engine fills a buffer that threads read; each case leaves out what orders the two.

// The hardware takes inner coordinates in units of 16 bytes.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @inner_coordinate_inside_a_unit(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 1024 : !bar
    // expected-error@below {{violates alignment: the inner coordinate of a TMA tile is a multiple of 16 bytes, not 10}}
    emmy_tile.tma_load %x[%c0, %c5] to %tile, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %v = emmy_tile.load_shared %tile : !tile -> !frag
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
}

// -----

// The tile is read before it has landed.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_wait(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
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
    emmy_tile.tma_load %x[%c0, %c0] to %tile, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  // expected-error-re@below {{violates {{uninitialized|async-write-not-waited}}}}
  %v = emmy_tile.load_shared %tile : !tile -> !frag
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
}

// -----

// The other warps read without having waited.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @wait_by_one_thread_only(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
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
    // expected-note@below {{the other access: CTA 0 writes it here}}
    emmy_tile.tma_load %x[%c0, %c0] to %tile, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.one_thread {
    emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  }
  // expected-error@below {{violates async-write-not-waited: CTA 0 reads byte}}
  %v = emmy_tile.load_shared %tile : !tile -> !frag
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
}

// -----

// The copy engine may see an uninitialised barrier.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_barrier_fence(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
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
    // expected-note@below {{initialised here}}
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_expect %full[%c0], 1024 : !bar
    // expected-error@below {{violates barrier-init: copies and other CTAs see the barrier only after fence_barrier_init}}
    emmy_tile.tma_load %x[%c0, %c0] to %tile, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %v = emmy_tile.load_shared %tile : !tile -> !frag
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
}

// -----

// Other warps may reach the barrier before it is initialised.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_sync_after_init(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
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
    // expected-note@below {{initialised here without a sync that both pass}}
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 1024 : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %tile, %full[%c0] : !map, !tile, !bar
  }
  // expected-error@below {{violates barrier-init: CTA 0 may reach the barrier before its initialisation is visible}}
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %v = emmy_tile.load_shared %tile : !tile -> !frag
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
}

// -----

// A wrong count: the second arrival never comes.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @two_arrivals_expected(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>},
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
    emmy_tile.barrier_init %full, 2 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 1024 : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %tile, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  // expected-error@below {{violates deadlock: nothing can move; 1 units wait}}
  // expected-note-re@below {{CTA 0 waits for barrier 0 allocated at line {{[0-9:]+}}, parity 0: phase 0 lacks 1 of 2 arrivals and 0 bytes}}
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %v = emmy_tile.load_shared %tile : !tile -> !frag
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
}
