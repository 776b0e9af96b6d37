// RUN: emmy-opt %s --emmy-fuse-to-sched --emmy-sched-to-tile --emmy-simulate=schedules=2 -o /dev/null -verify-diagnostics
// Contractions of every schedule kind give the right products, without a race, under different interleavings.

emmy_fuse.kernel @no_group_in_flight(%x: tensor<128x192xbf16>, %w: tensor<64x192xbf16>) outs(%y: tensor<128x64xbf16>) axes(m = 128, n = 64, k = 192) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 64], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = tma, mma = wgmma, persistent>, emmy.simulate = {buffers = [{type = tensor<128x192xbf16>, fill = "random 1"}, {type = tensor<64x192xbf16>, fill = "random 2"}, {type = tensor<128x64xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<128x192xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<64x192xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<128x64xbf16>
}

emmy_fuse.kernel @tails_everywhere(%x: tensor<200x136xbf16>, %w: tensor<72x136xbf16>) outs(%y: tensor<200x72xbf16>) axes(m = 200, n = 72, k = 136) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 64], step = 64, stages = 3, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>, emmy.simulate = {buffers = [{type = tensor<200x136xbf16>, fill = "random 1"}, {type = tensor<72x136xbf16>, fill = "random 2"}, {type = tensor<200x72xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<200x136xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<72x136xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<200x72xbf16>
}

emmy_fuse.kernel @one_step(%x: tensor<128x64xbf16>, %w: tensor<32x64xbf16>) outs(%y: tensor<128x32xbf16>) axes(m = 128, n = 32, k = 64) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 32], step = 64, stages = 3, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>, emmy.simulate = {buffers = [{type = tensor<128x64xbf16>, fill = "random 1"}, {type = tensor<32x64xbf16>, fill = "random 2"}, {type = tensor<128x32xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<32x64xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<128x32xbf16>
}

emmy_fuse.kernel @cluster_shares_columns(%x: tensor<256x136xbf16>, %w: tensor<64x136xbf16>) outs(%y: tensor<256x64xbf16>) axes(m = 256, n = 64, k = 136) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 64], step = 64, stages = 2, consumers = 2, cluster = 2, multicast = b, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>, emmy.simulate = {buffers = [{type = tensor<256x136xbf16>, fill = "random 1"}, {type = tensor<64x136xbf16>, fill = "random 2"}, {type = tensor<256x64xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<256x136xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<64x136xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<256x64xbf16>
}

emmy_fuse.kernel @cluster_shares_rows(%x: tensor<128x136xbf16>, %w: tensor<128x136xbf16>) outs(%y: tensor<128x128xbf16>) axes(m = 128, n = 128, k = 136) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 64], step = 64, stages = 2, consumers = 2, cluster = 2, multicast = a, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>, emmy.simulate = {buffers = [{type = tensor<128x136xbf16>, fill = "random 1"}, {type = tensor<128x136xbf16>, fill = "random 2"}, {type = tensor<128x128xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<128x136xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<128x136xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<128x128xbf16>
}

emmy_fuse.kernel @two_blocks_of_rows(%x: tensor<256x128xbf16>, %w: tensor<96x128xbf16>) outs(%y: tensor<256x96xbf16>) axes(m = 256, n = 96, k = 128) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 256, n: 96], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = tma, mma = wgmma, persistent>, emmy.simulate = {buffers = [{type = tensor<256x128xbf16>, fill = "random 1"}, {type = tensor<96x128xbf16>, fill = "random 2"}, {type = tensor<256x96xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<256x128xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<96x128xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<256x96xbf16>
}

emmy_fuse.kernel @direct_stores(%x: tensor<130x128xbf16>, %w: tensor<66x128xbf16>) outs(%y: tensor<130x66xbf16>) axes(m = 130, n = 66, k = 128) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 64], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = direct, mma = wgmma, persistent>, emmy.simulate = {buffers = [{type = tensor<130x128xbf16>, fill = "random 1"}, {type = tensor<66x128xbf16>, fill = "random 2"}, {type = tensor<130x66xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<130x128xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<66x128xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<130x66xbf16>
}

emmy_fuse.kernel @symbolic_rows(%x: tensor<?x128xbf16, #emmy.dims<[s0, 128]>>, %w: tensor<64x128xbf16>) outs(%y: tensor<?x64xbf16, #emmy.dims<[s0, 64]>>) axes(m = s0, n = 64, k = 128) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 64], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>, emmy.simulate = {buffers = [{type = tensor<150x128xbf16>, fill = "random 1"}, {type = tensor<64x128xbf16>, fill = "random 2"}, {type = tensor<150x64xbf16>, expect = "matmul_nt 0 1"}], symbols = array<i64: 150>}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<?x128xbf16, #emmy.dims<[s0, 128]>>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<64x128xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<?x64xbf16, #emmy.dims<[s0, 64]>>
}

emmy_fuse.kernel @one_warpgroup(%x: tensor<100x200xbf16>, %w: tensor<32x200xbf16>) outs(%y: tensor<100x32xbf16>) axes(m = 100, n = 32, k = 200) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 32], step = 64, stages = 2, consumers = 1, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma>, emmy.simulate = {buffers = [{type = tensor<100x200xbf16>, fill = "random 1"}, {type = tensor<32x200xbf16>, fill = "random 2"}, {type = tensor<100x32xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<100x200xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<32x200xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<100x32xbf16>
}

emmy_fuse.kernel @swapped_operands(%x: tensor<20x200xbf16>, %w: tensor<136x200xbf16>) outs(%y: tensor<20x136xbf16>) axes(m = 20, n = 136, k = 200) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [n: 64, m: 16], step = 64, stages = 2, consumers = 1, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = direct, mma = wgmma>, emmy.simulate = {buffers = [{type = tensor<20x200xbf16>, fill = "random 1"}, {type = tensor<136x200xbf16>, fill = "random 2"}, {type = tensor<20x136xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<20x200xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<136x200xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<20x136xbf16>
}

emmy_fuse.kernel @odd_pitch(%x: tensor<70x77xbf16>, %w: tensor<40x77xbf16>) outs(%y: tensor<70x40xbf16>) axes(m = 70, n = 40, k = 77) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 32], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>, emmy.simulate = {buffers = [{type = tensor<70x77xbf16>, fill = "random 1"}, {type = tensor<40x77xbf16>, fill = "random 2"}, {type = tensor<70x40xbf16>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<70x77xbf16>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<40x77xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %d = emmy_fuse.map(%c) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  emmy_fuse.store %d to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<70x40xbf16>
}

emmy_fuse.kernel @single_precision(%x: tensor<70x77xf32>, %w: tensor<40x77xf32>) outs(%y: tensor<70x40xf32>) axes(m = 70, n = 40, k = 77) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 32], step = 16, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = fma>, emmy.simulate = {buffers = [{type = tensor<70x77xf32>, fill = "random 1"}, {type = tensor<40x77xf32>, fill = "random 2"}, {type = tensor<70x40xf32>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<70x77xf32>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<40x77xf32>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f32>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<70x40xf32>
}
