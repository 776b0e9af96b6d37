// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Threads fill a buffer that the copy engine stores; each case leaves out what orders the two.

// The copy engine may not see what the threads wrote.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_proxy_fence(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>},
                       %y: !map {emmy.bind = #emmy.bind_tma<1, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<bf16> -> !frag
  // expected-note@below {{the other access: CTA 0 writes it here}}
  emmy_tile.store_shared %v to %tile : !frag, !tile
  emmy_tile.sync cta
  emmy_tile.one_thread {
    // expected-error@below {{violates proxy-fence: CTA 0 reads byte}}
    emmy_tile.tma_store %tile to %y[%c0, %c0] : !tile, !map
    emmy_tile.tma_commit
    emmy_tile.tma_wait 0
  }
}

// -----

// A fence covers only what comes before it.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @fence_before_the_write(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>},
                       %y: !map {emmy.bind = #emmy.bind_tma<1, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<bf16> -> !frag
  emmy_tile.fence_async
  // expected-note@below {{the other access: CTA 0 writes it here}}
  emmy_tile.store_shared %v to %tile : !frag, !tile
  emmy_tile.sync cta
  emmy_tile.one_thread {
    // expected-error@below {{violates proxy-fence}}
    emmy_tile.tma_store %tile to %y[%c0, %c0] : !tile, !map
    emmy_tile.tma_commit
    emmy_tile.tma_wait 0
  }
}

// -----

// One thread stores what the other warps are still writing.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_sync_before_the_store(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>},
                       %y: !map {emmy.bind = #emmy.bind_tma<1, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<bf16> -> !frag
  // expected-note@below {{the other access: CTA 0 writes it here}}
  emmy_tile.store_shared %v to %tile : !frag, !tile
  emmy_tile.fence_async
  emmy_tile.one_thread {
    // expected-error@below {{violates data-race: CTA 0 reads byte}}
    emmy_tile.tma_store %tile to %y[%c0, %c0] : !tile, !map
    emmy_tile.tma_commit
    emmy_tile.tma_wait 0
  }
}

// -----

// Shared memory is gone when the copy engine reads it.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_wait_before_exit(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>},
                       %y: !map {emmy.bind = #emmy.bind_tma<1, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<bf16> -> !frag
  emmy_tile.store_shared %v to %tile : !frag, !tile
  emmy_tile.fence_async
  emmy_tile.sync cta
  emmy_tile.one_thread {
    // expected-error@below {{violates exit-before-copies: CTA 0 may exit before this store has read its shared memory}}
    emmy_tile.tma_store %tile to %y[%c0, %c0] : !tile, !map
    emmy_tile.tma_commit
  }
}

// -----

// A wait covers committed groups only.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_commit(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>},
                       %y: !map {emmy.bind = #emmy.bind_tma<1, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<bf16> -> !frag
  emmy_tile.store_shared %v to %tile : !frag, !tile
  emmy_tile.fence_async
  emmy_tile.sync cta
  emmy_tile.one_thread {
    // expected-error@below {{violates exit-before-copies}}
    emmy_tile.tma_store %tile to %y[%c0, %c0] : !tile, !map
    emmy_tile.tma_wait 0
  }
}

// -----

// The buffer is refilled before the store has read it.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @overwrites_the_source_of_a_store(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>},
                       %y: !map {emmy.bind = #emmy.bind_tma<1, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<bf16> -> !frag
  emmy_tile.store_shared %v to %tile : !frag, !tile
  emmy_tile.fence_async
  emmy_tile.sync cta
  emmy_tile.one_thread {
    // expected-note@below {{the other access: CTA 0 reads it here}}
    emmy_tile.tma_store %tile to %y[%c0, %c0] : !tile, !map
    emmy_tile.tma_commit
  }
  // expected-error@below {{violates async-read-not-waited: CTA 0 writes byte}}
  emmy_tile.store_shared %v to %tile : !frag, !tile
  emmy_tile.one_thread {
    emmy_tile.tma_wait 0
  }
}

// -----

// A tile may reach past the end of a tensor, but not begin before its start.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>

emmy_tile.kernel @begins_before_the_tensor(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>},
                       %y: !map {emmy.bind = #emmy.bind_tma<1, sizes = [8, 64], strides = [128], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 1"},
                                            {type = tensor<8x64xbf16>, fill = "zero"}]}} {
  %tile = emmy_tile.alloc : !tile
  %c0 = arith.constant 0 : i32
  %row = arith.constant -2 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<bf16> -> !frag
  emmy_tile.store_shared %v to %tile : !frag, !tile
  emmy_tile.fence_async
  emmy_tile.sync cta
  emmy_tile.one_thread {
    // expected-error@below {{violates out-of-bounds: CTA 0 stores a tile from coordinate #0 = -2}}
    emmy_tile.tma_store %tile to %y[%row, %c0] : !tile, !map
    emmy_tile.tma_commit
    emmy_tile.tma_wait 0
  }
}
