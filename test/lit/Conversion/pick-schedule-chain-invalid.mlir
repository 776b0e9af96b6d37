// RUN: emmy-opt %s --pass-pipeline='builtin.module(emmy_fuse.kernel(emmy-online-reduce,emmy-pick-schedule))' -split-input-file -verify-diagnostics
// Illegal schedules of folds around products: each rule by its number in ChainLegal.cpp.

// Rule 1.
// expected-error @below {{has an illegal schedule: rows are along 'm', but the schedule says 'n'}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [n: 128], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 240], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 1.
// expected-error @below {{has an illegal schedule: the fold is over 'n', but the schedule says 'm'}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [m: 128], stages = [2, 2], consumers = 2, registers = [24, 240], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 2.
// expected-error @below {{has an illegal schedule: 1 to 3 warpgroups consume, but there are 4}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 2], consumers = 4, registers = [24, 240], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 2.
// expected-error @below {{has an illegal schedule: 2 warpgroups take 64 rows each, but the block has 64}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 64], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 240], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 3.
// expected-error @below {{has an illegal schedule: blocks of the fold's axis come in steps of 16 up to 256, but this one has 40}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 40], stages = [2, 2], consumers = 2, registers = [24, 240], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 4.
// expected-error @below {{has an illegal schedule: stages and section are positive and at most 65536, but one is 0}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [0, 2], consumers = 2, registers = [24, 240], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 4.
// expected-error @below {{has an illegal schedule: stages and section are positive and at most 65536, but one is 9223372036854775807}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 9223372036854775807], consumers = 2, registers = [24, 240], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 5.
// expected-error @below {{has an illegal schedule: the epilogue is direct or tma, but it is cp_async}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 240], section = 1, epilogue = cp_async>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 10.
// expected-error @below {{has an illegal schedule: registers are a multiple of 8 from 24 to 256, but one is 100}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 100], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 11.
// expected-error @below {{has an illegal schedule: a multiprocessor has 65536 registers, but the warpgroups take 66560}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 248], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 12.
// expected-error @below {{has an illegal schedule: tiles take 128 registers and 24 more are needed, but a consumer has 120}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 120], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 40.
// expected-error @below {{has an illegal schedule: a CTA has 232448 bytes of shared memory, but the schedule takes 278800}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [8, 8], consumers = 2, registers = [24, 240], section = 1, epilogue = direct>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}

// -----

// Rule 41.
// expected-error @below {{has an illegal schedule: the copy engine cannot store any result}}
emmy_fuse.kernel @f(%q: tensor<128x64xbf16>, %k: tensor<256x64xbf16>, %v: tensor<256x64xbf16>) outs(%y: tensor<128x64xf32>) axes(m = 128, n = 256, k = 64, c = 64) attributes {emmy_sched.schedule = #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 240], section = 1, epilogue = tma>} {
  %a = emmy_fuse.load %q over [m, k] at [m, k] : tensor<128x64xbf16>
  %b = emmy_fuse.load %k over [n, k] at [n, k] : tensor<256x64xbf16>
  %s = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
  %p = emmy_fuse.map(%s) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x bf16> {
  ^bb0(%e: f32):
    %h = arith.truncf %e : f32 to bf16
    emmy_fuse.yield %h : bf16
  }
  %f = emmy_fuse.load %v over [n, c] at [n, c] : tensor<256x64xbf16>
  %o = emmy_fuse.contract %p, %f over [n] : (!emmy_fuse.value<[m, n] x bf16>, !emmy_fuse.value<[n, c] x bf16>) -> !emmy_fuse.value<[m, c] x f32>
  emmy_fuse.store %o to %y over [m, c] at [m, c] : !emmy_fuse.value<[m, c] x f32>, tensor<128x64xf32>
}
