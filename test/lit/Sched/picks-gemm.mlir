// RUN: emmy-opt %s --emmy-pick-schedule | FileCheck %s
// The schedules that the model picks, without measuring, for the shapes on which GEMM kernels are judged.

// CHECK-LABEL: emmy_fuse.kernel @g8192x8192x8192
// CHECK-SAME:  tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 2, multicast = {{[ab]}}, raster = {{[0-9]+}}, wait = 1, epilogue = tma, mma = wgmma, persistent
emmy_fuse.kernel @g8192x8192x8192(%x: tensor<8192x8192xbf16>, %w: tensor<8192x8192xbf16>) outs(%y: tensor<8192x8192xbf16>) axes(m = 8192, n = 8192, k = 8192) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<8192x8192xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<8192x8192xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<8192x8192xbf16>
}

// CHECK-LABEL: emmy_fuse.kernel @g4096x4096x4096
// CHECK-SAME:  tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 2, multicast = {{[ab]}}, raster = {{[0-9]+}}, wait = 1, epilogue = tma, mma = wgmma, persistent
emmy_fuse.kernel @g4096x4096x4096(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) outs(%y: tensor<4096x4096xbf16>) axes(m = 4096, n = 4096, k = 4096) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<4096x4096xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<4096x4096xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<4096x4096xbf16>
}

// CHECK-LABEL: emmy_fuse.kernel @g2048x6144x4096
// CHECK-SAME:  tile = [m: 256, n: 192], step = 64, stages = 3, consumers = 2, cluster = 2, multicast = a, raster = 8, wait = 0, epilogue = tma, mma = wgmma, persistent
emmy_fuse.kernel @g2048x6144x4096(%x: tensor<2048x4096xbf16>, %w: tensor<6144x4096xbf16>) outs(%y: tensor<2048x6144xbf16>) axes(m = 2048, n = 6144, k = 4096) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<2048x4096xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<6144x4096xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<2048x6144xbf16>
}

// CHECK-LABEL: emmy_fuse.kernel @g2048x4096x12288
// CHECK-SAME:  tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 2, multicast = {{[ab]}}, raster = {{[0-9]+}}, wait = 1, epilogue = tma, mma = wgmma, persistent
emmy_fuse.kernel @g2048x4096x12288(%x: tensor<2048x12288xbf16>, %w: tensor<4096x12288xbf16>) outs(%y: tensor<2048x4096xbf16>) axes(m = 2048, n = 4096, k = 12288) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<2048x12288xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<4096x12288xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<2048x4096xbf16>
}

// CHECK-LABEL: emmy_fuse.kernel @g8192x8192x1024
// CHECK-SAME:  tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 2, multicast = {{[ab]}}, raster = {{[0-9]+}}, wait = 1, epilogue = tma, mma = wgmma, persistent
emmy_fuse.kernel @g8192x8192x1024(%x: tensor<8192x1024xbf16>, %w: tensor<8192x1024xbf16>) outs(%y: tensor<8192x8192xbf16>) axes(m = 8192, n = 8192, k = 1024) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<8192x1024xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<8192x1024xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<8192x8192xbf16>
}

// CHECK-LABEL: emmy_fuse.kernel @g256x24576x4096
// CHECK-SAME:  tile = [m: 256, n: 192], step = 64, stages = 3, consumers = 2, cluster = 2, multicast = a, raster = 8, wait = 0, epilogue = tma, mma = wgmma, persistent
emmy_fuse.kernel @g256x24576x4096(%x: tensor<256x4096xbf16>, %w: tensor<24576x4096xbf16>) outs(%y: tensor<256x24576xbf16>) axes(m = 256, n = 24576, k = 4096) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<256x4096xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<24576x4096xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<256x24576xbf16>
}

// CHECK-LABEL: emmy_fuse.kernel @g1024x1024x1024
// CHECK-SAME:  tile = [m: {{[0-9]+}}, n: {{[0-9]+}}]
emmy_fuse.kernel @g1024x1024x1024(%x: tensor<1024x1024xbf16>, %w: tensor<1024x1024xbf16>) outs(%y: tensor<1024x1024xbf16>) axes(m = 1024, n = 1024, k = 1024) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<1024x1024xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<1024x1024xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<1024x1024xbf16>
}

// CHECK-LABEL: emmy_fuse.kernel @g16x4096x4096
// CHECK-SAME:  tile = [m: 64, n: 16]
emmy_fuse.kernel @g16x4096x4096(%x: tensor<16x4096xbf16>, %w: tensor<4096x4096xbf16>) outs(%y: tensor<16x4096xbf16>) axes(m = 16, n = 4096, k = 4096) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<16x4096xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<4096x4096xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<16x4096xbf16>
}

// CHECK-LABEL: emmy_fuse.kernel @g128x4096x4096
// CHECK-SAME:  tile = [m: 64, n: 32]
emmy_fuse.kernel @g128x4096x4096(%x: tensor<128x4096xbf16>, %w: tensor<4096x4096xbf16>) outs(%y: tensor<128x4096xbf16>) axes(m = 128, n = 4096, k = 4096) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<128x4096xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<4096x4096xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<128x4096xbf16>
}

// CHECK-LABEL: emmy_fuse.kernel @g5120x5120x5120
// CHECK-SAME:  tile = [m: 256, n: 160], step = 64, stages = 4
emmy_fuse.kernel @g5120x5120x5120(%x: tensor<5120x5120xbf16>, %w: tensor<5120x5120xbf16>) outs(%y: tensor<5120x5120xbf16>) axes(m = 5120, n = 5120, k = 5120) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<5120x5120xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<5120x5120xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<5120x5120xbf16>
}
