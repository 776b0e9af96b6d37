// RUN: emmy-opt %s --split-input-file --verify-diagnostics
// Each rule of the dialect's types and of the layout attribute.

// expected-error@below {{expects a layout of at least one dimension}}
func.func private @f() attributes {l = #emmy_tile.layout<reg = [], lane = [], warp = []>}

// -----

// expected-error@below {{expects 1 strides in each mode, but got 2}}
func.func private @f() attributes {l = #emmy_tile.layout<reg = [2:(1)], lane = [32:(1,0)], warp = []>}

// -----

// expected-error@below {{expects positive sizes and no negative stride, but got -2}}
func.func private @f() attributes {l = #emmy_tile.layout<reg = [2:(-2)], lane = [32:(1)], warp = []>}

// -----

// expected-error@below {{expects lane modes of 32 lanes in all, but got 16}}
func.func private @f() attributes {l = #emmy_tile.layout<reg = [2:(16)], lane = [16:(1)], warp = []>}

// -----

// expected-error@below {{expects integer or float elements, but got 'index'}}
func.func private @f(!emmy_tile.frag<32xindex, #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>>)

// -----

// expected-error@below {{expects a layout of 2 dimensions, but got 1}}
func.func private @f(!emmy_tile.frag<1x32xf32, #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>>)

// -----

// expected-error@below {{expects a layout that covers 64 elements of dimension 0, but it covers 32}}
func.func private @f(!emmy_tile.frag<64xf32, #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>>)

// -----

// expected-error@below {{expects elements of whole bytes, but got 'i1'}}
func.func private @f(!emmy_tile.shared<64xi1>)

// -----

// expected-error@below {{expects positive sizes}}
func.func private @f(!emmy_tile.shared<0x8xf32>)

// -----

// expected-error@below {{expects 2 strides, the last of them 1}}
func.func private @f(!emmy_tile.shared<4x8xf32, strides = [8, 2]>)

// -----

// expected-error@below {{expects a swizzle of 0, 32, 64 or 128 bytes, but got 16}}
func.func private @f(!emmy_tile.shared<4x8xbf16, swizzle = 16>)

// -----

// expected-error@below {{expects an innermost dimension of 128 bytes under this swizzle, but got 64}}
func.func private @f(!emmy_tile.shared<4x32xbf16, swizzle = 128>)

// -----

// expected-error@below {{expects elements of whole bytes, but got 'i1'}}
func.func private @f(!emmy_tile.tmap<64x128xi1>)

// -----

// expected-error@below {{expects a box of 1 to 5 dimensions, but got 6}}
func.func private @f(!emmy_tile.tmap<1x1x1x1x8x8xf32>)

// -----

// expected-error@below {{expects box sizes from 1 to 256, but got 512}}
func.func private @f(!emmy_tile.tmap<512x8xf32>)

// -----

// expected-error@below {{expects an innermost box dimension of a multiple of 16 bytes, but got 4}}
func.func private @f(!emmy_tile.tmap<8x1xf32>)

// -----

// expected-error@below {{expects a size and 1 strides in each mode, but got 1 numbers}}
func.func private @f() attributes {l = #emmy_tile.layout<reg = [2:()], lane = [32:(1)], warp = []>}
