// RUN: emmy-opt %s --emmy-fuse-to-sched --emmy-sched-to-tile --emmy-simulate=schedules=1 -split-input-file -o /dev/null -verify-diagnostics
// What surrounds a contraction: two schedules of a kernel that share no lowering give the same results.

// a
module attributes {emmy.simulate = {buffers = [{type = tensor<140x72xbf16>, fill = "random 1"}, {type = tensor<96x72xbf16>, fill = "random 2"}, {type = tensor<96xbf16>, fill = "random 3"}, {type = tensor<140xf32>, fill = "random 4"}, {type = tensor<140x96xbf16>, fill = "random 5"}, {type = tensor<96x140xf32>}, {type = tensor<140x96xbf16>}, {type = tensor<96x140xf32>, expect = "same 5"}, {type = tensor<140x96xbf16>, expect = "same 6"}], launches = [{kernel = @a, operands = array<i64: 0, 1, 2, 3, 4, 5, 6>}, {kernel = @b, operands = array<i64: 0, 1, 2, 3, 4, 7, 8>}], symbols = array<i64: 140>}} {
emmy_fuse.kernel @a(%x: tensor<?x72xbf16, #emmy.dims<[s0, 72]>>, %w: tensor<96x72xbf16>, %bias: tensor<96xbf16>, %scale: tensor<?xf32, #emmy.dims<[s0]>>, %res: tensor<?x96xbf16, #emmy.dims<[s0, 96]>>) outs(%y1: tensor<96x?xf32, #emmy.dims<[96, s0]>>, %y2: tensor<?x96xbf16, #emmy.dims<[s0, 96]>>) axes(m = s0, n = 96, k = 72) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 96], step = 64, stages = 3, consumers = 2, cluster = 2, multicast = b, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<?x72xbf16, #emmy.dims<[s0, 72]>>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<96x72xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %h = emmy_fuse.load %bias over [n] at [n] : tensor<96xbf16>
  %f = emmy_fuse.load %scale over [m] at [m] : tensor<?xf32, #emmy.dims<[s0]>>
  %r = emmy_fuse.load %res over [m, n] at [m, n] : tensor<?x96xbf16, #emmy.dims<[s0, 96]>>
  %i = emmy_fuse.index over [m, n] at m - n
  %s = emmy_fuse.map(%c, %h, %f, %i) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[n] x bf16>, !emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[m, n] x i64>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: bf16, %t: f32, %d: i64):
    %q0 = arith.extf %q : bf16 to f32
    %0 = arith.mulf %p, %t : f32
    %1 = arith.addf %0, %q0 : f32
    %z = arith.constant 0 : i64
    %zf = arith.constant 0.0 : f32
    %in = arith.cmpi sge, %d, %z : i64
    %2 = arith.select %in, %1, %zf : f32
    emmy_fuse.yield %2 : f32
  }
  %u = emmy_fuse.map(%s, %r) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m, n] x bf16>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%p: f32, %q: bf16):
    %q0 = arith.extf %q : bf16 to f32
    %0 = arith.addf %p, %q0 : f32
    %1 = arith.truncf %0 : f32 to bf16
    emmy_fuse.yield %1 : bf16
  }
  emmy_fuse.store %s to %y1 over [m, n] at [n, m] : !emmy_fuse.value<[m, n] x f32>, tensor<96x?xf32, #emmy.dims<[96, s0]>>
  emmy_fuse.store %u to %y2 over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<?x96xbf16, #emmy.dims<[s0, 96]>>
}
emmy_fuse.kernel @b(%x: tensor<?x72xbf16, #emmy.dims<[s0, 72]>>, %w: tensor<96x72xbf16>, %bias: tensor<96xbf16>, %scale: tensor<?xf32, #emmy.dims<[s0]>>, %res: tensor<?x96xbf16, #emmy.dims<[s0, 96]>>) outs(%y1: tensor<96x?xf32, #emmy.dims<[96, s0]>>, %y2: tensor<?x96xbf16, #emmy.dims<[s0, 96]>>) axes(m = s0, n = 96, k = 72) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 32, n: 32], step = 16, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = fma>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<?x72xbf16, #emmy.dims<[s0, 72]>>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<96x72xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %h = emmy_fuse.load %bias over [n] at [n] : tensor<96xbf16>
  %f = emmy_fuse.load %scale over [m] at [m] : tensor<?xf32, #emmy.dims<[s0]>>
  %r = emmy_fuse.load %res over [m, n] at [m, n] : tensor<?x96xbf16, #emmy.dims<[s0, 96]>>
  %i = emmy_fuse.index over [m, n] at m - n
  %s = emmy_fuse.map(%c, %h, %f, %i) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[n] x bf16>, !emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[m, n] x i64>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: bf16, %t: f32, %d: i64):
    %q0 = arith.extf %q : bf16 to f32
    %0 = arith.mulf %p, %t : f32
    %1 = arith.addf %0, %q0 : f32
    %z = arith.constant 0 : i64
    %zf = arith.constant 0.0 : f32
    %in = arith.cmpi sge, %d, %z : i64
    %2 = arith.select %in, %1, %zf : f32
    emmy_fuse.yield %2 : f32
  }
  %u = emmy_fuse.map(%s, %r) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m, n] x bf16>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%p: f32, %q: bf16):
    %q0 = arith.extf %q : bf16 to f32
    %0 = arith.addf %p, %q0 : f32
    %1 = arith.truncf %0 : f32 to bf16
    emmy_fuse.yield %1 : bf16
  }
  emmy_fuse.store %s to %y1 over [m, n] at [n, m] : !emmy_fuse.value<[m, n] x f32>, tensor<96x?xf32, #emmy.dims<[96, s0]>>
  emmy_fuse.store %u to %y2 over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<?x96xbf16, #emmy.dims<[s0, 96]>>
}
}

