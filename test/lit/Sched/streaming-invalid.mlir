// RUN: emmy-opt %s --split-input-file --emmy-apply-schedule --verify-diagnostics
// Each rule of the streaming schedule.

// expected-error@below {{expects the same axes in 'block' and 'threads', and one of them in 'vector'}}
func.func private @f() attributes {s = #emmy_sched.streaming<block = [m: 4], threads = [n: 4], serial = [], vector = [m: 1]>}

// -----

// expected-error@below {{'emmy_fuse.kernel' op has an illegal schedule: the kernel has no axis 'q'}}
emmy_fuse.kernel @k(%x: tensor<64xf32>) outs(%y: tensor<64xf32>) axes(m = 64)
    attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [q: 32], threads = [q: 32], serial = [], vector = [q: 1]>} {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<64xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<64xf32>
}

// -----

// expected-error@below {{'emmy_fuse.kernel' op has an illegal schedule: threads along 'm' must be a power of two, not 24}}
emmy_fuse.kernel @k(%x: tensor<64xf32>) outs(%y: tensor<64xf32>) axes(m = 64)
    attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [m: 24], threads = [m: 24], serial = [], vector = [m: 1]>} {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<64xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<64xf32>
}

// -----

// expected-error@below {{'emmy_fuse.kernel' op has an illegal schedule: the block of 'm' must be a multiple of threads times vector, 128, not 64}}
emmy_fuse.kernel @k(%x: tensor<64xf32>) outs(%y: tensor<64xf32>) axes(m = 64)
    attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [m: 64], threads = [m: 32], serial = [], vector = [m: 4]>} {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<64xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<64xf32>
}

// -----

// expected-error@below {{'emmy_fuse.kernel' op has an illegal schedule: a CTA has at most 1024 threads, not 2048}}
emmy_fuse.kernel @k(%x: tensor<64xf32>) outs(%y: tensor<64xf32>) axes(m = 64)
    attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [m: 2048], threads = [m: 2048], serial = [], vector = [m: 1]>} {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<64xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<64xf32>
}

// -----

// expected-error@below {{'emmy_fuse.kernel' op has an illegal schedule: a thread holds at most 512 elements of a tile, but the block of 'n' gives it 67108864 for each of 16}}
emmy_fuse.kernel @k(%x: tensor<16x64xf32>) outs(%y: tensor<16x64xf32>) axes(m = 16, n = 64)
    attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [m: 16, n: 2147483648], threads = [m: 1, n: 32], serial = [], vector = [n: 4]>} {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<16x64xf32>
  emmy_fuse.store %a to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<16x64xf32>
}

// -----

// expected-error@below {{'emmy_fuse.kernel' op has an illegal schedule: the reduced axis 'n' must be serial or one block}}
emmy_fuse.kernel @k(%x: tensor<64xf32>) outs(%y: tensor<f32>) axes(n = 64)
    attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [n: 32], threads = [n: 32], serial = [], vector = [n: 1]>} {
  %a = emmy_fuse.load %x over [n] at [n] : tensor<64xf32>
  %s = emmy_fuse.reduce add %a over [n] : !emmy_fuse.value<[n] x f32> -> !emmy_fuse.value<[] x f32>
  emmy_fuse.store %s to %y over [] at [] : !emmy_fuse.value<[] x f32>, tensor<f32>
}

// -----

emmy_sched.program @p(%x: tensor<64xf32>) outs(%y: tensor<f32>) axes(n = 64 by 32 serial) {
  // expected-error@below {{'emmy_sched.pipeline' op expects its region to end in 'emmy_sched.yield'}}
  emmy_sched.pipeline over n {
    func.return
  }
}

// -----

// expected-error@below {{'emmy_fuse.kernel' op has an illegal schedule: a vector has 1, 2, 4, 8 or 16 elements, not 0}}
emmy_fuse.kernel @k(%x: tensor<64xf32>) outs(%y: tensor<64xf32>) axes(m = 64)
    attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [m: 32], threads = [m: 32], serial = [], vector = [m: 0]>} {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<64xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<64xf32>
}
