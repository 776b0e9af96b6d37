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