// -----

// b
module attributes {emmy.simulate = {buffers = [{type = tensor<2x70x256xbf16>, fill = "random 1"}, {type = tensor<2x50x128xbf16>, fill = "random 2"}, {type = tensor<2x4x70x50xf32>}, {type = tensor<2x4x70x50xf32>, expect = "same 2"}], launches = [{kernel = @a, operands = array<i64: 0, 1, 2>}, {kernel = @b, operands = array<i64: 0, 1, 3>}]}} {
emmy_fuse.kernel @a(%x: tensor<2x70x256xbf16>, %w: tensor<2x50x128xbf16>) outs(%y: tensor<2x4x70x50xf32>) axes(b = 2, h = 4, m = 70, n = 50, k = 64) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 64], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = direct, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [b, h, m, k] at [b, m, h * 64 + k] : tensor<2x70x256xbf16>
  %b = emmy_fuse.load %w over [b, h, n, k] at [b, n, (h floordiv 2) * 64 + k] : tensor<2x50x128xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[b, h, m, k] x bf16>, !emmy_fuse.value<[b, h, n, k] x bf16>) -> !emmy_fuse.value<[b, h, m, n] x f32>
  emmy_fuse.store %c to %y over [b, h, m, n] at [b, h, m, n] : !emmy_fuse.value<[b, h, m, n] x f32>, tensor<2x4x70x50xf32>
}
emmy_fuse.kernel @b(%x: tensor<2x70x256xbf16>, %w: tensor<2x50x128xbf16>) outs(%y: tensor<2x4x70x50xf32>) axes(b = 2, h = 4, m = 70, n = 50, k = 64) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 64], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>} {
  %a = emmy_fuse.load %x over [b, h, m, k] at [b, m, h * 64 + k] : tensor<2x70x256xbf16>
  %b = emmy_fuse.load %w over [b, h, n, k] at [b, n, (h floordiv 2) * 64 + k] : tensor<2x50x128xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[b, h, m, k] x bf16>, !emmy_fuse.value<[b, h, n, k] x bf16>) -> !emmy_fuse.value<[b, h, m, n] x f32>
  emmy_fuse.store %c to %y over [b, h, m, n] at [b, h, m, n] : !emmy_fuse.value<[b, h, m, n] x f32>, tensor<2x4x70x50xf32>
}
}

// -----

