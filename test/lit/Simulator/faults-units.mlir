// RUN: emmy-opt %s --emmy-simulate=schedules=1 -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Ops that the executing unit cannot perform, and programs that do not end.

// wgmma in a branch that some warps take alone: the unit is a warp, not a warpgroup.
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!acc = !emmy_tile.frag<64x64xf32, #acc>

emmy_tile.kernel @eight_warps() grid [1, 1, 1] warps 8 attributes {emmy.simulate = {buffers = []}} {
  %a = emmy_tile.alloc : !tile
  emmy_tile.warp_specialize {
    emmy_tile.role "alone" warps 8 {
    ^bb0(%w: i32):
      %c0 = arith.constant 0 : i32
      %isFirst = arith.cmpi eq, %w, %c0 : i32
      scf.if %isFirst {
        // expected-error@below {{violates unit-layout: the fragment is distributed over 4 warps, but alone 0 of CTA 0 has 1}}
        %undef = emmy_tile.undef : !acc
        emmy_tile.wgmma_fence
        %c = emmy_tile.wgmma %a, %a, %undef zero : !tile, !tile -> !acc
      }
    }
  }
}

// -----

!bar = !emmy_tile.barrier<1>
emmy_tile.kernel @whole_cta_in_a_role() grid [1, 1, 1] warps 2 attributes {emmy.simulate = {buffers = []}} {
  emmy_tile.warp_specialize {
    emmy_tile.role "one" warps 1 {
      // expected-error@below {{violates sync-scope: one of CTA 0 cannot wait for the whole CTA inside a role}}
      emmy_tile.sync cta
    }
    emmy_tile.role "two" warps 1 {
    }
  }
}

// -----

emmy_tile.kernel @no_role() grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = []}} {
  // expected-error@below {{violates sync-scope: no role is running}}
  emmy_tile.sync role
}

// -----

emmy_tile.kernel @no_end() grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = []}} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %many = arith.constant 2000000000 : i32
  scf.for %i = %c0 to %many step %c1 : i32 {
    // expected-error@below {{violates livelock: CTA 0 executes more than 2000000 ops without a pause}}
    %j = arith.addi %i, %c1 : i32
  }
}

// -----

emmy_tile.kernel @unknown(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xf32>, fill = "zero"}]}} {
  %c1 = arith.constant 1 : i32
  // expected-error@below {{violates unsupported: the simulator does not know this op}}
  %sum, %carry = arith.addui_extended %c1, %c1 : i32, i1
}

// -----

// The rows that the offset asks for are in the registers of other threads.
#wide = #emmy_tile.layout<reg = [2:(0,1), 2:(32,0)], lane = [32:(1,0)], warp = [1:(0,0)]>
#narrow = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = [1:(0,0)]>
emmy_tile.kernel @not_in_registers(%x: f32 {emmy.bind = 1.0 : f32}) grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = []}} {
  %a = emmy_tile.splat %x : f32 -> !emmy_tile.frag<64x2xf32, #wide>
  // expected-error@below {{violates extract: register 0 of the result is in no register of the same thread}}
  %b = emmy_tile.extract %a [1, 0] : !emmy_tile.frag<64x2xf32, #wide> -> !emmy_tile.frag<32x2xf32, #narrow>
}

// -----

// expected-error@below {{violates launch: the grid has 2147385345 clusters, more than the 65536 that the simulator runs}}
emmy_tile.kernel @too_many() grid [32767, 65535, 1] warps 1 attributes {emmy.simulate = {buffers = []}} {
}

// -----

// The eighth role of 32 warps has no named barrier left.
emmy_tile.kernel @sixteenth_barrier() grid [1, 1, 1] warps 32 attributes {emmy.simulate = {buffers = []}} {
  emmy_tile.warp_specialize {
    emmy_tile.role "r0" warps 4 {
    }
    emmy_tile.role "r1" warps 4 {
    }
    emmy_tile.role "r2" warps 4 {
    }
    emmy_tile.role "r3" warps 4 {
    }
    emmy_tile.role "r4" warps 4 {
    }
    emmy_tile.role "r5" warps 4 {
    }
    emmy_tile.role "r6" warps 4 {
    }
    emmy_tile.role "r7" warps 4 {
      // expected-error-re@below {{violates sync-scope: r7 {{[0-3]}} of CTA 0 needs named barrier 16, but a CTA has 0 to 15}}
      emmy_tile.sync role
    }
  }
}
