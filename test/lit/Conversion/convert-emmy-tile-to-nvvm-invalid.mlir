// RUN: emmy-opt %s --convert-emmy-tile-to-nvvm -split-input-file -verify-diagnostics
// Programs that verify but that the hardware cannot run as they stand.

emmy_tile.kernel @tma_in_all_threads(%m: !emmy_tile.tmap<64x64xbf16, swizzle = 128>, %i: i32) grid [1, 1, 1] warps 1 {
  %t = emmy_tile.alloc : !emmy_tile.shared<64x64xbf16, swizzle = 128>
  %b = emmy_tile.alloc : !emmy_tile.barrier<1>
  // expected-error @below {{'emmy_tile.tma_load' op expects to stand in 'emmy_tile.one_thread'}}
  emmy_tile.tma_load %m[%i, %i] to %t, %b[%i] : !emmy_tile.tmap<64x64xbf16, swizzle = 128>, !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.barrier<1>
}

// -----

#vector = #emmy_tile.layout<reg = [8:(1)], lane = [32:(8)], warp = [1:(0)]>
emmy_tile.kernel @fragment_of_another_unit(%s: f32) grid [1, 1, 1] warps 4 {
  // expected-error @below {{'emmy_tile.splat' op has a fragment over 1 warps, but runs in a unit of 4}}
  %x = emmy_tile.splat %s : f32 -> !emmy_tile.frag<256xf32, #vector>
}

// -----

emmy_tile.kernel @cta_sync_in_a_role() grid [1, 1, 1] warps 2 {
  emmy_tile.warp_specialize {
    emmy_tile.role "a" warps 1 {
      // expected-error @below {{'emmy_tile.sync' op waits for threads that run other roles}}
      emmy_tile.sync cta
    }
    emmy_tile.role "b" warps 1 {
    }
  }
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
emmy_tile.kernel @wgmma_of_an_odd_type(%s: f32) grid [1, 1, 1] warps 4 {
  %a = emmy_tile.alloc : !emmy_tile.shared<64x128xi8, swizzle = 128>
  %b = emmy_tile.alloc : !emmy_tile.shared<16x128xi8, swizzle = 128>
  %c = emmy_tile.splat %s : f32 -> !emmy_tile.frag<64x16xf32, #acc>
  // expected-error @below {{'emmy_tile.wgmma' op expects both operands in one of bf16, f16, f32 (as tf32) and f8, but got 'i8' and 'i8'}}
  %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<64x128xi8, swizzle = 128>, !emmy_tile.shared<16x128xi8, swizzle = 128> -> !emmy_tile.frag<64x16xf32, #acc>
}

// -----

emmy_tile.kernel @foreign_op(%s: i32) grid [1, 1, 1] warps 1 {
  // expected-error @below {{'builtin.unrealized_conversion_cast' op has no lowering to NVVM: a kernel holds emmy_tile, scf, arith and math operations}}
  %x = builtin.unrealized_conversion_cast %s : i32 to f32
}

// -----

// expected-error @below {{'emmy_tile.kernel' op has an argument of type '!emmy_tile.barrier<1>', which a launch cannot fill}}
emmy_tile.kernel @barrier_argument(%b: !emmy_tile.barrier<1>) grid [1, 1, 1] warps 1 {
}

// -----

emmy_tile.kernel @cp_async_in_one_thread(%p: !emmy_tile.ptr<f32>, %o: i64, %n: i32) grid [1, 1, 1] warps 1 {
  %t = emmy_tile.alloc : !emmy_tile.shared<32xf32>
  emmy_tile.one_thread {
    // expected-error @below {{'emmy_tile.cp_async' op needs the whole unit, but stands in 'emmy_tile.one_thread'}}
    emmy_tile.cp_async %p[%o] strides(%o) limits(%n) to %t vector 1 : !emmy_tile.ptr<f32>, !emmy_tile.shared<32xf32>
  }
}

// -----

#lanes = #emmy_tile.layout<reg = [2:(1)], lane = [32:(1)], warp = [1:(0)]>
emmy_tile.kernel @overlapping_vectors(%p: !emmy_tile.ptr<f32>, %o: i64) grid [1, 1, 1] warps 1 {
  %c1 = arith.constant 1 : i64
  // expected-error @below {{'emmy_tile.load' op expects every stride of the innermost dimension to be a multiple of the vector of 2 elements}}
  %x = emmy_tile.load %p[%o] strides(%c1) vector 2 : !emmy_tile.ptr<f32> -> !emmy_tile.frag<33xf32, #lanes>
}

// -----

emmy_tile.kernel @atomic_in_all_threads(%p: !emmy_tile.ptr<i32>, %o: i64, %v: i32) grid [1, 1, 1] warps 1 {
  // expected-error @below {{'emmy_tile.atomic_add' op expects to stand in 'emmy_tile.one_thread'}}
  %x = emmy_tile.atomic_add %p[%o], %v : !emmy_tile.ptr<i32>, i32 -> i32
}

// -----

#tile = #emmy_tile.layout<reg = [2:(0,1)], lane = [4:(0,2), 8:(1,0)], warp = [2:(8,0)]>
#columns = #emmy_tile.layout<reg = [2:(1)], lane = [4:(2), 8:(0)], warp = [2:(0)]>
emmy_tile.kernel @little_scratch(%s: f32) grid [1, 1, 1] warps 2 {
  %scratch = emmy_tile.alloc : !emmy_tile.shared<8xf32>
  %x = emmy_tile.splat %s : f32 -> !emmy_tile.frag<16x8xf32, #tile>
  // expected-error @below {{'emmy_tile.reduce' op expects scratch of at least 16 elements without swizzle, but got '!emmy_tile.shared<8xf32>'}}
  %y = emmy_tile.reduce %x over 0 scratch %scratch : !emmy_tile.shared<8xf32> : !emmy_tile.frag<16x8xf32, #tile> -> !emmy_tile.frag<8xf32, #columns> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    emmy_tile.yield %c : f32
  }
}

