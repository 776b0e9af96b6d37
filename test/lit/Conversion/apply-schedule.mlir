// RUN: emmy-opt %s --emmy-apply-schedule | FileCheck %s
// A schedule becomes a tile program; each edit of its attribute shows in the program.

// CHECK-LABEL: emmy_sched.program @plain
// CHECK-SAME:  axes(m = 512 by 128 grid, n = 512 by 256 grid, k = 512 by 64 serial)
// CHECK-SAME:  stages = 4
// CHECK:       %[[ZERO:.+]] = emmy_sched.fill 0.000000e+00 : f32
// CHECK:       %[[SUM:.+]] = emmy_sched.pipeline over k init(%[[ZERO]] :
// CHECK:         %[[A:.+]] = emmy_sched.stage %{{.+}} over [m, k] at m * 512 + k via tma :
// CHECK:         %[[B:.+]] = emmy_sched.stage %{{.+}} over [n, k] at n * 512 + k via tma :
// CHECK:         %[[NEXT:.+]] = emmy_sched.mma %[[A]], %[[B]] into %{{.+}} :
// CHECK:         emmy_sched.yield %[[NEXT]]
// CHECK:       %[[OUT:.+]] = emmy_sched.map(%[[SUM]])
// CHECK:       emmy_sched.write %[[OUT]] to %{{.+}} over [m, n] at m * 512 + n via tma :
emmy_fuse.kernel @plain(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// Edited: tile.
// CHECK-LABEL: emmy_sched.program @other_tile
// CHECK-SAME:  axes(m = 512 by 256 grid, n = 512 by 128 grid, k = 512 by 64 serial)
emmy_fuse.kernel @other_tile(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 256, n: 128], step = 64, stages = 4, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = tma, mma = wgmma, persistent>} {
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

// Edited: stages.
// CHECK-LABEL: emmy_sched.program @other_stages
// CHECK-SAME:  stages = 3
emmy_fuse.kernel @other_stages(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 3, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// Edited: cluster and multicast.
// CHECK-LABEL: emmy_sched.program @cluster
// CHECK:       emmy_sched.stage %{{.+}} over [m, k] at m * 512 + k via tma :
// CHECK:       emmy_sched.stage %{{.+}} over [n, k] at n * 512 + k via tma multicast :
emmy_fuse.kernel @cluster(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 2, multicast = b, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// Edited: epilogue.
// CHECK-LABEL: emmy_sched.program @direct_epilogue
// CHECK:       emmy_sched.write %{{.+}} to %{{.+}} over [m, n] at m * 512 + n via direct :
emmy_fuse.kernel @direct_epilogue(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = direct, mma = wgmma, persistent>} {
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

// Edited: mma.
// CHECK-LABEL: emmy_sched.program @portable
// CHECK:       %[[READ:.+]] = emmy_sched.read %{{.+}} over [m, k] at m * 512 + k :
// CHECK:       emmy_sched.share %[[READ]] :
emmy_fuse.kernel @portable(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 64], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>} {
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

// Edited: the order of the tile.
// CHECK-LABEL: emmy_sched.program @swapped
// CHECK:       %[[W:.+]] = emmy_sched.stage %{{.+}} over [n, k] at n * 512 + k via tma :
// CHECK:       %[[X:.+]] = emmy_sched.stage %{{.+}} over [m, k] at m * 512 + k via tma :
// CHECK:       emmy_sched.mma %[[W]], %[[X]] into
emmy_fuse.kernel @swapped(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [n: 128, m: 64], step = 64, stages = 4, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = direct, mma = wgmma, persistent>} {
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

// Blocks of one element have nothing to combine.
// CHECK-LABEL: emmy_sched.program @one_element
// CHECK-NOT:   emmy_sched.reduce
// CHECK:       emmy_sched.write
emmy_fuse.kernel @one_element(%x: tensor<5x1xbf16>) outs(%y: tensor<5xf32>) axes(m = 5, k = 1) attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [m: 8, k: 1], threads = [m: 8, k: 1], serial = [], vector = [m: 1]>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<5x1xbf16>
  %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[m, k] x bf16> -> !emmy_fuse.value<[m] x f32>
  emmy_fuse.store %s to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<5xf32>
}

// A pass over nothing leaves what the sum starts from.
// CHECK-LABEL: emmy_sched.program @empty_sum
// CHECK:       emmy_sched.pipeline over k
emmy_fuse.kernel @empty_sum(%x: tensor<0x8xf32>) outs(%y: tensor<8xf32>) axes(n = 8, k = 0) attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [n: 8, k: 1], threads = [n: 8, k: 1], serial = [k], vector = [n: 1]>} {
  %a = emmy_fuse.load %x over [n, k] at [k, n] : tensor<0x8xf32>
  %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[n, k] x f32> -> !emmy_fuse.value<[n] x f32>
  emmy_fuse.store %s to %y over [n] at [n] : !emmy_fuse.value<[n] x f32>, tensor<8xf32>
}
