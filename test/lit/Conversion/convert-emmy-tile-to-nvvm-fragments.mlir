// RUN: emmy-opt %s --convert-emmy-tile-to-nvvm | FileCheck %s
// Fragments in registers: constants, coordinates, regions, packed 16-bit floats, moves inside a thread, reductions.

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
#left = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
#row = #emmy_tile.layout<reg = [2:(8)], lane = [4:(0), 8:(1)], warp = [4:(16)]>
#column = #emmy_tile.layout<reg = [2:(1), 2:(8)], lane = [4:(2), 8:(0)], warp = [4:(0)]>
!acc = !emmy_tile.frag<64x16xf32, #acc>
!half = !emmy_tile.frag<64x16xbf16, #acc>

// CHECK-LABEL: llvm.func @coordinates
// CHECK-SAME: (%[[BASE:.+]]: i32, %[[P:.+]]: !llvm.ptr<1>)
// CHECK: %[[THREAD:.+]] = arith.muli
// CHECK-NEXT: %[[FIRST:.+]] = arith.addi %[[BASE]], %[[THREAD]]
// CHECK: arith.addi %[[FIRST]]
emmy_tile.kernel @coordinates(%base: i32, %p: !emmy_tile.ptr<i32>) grid [1, 1, 1] warps 4 {
  %at = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %index = emmy_tile.coord 1 from %base : !emmy_tile.frag<64x16xi32, #acc>
  emmy_tile.store %index to %p[%at] strides(%c16, %c1) vector 2 : !emmy_tile.frag<64x16xi32, #acc>, !emmy_tile.ptr<i32>
}

// Pairs of bf16 are converted at once, and taken apart by shifts.
// CHECK-LABEL: llvm.func @packed
// CHECK: %[[ADD:.+]] = arith.addf %{{.*}}, %{{.*}} fastmath<contract> : f32
// CHECK: nvvm.convert.f32x2.to.bf16x2
// CHECK: arith.shli
// CHECK: arith.andi
// CHECK-NOT: arith.extf
// CHECK: llvm.return
emmy_tile.kernel @packed(%s: f32, %p: !emmy_tile.ptr<bf16>, %q: !emmy_tile.ptr<f32>) grid [1, 1, 1] warps 4 {
  %at = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %x = emmy_tile.splat %s : f32 -> !acc
  %h = emmy_tile.map(%x, %s) : (!acc, f32) -> !half {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    %d = arith.truncf %c : f32 to bf16
    emmy_tile.yield %d : bf16
  }
  %w = emmy_tile.map(%h) : (!half) -> !acc {
  ^bb0(%a: bf16):
    %c = arith.extf %a : bf16 to f32
    emmy_tile.yield %c : f32
  }
  emmy_tile.store %w to %q[%at] strides(%c16, %c1) vector 2 : !acc, !emmy_tile.ptr<f32>
}

// CHECK-LABEL: llvm.func @math
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"
// CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK: arith.mulf
// The floor of a quotient needs the exact one.
// CHECK: arith.divf
// CHECK: math.floor
emmy_tile.kernel @math(%s: f32, %p: !emmy_tile.ptr<f32>) grid [1, 1, 1] warps 1 {
  %a = math.exp %s : f32
  %b = math.exp2 %a : f32
  %c = math.rsqrt %b : f32
  %d = arith.divf %c, %s : f32
  %r = arith.divf %c, %d fastmath<arcp> : f32
  %e = arith.divf %d, %s : f32
  %f = math.floor %e : f32
}

// What moves inside a thread costs nothing.
// CHECK-LABEL: llvm.func @moves
// CHECK-NOT: nvvm.shfl
// CHECK: llvm.store %[[A:.+]], %{{.*}} {alignment = 8
emmy_tile.kernel @moves(%s: f32, %p: !emmy_tile.ptr<f32>) grid [1, 1, 1] warps 4 {
  %at = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %r = emmy_tile.splat %s : f32 -> !emmy_tile.frag<64xf32, #row>
  %wide = emmy_tile.broadcast %r along 1 : !emmy_tile.frag<64xf32, #row> -> !acc
  %part = emmy_tile.extract %wide [0, 8] : !acc -> !emmy_tile.frag<64x8xf32, #left>
  emmy_tile.store %part to %p[%at] strides(%c16, %c1) vector 2 : !emmy_tile.frag<64x8xf32, #left>, !emmy_tile.ptr<f32>
}

