// RUN: emmy-opt %s --convert-emmy-tile-to-nvvm | FileCheck %s
// The frame of a kernel: attributes, arguments, roles, single threads, numbers of the CTA, structured control flow.

// CHECK: #[[UNROLL:.+]] = #llvm.loop_unroll<disable = true>
// CHECK: #llvm.loop_annotation<unroll = #[[UNROLL]]>

// CHECK-LABEL: gpu.module @frame
// CHECK-SAME: #nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">
// CHECK: llvm.mlir.global external @emmy_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @frame(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
// CHECK-SAME: %{{.*}}: !llvm.ptr<1>, %{{.*}}: i32, %{{.*}}: f32)
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 128>
// CHECK: nvvm.prefetch tensormap
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-NEXT: llvm.return
emmy_tile.kernel @frame(%a: !emmy_tile.tmap<64x64xbf16, swizzle = 128>, %b: !emmy_tile.ptr<f32>, %c: i32, %d: f32)
    grid [1, 1, 1] cluster 2 warps 4 {
}

// A name that PTX does not take is mangled.
// CHECK-LABEL: llvm.func @a_b_c(
emmy_tile.kernel @"a.b-c"() grid [1, 1, 1] warps 1 {
}

// The registers of three warpgroups at launch are 168 each: 40 is a decrease, 232 an increase. A role of one warp in a warpgroup
// sends the other three to the end, after they too have given up their registers.
// CHECK-LABEL: llvm.func @roles
// CHECK: %[[TID:.+]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[WARP:.+]] = arith.shrui %[[TID]]
// CHECK: %[[FIRST:.+]] = arith.cmpi ult, %[[WARP]]
// CHECK: llvm.cond_br %[[FIRST]]
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: llvm.cond_br %{{.*}}, ^[[WORK:bb[0-9]+]], ^[[END:bb[0-9]+]]
// CHECK: nvvm.elect.sync
// CHECK: nvvm.setmaxregister increase 232
// CHECK: arith.addi %[[WARP]]
// CHECK: ^[[END]]:
// CHECK-NEXT: llvm.return
emmy_tile.kernel @roles(%p: !emmy_tile.ptr<i32>) grid [1, 1, 1] warps 12 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i32
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 registers 40 {
      emmy_tile.one_thread {
        %old = emmy_tile.atomic_add %p[%zero], %one : !emmy_tile.ptr<i32>, i32 -> i32
      }
    }
    emmy_tile.role "consumer" warpgroups 2 registers 232 {
    ^bb0(%wg: i32):
      emmy_tile.one_thread {
        %old = emmy_tile.atomic_add %p[%zero], %wg : !emmy_tile.ptr<i32>, i32 -> i32
      }
    }
  }
}

// CHECK-LABEL: llvm.func @numbers
// CHECK-DAG: nvvm.read.ptx.sreg.ctaid.y
// CHECK-DAG: nvvm.read.ptx.sreg.nctaid.x
// CHECK-DAG: nvvm.read.ptx.sreg.cluster.ctarank
// CHECK-DAG: nvvm.read.ptx.sreg.clusterid.x
emmy_tile.kernel @numbers() grid [1, 1, 1] cluster 2 warps 1 {
  %y = emmy_tile.read cta_y
  %n = emmy_tile.read grid_x
  %rank = emmy_tile.read cluster_rank
  %id = emmy_tile.read cluster_id
  %warp = emmy_tile.read warp
}

// Stages that are a power of two need no division.
// CHECK-LABEL: llvm.func @rings
// CHECK: arith.andi
// CHECK: arith.shrui
// CHECK: arith.remui
// CHECK: arith.divui
emmy_tile.kernel @rings(%counter: i32) grid [1, 1, 1] warps 1 {
  %s4, %p4 = emmy_tile.ring_slot %counter of 4
  %s3, %p3 = emmy_tile.ring_slot %counter of 3
}

#vector = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = [1:(0)]>

