// RUN: emmy-opt %s --verify-roundtrip | FileCheck %s
// A GEMM tile program: roles, rings, TMA, wgmma, the epilogue through stmatrix.

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 16:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>

// CHECK-LABEL: emmy_tile.kernel @gemm
// CHECK-SAME: grid [s0 ceildiv 64, 2, 1] warps 8
emmy_tile.kernel @gemm(%a: !emmy_tile.tmap<64x64xbf16, swizzle = 128> {emmy.bind = #emmy.bind_tma<0, sizes = [s0, 512], strides = [1024], offset = 0, l2_promotion = 256>},
                       %b: !emmy_tile.tmap<128x64xbf16, swizzle = 128>, %d: !emmy_tile.tmap<64x64xbf16, swizzle = 128>,
                       %steps: i32 {emmy.bind = #emmy.bind_size<8>}) grid [s0 ceildiv 64, 2, 1] warps 8 {
  %as = emmy_tile.alloc : !emmy_tile.shared<4x64x64xbf16, swizzle = 128>
  %bs = emmy_tile.alloc : !emmy_tile.shared<4x128x64xbf16, swizzle = 128>
  %ds = emmy_tile.alloc : !emmy_tile.shared<2x64x64xbf16, swizzle = 128>
  %full = emmy_tile.alloc : !emmy_tile.barrier<4>
  %empty = emmy_tile.alloc : !emmy_tile.barrier<4>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %x = emmy_tile.read cta_x
  %y = emmy_tile.read cta_y
  %row = arith.muli %x, %c64 : i32
  %col = arith.muli %y, %c128 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !emmy_tile.barrier<4>
    emmy_tile.barrier_init %empty, 1 : !emmy_tile.barrier<4>
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  // CHECK: emmy_tile.warp_specialize
  emmy_tile.warp_specialize {
    // CHECK: emmy_tile.role "producer" warps 1 registers 40
    emmy_tile.role "producer" warps 1 registers 40 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %k of 4
          %free = arith.xori %p, %c1 : i32
          emmy_tile.barrier_wait %empty[%s] parity %free : !emmy_tile.barrier<4>
          emmy_tile.barrier_expect %full[%s], 24576 : !emmy_tile.barrier<4>
          %kc = arith.muli %k, %c64 : i32
          %at = emmy_tile.subview %as[%s, %c0, %c0] : !emmy_tile.shared<4x64x64xbf16, swizzle = 128> -> !emmy_tile.shared<64x64xbf16, swizzle = 128>
          %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !emmy_tile.shared<4x128x64xbf16, swizzle = 128> -> !emmy_tile.shared<128x64xbf16, swizzle = 128>
          emmy_tile.tma_load %a[%row, %kc] to %at, %full[%s] : !emmy_tile.tmap<64x64xbf16, swizzle = 128>, !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.barrier<4>
          emmy_tile.tma_load %b[%col, %kc] to %bt, %full[%s] evict_last : !emmy_tile.tmap<128x64xbf16, swizzle = 128>, !emmy_tile.shared<128x64xbf16, swizzle = 128>, !emmy_tile.barrier<4>
        }
      }
    }
    // CHECK: emmy_tile.role "consumer" warpgroups 1 registers 232
    emmy_tile.role "consumer" warpgroups 1 registers 232 {
    ^bb0(%wg: i32):
      %zero = arith.constant 0.0 : f32
      %init = emmy_tile.splat %zero : f32 -> !emmy_tile.frag<64x128xf32, #acc>
      %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %init) -> (!emmy_tile.frag<64x128xf32, #acc>) : i32 {
        %s, %p = emmy_tile.ring_slot %k of 4
        emmy_tile.barrier_wait %full[%s] parity %p : !emmy_tile.barrier<4>
        %at = emmy_tile.subview %as[%s, %c0, %c0] : !emmy_tile.shared<4x64x64xbf16, swizzle = 128> -> !emmy_tile.shared<64x64xbf16, swizzle = 128>
        %bt = emmy_tile.subview %bs[%s, %c0, %c0] : !emmy_tile.shared<4x128x64xbf16, swizzle = 128> -> !emmy_tile.shared<128x64xbf16, swizzle = 128>
        emmy_tile.wgmma_fence
        // CHECK: emmy_tile.wgmma %
        %next = emmy_tile.wgmma %at, %bt, %acc : !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.shared<128x64xbf16, swizzle = 128> -> !emmy_tile.frag<64x128xf32, #acc>
        emmy_tile.wgmma_commit
        %done = emmy_tile.wgmma_wait 0 %next : !emmy_tile.frag<64x128xf32, #acc> -> !emmy_tile.frag<64x128xf32, #acc>
        emmy_tile.barrier_arrive %empty[%s] : !emmy_tile.barrier<4>
        scf.yield %done : !emmy_tile.frag<64x128xf32, #acc>
      }
      // CHECK: emmy_tile.map(
      %out = emmy_tile.map(%sum) : (!emmy_tile.frag<64x128xf32, #acc>) -> !emmy_tile.frag<64x128xbf16, #acc> {
      ^bb0(%e: f32):
        %h = arith.truncf %e : f32 to bf16
        emmy_tile.yield %h : bf16
      }
    }
  }
}

