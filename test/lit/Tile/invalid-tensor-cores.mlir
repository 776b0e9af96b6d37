// RUN: emmy-opt %s --split-input-file --verify-diagnostics
// Each verifier branch of wgmma, its wait, and mma.

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [8:(16,0)]>
func.func @f(%a: !emmy_tile.shared<64x64xbf16, swizzle = 128>, %b: !emmy_tile.shared<16x64xbf16, swizzle = 128>, %c: !emmy_tile.frag<128x16xf32, #acc>) {
  // expected-error@below {{'emmy_tile.wgmma' op expects an accumulator of 64 rows, but got '!emmy_tile.frag<128x16xf32}}
  %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.shared<16x64xbf16, swizzle = 128> -> !emmy_tile.frag<128x16xf32, #acc>
  return
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 33:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
func.func @f(%a: !emmy_tile.shared<64x64xbf16, swizzle = 128>, %b: !emmy_tile.shared<264x64xbf16, swizzle = 128>, %c: !emmy_tile.frag<64x264xf32, #acc>) {
  // expected-error@below {{'emmy_tile.wgmma' op expects 8 to 256 columns in steps of 8, but got 264}}
  %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.shared<264x64xbf16, swizzle = 128> -> !emmy_tile.frag<64x264xf32, #acc>
  return
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
func.func @f(%a: !emmy_tile.shared<128x64xbf16, swizzle = 128>, %b: !emmy_tile.shared<16x64xbf16, swizzle = 128>, %c: !emmy_tile.frag<64x16xf32, #acc>) {
  // expected-error@below {{'emmy_tile.wgmma' op expects 64 rows in its first operand, but got 128}}
  %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<128x64xbf16, swizzle = 128>, !emmy_tile.shared<16x64xbf16, swizzle = 128> -> !emmy_tile.frag<64x16xf32, #acc>
  return
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
func.func @f(%a: !emmy_tile.shared<64x64xbf16>, %b: !emmy_tile.shared<16x64xbf16, swizzle = 128>, %c: !emmy_tile.frag<64x16xf32, #acc>) {
  // expected-error@below {{'emmy_tile.wgmma' op expects operands in 128-byte swizzle, but got '!emmy_tile.shared<64x64xbf16>'}}
  %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<64x64xbf16>, !emmy_tile.shared<16x64xbf16, swizzle = 128> -> !emmy_tile.frag<64x16xf32, #acc>
  return
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
func.func @f(%a: !emmy_tile.shared<64x64xbf16, swizzle = 128>, %b: !emmy_tile.shared<16x64xbf16>, %c: !emmy_tile.frag<64x16xf32, #acc>) {
  // expected-error@below {{'emmy_tile.wgmma' op expects operands in 128-byte swizzle, but got '!emmy_tile.shared<16x64xbf16>'}}
  %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.shared<16x64xbf16> -> !emmy_tile.frag<64x16xf32, #acc>
  return
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
func.func @f(%a: !emmy_tile.shared<64x64xbf16, swizzle = 128>, %b: !emmy_tile.shared<24x64xbf16, swizzle = 128>, %c: !emmy_tile.frag<64x16xf32, #acc>) {
  // expected-error@below {{'emmy_tile.wgmma' op expects a 16 by 64 second operand, but got 24 by 64}}
  %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.shared<24x64xbf16, swizzle = 128> -> !emmy_tile.frag<64x16xf32, #acc>
  return
}

// -----

#flat = #emmy_tile.layout<reg = [8:(0,2)], lane = [2:(0,1), 16:(1,0)], warp = [4:(16,0)]>
func.func @f(%a: !emmy_tile.shared<64x64xbf16, swizzle = 128>, %b: !emmy_tile.shared<16x64xbf16, swizzle = 128>, %c: !emmy_tile.frag<64x16xf32, #flat>) {
  // expected-error@below {{'emmy_tile.wgmma' op expects the accumulator in the layout #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>, but got}}
  %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.shared<16x64xbf16, swizzle = 128> -> !emmy_tile.frag<64x16xf32, #flat>
  return
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
func.func @f(%c: !emmy_tile.frag<64x16xf32, #acc>) {
  // expected-error@below {{'emmy_tile.wgmma_wait' op expects results of the operands' types}}
  %d = emmy_tile.wgmma_wait 0 %c : !emmy_tile.frag<64x16xf32, #acc> -> !emmy_tile.frag<64x16xbf16, #acc>
  return
}

// -----

#row = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>
func.func @f(%c: !emmy_tile.frag<32xf32, #row>) {
  // expected-error@below {{'emmy_tile.mma' op expects fragments of two dimensions}}
  %d = emmy_tile.mma %c, %c, %c : !emmy_tile.frag<32xf32, #row>, !emmy_tile.frag<32xf32, #row> -> !emmy_tile.frag<32xf32, #row>
  return
}

// -----

#a = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = []>
#c = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0)], lane = [4:(0,2), 8:(1,0)], warp = []>
func.func @f(%a: !emmy_tile.frag<16x16xbf16, #a>, %c: !emmy_tile.frag<16x8xf32, #c>) {
  // expected-error@below {{'emmy_tile.mma' op expects m by k, n by k and m by n, but got '!emmy_tile.frag<16x16xbf16}}
  %d = emmy_tile.mma %a, %a, %c : !emmy_tile.frag<16x16xbf16, #a>, !emmy_tile.frag<16x16xbf16, #a> -> !emmy_tile.frag<16x8xf32, #c>
  return
}

// -----

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
func.func @f(%a: !emmy_tile.shared<64x64xbf16, swizzle = 128>, %b: !emmy_tile.shared<64xbf16, swizzle = 128>, %c: !emmy_tile.frag<64x16xf32, #acc>) {
  // expected-error@below {{'emmy_tile.wgmma' op expects matrices or panels of matrices, but got '!emmy_tile.shared<64xbf16, swizzle = 128>'}}
  %d = emmy_tile.wgmma %a, %b, %c : !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.shared<64xbf16, swizzle = 128> -> !emmy_tile.frag<64x16xf32, #acc>
  return
}
