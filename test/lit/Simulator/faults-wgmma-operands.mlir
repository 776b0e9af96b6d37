// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// The same wgmma; each case gives it a wrong operand.

// The first step must not read the accumulator.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!half = !emmy_tile.frag<64x64xbf16, #acc>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @accumulates_onto_nothing(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
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
  // expected-note@below {{undefined here}}
  %undef = emmy_tile.undef : !frag
  emmy_tile.wgmma_fence
  // expected-error@below {{violates uninitialized: CTA 0 accumulates onto a fragment that nothing has defined}}
  %pending = emmy_tile.wgmma %a, %b, %undef : !tile, !tile -> !frag
  emmy_tile.wgmma_commit
  %sum = emmy_tile.wgmma_wait 0 %pending : !frag -> !frag
  emmy_tile.store %sum to %y[%zero] strides(%s0, %s1) vector 2 : !frag, !emmy_tile.ptr<f32>
}

// -----

// The tensor cores may still read the tile.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!half = !emmy_tile.frag<64x64xbf16, #acc>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @overwrites_an_operand_in_flight(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
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
  %v = emmy_tile.load_shared %b : !tile -> !half
  emmy_tile.sync cta
  emmy_tile.wgmma_fence
  %pending = emmy_tile.wgmma %a, %b, %undef zero : !tile, !tile -> !frag
  emmy_tile.wgmma_commit
  // expected-error-re@below {{violates async-read-not-waited: CTA 0 writes byte}}
  emmy_tile.store_shared %v to %b : !half, !tile
  %sum = emmy_tile.wgmma_wait 0 %pending : !frag -> !frag
  emmy_tile.store %sum to %y[%zero] strides(%s0, %s1) vector 2 : !frag, !emmy_tile.ptr<f32>
}

// -----

// wgmma reads through the async proxy.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!half = !emmy_tile.frag<64x64xbf16, #acc>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @threads_fill_an_operand_without_a_proxy_fence(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
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
  %v = emmy_tile.load_shared %b : !tile -> !half
  emmy_tile.sync cta
  // expected-note@below {{the other access: CTA 0 writes it here}}
  emmy_tile.store_shared %v to %b : !half, !tile
  emmy_tile.sync cta
  emmy_tile.wgmma_fence
  // expected-error@below {{violates proxy-fence: CTA 0 reads byte}}
  %pending = emmy_tile.wgmma %a, %b, %undef zero : !tile, !tile -> !frag
  emmy_tile.wgmma_commit
  %sum = emmy_tile.wgmma_wait 0 %pending : !frag -> !frag
  emmy_tile.store %sum to %y[%zero] strides(%s0, %s1) vector 2 : !frag, !emmy_tile.ptr<f32>
}

// -----

// Four rows down, the descriptor's pattern no longer fits.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<64x64xf32, #acc>
!half = !emmy_tile.frag<64x64xbf16, #acc>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @operand_off_the_swizzle_pattern(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %w: !map {emmy.bind = #emmy.bind_tma<1, sizes = [64, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"},
                                            {type = tensor<64x64xbf16>, fill = "random 2"},
                                            {type = tensor<64x64xf32>, expect = "matmul_nt 0 1"}]}} {
  %all = emmy_tile.alloc : !emmy_tile.shared<72x64xbf16, swizzle = 128>
  %b = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i32
  %a = emmy_tile.subview %all[%c0, %c0] : !emmy_tile.shared<72x64xbf16, swizzle = 128> -> !tile
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
  %low = emmy_tile.subview %all[%c4, %c0] : !emmy_tile.shared<72x64xbf16, swizzle = 128> -> !tile
  // expected-error@below {{violates wgmma-operand: a wgmma operand starts at a multiple of 1024 bytes}}
  %pending = emmy_tile.wgmma %low, %b, %undef zero : !tile, !tile -> !frag
  emmy_tile.wgmma_commit
  %sum = emmy_tile.wgmma_wait 0 %pending : !frag -> !frag
  emmy_tile.store %sum to %y[%zero] strides(%s0, %s1) vector 2 : !frag, !emmy_tile.ptr<f32>
}
