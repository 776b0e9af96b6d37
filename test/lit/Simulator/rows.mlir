// RUN: emmy-opt %s --emmy-simulate -o /dev/null -verify-diagnostics
// Row-wise kernels: a softmax whose rows span warps (reductions through scratch), and a transpose through shared memory.

#wide = #emmy_tile.layout<reg = [4:(0,1), 2:(0,512)], lane = [32:(0,4)], warp = [4:(0,128)]>
#one = #emmy_tile.layout<reg = [], lane = [32:(0)], warp = [4:(0)]>
!row = !emmy_tile.frag<1x1024xf32, #wide>
!stat = !emmy_tile.frag<1xf32, #one>

emmy_tile.kernel @softmax(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                          %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [s0, 1, 1] warps 4
    attributes {emmy.simulate = {symbols = array<i64: 3>,
                                 buffers = [{type = tensor<3x1024xf32>, fill = "random 1"},
                                            {type = tensor<3x1024xf32>, expect = "softmax 0"}]}} {
  %scratch = emmy_tile.alloc : !emmy_tile.shared<4xf32>
  %i = emmy_tile.read cta_x
  %s0 = arith.constant 1024 : i64
  %s1 = arith.constant 1 : i64
  %i64 = arith.extsi %i : i32 to i64
  %offset = arith.muli %i64, %s0 : i64
  %v = emmy_tile.load %x[%offset] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<f32> -> !row
  %max = emmy_tile.reduce %v over 1 scratch %scratch : !emmy_tile.shared<4xf32> : !row -> !stat {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    emmy_tile.yield %m : f32
  }
  %maxes = emmy_tile.broadcast %max along 1 : !stat -> !row
  %e = emmy_tile.map(%v, %maxes) : (!row, !row) -> !row {
  ^bb0(%a: f32, %m: f32):
    %d = arith.subf %a, %m : f32
    %r = math.exp %d : f32
    emmy_tile.yield %r : f32
  }
  %sum = emmy_tile.reduce %e over 1 scratch %scratch : !emmy_tile.shared<4xf32> : !row -> !stat {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    emmy_tile.yield %m : f32
  }
  %sums = emmy_tile.broadcast %sum along 1 : !stat -> !row
  %out = emmy_tile.map(%e, %sums) : (!row, !row) -> !row {
  ^bb0(%a: f32, %s: f32):
    %q = arith.divf %a, %s : f32
    emmy_tile.yield %q : f32
  }
  emmy_tile.store %out to %y[%offset] strides(%s0, %s1) vector 4 : !row, !emmy_tile.ptr<f32>
}

#in = #emmy_tile.layout<reg = [8:(0,1), 4:(16,0)], lane = [8:(0,8), 4:(1,0)], warp = [4:(4,0)]>

emmy_tile.kernel @transpose(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>},
                            %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 4
    attributes {emmy.simulate = {buffers = [{type = tensor<64x64xbf16>, fill = "random 1"},
                                            {type = tensor<64x64xbf16>, expect = "transpose 0"}]}} {
  %tile = emmy_tile.alloc : !emmy_tile.shared<64x64xbf16, swizzle = 128>
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s0, %s1) vector 8 : !emmy_tile.ptr<bf16> -> !emmy_tile.frag<64x64xbf16, #in>
  emmy_tile.store_shared %v to %tile : !emmy_tile.frag<64x64xbf16, #in>, !emmy_tile.shared<64x64xbf16, swizzle = 128>
  emmy_tile.sync cta
  %t = emmy_tile.load_shared %tile transpose : !emmy_tile.shared<64x64xbf16, swizzle = 128> -> !emmy_tile.frag<64x64xbf16, #in>
  emmy_tile.store %t to %y[%zero] strides(%s0, %s1) vector 8 : !emmy_tile.frag<64x64xbf16, #in>, !emmy_tile.ptr<bf16>
}
