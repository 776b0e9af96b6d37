// RUN: emmy-opt %s --verify-roundtrip --emmy-tile-to-nvvm | FileCheck %s
// D[M, N] = A[M, K] · B[N, K]^T in bf16 without TMA or wgmma: 64 x 64 tiles over two by two warps, cp.async into two stages, ldmatrix,
// mma.sync. Rows of A and B start at multiples of 16 bytes; sizes are what limits say.

#a = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8), 2:(16,0), 4:(0,16)], lane = [4:(0,2), 8:(1,0)], warp = [2:(32,0), 2:(0,0)]>
#b = #emmy_tile.layout<reg = [2:(0,1), 2:(0,8), 2:(8,0), 2:(16,0), 4:(0,16)], lane = [4:(0,2), 8:(1,0)], warp = [2:(0,0), 2:(32,0)]>
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 4:(0,8), 2:(16,0)], lane = [4:(0,2), 8:(1,0)], warp = [2:(32,0), 2:(0,32)]>
!a = !emmy_tile.frag<64x64xbf16, #a>
!b = !emmy_tile.frag<64x64xbf16, #b>
!acc = !emmy_tile.frag<64x64xf32, #acc>
!out = !emmy_tile.frag<64x64xbf16, #acc>
!ptr = !emmy_tile.ptr<bf16>
!ring = !emmy_tile.shared<2x64x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>

// CHECK-LABEL: llvm.func @gemm_portable
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.ldmatrix
// CHECK: llvm.nvvm.mma.m16n8k16.row.col.bf16
emmy_tile.kernel @gemm_portable(%a: !ptr {emmy.bind = #emmy.bind_pointer<0>}, %b: !ptr {emmy.bind = #emmy.bind_pointer<1>},
                                %d: !ptr {emmy.bind = #emmy.bind_pointer<2>}, %m: i32 {emmy.bind = #emmy.bind_size<s0>},
                                %n: i32 {emmy.bind = #emmy.bind_size<s1>}, %k: i32 {emmy.bind = #emmy.bind_size<s2>})
    grid [s0 ceildiv 64, s1 ceildiv 64, 1] warps 4 {
  %as = emmy_tile.alloc : !ring
  %bs = emmy_tile.alloc : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %x = emmy_tile.read cta_x
  %y = emmy_tile.read cta_y
  %row = arith.muli %x, %c64 : i32
  %col = arith.muli %y, %c64 : i32
  %rows = arith.subi %m, %row : i32
  %columns = arith.subi %n, %col : i32
  %steps = arith.ceildivsi %k, %c64 : i32
  %k64 = arith.extsi %k : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %row64 = arith.extsi %row : i32 to i64
  %col64 = arith.extsi %col : i32 to i64
  %a_start = arith.muli %row64, %k64 : i64
  %b_start = arith.muli %col64, %k64 : i64
  %a0 = emmy_tile.subview %as[%c0, %c0, %c0] : !ring -> !tile
  %b0 = emmy_tile.subview %bs[%c0, %c0, %c0] : !ring -> !tile
  emmy_tile.cp_async %a[%a_start] strides(%k64, %one) limits(%rows, %k) to %a0 vector 8 : !ptr, !tile
  emmy_tile.cp_async %b[%b_start] strides(%k64, %one) limits(%columns, %k) to %b0 vector 8 : !ptr, !tile
  emmy_tile.cp_async_commit
  %zero = arith.constant 0.0 : f32
  %init = emmy_tile.splat %zero : f32 -> !acc
  %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %init) -> (!acc) : i32 {
    %next = arith.addi %i, %c1 : i32
    %more = arith.cmpi slt, %next, %steps : i32
    scf.if %more {
      %s, %p = emmy_tile.ring_slot %next of 2
      %k0 = arith.muli %next, %c64 : i32
      %k_left = arith.subi %k, %k0 : i32
      %k0_64 = arith.extsi %k0 : i32 to i64
      %a_at = arith.addi %a_start, %k0_64 : i64
      %b_at = arith.addi %b_start, %k0_64 : i64
      %at = emmy_tile.subview %as[%s, %c0, %c0] : !ring -> !tile
      %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !ring -> !tile
      emmy_tile.cp_async %a[%a_at] strides(%k64, %one) limits(%rows, %k_left) to %at vector 8 : !ptr, !tile
      emmy_tile.cp_async %b[%b_at] strides(%k64, %one) limits(%columns, %k_left) to %bt vector 8 : !ptr, !tile
    }
    emmy_tile.cp_async_commit
    emmy_tile.cp_async_wait 1
    emmy_tile.sync cta
    %s, %p = emmy_tile.ring_slot %i of 2
    %at = emmy_tile.subview %as[%s, %c0, %c0] : !ring -> !tile
    %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !ring -> !tile
    %af = emmy_tile.load_shared %at matrix : !tile -> !a
    %bf = emmy_tile.load_shared %bt matrix : !tile -> !b
    %done = emmy_tile.mma %af, %bf, %acc : !a, !b -> !acc
    emmy_tile.sync cta
    scf.yield %done : !acc
  }
  %out = emmy_tile.map(%sum) : (!acc) -> !out {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_tile.yield %h : bf16
  }
  %d_row = arith.muli %row64, %n64 : i64
  %d_at = arith.addi %d_row, %col64 : i64
  emmy_tile.store %out to %d[%d_at] strides(%n64, %one) limits(%rows, %columns) vector 2 : !out, !ptr
}
