// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// A producer fills a ring by TMA and a consumer reads it; each case breaks the order of one side.

// The consumer never releases a stage.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<2x8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<2>

emmy_tile.kernel @dropped_arrive(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [32, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 8
    attributes {emmy.simulate = {buffers = [{type = tensor<32x64xbf16>, fill = "random 1"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"}]}} {
  %tiles = emmy_tile.alloc : !ring
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %steps = arith.constant 4 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 1 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 2
          %free = arith.xori %p, %c1 : i32
          // expected-error@below {{violates deadlock: nothing can move; 2 units wait}}
          // expected-note-re@below {{producer of CTA 0 waits for barrier 0 allocated at line {{[0-9:]+}}, parity 0: phase 0 lacks 1 of 1 arrivals and 0 bytes}}
          emmy_tile.barrier_wait %empty[%s] parity %free : !bar
          emmy_tile.barrier_expect %full[%s], 1024 : !bar
          %row = arith.muli %k, %c8 : i32
          %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
          emmy_tile.tma_load %x[%row, %c0] to %tile, %full[%s] : !map, !tile, !bar
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 1 {
      %s0 = arith.constant 64 : i64
      %s1 = arith.constant 1 : i64
      %c512 = arith.constant 512 : i32
      scf.for %k = %c0 to %steps step %c1 : i32 {
        %s, %p = emmy_tile.ring_slot %k of 2
        // expected-note-re@below {{consumer of CTA 0 waits for barrier 0 allocated at line {{[0-9:]+}}, parity 1: phase 1 lacks 1 of 1 arrivals and 0 bytes; arrivals come from producer}}
        emmy_tile.barrier_wait %full[%s] parity %p : !bar
        %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
        %v = emmy_tile.load_shared %tile : !tile -> !frag
        emmy_tile.sync unit
        %at = arith.muli %k, %c512 : i32
        %offset = arith.extsi %at : i32 to i64
        emmy_tile.store %v to %y[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
      }
    }
  }
}

// -----

// The producer waits for a release that cannot come yet.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<2x8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<2>

emmy_tile.kernel @producer_waits_for_the_wrong_parity(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [32, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 8
    attributes {emmy.simulate = {buffers = [{type = tensor<32x64xbf16>, fill = "random 1"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"}]}} {
  %tiles = emmy_tile.alloc : !ring
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %steps = arith.constant 4 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 1 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 2
          %free = arith.xori %p, %c1 : i32
          // expected-error@below {{violates deadlock}}
          // expected-note-re@below {{producer of CTA 0 waits for barrier 0 allocated at line {{[0-9:]+}}, parity 0}}
          emmy_tile.barrier_wait %empty[%s] parity %p : !bar
          emmy_tile.barrier_expect %full[%s], 1024 : !bar
          %row = arith.muli %k, %c8 : i32
          %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
          emmy_tile.tma_load %x[%row, %c0] to %tile, %full[%s] : !map, !tile, !bar
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 1 {
      %s0 = arith.constant 64 : i64
      %s1 = arith.constant 1 : i64
      %c512 = arith.constant 512 : i32
      scf.for %k = %c0 to %steps step %c1 : i32 {
        %s, %p = emmy_tile.ring_slot %k of 2
        // expected-note-re@below {{consumer of CTA 0 waits for barrier 0 allocated at line {{[0-9:]+}}, parity 0}}
        emmy_tile.barrier_wait %full[%s] parity %p : !bar
        %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
        %v = emmy_tile.load_shared %tile : !tile -> !frag
        emmy_tile.sync unit
        emmy_tile.barrier_arrive %empty[%s] : !bar
        %at = arith.muli %k, %c512 : i32
        %offset = arith.extsi %at : i32 to i64
        emmy_tile.store %v to %y[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
      }
    }
  }
}

// -----

// The consumer passes at once and reads what was never written.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<2x8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<2>

emmy_tile.kernel @consumer_waits_for_the_wrong_parity(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [32, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 8
    attributes {emmy.simulate = {buffers = [{type = tensor<32x64xbf16>, fill = "random 1"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"}]}} {
  %tiles = emmy_tile.alloc : !ring
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %steps = arith.constant 4 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 1 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 2
          %free = arith.xori %p, %c1 : i32
          emmy_tile.barrier_wait %empty[%s] parity %free : !bar
          emmy_tile.barrier_expect %full[%s], 1024 : !bar
          %row = arith.muli %k, %c8 : i32
          %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
          // expected-error@below {{violates parity-lag: this completes phase 0 of the barrier, but nothing makes consumer of CTA 0 pass its wait}}
          emmy_tile.tma_load %x[%row, %c0] to %tile, %full[%s] : !map, !tile, !bar
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 1 {
      %s0 = arith.constant 64 : i64
      %s1 = arith.constant 1 : i64
      %c512 = arith.constant 512 : i32
      scf.for %k = %c0 to %steps step %c1 : i32 {
        %s, %p = emmy_tile.ring_slot %k of 2
        %wrong = arith.xori %p, %c1 : i32
        // expected-note@below {{the wait that can lag, by consumer of CTA 0}}
        emmy_tile.barrier_wait %full[%s] parity %wrong : !bar
        %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
        %v = emmy_tile.load_shared %tile : !tile -> !frag
        emmy_tile.sync unit
        emmy_tile.barrier_arrive %empty[%s] : !bar
        %at = arith.muli %k, %c512 : i32
        %offset = arith.extsi %at : i32 to i64
        emmy_tile.store %v to %y[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
      }
    }
  }
}

// -----

// The stage is released before it is read.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<2x8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<2>

emmy_tile.kernel @early_release(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [32, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 8
    attributes {emmy.simulate = {buffers = [{type = tensor<32x64xbf16>, fill = "random 1"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"}]}} {
  %tiles = emmy_tile.alloc : !ring
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %steps = arith.constant 4 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 1 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 2
          %free = arith.xori %p, %c1 : i32
          emmy_tile.barrier_wait %empty[%s] parity %free : !bar
          emmy_tile.barrier_expect %full[%s], 1024 : !bar
          %row = arith.muli %k, %c8 : i32
          %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
          // expected-error-re@below {{violates {{stage-reuse|parity-lag}}}}
          emmy_tile.tma_load %x[%row, %c0] to %tile, %full[%s] : !map, !tile, !bar
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 1 {
      %s0 = arith.constant 64 : i64
      %s1 = arith.constant 1 : i64
      %c512 = arith.constant 512 : i32
      scf.for %k = %c0 to %steps step %c1 : i32 {
        %s, %p = emmy_tile.ring_slot %k of 2
        emmy_tile.barrier_wait %full[%s] parity %p : !bar
        emmy_tile.barrier_arrive %empty[%s] : !bar
        %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
        %v = emmy_tile.load_shared %tile : !tile -> !frag
        %at = arith.muli %k, %c512 : i32
        %offset = arith.extsi %at : i32 to i64
        emmy_tile.store %v to %y[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
      }
    }
  }
}
