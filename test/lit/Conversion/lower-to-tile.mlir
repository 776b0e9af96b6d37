// RUN: emmy-opt %s --emmy-apply-schedule --emmy-lower-to-tile --emmy-verify-tile-form | FileCheck %s
// Contractions as hardware programs: a ring between a producer warp and warpgroups, or all warps together.

// CHECK-LABEL: emmy_tile.kernel @cooperative
// CHECK-SAME:  #emmy.bind_tma<0, sizes = [s0, 512], strides = [1024], offset = 0, l2_promotion = 256>
// CHECK-SAME:  grid [132, 1, 1] cluster 2 warps 12
// CHECK:       emmy_tile.barrier_init %[[FULL:.+]], 1 :
// CHECK:       emmy_tile.barrier_init %[[EMPTY:.+]], 4 :
// CHECK:       emmy_tile.sync cluster
// CHECK:       emmy_tile.role "producer" warps 1 registers 40
// CHECK:         emmy_tile.barrier_wait %[[EMPTY]]
// CHECK-NEXT:    emmy_tile.barrier_expect %[[FULL]]{{.+}}, 32768
// CHECK:         emmy_tile.tma_load %{{.+}} to %{{.+}}, %[[FULL]][%{{.+}}] : <128x64xbf16, swizzle = 128>
// CHECK:         emmy_tile.tma_load %{{.+}} to %{{.+}}, %[[FULL]][%{{.+}}] multicast 3 : <64x64xbf16, swizzle = 128>
// CHECK:       emmy_tile.role "consumer" warpgroups 2 registers 232
// CHECK:         emmy_tile.wgmma %{{.+}} zero :
// CHECK:         scf.for
// CHECK:           emmy_tile.wgmma_wait 1
// CHECK-NEXT:      emmy_tile.barrier_arrive %[[EMPTY]][%{{.+}}] to_all
// CHECK:         emmy_tile.wgmma_wait 0
// CHECK:         emmy_tile.extract %[[SUM:.+]] [0, 0] :
// CHECK:         emmy_tile.store_shared %{{.+}} matrix :
// CHECK-NEXT:    emmy_tile.fence_async
// CHECK-NEXT:    emmy_tile.sync unit
// CHECK:         emmy_tile.tma_store
// CHECK-NEXT:    emmy_tile.tma_commit
// CHECK:         emmy_tile.extract %[[SUM]] [0, 64] :
// CHECK:         emmy_tile.tma_wait 0
// CHECK:       emmy_tile.sync cluster
emmy_fuse.kernel @cooperative(%x: tensor<?x512xbf16, #emmy.dims<[s0, 512]>>, %w: tensor<512x512xbf16>) outs(%y: tensor<?x512xbf16, #emmy.dims<[s0, 512]>>) axes(m = s0, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 4, consumers = 2, cluster = 2, multicast = b, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<?x512xbf16, #emmy.dims<[s0, 512]>>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<?x512xbf16, #emmy.dims<[s0, 512]>>
}

// Two blocks of rows for each warpgroup, no group left in flight.
// CHECK-LABEL: emmy_tile.kernel @two_blocks
// CHECK:       emmy_tile.role "consumer" warpgroups 2 registers 232
// CHECK-COUNT-2: emmy_tile.undef
// CHECK-COUNT-2: emmy_tile.wgmma %{{.+}} zero :
// CHECK:       emmy_tile.wgmma_wait 0
// CHECK-NEXT:  emmy_tile.barrier_arrive
// CHECK:       scf.for
emmy_fuse.kernel @two_blocks(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 256, n: 128], step = 64, stages = 3, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<512x512xbf16>
}

// One warpgroup: registers are not moved between roles, and each CTA has one tile.
// CHECK-LABEL: emmy_tile.kernel @one_warpgroup
// CHECK-SAME:  grid [64, 1, 1] warps 5
// CHECK:       emmy_tile.role "consumer" warpgroups 1 {
// CHECK:       emmy_tile.role "producer" warps 1 {
emmy_fuse.kernel @one_warpgroup(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 64], step = 64, stages = 3, consumers = 1, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<512x512xbf16>
}

// Columns that are contiguous in memory come in panels and are read transposed.
// CHECK-LABEL: emmy_tile.kernel @contiguous_columns
// CHECK:       emmy_tile.alloc : !emmy_tile.shared<2x2x64x64xbf16, swizzle = 128>
// CHECK:       emmy_tile.wgmma %{{.+}} transpose_b zero :
emmy_fuse.kernel @contiguous_columns(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xbf16>
  %b = emmy_fuse.load %w over [n, k] at [k, n] : tensor<512x512xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<512x512xbf16>
}

// CHECK-LABEL: emmy_tile.kernel @tensor_cores_of_sm_80
// CHECK-SAME:  grid [64, 1, 1] warps 4
// CHECK:       emmy_tile.load %{{.+}} limits(%{{.+}}, %{{.+}}) :
// CHECK:       emmy_tile.store_shared
// CHECK:       emmy_tile.sync cta
// CHECK:       emmy_tile.load_shared %{{.+}} matrix :
// CHECK:       emmy_tile.mma
// CHECK:       emmy_tile.store
emmy_fuse.kernel @tensor_cores_of_sm_80(%x: tensor<512x509xbf16>, %w: tensor<512x509xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 509) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 64], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x509xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x509xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<512x512xbf16>
}

// CHECK-LABEL: emmy_tile.kernel @single_precision
// CHECK:       emmy_tile.store_shared %{{.+}} transpose :
// CHECK:       emmy_tile.broadcast %{{.+}} along 1
// CHECK:       emmy_tile.broadcast %{{.+}} along 0
// CHECK:       math.fma
emmy_fuse.kernel @single_precision(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) outs(%y: tensor<512x512xf32>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 64], step = 16, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = fma>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xf32>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xf32>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f32>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<512x512xf32>
}

// Of the CTAs that make the same values, the first writes them.
// CHECK-LABEL: emmy_tile.kernel @written_once
// CHECK: %[[X:.+]] = emmy_tile.read cta_x
// CHECK: %[[FIRST:.+]] = arith.cmpi eq, %{{.+}}, %{{.+}} : i32
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: emmy_tile.store %{{.+}} to %arg1
emmy_sched.program @written_once(%x: tensor<64xf32>) outs(%y: tensor<64xf32>) axes(n = 4 by 1 grid, m = 64 by 64 whole) schedule #emmy_sched.streaming<block = [n: 1, m: 64], threads = [n: 1, m: 32], serial = [], vector = [m: 2]> {
  %a = emmy_sched.read %x over [m] at m : tensor<64xf32> -> <[m: 64] x f32, register>
  emmy_sched.write %a to %y over [m] at m via direct : <[m: 64] x f32, register>, tensor<64xf32>
}
