// RUN: emmy-opt %s --emmy-pick-schedule --emmy-apply-schedule | FileCheck %s
// RUN: emmy-opt %s --emmy-pick-schedule --emmy-apply-schedule --emmy-lower-to-tile | FileCheck %s --check-prefix=TILE
// How streaming kernels read: everything at once before the first reduction, guards as one predicate for each vector.

// CHECK-LABEL: emmy_sched.program @weights_come_before_the_reduction
// CHECK:       emmy_sched.read %arg0
// CHECK-NEXT:  emmy_sched.read %arg1
// CHECK:       emmy_sched.reduce
emmy_fuse.kernel @weights_come_before_the_reduction(%x: tensor<256x4096xbf16>, %g: tensor<4096xbf16>) outs(%y: tensor<256x4096xbf16>) axes(m = 256, n = 4096) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<256x4096xbf16>
  %s = emmy_fuse.reduce max %a over [n] : !emmy_fuse.value<[m, n] x bf16> -> !emmy_fuse.value<[m] x bf16>
  %w = emmy_fuse.load %g over [n] at [n] : tensor<4096xbf16>
  %b = emmy_fuse.map(%a, %s, %w) : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[m] x bf16>, !emmy_fuse.value<[n] x bf16>)
      -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%p: bf16, %q: bf16, %r: bf16):
    %0 = arith.mulf %p, %r : bf16
    %1 = arith.subf %0, %q : bf16
    emmy_fuse.yield %1 : bf16
  }
  emmy_fuse.store %b to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<256x4096xbf16>
}

// The second index cannot leave the tensor, so the first one's guard is the mask; vectors stay whole.
// TILE-LABEL: emmy_tile.kernel @rows_that_may_lie_outside
// TILE:       %[[MASK:.+]] = emmy_tile.map
// TILE-COUNT-2: arith.cmpi
// TILE-NOT:   arith.cmpi
// TILE:       emmy_tile.load %{{.+}} mask %[[MASK]] : {{.+}} vector 8
emmy_fuse.kernel @rows_that_may_lie_outside(%x: tensor<100x512xbf16>) outs(%y: tensor<128x512xbf16>) axes(m = 128, n = 512) {
  %a = emmy_fuse.load %x over [m, n] at [m - 14, n] guarded : tensor<100x512xbf16>
  emmy_fuse.store %a to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<128x512xbf16>
}

// A guard that cuts a vector gives single elements.
// TILE-LABEL: emmy_tile.kernel @columns_that_may_lie_outside
// TILE:       emmy_tile.load %{{.+}} mask %{{.+}} :
// TILE-NOT:   vector
// TILE:       emmy_tile.store
emmy_fuse.kernel @columns_that_may_lie_outside(%x: tensor<128x500xbf16>) outs(%y: tensor<128x512xbf16>) axes(m = 128, n = 512) {
  %a = emmy_fuse.load %x over [m, n] at [m, n - 3] guarded : tensor<128x500xbf16>
  emmy_fuse.store %a to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<128x512xbf16>
}

// Few columns: fewer threads along them, so that more CTAs share the work.
// CHECK-LABEL: emmy_sched.program @few_columns
// CHECK-SAME:  n = 4096 by 32 grid
emmy_fuse.kernel @few_columns(%p: tensor<32x4096xf32>) outs(%y: tensor<4096xbf16>) axes(k = 32, n = 4096) {
  %a = emmy_fuse.load %p over [k, n] at [k, n] : tensor<32x4096xf32>
  %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[k, n] x f32> -> !emmy_fuse.value<[n] x f32>
  %h = emmy_fuse.map(%s) : (!emmy_fuse.value<[n] x f32>) -> !emmy_fuse.value<[n] x bf16> {
  ^bb0(%e: f32):
    %0 = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %0 : bf16
  }
  emmy_fuse.store %h to %y over [n] at [n] : !emmy_fuse.value<[n] x bf16>, tensor<4096xbf16>
}
