// RUN: emmy-opt %s --verify-roundtrip --emmy-tile-to-nvvm | FileCheck %s
// Y = X^T for bf16 tiles of 64 by 64, and the sums of X's columns: loads by 16 bytes, a padded buffer, a transposed read, and a
// reduction that spans registers, lanes and warps.

#in = #emmy_tile.layout<reg = [8:(0,1), 4:(16,0)], lane = [8:(0,8), 4:(1,0)], warp = [4:(4,0)]>
#sums = #emmy_tile.layout<reg = [8:(1)], lane = [8:(8), 4:(0)], warp = [4:(0)]>
!in16 = !emmy_tile.frag<64x64xbf16, #in>
!in32 = !emmy_tile.frag<64x64xf32, #in>
!sums = !emmy_tile.frag<64xf32, #sums>
!padded = !emmy_tile.shared<64x72xbf16>
!buffer = !emmy_tile.shared<64x64xbf16, strides = [72, 1]>

// CHECK-LABEL: llvm.func @transpose
// CHECK: st.global.v4.b32
emmy_tile.kernel @transpose(%x: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<0>}, %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>},
                            %sums: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>},
                            %rows: i32 {emmy.bind = #emmy.bind_size<4096>}, %columns: i32 {emmy.bind = #emmy.bind_size<4096>})
    grid [64, 64, 1] warps 4 {
  %padded = emmy_tile.alloc : !padded
  %scratch = emmy_tile.alloc : !emmy_tile.shared<4x64xf32>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %bx = emmy_tile.read cta_x
  %by = emmy_tile.read cta_y
  %col = arith.muli %bx, %c64 : i32
  %row = arith.muli %by, %c64 : i32
  %rows_left = arith.subi %rows, %row : i32
  %columns_left = arith.subi %columns, %col : i32
  %pitch = arith.extsi %columns : i32 to i64
  %pitch_out = arith.extsi %rows : i32 to i64
  %row64 = arith.extsi %row : i32 to i64
  %col64 = arith.extsi %col : i32 to i64
  %in0 = arith.muli %row64, %pitch : i64
  %in_offset = arith.addi %in0, %col64 : i64
  %out0 = arith.muli %col64, %pitch_out : i64
  %out_offset = arith.addi %out0, %row64 : i64
  %t = emmy_tile.load %x[%in_offset] strides(%pitch, %one) limits(%rows_left, %columns_left) vector 8 : !emmy_tile.ptr<bf16> -> !in16
  %buffer = emmy_tile.subview %padded[%c0, %c0] : !padded -> !buffer
  emmy_tile.store_shared %t to %buffer : !in16, !buffer
  emmy_tile.sync cta
  %turned = emmy_tile.load_shared %buffer transpose : !buffer -> !in16
  emmy_tile.store %turned to %y[%out_offset] strides(%pitch_out, %one) limits(%columns_left, %rows_left) vector 8 : !in16, !emmy_tile.ptr<bf16>
  %f = emmy_tile.map(%t) : (!in16) -> !in32 {
  ^bb0(%e: bf16):
    %w = arith.extf %e : bf16 to f32
    emmy_tile.yield %w : f32
  }
  %s = emmy_tile.reduce %f over 0 scratch %scratch : !emmy_tile.shared<4x64xf32> : !in32 -> !sums {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    emmy_tile.yield %c : f32
  }
  %mine = arith.muli %by, %columns : i32
  %mine64 = arith.extsi %mine : i32 to i64
  %sum_offset = arith.addi %mine64, %col64 : i64
  emmy_tile.store %s to %sums[%sum_offset] strides(%one) limits(%columns_left) vector 4 : !sums, !emmy_tile.ptr<f32>
}
