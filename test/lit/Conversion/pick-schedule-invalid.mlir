// RUN: emmy-opt %s --emmy-pick-schedule -split-input-file -verify-diagnostics
// A schedule that is given and illegal is an error with the rule it violates; numbers are those of the rules' comments.

// rule 1
// expected-error @below {{has an illegal schedule: tile, step, stages, consumers, cluster and raster are positive and at most 65536, but one is 0}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 0, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 2
// expected-error @below {{has an illegal schedule: a cluster of more than one CTA, and no other, multicasts an operand, but the cluster is 2}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 2, consumers = 2, cluster = 2, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 3
// expected-error @below {{has an illegal schedule: wait is 0 or 1, but it is 2}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 2, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 4
// expected-error @below {{has an illegal schedule: the epilogue is direct or tma, but it is cp_async}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = cp_async, mma = wgmma, persistent>} {
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

// rule 5
// expected-error @below {{has an illegal schedule: the tile takes one axis of each operand that the result keeps, but it names m and k}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, k: 256], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 6
// expected-error @below {{has an illegal schedule: the program takes 393344 bytes of shared memory, but sm_90a has 232448}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 8, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = direct, mma = wgmma, persistent>} {
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

// rule 11
// expected-error @below {{has an illegal schedule: wgmma multiplies bf16 or f16 operands of one type}}
emmy_fuse.kernel @k(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) outs(%y: tensor<512x512xf32>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xf32>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xf32>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f32>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<512x512xf32>
}

// -----

// rule 20
// expected-error @below {{has an illegal schedule: wgmma gives each of 2 warpgroups 64 or 128 rows, but the tile has 64}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 128], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 21
// expected-error @below {{has an illegal schedule: wgmma takes columns in steps of 16 up to 256, but the tile has 24}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 24], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 22
// expected-error @below {{has an illegal schedule: wgmma walks the contracted axis in steps of 64, but the step is 32}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 32, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 23
// expected-error @below {{has an illegal schedule: at most 3 warpgroups consume, but there are 4}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 256, n: 64], step = 64, stages = 2, consumers = 4, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 23
// expected-error @below {{has an illegal schedule: 2 warpgroups hold 416 columns of 64 rows each, but the tile gives them 512}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 256, n: 256], step = 64, stages = 2, consumers = 2, cluster = 1, multicast = none, raster = 2, wait = 0, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 24
// expected-error @below {{has an illegal schedule: a copy moves at most 256 rows, but the tile has 384}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 384, n: 64], step = 64, stages = 2, consumers = 3, cluster = 1, multicast = none, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// rule 25
// expected-error @below {{has an illegal schedule: a cluster has 1 or 2 CTAs, but this one has 4}}
emmy_fuse.kernel @k(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 128, n: 128], step = 64, stages = 2, consumers = 2, cluster = 4, multicast = b, raster = 2, wait = 1, epilogue = tma, mma = wgmma, persistent>} {
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

// expected-error @below {{is of no kernel class that can be scheduled}}
emmy_fuse.kernel @complex(%x: tensor<4xcomplex<f32>>) outs(%y: tensor<4xf32>) axes(m = 4) {
}
