// RUN: emmy-opt %s --emmy-simulate -o /dev/null | FileCheck %s
// A buffer marked `dump` is printed once, in row-major order.

#line = #emmy_tile.layout<reg = [1:(1)], lane = [8:(1), 4:(0)], warp = [1:(0)]>

// CHECK: // buffer #1: 0.00 2.00 4.00 6.00 8.00 10.00 12.00 14.00
// CHECK-NOT: buffer
emmy_tile.kernel @double(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                         %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<8xf32>, fill = "iota"}, {type = tensor<8xf32>, expect = "add 0 0", dump}]}} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%one) : !emmy_tile.ptr<f32> -> !emmy_tile.frag<8xf32, #line>
  %d = emmy_tile.map(%v) : (!emmy_tile.frag<8xf32, #line>) -> !emmy_tile.frag<8xf32, #line> {
  ^bb0(%a: f32):
    %r = arith.addf %a, %a : f32
    emmy_tile.yield %r : f32
  }
  emmy_tile.store %d to %y[%zero] strides(%one) : !emmy_tile.frag<8xf32, #line>, !emmy_tile.ptr<f32>
}
