// RUN: emmy-opt %s --convert-emmy-tile-to-nvvm | FileCheck %s
// Global and shared memory: vectors, limits as predicates, masks, replicas, swizzles, matrix moves.

#vector = #emmy_tile.layout<reg = [8:(1)], lane = [32:(8)], warp = [1:(0)]>
#replicated = #emmy_tile.layout<reg = [], lane = [8:(1), 4:(0)], warp = [1:(0)]>
#tile = #emmy_tile.layout<reg = [8:(0,1)], lane = [8:(0,8), 4:(1,0)], warp = [1:(0,0)]>
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [1:(16,0)]>
!vector = !emmy_tile.frag<256xbf16, #vector>

// Without limits, plain vector accesses.
// CHECK-LABEL: llvm.func @vectors
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
emmy_tile.kernel @vectors(%x: !emmy_tile.ptr<bf16>, %y: !emmy_tile.ptr<bf16>, %offset: i64) grid [1, 1, 1] warps 1 {
  %c1 = arith.constant 1 : i64
  %t = emmy_tile.load %x[%offset] strides(%c1) vector 8 : !emmy_tile.ptr<bf16> -> !vector
  emmy_tile.store %t to %y[%offset] strides(%c1) vector 8 : !vector, !emmy_tile.ptr<bf16>
}

// With limits, predicated instructions; zeros stay where nothing was read.
// CHECK-LABEL: llvm.func @limits
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32)
// CHECK: %[[INSIDE:.+]] = arith.cmpi slt, %{{.*}}, %[[N]]
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$5 ld.global.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3" %{{.*}}, %[[INSIDE]]
// CHECK: "@$1 st.global.v4.b32 [$0], {$2, $3, $4, $5};"
emmy_tile.kernel @limits(%x: !emmy_tile.ptr<bf16>, %y: !emmy_tile.ptr<bf16>, %offset: i64, %n: i32) grid [1, 1, 1] warps 1 {
  %c1 = arith.constant 1 : i64
  %t = emmy_tile.load %x[%offset] strides(%c1) limits(%n) vector 8 evict_first : !emmy_tile.ptr<bf16> -> !vector
  emmy_tile.store %t to %y[%offset] strides(%c1) limits(%n) vector 8 : !vector, !emmy_tile.ptr<bf16>
}

// A mask is one predicate for each vector.
// CHECK-LABEL: llvm.func @masked
// CHECK-SAME: %[[ON:[a-z0-9]+]]: i1)
// CHECK: "@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3" %{{.*}}, %[[ON]]
emmy_tile.kernel @masked(%x: !emmy_tile.ptr<bf16>, %y: !emmy_tile.ptr<bf16>, %offset: i64, %on: i1) grid [1, 1, 1] warps 1 {
  %c1 = arith.constant 1 : i64
  %mask = emmy_tile.splat %on : i1 -> !emmy_tile.frag<256xi1, #vector>
  %t = emmy_tile.load %x[%offset] strides(%c1) mask %mask : !emmy_tile.frag<256xi1, #vector> vector 8 : !emmy_tile.ptr<bf16> -> !vector
  emmy_tile.store %t to %y[%offset] strides(%c1) vector 8 : !vector, !emmy_tile.ptr<bf16>
}

// Booleans are bytes in memory; of four replicas one writes.
// CHECK-LABEL: llvm.func @booleans
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> i8
// CHECK: arith.trunci %{{.*}} : i8 to i1
// CHECK: "@$1 st.global.b8 [$0], $2;", "l,b,h"
emmy_tile.kernel @booleans(%x: !emmy_tile.ptr<i1>, %y: !emmy_tile.ptr<i1>, %offset: i64) grid [1, 1, 1] warps 1 {
  %c1 = arith.constant 1 : i64
  %t = emmy_tile.load %x[%offset] strides(%c1) : !emmy_tile.ptr<i1> -> !emmy_tile.frag<8xi1, #replicated>
  emmy_tile.store %t to %y[%offset] strides(%c1) : !emmy_tile.frag<8xi1, #replicated>, !emmy_tile.ptr<i1>
}

// CHECK-LABEL: llvm.func @offsets
// CHECK: "@$2 ld.global.b32 $0, [$1];", "=r,l,b,0"
// CHECK: "@$1 st.global.b32 [$0], $2;"
emmy_tile.kernel @offsets(%x: !emmy_tile.ptr<f32>, %at: i64, %on: i1) grid [1, 1, 1] warps 1 {
  %offsets = emmy_tile.splat %at : i64 -> !emmy_tile.frag<8xi64, #replicated>
  %mask = emmy_tile.splat %on : i1 -> !emmy_tile.frag<8xi1, #replicated>
  %t = emmy_tile.gather %x at %offsets mask %mask : !emmy_tile.frag<8xi1, #replicated>
      : !emmy_tile.ptr<f32>, !emmy_tile.frag<8xi64, #replicated> -> !emmy_tile.frag<8xf32, #replicated>
  emmy_tile.scatter %t to %x at %offsets : !emmy_tile.frag<8xf32, #replicated>, !emmy_tile.ptr<f32>, !emmy_tile.frag<8xi64, #replicated>
}

