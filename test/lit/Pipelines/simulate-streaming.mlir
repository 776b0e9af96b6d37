// RUN: emmy-opt %s --emmy-fuse-to-sched --emmy-sched-to-tile --emmy-simulate=schedules=5 -o /dev/null -verify-diagnostics
// Streaming kernels give the right values, without a race: a row in one CTA, rows beside each other, rows in passes, ragged ends.

emmy_fuse.kernel @row_in_one_cta(%x: tensor<3x200xf32>) outs(%y: tensor<3x200xf32>) axes(m = 3, n = 200)
    attributes {emmy.simulate = {buffers = [{type = tensor<3x200xf32>, fill = "random 1"}, {type = tensor<3x200xf32>, expect = "softmax 0"}]}} {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<3x200xf32>
  %t = emmy_fuse.reduce max %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %e = emmy_fuse.map(%a, %t) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.subf %p, %q : f32
    %1 = math.exp %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %s = emmy_fuse.reduce add %e over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %o = emmy_fuse.map(%e, %s) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    emmy_fuse.yield %0 : f32
  }
  emmy_fuse.store %o to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<3x200xf32>
}

emmy_fuse.kernel @short_rows(%x: tensor<37x24xf32>) outs(%y: tensor<37x24xf32>) axes(m = 37, n = 24)
    attributes {emmy.simulate = {buffers = [{type = tensor<37x24xf32>, fill = "random 1"}, {type = tensor<37x24xf32>, expect = "softmax 0"}]}} {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<37x24xf32>
  %t = emmy_fuse.reduce max %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %e = emmy_fuse.map(%a, %t) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.subf %p, %q : f32
    %1 = math.exp %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %s = emmy_fuse.reduce add %e over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %o = emmy_fuse.map(%e, %s) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    emmy_fuse.yield %0 : f32
  }
  emmy_fuse.store %o to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<37x24xf32>
}

emmy_fuse.kernel @rows_in_passes(%x: tensor<4x1000xf32>) outs(%y: tensor<4x1000xf32>) axes(m = 4, n = 1000)
    attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [m: 2, n: 256], threads = [m: 2, n: 32], serial = [n], vector = [n: 4]>, emmy.simulate = {buffers = [{type = tensor<4x1000xf32>, fill = "random 1"}, {type = tensor<4x1000xf32>, expect = "softmax 0"}]}} {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<4x1000xf32>
  %t = emmy_fuse.reduce max %a over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %e = emmy_fuse.map(%a, %t) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.subf %p, %q : f32
    %1 = math.exp %0 : f32
    emmy_fuse.yield %1 : f32
  }
  %s = emmy_fuse.reduce add %e over [n] : !emmy_fuse.value<[m, n] x f32> -> !emmy_fuse.value<[m] x f32>
  %o = emmy_fuse.map(%e, %s) : (!emmy_fuse.value<[m, n] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    emmy_fuse.yield %0 : f32
  }
  emmy_fuse.store %o to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<4x1000xf32>
}

emmy_fuse.kernel @contraction_as_sums(%x: tensor<6x40xf32>, %w: tensor<5x40xf32>) outs(%y: tensor<6x5xf32>) axes(m = 6, n = 5, k = 40)
    attributes {emmy_sched.schedule = #emmy_sched.streaming<block = [m: 2, n: 4, k: 16], threads = [m: 2, n: 4, k: 4], serial = [k], vector = [k: 4]>,
                emmy.simulate = {buffers = [{type = tensor<6x40xf32>, fill = "random 1"}, {type = tensor<5x40xf32>, fill = "random 2"},
                                            {type = tensor<6x5xf32>, expect = "matmul_nt 0 1"}]}} {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<6x40xf32>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<5x40xf32>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f32>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<6x5xf32>
}

emmy_fuse.kernel @address_that_divides_an_axis(%x: tensor<6x35xf32>) outs(%y: tensor<210xf32>) axes(m = 210)
    attributes {emmy.simulate = {buffers = [{type = tensor<6x35xf32>, fill = "iota"}, {type = tensor<210xf32>, expect = "same 0"}]}} {
  %a = emmy_fuse.load %x over [m] at [m floordiv 35, m mod 35] : tensor<6x35xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<210xf32>
}
