// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Two consumers in turn; each case breaks the turn.

// The second consumer looks at stages a whole tile ahead: a parity wait lags by one phase only and passes at once.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<4x8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<4>
!turns = !emmy_tile.barrier<2>

emmy_tile.kernel @no_turn_barrier(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [96, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 12
    attributes {emmy.simulate = {buffers = [{type = tensor<96x64xbf16>, fill = "random 1"},
                                            {type = tensor<96x64xbf16>, expect = "same 0"}]}} {
  %tiles = emmy_tile.alloc : !ring
  // expected-note@below {{barrier 2 of these}}
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %turn = emmy_tile.alloc : !turns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %chunks = arith.constant 12 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 1 : !bar
    emmy_tile.barrier_init %turn, 1 : !turns
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 registers 40 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %chunks step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 4
          %free = arith.xori %p, %c1 : i32
          emmy_tile.barrier_wait %empty[%s] parity %free : !bar
          emmy_tile.barrier_expect %full[%s], 1024 : !bar
          %row = arith.muli %k, %c8 : i32
          %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
          // expected-error@below {{violates parity-lag: this completes phase 1 of the barrier, but nothing makes consumer 1 of CTA 0 pass its wait}}
          emmy_tile.tma_load %x[%row, %c0] to %tile, %full[%s] : !map, !tile, !bar
        }
      }
    }
    // Each consumer takes every other tile of three chunks.
    emmy_tile.role "consumer" warpgroups 2 registers 232 {
    ^bb0(%w: i32):
      %s0 = arith.constant 64 : i64
      %s1 = arith.constant 1 : i64
      %c512 = arith.constant 512 : i32
      %other = arith.xori %w, %c1 : i32
      scf.for %t = %w to %c4 step %c2 iter_args(%mine = %other) -> (i32) : i32 {
        %first = arith.muli %t, %c3 : i32
        %end = arith.addi %first, %c3 : i32
        scf.for %k = %first to %end step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 4
          emmy_tile.barrier_wait %full[%s] parity %p : !bar
          %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
          %v = emmy_tile.load_shared %tile : !tile -> !frag
          emmy_tile.sync unit
          emmy_tile.barrier_arrive %empty[%s] : !bar
          %at = arith.muli %k, %c512 : i32
          %offset = arith.extsi %at : i32 to i64
          emmy_tile.store %v to %y[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
        }
        %next = arith.xori %mine, %c1 : i32
        scf.yield %next : i32
      }
    }
  }
}

// -----

// Only the first tile is ever consumed.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<4x8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<4>
!turns = !emmy_tile.barrier<2>

emmy_tile.kernel @turn_never_passed_on(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [96, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 12
    attributes {emmy.simulate = {buffers = [{type = tensor<96x64xbf16>, fill = "random 1"},
                                            {type = tensor<96x64xbf16>, expect = "same 0"}]}} {
  %tiles = emmy_tile.alloc : !ring
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %turn = emmy_tile.alloc : !turns
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %chunks = arith.constant 12 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 1 : !bar
    emmy_tile.barrier_init %turn, 1 : !turns
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 registers 40 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %chunks step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 4
          %free = arith.xori %p, %c1 : i32
          // expected-error@below {{violates deadlock: nothing can move}}
          emmy_tile.barrier_wait %empty[%s] parity %free : !bar
          emmy_tile.barrier_expect %full[%s], 1024 : !bar
          %row = arith.muli %k, %c8 : i32
          %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
          emmy_tile.tma_load %x[%row, %c0] to %tile, %full[%s] : !map, !tile, !bar
        }
      }
    }
    // Each consumer takes every other tile of three chunks.
    emmy_tile.role "consumer" warpgroups 2 registers 232 {
    ^bb0(%w: i32):
      %s0 = arith.constant 64 : i64
      %s1 = arith.constant 1 : i64
      %c512 = arith.constant 512 : i32
      %other = arith.xori %w, %c1 : i32
      scf.for %t = %w to %c4 step %c2 iter_args(%mine = %other) -> (i32) : i32 {
        // expected-note-re@below {{consumer 1 of CTA 0 waits for barrier 1 allocated at line {{[0-9:]+}}, parity 0: phase 0 lacks 1 of 1 arrivals and 0 bytes; arrivals come from}}
        emmy_tile.barrier_wait %turn[%w] parity %mine : !turns
        %first = arith.muli %t, %c3 : i32
        %end = arith.addi %first, %c3 : i32
        scf.for %k = %first to %end step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 4
          emmy_tile.barrier_wait %full[%s] parity %p : !bar
          %tile = emmy_tile.subview %tiles[%s, %c0, %c0] : !ring -> !tile
          %v = emmy_tile.load_shared %tile : !tile -> !frag
          emmy_tile.sync unit
          emmy_tile.barrier_arrive %empty[%s] : !bar
          %at = arith.muli %k, %c512 : i32
          %offset = arith.extsi %at : i32 to i64
          emmy_tile.store %v to %y[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
        }
        %next = arith.xori %mine, %c1 : i32
        scf.yield %next : i32
      }
    }
  }
}
