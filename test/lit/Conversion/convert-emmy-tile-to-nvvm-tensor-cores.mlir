// RUN: emmy-opt %s --convert-emmy-tile-to-nvvm | FileCheck %s
// wgmma with operands in shared memory and registers, waits that carry the registers, mma.sync.

#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
#a64 = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
#mma_a = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [1:(0,0)]>
#mma_b = #emmy_tile.layout<reg = [2:(0,1), 2:(0,8), 2:(8,0)], lane = [4:(0,2), 8:(1,0)], warp = [1:(0,0)]>
#mma_c = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [1:(0,0)]>
#tf32_a = #emmy_tile.layout<reg = [2:(8,0), 2:(0,4)], lane = [4:(0,1), 8:(1,0)], warp = [1:(0,0)]>
#tf32_b = #emmy_tile.layout<reg = [2:(0,4), 2:(8,0)], lane = [4:(0,1), 8:(1,0)], warp = [1:(0,0)]>
!acc = !emmy_tile.frag<64x16xf32, #acc>
!a = !emmy_tile.frag<64x64xbf16, #a64>

// Two panels of 64 along k: eight steps, of which the first does not read the accumulator.
// CHECK-LABEL: llvm.func @shared_operands
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 16, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK-COUNT-7: D[<f32>, <one>]
// CHECK-NOT: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
emmy_tile.kernel @shared_operands() grid [1, 1, 1] warps 4 {
  %a = emmy_tile.alloc : !emmy_tile.shared<2x64x64xbf16, swizzle = 128>
  %b = emmy_tile.alloc : !emmy_tile.shared<2x16x64xbf16, swizzle = 128>
  %undef = emmy_tile.undef : !acc
  emmy_tile.wgmma_fence
  %c = emmy_tile.wgmma %a, %b, %undef zero : !emmy_tile.shared<2x64x64xbf16, swizzle = 128>, !emmy_tile.shared<2x16x64xbf16, swizzle = 128> -> !acc
  emmy_tile.wgmma_commit
  %d = emmy_tile.wgmma_wait 0 %c : !acc -> !acc
}

// B of two MN-major panels: the leading offset of its descriptor is a panel's 8192 bytes, a step along k 2048 bytes. Addresses are
// summed in the low word; the high word (128-byte swizzle, 1024 bytes between groups of eight lines) is a constant.
// CHECK-LABEL: llvm.func @transposed_operand
// CHECK: arith.addi {{.*}}, %c33554944_i32 : i32
// CHECK: %[[A:.*]] = arith.addi {{.*}}, %c65536_i32 : i32
// CHECK: llvm.insertelement %[[A]],
// CHECK: %[[HIGH:.*]] = arith.constant 1073741888 : i32
// CHECK: llvm.insertelement %[[HIGH]],
// CHECK: llvm.bitcast {{.*}} : vector<2xi32> to i64
// CHECK: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 128, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <row>]
#wide = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 16:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
emmy_tile.kernel @transposed_operand(%s: f32) grid [1, 1, 1] warps 4 {
  %a = emmy_tile.alloc : !emmy_tile.shared<64x64xbf16, swizzle = 128>
  %b = emmy_tile.alloc : !emmy_tile.shared<2x64x64xbf16, swizzle = 128>
  %x = emmy_tile.splat %s : f32 -> !emmy_tile.frag<64x128xf32, #wide>
  emmy_tile.wgmma_fence
  %c = emmy_tile.wgmma %a, %b, %x transpose_b : !emmy_tile.shared<64x64xbf16, swizzle = 128>, !emmy_tile.shared<2x64x64xbf16, swizzle = 128> -> !emmy_tile.frag<64x128xf32, #wide>
  emmy_tile.wgmma_commit
}

// CHECK-LABEL: llvm.func @register_operand
// CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$16, $17, $18, $19}, $20, 0, 1, 1, 0;
// CHECK-COUNT-3: $20, 1, 1, 1, 0;
// CHECK: "wgmma.wait_group.sync.aligned 1;"
emmy_tile.kernel @register_operand(%s: bf16) grid [1, 1, 1] warps 4 {
  %b = emmy_tile.alloc : !emmy_tile.shared<16x64xbf16, swizzle = 128>
  %a = emmy_tile.splat %s : bf16 -> !a
  %undef = emmy_tile.undef : !acc
  emmy_tile.wgmma_fence
  %c = emmy_tile.wgmma %a, %b, %undef zero : !a, !emmy_tile.shared<16x64xbf16, swizzle = 128> -> !acc
  emmy_tile.wgmma_commit
  %d, %read = emmy_tile.wgmma_wait 1 %c, %a : !acc, !a -> !acc, !a
}

// CHECK-LABEL: llvm.func @mma
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// CHECK-NOT: llvm.nvvm.mma
emmy_tile.kernel @mma(%s: bf16, %z: f32) grid [1, 1, 1] warps 1 {
  %a = emmy_tile.splat %s : bf16 -> !emmy_tile.frag<16x16xbf16, #mma_a>
  %b = emmy_tile.splat %s : bf16 -> !emmy_tile.frag<16x16xbf16, #mma_b>
  %c = emmy_tile.splat %z : f32 -> !emmy_tile.frag<16x16xf32, #mma_c>
  %d = emmy_tile.mma %a, %b, %c : !emmy_tile.frag<16x16xbf16, #mma_a>, !emmy_tile.frag<16x16xbf16, #mma_b> -> !emmy_tile.frag<16x16xf32, #mma_c>
}

// CHECK-LABEL: llvm.func @mma_tf32
// CHECK: llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"
emmy_tile.kernel @mma_tf32(%s: f32) grid [1, 1, 1] warps 1 {
  %a = emmy_tile.splat %s : f32 -> !emmy_tile.frag<16x8xf32, #tf32_a>
  %b = emmy_tile.splat %s : f32 -> !emmy_tile.frag<16x8xf32, #tf32_b>
  %c = emmy_tile.splat %s : f32 -> !emmy_tile.frag<16x16xf32, #mma_c>
  %d = emmy_tile.mma %a, %b, %c : !emmy_tile.frag<16x8xf32, #tf32_a>, !emmy_tile.frag<16x8xf32, #tf32_b> -> !emmy_tile.frag<16x16xf32, #mma_c>
}
