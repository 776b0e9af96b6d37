// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Dependent launches: what an earlier launch of the plan wrote is read after pdl_wait only.

#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>
!frag = !emmy_tile.frag<128xf32, #line>

module attributes {emmy.simulate = {
    buffers = [{type = tensor<128xf32>, fill = "random 1"}, {type = tensor<128xf32>}, {type = tensor<128xf32>, expect = "add 0 0"}],
    launches = [{kernel = @copy, operands = array<i64: 0, 1>}, {kernel = @add, operands = array<i64: 0, 1, 2>}]}} {
  emmy_tile.kernel @copy(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                         %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 1 {
    %zero = arith.constant 0 : i64
    %s = arith.constant 1 : i64
    %v = emmy_tile.load %x[%zero] strides(%s) vector 4 : !emmy_tile.ptr<f32> -> !frag
    emmy_tile.pdl_launch
    emmy_tile.store %v to %y[%zero] strides(%s) vector 4 : !frag, !emmy_tile.ptr<f32>
  }
  emmy_tile.kernel @add(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                        %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>},
                        %z: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>}) grid [1, 1, 1] warps 1 pdl {
    %zero = arith.constant 0 : i64
    %s = arith.constant 1 : i64
    // No launch writes this one.
    %v = emmy_tile.load %x[%zero] strides(%s) vector 4 : !emmy_tile.ptr<f32> -> !frag
    emmy_tile.pdl_wait
    %u = emmy_tile.load %y[%zero] strides(%s) vector 4 : !emmy_tile.ptr<f32> -> !frag
    %sum = emmy_tile.map(%v, %u) : (!frag, !frag) -> !frag {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      emmy_tile.yield %r : f32
    }
    emmy_tile.store %sum to %z[%zero] strides(%s) vector 4 : !frag, !emmy_tile.ptr<f32>
  }
}

// -----

// The read comes before the wait.
#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>
!frag = !emmy_tile.frag<128xf32, #line>

module attributes {emmy.simulate = {
    buffers = [{type = tensor<128xf32>, fill = "random 1"}, {type = tensor<128xf32>}, {type = tensor<128xf32>, expect = "same 0"}],
    launches = [{kernel = @copy, operands = array<i64: 0, 1>}, {kernel = @again, operands = array<i64: 1, 2>}]}} {
  emmy_tile.kernel @copy(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                         %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 1 {
    %zero = arith.constant 0 : i64
    %s = arith.constant 1 : i64
    %v = emmy_tile.load %x[%zero] strides(%s) vector 4 : !emmy_tile.ptr<f32> -> !frag
    // expected-note@below {{the other access: CTA 0 writes it here}}
    emmy_tile.store %v to %y[%zero] strides(%s) vector 4 : !frag, !emmy_tile.ptr<f32>
  }
  emmy_tile.kernel @again(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                          %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 1 pdl {
    %zero = arith.constant 0 : i64
    %s = arith.constant 1 : i64
    // expected-error@below {{violates pdl-wait: CTA 0 reads byte 0 of buffer #1 of an earlier launch before pdl_wait}}
    %v = emmy_tile.load %x[%zero] strides(%s) vector 4 : !emmy_tile.ptr<f32> -> !frag
    emmy_tile.pdl_wait
    emmy_tile.store %v to %y[%zero] strides(%s) vector 4 : !frag, !emmy_tile.ptr<f32>
  }
}

// -----

// Later launches of the plan rely on every kernel's wait.
module attributes {emmy.simulate = {buffers = [], launches = [{kernel = @first, operands = array<i64>},
                                                              {kernel = @second, operands = array<i64>}]}} {
  emmy_tile.kernel @first() grid [1, 1, 1] warps 1 {
  }
  // expected-error@below {{violates pdl-wait: CTA 0 exits without pdl_wait}}
  emmy_tile.kernel @second() grid [1, 1, 1] warps 1 pdl {
  }
}
