// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// One wgmma on tiles that arrive by TMA; each case leaves out a wait or a fence.

// The accumulator is read while the tensor cores write it.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!half = !emmy_tile.frag<64x64xbf16, #acc>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_wait(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %w: !map {emmy.bind = #emmy.bind_tma<1, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"},
                                            {type = tensor<64x64xbf16>, fill = "random 2"},
                                            {type = tensor<64x64xf32>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_tile.alloc : !tile
  %b = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 16384 : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %a, %full[%c0] : !map, !tile, !bar
    emmy_tile.tma_load %w[%c0, %c0] to %b, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %undef = emmy_tile.undef : !frag
  emmy_tile.wgmma_fence
  // expected-note@below {{written asynchronously here}}
  %pending = emmy_tile.wgmma %a, %b, %undef zero : !tile, !tile -> !frag
  emmy_tile.wgmma_commit
  // expected-error@below {{violates wgmma-wait: CTA 0 reads an accumulator of wgmma group 1}}
  emmy_tile.store %pending to %y[%zero] strides(%s0, %s1) vector 2 : !frag, !emmy_tile.ptr<f32>
}

// -----

// A wait covers committed groups only.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!half = !emmy_tile.frag<64x64xbf16, #acc>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_commit(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %w: !map {emmy.bind = #emmy.bind_tma<1, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"},
                                            {type = tensor<64x64xbf16>, fill = "random 2"},
                                            {type = tensor<64x64xf32>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_tile.alloc : !tile
  %b = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 16384 : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %a, %full[%c0] : !map, !tile, !bar
    emmy_tile.tma_load %w[%c0, %c0] to %b, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %undef = emmy_tile.undef : !frag
  emmy_tile.wgmma_fence
  %pending = emmy_tile.wgmma %a, %b, %undef zero : !tile, !tile -> !frag
  %sum = emmy_tile.wgmma_wait 0 %pending : !frag -> !frag
  // expected-error@below {{violates wgmma-wait}}
  emmy_tile.store %sum to %y[%zero] strides(%s0, %s1) vector 2 : !frag, !emmy_tile.ptr<f32>
}

// -----

// One group may stay in flight, and it is the one that matters.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!half = !emmy_tile.frag<64x64xbf16, #acc>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @waits_for_too_few_groups(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %w: !map {emmy.bind = #emmy.bind_tma<1, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"},
                                            {type = tensor<64x64xbf16>, fill = "random 2"},
                                            {type = tensor<64x64xf32>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_tile.alloc : !tile
  %b = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 16384 : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %a, %full[%c0] : !map, !tile, !bar
    emmy_tile.tma_load %w[%c0, %c0] to %b, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %undef = emmy_tile.undef : !frag
  emmy_tile.wgmma_fence
  %pending = emmy_tile.wgmma %a, %b, %undef zero : !tile, !tile -> !frag
  emmy_tile.wgmma_commit
  %sum = emmy_tile.wgmma_wait 1 %pending : !frag -> !frag
  // expected-error@below {{violates wgmma-wait}}
  emmy_tile.store %sum to %y[%zero] strides(%s0, %s1) vector 2 : !frag, !emmy_tile.ptr<f32>
}

// -----

// Registers that ordinary instructions wrote are not ordered before wgmma.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!half = !emmy_tile.frag<64x64xbf16, #acc>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @no_fence(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %w: !map {emmy.bind = #emmy.bind_tma<1, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"},
                                            {type = tensor<64x64xbf16>, fill = "random 2"},
                                            {type = tensor<64x64xf32>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_tile.alloc : !tile
  %b = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 16384 : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %a, %full[%c0] : !map, !tile, !bar
    emmy_tile.tma_load %w[%c0, %c0] to %b, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %f0 = arith.constant 0.0 : f32
  // expected-note@below {{written here}}
  %undef = emmy_tile.splat %f0 : f32 -> !frag
  // expected-error@below {{violates wgmma-fence: CTA 0 issues wgmma without a wgmma_fence}}
  %pending = emmy_tile.wgmma %a, %b, %undef : !tile, !tile -> !frag
  emmy_tile.wgmma_commit
  %sum = emmy_tile.wgmma_wait 0 %pending : !frag -> !frag
  emmy_tile.store %sum to %y[%zero] strides(%s0, %s1) vector 2 : !frag, !emmy_tile.ptr<f32>
}

// -----

// The operand in registers is made after the fence.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!half = !emmy_tile.frag<64x64xbf16, #acc>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @fence_before_the_registers_are_written(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %w: !map {emmy.bind = #emmy.bind_tma<1, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"},
                                            {type = tensor<64x64xbf16>, fill = "random 2"},
                                            {type = tensor<64x64xf32>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_tile.alloc : !tile
  %b = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 16384 : !bar
    emmy_tile.tma_load %x[%c0, %c0] to %a, %full[%c0] : !map, !tile, !bar
    emmy_tile.tma_load %w[%c0, %c0] to %b, %full[%c0] : !map, !tile, !bar
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
  %undef = emmy_tile.undef : !frag
  emmy_tile.wgmma_fence
  %v = emmy_tile.load_shared %b : !tile -> !half
  // expected-error@below {{violates wgmma-fence}}
  %pending = emmy_tile.wgmma %v, %b, %undef zero : !half, !tile -> !frag
  emmy_tile.wgmma_commit
  %sum = emmy_tile.wgmma_wait 0 %pending : !frag -> !frag
  emmy_tile.store %sum to %y[%zero] strides(%s0, %s1) vector 2 : !frag, !emmy_tile.ptr<f32>
}
