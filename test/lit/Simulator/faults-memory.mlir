// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Ordinary accesses of shared and global memory that nothing orders, or that miss their target.

// The warps exchange data through shared memory without a sync.
#rows = #emmy_tile.layout<reg = [8:(0,1)], lane = [8:(0,8), 4:(1,0)], warp = [4:(4,0)]>
#columns = #emmy_tile.layout<reg = [8:(1,0)], lane = [8:(0,8), 4:(0,1)], warp = [2:(0,4), 2:(8,0)]>
!frag = !emmy_tile.frag<16x64xf32, #rows>

emmy_tile.kernel @no_sync(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                          %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<16x64xf32>, fill = "random 1"}, {type = tensor<16x64xf32>, expect = "same 0"}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<16x64xf32>
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<f32> -> !frag
  // expected-note@below {{the other access: CTA 0 writes it here}}
  emmy_tile.store_shared %v to %tile : !frag, !emmy_tile.shared<16x64xf32>
  // expected-error@below {{violates data-race: CTA 0 reads byte}}
  %u = emmy_tile.load_shared %tile : !emmy_tile.shared<16x64xf32> -> !emmy_tile.frag<16x64xf32, #columns>
  emmy_tile.store %u to %y[%zero] strides(%s0, %s1) : !emmy_tile.frag<16x64xf32, #columns>, !emmy_tile.ptr<f32>
}

// -----

// Two CTAs write the same rows.
#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>

emmy_tile.kernel @same_rows(%y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [2, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<128xf32>}]}} {
  %zero = arith.constant 0 : i64
  %s1 = arith.constant 1 : i64
  %one = arith.constant 1.0 : f32
  %v = emmy_tile.splat %one : f32 -> !emmy_tile.frag<128xf32, #line>
  // expected-error-re@below {{violates data-race: CTA {{[01]}} writes byte 0 of buffer #0}}
  emmy_tile.store %v to %y[%zero] strides(%s1) vector 4 : !emmy_tile.frag<128xf32, #line>, !emmy_tile.ptr<f32>
}

// -----

// The tail is one element too long.
#line = #emmy_tile.layout<reg = [1:(1)], lane = [32:(1)], warp = [4:(32)]>

emmy_tile.kernel @tail(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                       %n: i32 {emmy.bind = #emmy.bind_size<s0 + 1>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {symbols = array<i64: 100>, buffers = [{type = tensor<100xf32>, fill = "iota"}]}} {
  %zero = arith.constant 0 : i64
  %s1 = arith.constant 1 : i64
  // expected-error@below {{violates out-of-bounds: CTA 0 reads bytes 400 to 403 of buffer #0, which has 400}}
  %v = emmy_tile.load %x[%zero] strides(%s1) limits(%n) : !emmy_tile.ptr<f32> -> !emmy_tile.frag<128xf32, #line>
}

// -----

// Sixteen bytes at a time need a multiple of sixteen.
#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>

emmy_tile.kernel @misaligned(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<132xf32>, fill = "iota"}]}} {
  %two = arith.constant 2 : i64
  %s1 = arith.constant 1 : i64
  // expected-error@below {{violates alignment: CTA 0 moves 16 bytes at a time at byte 8 of buffer #0}}
  %v = emmy_tile.load %x[%two] strides(%s1) vector 4 : !emmy_tile.ptr<f32> -> !emmy_tile.frag<128xf32, #line>
}

// -----

// A sync of the whole role that one unit does not reach.
emmy_tile.kernel @sync_of_some() grid [1, 1, 1] warps 8 attributes {emmy.simulate = {}} {
  %c0 = arith.constant 0 : i32
  emmy_tile.warp_specialize {
    emmy_tile.role "consumer" warpgroups 2 {
    ^bb0(%w: i32):
      %first = arith.cmpi eq, %w, %c0 : i32
      scf.if %first {
        // expected-error@below {{violates deadlock: nothing can move; 1 units wait}}
        // expected-note@below {{consumer 0 of CTA 0 waits for 1 of 2 units of the role to reach this sync}}
        emmy_tile.sync role
      }
    }
  }
}

// -----

// Asynchronous copies are waited for before they are read.
#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>

emmy_tile.kernel @no_copy_wait(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<128xf32>, fill = "iota"}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<128xf32>
  %zero = arith.constant 0 : i64
  %s1 = arith.constant 1 : i64
  %n = arith.constant 128 : i32
  emmy_tile.cp_async %x[%zero] strides(%s1) limits(%n) to %tile vector 4 : !emmy_tile.ptr<f32>, !emmy_tile.shared<128xf32>
  emmy_tile.cp_async_commit
  emmy_tile.cp_async_wait 1
  // expected-error-re@below {{violates {{uninitialized|async-write-not-waited}}: CTA 0 reads byte}}
  %v = emmy_tile.load_shared %tile : !emmy_tile.shared<128xf32> -> !emmy_tile.frag<128xf32, #line>
}

// -----

// stmatrix moves 8x8 matrices, which rows of eight registers are not.
#rows = #emmy_tile.layout<reg = [8:(0,1)], lane = [8:(0,8), 4:(1,0)], warp = [4:(4,0)]>

emmy_tile.kernel @no_matrices() grid [1, 1, 1] warps 4 attributes {emmy.simulate = {}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<16x64xbf16, swizzle = 128>
  %one = arith.constant 1.0 : bf16
  %v = emmy_tile.splat %one : bf16 -> !emmy_tile.frag<16x64xbf16, #rows>
  // expected-error@below {{violates matrix-move: the fragment's registers are not made of 8x8 matrices}}
  emmy_tile.store_shared %v to %tile matrix : !emmy_tile.frag<16x64xbf16, #rows>, !emmy_tile.shared<16x64xbf16, swizzle = 128>
}

// -----

// A wrong result is an error too: the rows come out in the wrong place.
#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>

// expected-error@below {{'emmy_tile.kernel' op gives 4 at element 0 of buffer #1, but expected 0}}
emmy_tile.kernel @wrong_place(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                              %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<256xf32>, fill = "iota"}, {type = tensor<256xf32>, fill = "zero", expect = "same 0"}]}} {
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%four] strides(%s1) vector 4 : !emmy_tile.ptr<f32> -> !emmy_tile.frag<128xf32, #line>
  emmy_tile.store %v to %y[%zero] strides(%s1) vector 4 : !emmy_tile.frag<128xf32, #line>, !emmy_tile.ptr<f32>
}

// -----

// A fragment over four warps in a role of single warps.
#line = #emmy_tile.layout<reg = [1:(1)], lane = [32:(1)], warp = [4:(32)]>

emmy_tile.kernel @too_few_warps() grid [1, 1, 1] warps 4 attributes {emmy.simulate = {}} {
  emmy_tile.warp_specialize {
    emmy_tile.role "worker" warps 4 {
      %one = arith.constant 1.0 : f32
      // expected-error-re@below {{violates unit-layout: the fragment is distributed over 4 warps, but worker {{[0-3]}} of CTA 0 has 1}}
      %v = emmy_tile.splat %one : f32 -> !emmy_tile.frag<128xf32, #line>
    }
  }
}
