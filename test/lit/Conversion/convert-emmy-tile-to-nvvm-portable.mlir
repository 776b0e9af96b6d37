// RUN: emmy-opt %s --convert-emmy-tile-to-nvvm | FileCheck %s
// On a chip before Hopper a single thread is not elected, and stmatrix is a store of vectors.

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [1:(0,0)]>
module attributes {emmy.target = #emmy.target<"sm_80", sms = 108, shared = 166912, registers = 65536, l2 = 41943040, hbm = 1500, clock = 1410>} {
  // CHECK: gpu.module @moves [#nvvm.target<O = 3, chip = "sm_80"
  // CHECK: nvvm.ldmatrix
  // CHECK-NOT: nvvm.stmatrix
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
  // CHECK-NOT: nvvm.elect.sync
  emmy_tile.kernel @moves(%p: !emmy_tile.ptr<i32>, %at: i64, %one: i32) grid [1, 1, 1] warps 1 {
    %s = emmy_tile.alloc : !emmy_tile.shared<16x16xbf16, swizzle = 32>
    %t = emmy_tile.load_shared %s matrix : !emmy_tile.shared<16x16xbf16, swizzle = 32> -> !emmy_tile.frag<16x16xbf16, #acc>
    emmy_tile.store_shared %t to %s matrix : !emmy_tile.frag<16x16xbf16, #acc>, !emmy_tile.shared<16x16xbf16, swizzle = 32>
    emmy_tile.warp_specialize {
      emmy_tile.role "only" warps 1 {
        emmy_tile.one_thread {
          %old = emmy_tile.atomic_add %p[%at], %one : !emmy_tile.ptr<i32>, i32 -> i32
        }
      }
    }
  }
}