// -----

emmy_tile.kernel @put_into_a_swizzled_buffer(%s: bf16, %i: i32) grid [1, 1, 1] warps 1 {
  %t = emmy_tile.alloc : !emmy_tile.shared<8x64xbf16, swizzle = 128>
  // expected-error @below {{'emmy_tile.put' op expects a row-major buffer without swizzle, but got '!emmy_tile.shared<8x64xbf16, swizzle = 128>'}}
  emmy_tile.put %s to %t[%i] : bf16, !emmy_tile.shared<8x64xbf16, swizzle = 128>
}

// -----

#rows = #emmy_tile.layout<reg = [8:(0,1)], lane = [32:(1,0)], warp = [1:(0,0)]>
emmy_tile.kernel @matrix_move_of_rows(%s: bf16) grid [1, 1, 1] warps 1 {
  %t = emmy_tile.alloc : !emmy_tile.shared<32x8xbf16>
  %x = emmy_tile.splat %s : bf16 -> !emmy_tile.frag<32x8xbf16, #rows>
  // expected-error @below {{'emmy_tile.store_shared' op expects a layout made of 8 by 8 matrices for a matrix move}}
  emmy_tile.store_shared %x to %t matrix : !emmy_tile.frag<32x8xbf16, #rows>, !emmy_tile.shared<32x8xbf16>
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
emmy_tile.kernel @wgmma_in_other_units(%s: f32) grid [1, 1, 1] warps 8 {
  %a = emmy_tile.alloc : !emmy_tile.shared<64x64xbf16, swizzle = 128>
  %b = emmy_tile.alloc : !emmy_tile.shared<16x64xbf16, swizzle = 128>
  // expected-error @below {{'emmy_tile.splat' op has a fragment over 4 warps, but runs in a unit of 8}}
  %c = emmy_tile.splat %s : f32 -> !emmy_tile.frag<64x16xf32, #acc>
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
module attributes {emmy.target = #emmy.target<"sm_80", sms = 108, shared = 166912, registers = 65536, l2 = 41943040, hbm = 1500, clock = 1410>} {
  emmy_tile.kernel @wgmma_on_an_older_chip(%s: f32) grid [1, 1, 1] warps 4 {
    %a = emmy_tile.alloc : !emmy_tile.shared<64x64xbf16, swizzle = 128>
    %b = emmy_tile.alloc : !emmy_tile.shared<16x64xbf16, swizzle = 128>
    %c = emmy_tile.splat %s : f32 -> !emmy_tile.frag<64x16xf32, #acc>
    // expected-error @below {{'emmy_tile.wgmma' op needs sm_90a, but the target is "sm_80"}}
    %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.shared<16x64xbf16, swizzle = 128> -> !emmy_tile.frag<64x16xf32, #acc>
  }
}

// -----

#c = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0)], lane = [4:(0,2), 8:(1,0)], warp = [1:(0,0)]>
#a = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [1:(0,0)]>
#b = #emmy_tile.layout<reg = [4:(0,1)], lane = [4:(0,4), 8:(1,0)], warp = [1:(0,0)]>
emmy_tile.kernel @mma_of_another_layout(%s: bf16, %z: f32) grid [1, 1, 1] warps 1 {
  %x = emmy_tile.splat %s : bf16 -> !emmy_tile.frag<16x16xbf16, #a>
  %y = emmy_tile.splat %s : bf16 -> !emmy_tile.frag<8x16xbf16, #b>
  %c = emmy_tile.splat %z : f32 -> !emmy_tile.frag<16x8xf32, #c>
  // expected-error @below {{'emmy_tile.mma' op expects the layouts of m16n8k16, repeated in registers and warps}}
  %d = emmy_tile.mma %x, %y, %c : !emmy_tile.frag<16x16xbf16, #a>, !emmy_tile.frag<8x16xbf16, #b> -> !emmy_tile.frag<16x8xf32, #c>
}
