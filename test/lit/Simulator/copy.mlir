// RUN: emmy-opt %s --emmy-simulate -o /dev/null -verify-diagnostics
// RUN: emmy-opt %s --emmy-simulate=schedule=delay=async -o /dev/null -verify-diagnostics
// Copies by registers, by TMA with clipped edges, and by cp.async run right under every schedule.

#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>

emmy_tile.kernel @by_registers(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                               %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>},
                               %m: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [s0 ceildiv 8, 1, 1] warps 4
    attributes {emmy.simulate = {symbols = array<i64: 21>,
                                 buffers = [{type = tensor<21x64xf32>, fill = "random 1"},
                                            {type = tensor<21x64xf32>, expect = "same 0"}]}} {
  %cta = emmy_tile.read cta_x
  %c8 = arith.constant 8 : i32
  %n = arith.constant 64 : i32
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %row = arith.muli %cta, %c8 : i32
  %left = arith.subi %m, %row : i32
  %row64 = arith.extsi %row : i32 to i64
  %offset = arith.muli %row64, %s0 : i64
  %v = emmy_tile.load %x[%offset] strides(%s0, %s1) limits(%left, %n) vector 4
      : !emmy_tile.ptr<f32> -> !emmy_tile.frag<8x64xf32, #rows>
  emmy_tile.store %v to %y[%offset] strides(%s0, %s1) limits(%left, %n) vector 4
      : !emmy_tile.frag<8x64xf32, #rows>, !emmy_tile.ptr<f32>
}

!box = !emmy_tile.tmap<32x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<32x64xbf16, swizzle = 128>

emmy_tile.kernel @by_tma(%x: !box {emmy.bind = #emmy.bind_tma<0, sizes = [40, 72], strides = [144], offset = 0, l2_promotion = 256>},
                         %y: !box {emmy.bind = #emmy.bind_tma<1, sizes = [40, 72], strides = [144], offset = 0, l2_promotion = 256>})
    grid [2, 2, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<40x72xbf16>, fill = "random 2"},
                                            {type = tensor<40x72xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !tile
  %full = emmy_tile.alloc : !emmy_tile.barrier<1>
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %i = emmy_tile.read cta_x
  %j = emmy_tile.read cta_y
  %row = arith.muli %i, %c32 : i32
  %col = arith.muli %j, %c64 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !emmy_tile.barrier<1>
    emmy_tile.fence_barrier_init
    emmy_tile.barrier_expect %full[%c0], 4096 : !emmy_tile.barrier<1>
    emmy_tile.tma_load %x[%row, %col] to %tile, %full[%c0] : !box, !tile, !emmy_tile.barrier<1>
    emmy_tile.barrier_wait %full[%c0] parity %c0 : !emmy_tile.barrier<1>
    emmy_tile.tma_store %tile to %y[%row, %col] : !tile, !box
    emmy_tile.tma_commit
    emmy_tile.tma_wait 0
  }
}

emmy_tile.kernel @by_cp_async(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>},
                              %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<8x64xbf16>, fill = "random 3"},
                                            {type = tensor<8x64xbf16>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<8x64xbf16, swizzle = 128>
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %m = arith.constant 8 : i32
  %n = arith.constant 64 : i32
  emmy_tile.cp_async %x[%zero] strides(%s0, %s1) limits(%m, %n) to %tile vector 8
      : !emmy_tile.ptr<bf16>, !emmy_tile.shared<8x64xbf16, swizzle = 128>
  emmy_tile.cp_async_commit
  emmy_tile.cp_async_wait 0
  emmy_tile.sync cta
  %v = emmy_tile.load_shared %tile : !emmy_tile.shared<8x64xbf16, swizzle = 128> -> !emmy_tile.frag<8x64xbf16, #rows>
  emmy_tile.store %v to %y[%zero] strides(%s0, %s1) : !emmy_tile.frag<8x64xbf16, #rows>, !emmy_tile.ptr<bf16>
}