// c
module attributes {emmy.simulate = {buffers = [{type = tensor<3x50x136xbf16>, fill = "random 1"}, {type = tensor<136x128xbf16>, fill = "random 2"}, {type = tensor<3x50x128xf32>}, {type = tensor<3x50x128xf32>, expect = "same 2"}], launches = [{kernel = @a, operands = array<i64: 0, 1, 2>}, {kernel = @b, operands = array<i64: 0, 1, 3>}]}} {
emmy_fuse.kernel @a(%x: tensor<3x50x136xbf16>, %w: tensor<136x128xbf16>) outs(%y: tensor<3x50x128xf32>) axes(b = 3, s = 50, n = 128, k = 136) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [b_s: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 2, multicast = b, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [b, s, k] at [b, s, k] : tensor<3x50x136xbf16>
  %b = emmy_fuse.load %w over [n, k] at [k, n] : tensor<136x128xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[b, s, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[b, s, n] x f32>
  emmy_fuse.store %c to %y over [b, s, n] at [b, s, n] : !emmy_fuse.value<[b, s, n] x f32>, tensor<3x50x128xf32>
}
emmy_fuse.kernel @b(%x: tensor<3x50x136xbf16>, %w: tensor<136x128xbf16>) outs(%y: tensor<3x50x128xf32>) axes(b = 3, s = 50, n = 128, k = 136) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [b_s: 32, n: 32], step = 16, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = fma>} {
  %a = emmy_fuse.load %x over [b, s, k] at [b, s, k] : tensor<3x50x136xbf16>
  %b = emmy_fuse.load %w over [n, k] at [k, n] : tensor<136x128xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[b, s, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[b, s, n] x f32>
  emmy_fuse.store %c to %y over [b, s, n] at [b, s, n] : !emmy_fuse.value<[b, s, n] x f32>, tensor<3x50x128xf32>
}
}

// -----

// d
module attributes {emmy.simulate = {buffers = [{type = tensor<90xf32>, fill = "random 1"}, {type = tensor<40x21xbf16>, fill = "random 2"}, {type = tensor<70x40xf32>}, {type = tensor<70x40xf32>, expect = "same 2"}], launches = [{kernel = @a, operands = array<i64: 0, 1, 2>}, {kernel = @b, operands = array<i64: 0, 1, 3>}]}} {
emmy_fuse.kernel @a(%x: tensor<90xf32>, %w: tensor<40x21xbf16>) outs(%y: tensor<70x40xf32>) axes(m = 70, n = 40, k = 21) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 32], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>} {
  %a = emmy_fuse.load %x over [m, k] at [m + k - 1] guarded : tensor<90xf32>
  %e = emmy_fuse.map(%a) : (!emmy_fuse.value<[m, k] x f32>) -> !emmy_fuse.value<[m, k] x bf16> {
  ^bb0(%p: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.addf %p, %one : f32
    %1 = arith.truncf %0 : f32 to bf16
    emmy_fuse.yield %1 : bf16
  }
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<40x21xbf16>
  %c = emmy_fuse.contract %e, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<70x40xf32>
}
emmy_fuse.kernel @b(%x: tensor<90xf32>, %w: tensor<40x21xbf16>) outs(%y: tensor<70x40xf32>) axes(m = 70, n = 40, k = 21) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 32, n: 32], step = 16, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = fma>} {
  %a = emmy_fuse.load %x over [m, k] at [m + k - 1] guarded : tensor<90xf32>
  %e = emmy_fuse.map(%a) : (!emmy_fuse.value<[m, k] x f32>) -> !emmy_fuse.value<[m, k] x bf16> {
  ^bb0(%p: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.addf %p, %one : f32
    %1 = arith.truncf %0 : f32 to bf16
    emmy_fuse.yield %1 : bf16
  }
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<40x21xbf16>
  %c = emmy_fuse.contract %e, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<70x40xf32>
}
}

// -----

// e
module attributes {emmy.simulate = {buffers = [{type = tensor<40xi64>, fill = "random 1"}, {type = tensor<100x3x20xbf16>, fill = "random 2"}, {type = tensor<3x24x20xbf16>, fill = "random 3"}, {type = tensor<40x24xf32>}, {type = tensor<40x24xf32>, expect = "same 3"}], launches = [{kernel = @a, operands = array<i64: 0, 1, 2, 3>}, {kernel = @b, operands = array<i64: 0, 1, 2, 4>}]}} {
emmy_fuse.kernel @a(%ids: tensor<40xi64>, %x: tensor<100x3x20xbf16>, %w: tensor<3x24x20xbf16>) outs(%y: tensor<40x24xf32>) axes(m = 40, n = 24, h = 3, k = 20) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 32], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>} {
  %i = emmy_fuse.load %ids over [m] at [m] : tensor<40xi64>
  %a = emmy_fuse.load %x over [m, h, k] using(%i : !emmy_fuse.value<[m] x i64>) at [i0, h, k] : tensor<100x3x20xbf16>
  %b = emmy_fuse.load %w over [n, h, k] at [h, n, k] : tensor<3x24x20xbf16>
  %c = emmy_fuse.contract %a, %b over [h, k] : (!emmy_fuse.value<[m, h, k] x bf16>, !emmy_fuse.value<[n, h, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<40x24xf32>
}
emmy_fuse.kernel @b(%ids: tensor<40xi64>, %x: tensor<100x3x20xbf16>, %w: tensor<3x24x20xbf16>) outs(%y: tensor<40x24xf32>) axes(m = 40, n = 24, h = 3, k = 20) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 32, n: 32], step = 16, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = fma>} {
  %i = emmy_fuse.load %ids over [m] at [m] : tensor<40xi64>
  %a = emmy_fuse.load %x over [m, h, k] using(%i : !emmy_fuse.value<[m] x i64>) at [i0, h, k] : tensor<100x3x20xbf16>
  %b = emmy_fuse.load %w over [n, h, k] at [h, n, k] : tensor<3x24x20xbf16>
  %c = emmy_fuse.contract %a, %b over [h, k] : (!emmy_fuse.value<[m, h, k] x bf16>, !emmy_fuse.value<[n, h, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<40x24xf32>
}
}
