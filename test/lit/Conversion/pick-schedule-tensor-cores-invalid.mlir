// RUN: emmy-opt %s --emmy-pick-schedule -split-input-file -verify-diagnostics
// A schedule that is given and illegal is an error with the rule it violates; numbers are those of the rules' comments.

// rule 31
// expected-error @below {{has an illegal schedule: the copy engine cannot address operand a: it has a stride that is not a multiple of 16 bytes}}
emmy_fuse.kernel @k(%x: tensor<512x509xbf16>, %w: tensor<512x509xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 509) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// -----

// rule 32
// expected-error @below {{has an illegal schedule: wgmma reads operand a contiguous along the contracted axis}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [n: 128, m: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// -----

// rule 40
// expected-error @below {{has an illegal schedule: the copy engine cannot store the result: its rows are contiguous, not its columns}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [n: 128, m: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// -----

// rule 50
// expected-error @below {{has an illegal schedule: schedules without wgmma have cluster 1, stages 1, wait 0 and a direct epilogue}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 64], step = 64, stages = 2, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = mma_sync, persistent>} {
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

// -----

// rule 51
// expected-error @below {{has an illegal schedule: 1, 2, 4, 8 or 16 warps consume, but there are 3}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 96, n: 64], step = 64, stages = 1, consumers = 3, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>} {
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

// -----

// rule 52
// expected-error @below {{has an illegal schedule: a thread keeps at most 128 sums, but the tile gives it 1024}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 512, n: 256], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>} {
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

// -----

// rule 53
// expected-error @below {{has an illegal schedule: an FMA tile has rows in steps of 8 for each warp and columns in steps of 16}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 24, n: 64], step = 16, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = fma>} {
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

// -----

// rule 53
// expected-error @below {{has an illegal schedule: an FMA tile has powers of two for rows, columns and step}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 96, n: 64], step = 16, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = fma>} {
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

// -----

// rule 54
// expected-error @below {{has an illegal schedule: mma.sync multiplies bf16 or f16 operands of one type}}
emmy_fuse.kernel @k(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) outs(%y: tensor<512x512xf32>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 64], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xf32>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xf32>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f32>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<512x512xf32>
}

// -----

// rule 54
// expected-error @below {{has an illegal schedule: an mma.sync tile has rows in steps of 16 for each warp, columns and step in steps of 16}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 40], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = direct, mma = mma_sync>} {
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

// -----

// rule 10
module attributes {emmy.target = #emmy.target<"sm_80", sms = 108, shared = 166912, registers = 65536, l2 = 41943040, hbm = 1750, clock = 1410>} {
// expected-error @below {{has an illegal schedule: wgmma needs sm_90a, but the target is sm_80}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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
}

// -----

// expected-error @below {{has an illegal schedule: it is not a schedule of any kernel class}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = "fast"} {
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

// -----

// expected-error @below {{has an illegal schedule: the kernel is not of the class 'contraction'}}
emmy_fuse.kernel @copy(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8xf32>
}

// -----

// rule 33
// expected-error @below {{has an illegal schedule: operand b comes in parts of 64 for each of 2 CTAs, but the tile has 64}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 64], step = 64, stages = 2, consumers = 2, cluster = 2, multicast = b, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// -----

// rule 12
// expected-error @below {{has an illegal schedule: wgmma contracts one axis, but the kernel contracts 2}}
emmy_fuse.kernel @k(%x: tensor<512x8x80xbf16>, %w: tensor<512x8x64xbf16>) outs(%y: tensor<512x512xf32>) axes(m = 512, n = 512, h = 8, k = 64)
    attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [m, h, k] at [m, h, k] : tensor<512x8x80xbf16>
  %b = emmy_fuse.load %w over [n, h, k] at [n, h, k] : tensor<512x8x64xbf16>
  %c = emmy_fuse.contract %a, %b over [h, k] : (!emmy_fuse.value<[m, h, k] x bf16>, !emmy_fuse.value<[n, h, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<512x512xf32>
}

// -----

// rule 30
// expected-error @below {{has an illegal schedule: wgmma reads operand a from a tensor, but it is computed}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xf32>) axes(m = 512, n = 512, k = 512)
    attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %x0 = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xbf16>
  %a = emmy_fuse.map(%x0) : (!emmy_fuse.value<[m, k] x bf16>) -> !emmy_fuse.value<[m, k] x bf16> {
  ^bb0(%e: bf16):
    %n = arith.negf %e : bf16
    emmy_fuse.yield %n : bf16
  }
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<512x512xf32>
}
