// RUN: emmy-opt %s --verify-roundtrip --emmy-tile-to-nvvm | FileCheck %s
// Softmax of bf16 rows of 4096, one row for each CTA of eight warps: 16-byte loads, reductions over lanes and warps, one read.

#row = #emmy_tile.layout<reg = [8:(0,1), 2:(0,2048)], lane = [32:(0,8)], warp = [8:(0,256)]>
#one = #emmy_tile.layout<reg = [], lane = [32:(0)], warp = [8:(0)]>
!row16 = !emmy_tile.frag<1x4096xbf16, #row>
!row32 = !emmy_tile.frag<1x4096xf32, #row>
!one = !emmy_tile.frag<1xf32, #one>

// CHECK-LABEL: llvm.func @softmax
// CHECK: ld.global.v4.b32
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier
// CHECK: ex2.approx
// CHECK: nvvm.convert.f32x2.to.bf16x2
// CHECK: st.global.v4.b32
emmy_tile.kernel @softmax(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>}, %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>},
                          %columns: i32 {emmy.bind = #emmy.bind_size<4096>}) grid [16384, 1, 1] warps 8 {
  %scratch = emmy_tile.alloc : !emmy_tile.shared<8xf32>
  %m = emmy_tile.read cta_x
  %m64 = arith.extui %m : i32 to i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %pitch = arith.extsi %columns : i32 to i64
  %offset = arith.muli %m64, %pitch : i64
  %in = emmy_tile.load %x[%offset] strides(%pitch, %c1) limits(%one, %columns) vector 8 : !emmy_tile.ptr<bf16> -> !row16
  %col = arith.constant 0 : i32
  %index = emmy_tile.coord 1 from %col : !emmy_tile.frag<1x4096xi32, #row>
  %f = emmy_tile.map(%in, %index, %columns) : (!row16, !emmy_tile.frag<1x4096xi32, #row>, i32) -> !row32 {
  ^bb0(%e: bf16, %i: i32, %n: i32):
    %w = arith.extf %e : bf16 to f32
    %ninf = arith.constant 0xFF800000 : f32
    %in_row = arith.cmpi slt, %i, %n : i32
    %v = arith.select %in_row, %w, %ninf : f32
    emmy_tile.yield %v : f32
  }
  %max = emmy_tile.reduce %f over 1 scratch %scratch : !emmy_tile.shared<8xf32> : !row32 -> !one {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    emmy_tile.yield %c : f32
  }
  %maxes = emmy_tile.broadcast %max along 1 : !one -> !row32
  %p = emmy_tile.map(%f, %maxes) : (!row32, !row32) -> !row32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    %e = math.exp %c : f32
    emmy_tile.yield %e : f32
  }
  %sum = emmy_tile.reduce %p over 1 scratch %scratch : !emmy_tile.shared<8xf32> : !row32 -> !one {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    emmy_tile.yield %c : f32
  }
  %factor = emmy_tile.map(%sum) : (!one) -> !one {
  ^bb0(%a: f32):
    %unit = arith.constant 1.0 : f32
    %c = arith.divf %unit, %a : f32
    emmy_tile.yield %c : f32
  }
  %factors = emmy_tile.broadcast %factor along 1 : !one -> !row32
  %out = emmy_tile.map(%p, %factors) : (!row32, !row32) -> !row16 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    %h = arith.truncf %c : f32 to bf16
    emmy_tile.yield %h : bf16
  }
  emmy_tile.store %out to %y[%offset] strides(%pitch, %c1) limits(%one, %columns) vector 8 : !row16, !emmy_tile.ptr<bf16>
}
