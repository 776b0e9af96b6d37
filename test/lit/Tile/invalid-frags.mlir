// RUN: emmy-opt %s --split-input-file --verify-diagnostics
// Each verifier branch of the ops on fragments: values.

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%s: i32) {
  // expected-error@below {{'emmy_tile.splat' op expects a scalar of type 'f32', but got 'i32'}}
  %a = emmy_tile.splat %s : i32 -> !emmy_tile.frag<64xf32, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%s: i32) {
  // expected-error@below {{'emmy_tile.coord' op expects a dimension below 1, but got 1}}
  %a = emmy_tile.coord 1 from %s : !emmy_tile.frag<64xi32, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%s: i32) {
  // expected-error@below {{'emmy_tile.coord' op expects i32 elements, but got 'f32'}}
  %a = emmy_tile.coord 0 from %s : !emmy_tile.frag<64xf32, #f>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%x: !emmy_tile.frag<64xf32, #f>) {
  // expected-error@below {{'emmy_tile.map' op expects 1 block arguments, but got 2}}
  %a = emmy_tile.map(%x) : (!emmy_tile.frag<64xf32, #f>) -> !emmy_tile.frag<64xf32, #f> {
  ^bb0(%p: f32, %q: f32):
    emmy_tile.yield %p : f32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
#g = #emmy_tile.layout<reg = [2:(32)], lane = [32:(1)], warp = []>
func.func @f(%x: !emmy_tile.frag<64xf32, #f>, %y: !emmy_tile.frag<64xf32, #g>) {
  // expected-error@below {{'emmy_tile.map' op expects fragments of one shape and layout, but operand #1 is}}
  %a = emmy_tile.map(%x, %y) : (!emmy_tile.frag<64xf32, #f>, !emmy_tile.frag<64xf32, #g>) -> !emmy_tile.frag<64xf32, #f> {
  ^bb0(%p: f32, %q: f32):
    emmy_tile.yield %p : f32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%x: !emmy_tile.frag<64xf32, #f>) {
  // expected-error@below {{'emmy_tile.map' op expects block argument #0 of type 'f32', but got 'i32'}}
  %a = emmy_tile.map(%x) : (!emmy_tile.frag<64xf32, #f>) -> !emmy_tile.frag<64xi32, #f> {
  ^bb0(%p: i32):
    emmy_tile.yield %p : i32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%x: !emmy_tile.frag<64xf32, #f>) {
  // expected-error@below {{'emmy_tile.map' op expects its region to yield 1 elements}}
  %a = emmy_tile.map(%x) : (!emmy_tile.frag<64xf32, #f>) -> !emmy_tile.frag<64xf32, #f> {
  ^bb0(%p: f32):
    emmy_tile.yield %p, %p : f32, f32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%x: !emmy_tile.frag<64xf32, #f>) {
  // expected-error@below {{'emmy_tile.map' op expects result #0 to be of elements 'f32' in the operands' layout, but got}}
  %a = emmy_tile.map(%x) : (!emmy_tile.frag<64xf32, #f>) -> !emmy_tile.frag<64xi32, #f> {
  ^bb0(%p: f32):
    emmy_tile.yield %p : f32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = []>
#r = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>
func.func @f(%x: !emmy_tile.frag<32x2xf32, #f>) {
  // expected-error@below {{'emmy_tile.reduce' op expects a region of two 'f32' that yields one}}
  %a = emmy_tile.reduce %x over 1 : !emmy_tile.frag<32x2xf32, #f> -> !emmy_tile.frag<32xf32, #r> {
  ^bb0(%p: f32):
    emmy_tile.yield %p : f32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = []>
#r = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>
func.func @f(%x: !emmy_tile.frag<32x2xf32, #f>) {
  // expected-error@below {{'emmy_tile.reduce' op expects a dimension of at least two of '!emmy_tile.frag<32x2xf32}}
  %a = emmy_tile.reduce %x over 2 : !emmy_tile.frag<32x2xf32, #f> -> !emmy_tile.frag<32xf32, #r> {
  ^bb0(%p: f32, %q: f32):
    emmy_tile.yield %p : f32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = []>
#r = #emmy_tile.layout<reg = [2:(0)], lane = [32:(1)], warp = []>
func.func @f(%x: !emmy_tile.frag<32x2xf32, #f>) {
  // expected-error@below {{'emmy_tile.reduce' op expects '!emmy_tile.frag<32xf32, #emmy_tile.layout<reg = [], lane = [32:(1)], warp = []>>', but got}}
  %a = emmy_tile.reduce %x over 1 : !emmy_tile.frag<32x2xf32, #f> -> !emmy_tile.frag<32xf32, #r> {
  ^bb0(%p: f32, %q: f32):
    emmy_tile.yield %p : f32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [], lane = [32:(0,1)], warp = [4:(0,32)]>
#r = #emmy_tile.layout<reg = [], lane = [32:(0)], warp = [4:(0)]>
func.func @f(%x: !emmy_tile.frag<1x128xf32, #f>) {
  // expected-error@below {{'emmy_tile.reduce' op spans warps along dimension 1, so it expects scratch memory}}
  %a = emmy_tile.reduce %x over 1 : !emmy_tile.frag<1x128xf32, #f> -> !emmy_tile.frag<1xf32, #r> {
  ^bb0(%p: f32, %q: f32):
    emmy_tile.yield %p : f32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [4:(0,1)], lane = [32:(1,0)], warp = []>
#g = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = []>
func.func @f(%x: !emmy_tile.frag<32x4xf32, #f>) {
  // expected-error@below {{'emmy_tile.extract' op expects 2 offsets, but got 1}}
  %a = emmy_tile.extract %x [0] : !emmy_tile.frag<32x4xf32, #f> -> !emmy_tile.frag<32x2xf32, #g>
  return
}

// -----

#f = #emmy_tile.layout<reg = [4:(0,1)], lane = [32:(1,0)], warp = []>
#g = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = []>
func.func @f(%x: !emmy_tile.frag<32x4xf32, #f>) {
  // expected-error@below {{'emmy_tile.extract' op expects elements, lanes and warps of '!emmy_tile.frag<32x4xf32}}
  %a = emmy_tile.extract %x [0, 0] : !emmy_tile.frag<32x4xf32, #f> -> !emmy_tile.frag<32x2xi32, #g>
  return
}

// -----

#f = #emmy_tile.layout<reg = [4:(0,1)], lane = [32:(1,0)], warp = []>
#g = #emmy_tile.layout<reg = [2:(0,1)], lane = [32:(1,0)], warp = []>
func.func @f(%x: !emmy_tile.frag<32x4xf32, #f>) {
  // expected-error@below {{'emmy_tile.extract' op expects 2 elements from 3 on in dimension 1 of 4}}
  %a = emmy_tile.extract %x [0, 3] : !emmy_tile.frag<32x4xf32, #f> -> !emmy_tile.frag<32x2xf32, #g>
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%x: !emmy_tile.frag<64xf32, #f>) {
  // expected-error@below {{'emmy_tile.map' op expects its region to yield 1 elements}}
  %a = emmy_tile.map(%x) : (!emmy_tile.frag<64xf32, #f>) -> !emmy_tile.frag<64xf32, #f> {
  ^bb0(%p: f32):
    %q = arith.addf %p, %p : f32
  }
  return
}

// -----

#f = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = []>
func.func @f(%x: !emmy_tile.frag<64xi32, #f>) {
  // expected-error@below {{'emmy_tile.any' op expects i1 elements, but got 'i32'}}
  %a = emmy_tile.any %x : !emmy_tile.frag<64xi32, #f>
  return
}