// A row lies in four neighbouring lanes: two steps of a butterfly for each of a thread's two rows.
// CHECK-LABEL: llvm.func @rows
// CHECK-COUNT-6: arith.maximumf
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
emmy_tile.kernel @rows(%s: f32) grid [1, 1, 1] warps 4 {
  %x = emmy_tile.splat %s : f32 -> !acc
  %m = emmy_tile.reduce %x over 1 : !acc -> !emmy_tile.frag<64xf32, #row> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    emmy_tile.yield %c : f32
  }
}

// A column spans eight lanes and four warps: three steps for each of four columns, then an exchange around a barrier. Each warp
// writes the 64 bytes of its sixteen columns side by side: neighbouring banks for neighbouring columns.
// CHECK-LABEL: llvm.func @columns
// CHECK-COUNT-12: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.barrier
// CHECK: %[[LINE:.+]] = arith.constant 64 : i32
// CHECK-NEXT: arith.muli %{{.+}}, %[[LINE]] : i32
// CHECK-COUNT-4: llvm.store
// CHECK: nvvm.barrier
// CHECK-COUNT-16: llvm.load
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
emmy_tile.kernel @columns(%s: f32) grid [1, 1, 1] warps 4 {
  %scratch = emmy_tile.alloc : !emmy_tile.shared<4x16xf32>
  %x = emmy_tile.splat %s : f32 -> !acc
  %m = emmy_tile.reduce %x over 0 scratch %scratch : !emmy_tile.shared<4x16xf32> : !acc -> !emmy_tile.frag<16xf32, #column> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    emmy_tile.yield %c : f32
  }
}

// Scratch that two reductions use is guarded before and after each.
// CHECK-LABEL: llvm.func @shared_scratch
// CHECK-COUNT-6: nvvm.barrier
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
emmy_tile.kernel @shared_scratch(%s: f32) grid [1, 1, 1] warps 4 {
  %scratch = emmy_tile.alloc : !emmy_tile.shared<4x16xf32>
  %x = emmy_tile.splat %s : f32 -> !acc
  %m = emmy_tile.reduce %x over 0 scratch %scratch : !emmy_tile.shared<4x16xf32> : !acc -> !emmy_tile.frag<16xf32, #column> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    emmy_tile.yield %c : f32
  }
  %m2 = emmy_tile.reduce %x over 0 scratch %scratch : !emmy_tile.shared<4x16xf32> : !acc -> !emmy_tile.frag<16xf32, #column> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    emmy_tile.yield %c : f32
  }
}

#flags = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = [4:(64)]>
#flags_of_warp = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = [1:(0)]>

// Registers, then the threads of the unit: a barrier that reduces, or a vote of one warp.
// CHECK-LABEL: llvm.func @votes
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.count"(%{{.*}}, %{{.*}}, %{{.*}}) : (i32, i32, i1) -> i1
// CHECK: nvvm.vote.sync any
emmy_tile.kernel @votes(%s: i1, %p: !emmy_tile.ptr<f32>) grid [1, 1, 1] warps 12 {
  emmy_tile.warp_specialize {
    emmy_tile.role "groups" warpgroups 2 {
      %x = emmy_tile.splat %s : i1 -> !emmy_tile.frag<256xi1, #flags>
      %a = emmy_tile.any %x : !emmy_tile.frag<256xi1, #flags>
      scf.if %a {
        %b = emmy_tile.any %x : !emmy_tile.frag<256xi1, #flags>
        scf.if %b {
          emmy_tile.sync unit
        }
      }
    }
    emmy_tile.role "warps" warps 4 {
      %x = emmy_tile.splat %s : i1 -> !emmy_tile.frag<64xi1, #flags_of_warp>
      %a = emmy_tile.any %x : !emmy_tile.frag<64xi1, #flags_of_warp>
    }
  }
}