#row = #emmy_tile.layout<reg = [4:(1)], lane = [32:(0)], warp = [1:(0)]>
#blocked = #emmy_tile.layout<reg = [8:(0,1), 4:(1,0)], lane = [32:(0,8)], warp = [1:(0,256)]>

// CHECK-LABEL: emmy_tile.kernel @row_sums
emmy_tile.kernel @row_sums(%x: !emmy_tile.ptr<bf16>, %y: !emmy_tile.ptr<f32>, %rows: i32) grid [16, 1, 1] warps 1 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %pitch = arith.constant 256 : i64
  %n = arith.constant 256 : i32
  // CHECK: emmy_tile.load %{{.*}} strides(%{{.*}}, %{{.*}}) limits(%{{.*}}, %{{.*}}) vector 8
  %t = emmy_tile.load %x[%c0] strides(%pitch, %c1) limits(%rows, %n) vector 8 : !emmy_tile.ptr<bf16> -> !emmy_tile.frag<4x256xbf16, #blocked>
  // CHECK: emmy_tile.load %{{.*}} strides(%{{.*}}, %{{.*}}) mask %{{.*}} : {{.*}} vector 8
  %on = arith.constant true
  %mask = emmy_tile.splat %on : i1 -> !emmy_tile.frag<4x256xi1, #blocked>
  %some = emmy_tile.load %x[%c0] strides(%pitch, %c1) mask %mask : !emmy_tile.frag<4x256xi1, #blocked> vector 8
      : !emmy_tile.ptr<bf16> -> !emmy_tile.frag<4x256xbf16, #blocked>
  %f = emmy_tile.map(%t) : (!emmy_tile.frag<4x256xbf16, #blocked>) -> !emmy_tile.frag<4x256xf32, #blocked> {
  ^bb0(%e: bf16):
    %w = arith.extf %e : bf16 to f32
    emmy_tile.yield %w : f32
  }
  // CHECK: emmy_tile.reduce %{{.*}} over 1
  %s = emmy_tile.reduce %f over 1 : !emmy_tile.frag<4x256xf32, #blocked> -> !emmy_tile.frag<4xf32, #row> {
  ^bb0(%a: f32, %b: f32):
    %w = arith.addf %a, %b : f32
    emmy_tile.yield %w : f32
  }
  emmy_tile.store %s to %y[%c0] strides(%c1) limits(%rows) : !emmy_tile.frag<4xf32, #row>, !emmy_tile.ptr<f32>
}

#part = #emmy_tile.layout<reg = [4:(0,1)], lane = [8:(0,4), 4:(1,0)], warp = [1:(0,0)]>
!part = !emmy_tile.frag<4x32xf32, #part>
!box = !emmy_tile.shared<4x32xf32>

// Other CTAs' shared memory, and additions in global memory.
// CHECK-LABEL: emmy_tile.kernel @across_ctas
// CHECK: emmy_tile.put %{{.*}} to %{{.*}}[%{{.*}}] in_cta %[[RANK:.+]] : f32
// CHECK: emmy_tile.get %{{.*}}[%{{.*}}] in_cta %[[RANK]]
// CHECK: emmy_tile.load_shared %{{.*}} in_cta %[[RANK]] :
// CHECK: emmy_tile.store_shared %{{.*}} to %{{.*}} in_cta %[[RANK]] :
// CHECK: emmy_tile.store %{{.*}} to %{{.*}} strides(%{{.*}}, %{{.*}}) vector 4 add
// CHECK: emmy_tile.atomic_add %{{.*}}, %{{.*}} acq_rel
emmy_tile.kernel @across_ctas(%p: !emmy_tile.ptr<f32>, %s: f32, %rank: i32, %at: i64) grid [2, 1, 1] cluster 2 warps 1 {
  %b = emmy_tile.alloc : !box
  emmy_tile.one_thread {
    emmy_tile.put %s to %b[%rank] in_cta %rank : f32, !box
  }
  %v = emmy_tile.get %b[%rank] in_cta %rank : !box -> f32
  %x = emmy_tile.load_shared %b in_cta %rank : !box -> !part
  emmy_tile.store_shared %x to %b in_cta %rank : !part, !box
  emmy_tile.store %x to %p[%at] strides(%at, %at) vector 4 add : !part, !emmy_tile.ptr<f32>
  emmy_tile.one_thread {
    %old = emmy_tile.atomic_add %p[%at], %v acq_rel : !emmy_tile.ptr<f32>, f32 -> f32
  }
}