// CHECK-LABEL: llvm.func @scalars
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: llvm.atomicrmw fadd %{{.*}} monotonic : !llvm.ptr<1>, f32
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
emmy_tile.kernel @scalars(%x: !emmy_tile.ptr<i64>, %y: !emmy_tile.ptr<f32>, %at: i64, %one: f32, %slot: i32) grid [1, 1, 1] warps 1 {
  %s = emmy_tile.alloc : !emmy_tile.shared<4xf32>
  %a = emmy_tile.load_scalar %x[%at] : !emmy_tile.ptr<i64> -> i64
  emmy_tile.one_thread {
    %old = emmy_tile.atomic_add %y[%a], %one : !emmy_tile.ptr<f32>, f32 -> f32
    emmy_tile.put %old to %s[%slot] : f32, !emmy_tile.shared<4xf32>
  }
  emmy_tile.sync unit
  %b = emmy_tile.get %s[%slot] : !emmy_tile.shared<4xf32> -> f32
}

// Rows of 128 bytes: the number of a row flips the chunk of 16 bytes.
// CHECK-LABEL: llvm.func @swizzled
// CHECK: %[[ROW:.+]] = arith.muli %{{.*}}, %c128
// CHECK: %[[LINE:.+]] = arith.shrui %[[ROW]]
// CHECK: %[[LOW:.+]] = arith.andi %[[LINE]]
// CHECK: %[[CHUNK:.+]] = arith.shli %[[LOW]]
// CHECK: arith.xori %{{.*}}, %[[CHUNK]]
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
emmy_tile.kernel @swizzled(%y: !emmy_tile.ptr<bf16>, %at: i64) grid [1, 1, 1] warps 1 {
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %s = emmy_tile.alloc : !emmy_tile.shared<4x64xbf16, swizzle = 128>
  %t = emmy_tile.load_shared %s : !emmy_tile.shared<4x64xbf16, swizzle = 128> -> !emmy_tile.frag<4x64xbf16, #tile>
  emmy_tile.store %t to %y[%at] strides(%c64, %c1) vector 8 : !emmy_tile.frag<4x64xbf16, #tile>, !emmy_tile.ptr<bf16>
}

// Lines of an odd number of elements allow no vector; a transposed read goes element by element.
// CHECK-LABEL: llvm.func @padded
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : i32
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
emmy_tile.kernel @padded(%s: f32, %row: i32, %column: i32) grid [1, 1, 1] warps 1 {
  %all = emmy_tile.alloc : !emmy_tile.shared<64x65xf32>
  %part = emmy_tile.subview %all[%row, %column] : !emmy_tile.shared<64x65xf32> -> !emmy_tile.shared<4x64xf32, strides = [65, 1]>
  %turned = emmy_tile.subview %all[%row, %column] : !emmy_tile.shared<64x65xf32> -> !emmy_tile.shared<64x4xf32, strides = [65, 1]>
  %x = emmy_tile.splat %s : f32 -> !emmy_tile.frag<4x64xf32, #tile>
  emmy_tile.store_shared %x to %part : !emmy_tile.frag<4x64xf32, #tile>, !emmy_tile.shared<4x64xf32, strides = [65, 1]>
  %t = emmy_tile.load_shared %turned transpose : !emmy_tile.shared<64x4xf32, strides = [65, 1]> -> !emmy_tile.frag<4x64xf32, #tile>
}

// CHECK-LABEL: llvm.func @matrices
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-COUNT-4: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-4: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<col>
emmy_tile.kernel @matrices() grid [1, 1, 1] warps 1 {
  %s = emmy_tile.alloc : !emmy_tile.shared<16x64xbf16, swizzle = 128>
  %turned = emmy_tile.alloc : !emmy_tile.shared<64x16xbf16, swizzle = 32>
  %t = emmy_tile.load_shared %s matrix : !emmy_tile.shared<16x64xbf16, swizzle = 128> -> !emmy_tile.frag<16x64xbf16, #acc>
  emmy_tile.store_shared %t to %s matrix : !emmy_tile.frag<16x64xbf16, #acc>, !emmy_tile.shared<16x64xbf16, swizzle = 128>
  emmy_tile.store_shared %t to %turned matrix transpose : !emmy_tile.frag<16x64xbf16, #acc>, !emmy_tile.shared<64x16xbf16, swizzle = 32>
}
