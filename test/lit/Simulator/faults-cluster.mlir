// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// CTAs of a cluster share a tile by multicast; each case breaks what keeps them in step.

// Without the last sync the peer's arrival may hit a CTA that is gone.
#rows = #emmy_tile.layout<reg = [4:(0,1), 2:(8,0)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<16x64xbf16, swizzle = 128>
!half = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<16x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @exits_while_peers_arrive(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [32, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>},
                       %z: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<2>}) grid [2, 1, 1] cluster 2 warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<32x64xbf16>, fill = "random 1"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %size = arith.constant 1024 : i32
  %rank = emmy_tile.read cluster_rank
  %isSecond = arith.cmpi eq, %rank, %c1 : i32
  %target = arith.select %isSecond, %z, %y : !emmy_tile.ptr<bf16>
  %mine = arith.muli %rank, %c8 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 2 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cluster
  scf.for %k = %c0 to %c2 step %c1 : i32 {
    %parity = arith.andi %k, %c1 : i32
    %free = arith.xori %parity, %c1 : i32
    emmy_tile.one_thread {
      %first = arith.muli %k, %c16 : i32
      %row = arith.addi %first, %mine : i32
      %part = emmy_tile.subview %tile[%mine, %c0] : !tile -> !half
      emmy_tile.barrier_wait %empty[%c0] parity %free : !bar
      emmy_tile.barrier_expect %full[%c0], 2048 : !bar
      emmy_tile.tma_load %x[%row, %c0] to %part, %full[%c0] multicast 3 : !map, !half, !bar
    }
    emmy_tile.barrier_wait %full[%c0] parity %parity : !bar
    %v = emmy_tile.load_shared %tile : !tile -> !frag
    emmy_tile.sync cta
    // expected-error@below {{violates exit-before-peers}}
    emmy_tile.barrier_arrive %empty[%c0] to_all : !bar
    %at = arith.muli %k, %size : i32
    %offset = arith.extsi %at : i32 to i64
    emmy_tile.store %v to %target[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
  }
}

// -----

// The peer copies into a stage that this CTA still reads, or waits for ever.
#rows = #emmy_tile.layout<reg = [4:(0,1), 2:(8,0)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<16x64xbf16, swizzle = 128>
!half = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<16x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @releases_only_its_own_cta(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [32, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>},
                       %z: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<2>}) grid [2, 1, 1] cluster 2 warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<32x64xbf16>, fill = "random 1"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %size = arith.constant 1024 : i32
  %rank = emmy_tile.read cluster_rank
  %isSecond = arith.cmpi eq, %rank, %c1 : i32
  %target = arith.select %isSecond, %z, %y : !emmy_tile.ptr<bf16>
  %mine = arith.muli %rank, %c8 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 2 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cluster
  scf.for %k = %c0 to %c2 step %c1 : i32 {
    %parity = arith.andi %k, %c1 : i32
    %free = arith.xori %parity, %c1 : i32
    emmy_tile.one_thread {
      %first = arith.muli %k, %c16 : i32
      %row = arith.addi %first, %mine : i32
      %part = emmy_tile.subview %tile[%mine, %c0] : !tile -> !half
      // expected-error@below {{violates deadlock: nothing can move; 2 units wait}}
      // expected-note@below {{lacks 1 of 2 arrivals and 0 bytes}}
      emmy_tile.barrier_wait %empty[%c0] parity %free : !bar
      emmy_tile.barrier_expect %full[%c0], 2048 : !bar
      emmy_tile.tma_load %x[%row, %c0] to %part, %full[%c0] multicast 3 : !map, !half, !bar
    }
    emmy_tile.barrier_wait %full[%c0] parity %parity : !bar
    %v = emmy_tile.load_shared %tile : !tile -> !frag
    emmy_tile.sync cta
    emmy_tile.barrier_arrive %empty[%c0] : !bar
    %at = arith.muli %k, %size : i32
    %offset = arith.extsi %at : i32 to i64
    emmy_tile.store %v to %target[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
  }
  emmy_tile.sync cluster
}

// -----

// The peer's half arrives as well.
#rows = #emmy_tile.layout<reg = [4:(0,1), 2:(8,0)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<16x64xbf16, swizzle = 128>
!half = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<16x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @expects_only_its_own_bytes(%x: !map {emmy.bind = #emmy.bind_tma<0, sizes = [32, 64], strides = [128], offset = 0, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>},
                       %z: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<2>}) grid [2, 1, 1] cluster 2 warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<32x64xbf16>, fill = "random 1"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %size = arith.constant 1024 : i32
  %rank = emmy_tile.read cluster_rank
  %isSecond = arith.cmpi eq, %rank, %c1 : i32
  %target = arith.select %isSecond, %z, %y : !emmy_tile.ptr<bf16>
  %mine = arith.muli %rank, %c8 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 2 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cluster
  scf.for %k = %c0 to %c2 step %c1 : i32 {
    %parity = arith.andi %k, %c1 : i32
    %free = arith.xori %parity, %c1 : i32
    emmy_tile.one_thread {
      %first = arith.muli %k, %c16 : i32
      %row = arith.addi %first, %mine : i32
      %part = emmy_tile.subview %tile[%mine, %c0] : !tile -> !half
      emmy_tile.barrier_wait %empty[%c0] parity %free : !bar
      // expected-error@below {{violates expect-tx: too few bytes are expected: the phase can complete before all bytes of a copy by CTA}}
      emmy_tile.barrier_expect %full[%c0], 1024 : !bar
      emmy_tile.tma_load %x[%row, %c0] to %part, %full[%c0] multicast 3 : !map, !half, !bar
    }
    emmy_tile.barrier_wait %full[%c0] parity %parity : !bar
    %v = emmy_tile.load_shared %tile : !tile -> !frag
    emmy_tile.sync cta
    emmy_tile.barrier_arrive %empty[%c0] to_all : !bar
    %at = arith.muli %k, %size : i32
    %offset = arith.extsi %at : i32 to i64
    emmy_tile.store %v to %target[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
  }
  emmy_tile.sync cluster
}
