// RUN: emmy-opt %s --split-input-file --verify-diagnostics
// Each verifier branch of the ops that move fragments to and from memory.

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%p: !emmy_tile.ptr<f32>, %o: i64) {
  // expected-error@below {{'emmy_tile.load' op expects 1 strides and limits, but got 2 and 0}}
  %a = emmy_tile.load %p[%o] strides(%o, %o) : !emmy_tile.ptr<f32> -> !emmy_tile.frag<64xf32, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%p: !emmy_tile.ptr<f32>, %o: i64, %m: !emmy_tile.frag<64xi32, #f>) {
  // expected-error@below {{'emmy_tile.load' op expects an i1 mask in the layout of '!emmy_tile.frag<64xf32}}
  %a = emmy_tile.load %p[%o] strides(%o) mask %m : !emmy_tile.frag<64xi32, #f> : !emmy_tile.ptr<f32> -> !emmy_tile.frag<64xf32, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%p: !emmy_tile.ptr<f32>, %x: !emmy_tile.frag<64xbf16, #f>, %o: i64) {
  // expected-error@below {{'emmy_tile.store' op expects elements of type 'f32', but got 'bf16'}}
  emmy_tile.store %x to %p[%o] strides(%o) : !emmy_tile.frag<64xbf16, #f>, !emmy_tile.ptr<f32>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%p: !emmy_tile.ptr<f32>, %o: i64) {
  // expected-error@below {{'emmy_tile.load' op expects a vector of at most 16 bytes, a power of two, but got 8 elements}}
  %a = emmy_tile.load %p[%o] strides(%o) vector 8 : !emmy_tile.ptr<f32> -> !emmy_tile.frag<64xf32, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(32)], lane = [32:(1)], warp = []>
func.func @f(%p: !emmy_tile.ptr<f32>, %o: i64) {
  // expected-error@below {{'emmy_tile.load' op expects registers contiguous along the innermost dimension for a vector of 2 elements}}
  %a = emmy_tile.load %p[%o] strides(%o) vector 2 : !emmy_tile.ptr<f32> -> !emmy_tile.frag<64xf32, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%p: !emmy_tile.ptr<f32>, %i: !emmy_tile.frag<64xi64, #f>) {
  // expected-error@below {{'emmy_tile.gather' op expects elements of type 'f32', but got 'bf16'}}
  %a = emmy_tile.gather %p at %i : !emmy_tile.ptr<f32>, !emmy_tile.frag<64xi64, #f> -> !emmy_tile.frag<64xbf16, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%p: !emmy_tile.ptr<f32>, %i: !emmy_tile.frag<64xi32, #f>) {
  // expected-error@below {{'emmy_tile.gather' op expects i64 offsets in the layout of '!emmy_tile.frag<64xf32}}
  %a = emmy_tile.gather %p at %i : !emmy_tile.ptr<f32>, !emmy_tile.frag<64xi32, #f> -> !emmy_tile.frag<64xf32, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%p: !emmy_tile.ptr<f32>, %x: !emmy_tile.frag<64xf32, #f>, %i: !emmy_tile.frag<64xi64, #f>) {
  // expected-error@below {{'emmy_tile.scatter' op expects an i1 mask in the layout of '!emmy_tile.frag<64xf32}}
  emmy_tile.scatter %x to %p at %i mask %i : !emmy_tile.frag<64xi64, #f> : !emmy_tile.frag<64xf32, #f>, !emmy_tile.ptr<f32>, !emmy_tile.frag<64xi64, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = []>
func.func @f(%s: !emmy_tile.shared<2x32xf32>) {
  // expected-error@below {{'emmy_tile.load_shared' op expects a buffer of the shape and type of '!emmy_tile.frag<32x2xf32}}
  %a = emmy_tile.load_shared %s : !emmy_tile.shared<2x32xf32> -> !emmy_tile.frag<32x2xf32, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = []>
func.func @f(%s: !emmy_tile.shared<32x2xf32>, %x: !emmy_tile.frag<32x2xf32, #f>) {
  // expected-error@below {{'emmy_tile.store_shared' op expects 16-bit elements for a matrix move, but got 'f32'}}
  emmy_tile.store_shared %x to %s matrix : !emmy_tile.frag<32x2xf32, #f>, !emmy_tile.shared<32x2xf32>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = []>
func.func @f(%s: !emmy_tile.shared<32x2xf16>, %rank: i32) {
  // load_shared_c1
  // expected-error@below {{'emmy_tile.load_shared' op expects no matrix move from or to another CTA}}
  %a = emmy_tile.load_shared %s in_cta %rank matrix : !emmy_tile.shared<32x2xf16> -> !emmy_tile.frag<32x2xf16, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%p: !emmy_tile.ptr<bf16>, %x: !emmy_tile.frag<64xbf16, #f>, %o: i64) {
  // store_c1
  // expected-error@below {{'emmy_tile.store' op expects elements of 32 or 64 bits to add, but got 'bf16'}}
  emmy_tile.store %x to %p[%o] strides(%o) add : !emmy_tile.frag<64xbf16, #f>, !emmy_tile.ptr<bf16>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%p: !emmy_tile.ptr<i1>, %x: !emmy_tile.frag<64xi1, #f>, %i: !emmy_tile.frag<64xi64, #f>) {
  // store_c1
  // expected-error@below {{'emmy_tile.scatter' op expects elements of 32 or 64 bits to add, but got 'i1'}}
  emmy_tile.scatter %x to %p at %i add : !emmy_tile.frag<64xi1, #f>, !emmy_tile.ptr<i1>, !emmy_tile.frag<64xi64, #f>
  return
}