// A fragment crosses blocks one register at a time; loops are not unrolled.
// CHECK-LABEL: llvm.func @control
// CHECK: llvm.br ^[[HEAD:bb[0-9]+]](%{{.*}} : i32, f32, f32)
// CHECK: ^[[HEAD]](%{{.*}}: i32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK: llvm.cond_br %{{.*}}, ^[[THEN:bb[0-9]+]], ^[[ELSE:bb[0-9]+]]
// CHECK: llvm.br ^[[HEAD]](%{{.*}} : i32, f32, f32) {loop_annotation
// CHECK: ^{{bb[0-9]+}}(%[[N:.+]]: i32):
// CHECK: arith.cmpi sgt, %[[N]]
emmy_tile.kernel @control(%n: i32, %flag: i1, %p: !emmy_tile.ptr<f32>) grid [1, 1, 1] warps 1 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at = arith.constant 0 : i64
  %step = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %start = emmy_tile.splat %zero : f32 -> !emmy_tile.frag<64xf32, #vector>
  %ones = emmy_tile.splat %one : f32 -> !emmy_tile.frag<64xf32, #vector>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %start) -> (!emmy_tile.frag<64xf32, #vector>) : i32 {
    %next = scf.if %flag -> (!emmy_tile.frag<64xf32, #vector>) {
      scf.yield %ones : !emmy_tile.frag<64xf32, #vector>
    } else {
      scf.yield %carried : !emmy_tile.frag<64xf32, #vector>
    }
    scf.yield %next : !emmy_tile.frag<64xf32, #vector>
  }
  emmy_tile.store %sum to %p[%at] strides(%step) vector 2 : !emmy_tile.frag<64xf32, #vector>, !emmy_tile.ptr<f32>
  %left = scf.while (%m = %n) : (i32) -> i32 {
    %more = arith.cmpi sgt, %m, %c0 : i32
    scf.condition(%more) %m : i32
  } do {
  ^bb0(%m: i32):
    %less = arith.subi %m, %c1 : i32
    scf.yield %less : i32
  }
}

// A uniform choice between pointers is one of addresses.
// CHECK-LABEL: llvm.func @choice
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<1>
emmy_tile.kernel @choice(%flag: i1, %p: !emmy_tile.ptr<f32>, %q: !emmy_tile.ptr<f32>) grid [1, 1, 1] warps 1 {
  %r = arith.select %flag, %p, %q : !emmy_tile.ptr<f32>
}

// A warp, then a warpgroup, which starts at a multiple of four: the three warps between them go to the end.
// CHECK-LABEL: llvm.func @idle_between_roles
// CHECK: llvm.cond_br %{{.+}}, ^{{bb[0-9]+}}, ^[[REST:bb[0-9]+]]
// CHECK: ^[[REST]]:
// CHECK: %[[FOUR:.+]] = arith.constant 4 : i32
// CHECK: %[[IDLE:.+]] = arith.cmpi ult, %{{.+}}, %[[FOUR]] : i32
// CHECK: llvm.cond_br %[[IDLE]], ^[[END:bb[0-9]+]], ^[[SECOND:bb[0-9]+]]
// CHECK: ^[[SECOND]]:
// CHECK: llvm.br ^[[END]]
emmy_tile.kernel @idle_between_roles(%x: !emmy_tile.ptr<i32>) grid [1, 1, 1] warps 8 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i32
  emmy_tile.warp_specialize {
    emmy_tile.role "first" warps 1 {
      emmy_tile.one_thread {
        %a = emmy_tile.atomic_add %x[%zero], %one : !emmy_tile.ptr<i32>, i32 -> i32
      }
    }
    emmy_tile.role "second" warpgroups 1 {
    ^bb0(%unit: i32):
      emmy_tile.one_thread {
        %b = emmy_tile.atomic_add %x[%zero], %one : !emmy_tile.ptr<i32>, i32 -> i32
      }
    }
  }
}
