// RUN: emmy-opt %s --emmy-overlap-launches --split-input-file | FileCheck %s
// RUN: emmy-opt %s --emmy-overlap-launches --split-input-file --remarks-filter='emmy-overlap-launches' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Each kernel waits for the one ahead before it touches global memory, and lets the next one in.

#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>
!frag = !emmy_tile.frag<128xf32, #line>

// REMARK: remark: [Passed] dependent launch {{.*}} Function=stream {{.*}}its launch overlaps the end of the kernel before it
// REMARK: remark: [Missed] no dependent launch {{.*}} Function=by_hand {{.*}}the kernel has its own order of launches

// Numbers come before the wait, memory after it.
// CHECK-LABEL: emmy_tile.kernel @stream
// CHECK-SAME: grid [1, 1, 1] warps 1 pdl {
// CHECK: arith.constant 1 : i64
// CHECK-NEXT: emmy_tile.pdl_wait
// CHECK-NEXT: emmy_tile.pdl_launch
// CHECK-NEXT: emmy_tile.load
emmy_tile.kernel @stream(%x: !emmy_tile.ptr<f32>, %y: !emmy_tile.ptr<f32>) grid [1, 1, 1] warps 1 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%one) vector 4 : !emmy_tile.ptr<f32> -> !frag
  emmy_tile.store %v to %y[%zero] strides(%one) vector 4 : !frag, !emmy_tile.ptr<f32>
}

// All threads wait before they part, after the barriers are set up.
// CHECK-LABEL: emmy_tile.kernel @roles
// CHECK: emmy_tile.sync cta
// CHECK-NEXT: emmy_tile.pdl_wait
// CHECK-NEXT: emmy_tile.pdl_launch
// CHECK-NEXT: emmy_tile.warp_specialize
// CHECK-NOT: emmy_tile.pdl_wait
emmy_tile.kernel @roles(%x: !emmy_tile.tmap<64x64xbf16, swizzle = 128>) grid [1, 1, 1] warps 8 {
  %xs = emmy_tile.alloc : !emmy_tile.shared<64x64xbf16, swizzle = 128>
  %full = emmy_tile.alloc : !emmy_tile.barrier<1>
  %zero = arith.constant 0 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !emmy_tile.barrier<1>
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 4 registers 40 {
      emmy_tile.one_thread {
        emmy_tile.barrier_expect %full[%zero], 8192 : !emmy_tile.barrier<1>
        emmy_tile.tma_load %x[%zero, %zero] to %xs, %full[%zero] : !emmy_tile.tmap<64x64xbf16, swizzle = 128>, !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.barrier<1>
      }
    }
    emmy_tile.role "consumer" warps 4 registers 232 {
      emmy_tile.barrier_wait %full[%zero] parity %zero : !emmy_tile.barrier<1>
    }
  }
}

// A kernel that touches nothing still keeps the order of those around it.
// CHECK-LABEL: emmy_tile.kernel @nothing
// CHECK-NEXT: emmy_tile.pdl_wait
// CHECK-NEXT: emmy_tile.pdl_launch
emmy_tile.kernel @nothing() grid [1, 1, 1] warps 1 {
}

// CHECK-LABEL: emmy_tile.kernel @by_hand
// CHECK-NEXT: emmy_tile.pdl_wait
// CHECK-NEXT: }
emmy_tile.kernel @by_hand() grid [1, 1, 1] warps 1 pdl {
  emmy_tile.pdl_wait
}

// -----

// CHECK-LABEL: module attributes
// CHECK: emmy_tile.kernel @older_chip() grid [1, 1, 1] warps 1 {
// CHECK-NEXT: }
module attributes {emmy.target = #emmy.target<"sm_80", sms = 108, shared = 166912, registers = 65536, l2 = 41943040, hbm = 1400, clock = 1400>} {
  emmy_tile.kernel @older_chip() grid [1, 1, 1] warps 1 {
  }
}
