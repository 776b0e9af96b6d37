// RUN: emmy-opt %s --emmy-pick-schedule=candidates=3 | FileCheck %s
// A kernel is given the first of the ranked schedules; one that it has stays, its prediction does not.

#given = #emmy_sched.contraction<tile = [m: 64, n: 32], step = 64, stages = 1, consumers = 4, cluster = 1, multicast = none, raster = 1,
                                 wait = 0, epilogue = direct, mma = mma_sync>

// CHECK-LABEL: emmy_fuse.kernel @ranked
// CHECK-SAME:  emmy_sched.candidates = {{\[\[}}#[[FIRST:emmy_sched.contraction<.+>]], "[[TIME:[0-9.]+ us, [a-zA-Z0-9 ]+ %]]"], [{{.+}}], [{{.+}}]]
// CHECK-SAME:  emmy_sched.predicted = "[[TIME]]"
// CHECK-SAME:  emmy_sched.schedule = #[[FIRST]]
emmy_fuse.kernel @ranked(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) {
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

// CHECK-LABEL: emmy_fuse.kernel @keeps_what_is_given
// CHECK-SAME:  emmy_sched.predicted = "{{[1-9][0-9.]* us, tensor cores [0-9]+ %}}"
// CHECK-SAME:  emmy_sched.schedule = #emmy_sched.contraction<tile = [m: 64, n: 32], step = 64
emmy_fuse.kernel @keeps_what_is_given(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) attributes {emmy_sched.predicted = "0.1 us, of another schedule", emmy_sched.schedule = #given} {
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

// A row pitch that the copy engine cannot take leaves the portable path.
// CHECK-LABEL: emmy_fuse.kernel @odd_pitch
// CHECK-SAME:  mma = mma_sync
emmy_fuse.kernel @odd_pitch(%x: tensor<512x509xbf16>, %w: tensor<512x509xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 509) {
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

// CHECK-LABEL: emmy_fuse.kernel @single_precision
// CHECK-SAME:  mma = fma
emmy_fuse.kernel @single_precision(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) outs(%y: tensor<512x512xf32>) axes(m = 512, n = 512, k = 512) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xf32>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xf32>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[n, k] x f32>) -> !emmy_fuse.value<[m, n] x f32>
  emmy_fuse.store %c to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<512x512xf32>
}

// Weights stored as they multiply: the columns' operand is read along its columns.
// CHECK-LABEL: emmy_fuse.kernel @transposed_weights
// CHECK-SAME:  mma = wgmma
emmy_fuse.kernel @transposed_weights(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) outs(%y: tensor<512x512xbf16>) axes(m = 512, n = 512, k = 512) {
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

// CHECK-LABEL: emmy_fuse.kernel @symbolic_rows
// CHECK-SAME:  tile = [m: {{[0-9]+}}, n: {{[0-9]+}}]
// CHECK-SAME:  epilogue = tma, mma = wgmma
emmy_fuse.kernel @symbolic_rows(%x: tensor<?x512xbf16, #emmy.dims<[s0, 512]>>, %w: tensor<512x512xbf16>) outs(%y: tensor<?x512xbf16, #emmy.dims<[s0, 512]>>) axes(m = s0, n = 512, k = 512) {
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

// Batch and sequence are one axis where every access walks them as one.
// CHECK-LABEL: emmy_fuse.kernel @merged_rows
// CHECK-SAME:  tile = [b_s: {{[0-9]+}}, n: {{[0-9]+}}]
emmy_fuse.kernel @merged_rows(%x: tensor<4x?x512xbf16, #emmy.dims<[4, s0, 512]>>, %w: tensor<512x512xbf16>) outs(%y: tensor<4x?x512xf32, #emmy.dims<[4, s0, 512]>>)
    axes(b = 4, s = s0, n = 512, k = 512) {
  %a = emmy_fuse.load %x over [b, s, k] at [b, s, k] : tensor<4x?x512xbf16, #emmy.dims<[4, s0, 512]>>
  %b = emmy_fuse.load %w over [n, k] at [n, k] : tensor<512x512xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[b, s, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[b, s, n] x f32>
  emmy_fuse.store %c to %y over [b, s, n] at [b, s, n] : !emmy_fuse.value<[b, s, n] x f32>, tensor<4x?x512xf32, #emmy.dims<[4, s0, 512]>>
}

// A matrix times a vector has no tile of products: it streams.
// CHECK-LABEL: emmy_fuse.kernel @matrix_times_vector
// CHECK-SAME:  #emmy_sched.streaming<
emmy_fuse.kernel @matrix_times_vector(%x: tensor<512x512xbf16>, %w: tensor<512xbf16>) outs(%y: tensor<512xf32>) axes(m = 512, k = 512) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<512x512xbf16>
  %b = emmy_fuse.load %w over [k] at [k] : tensor<512xbf16>
  %c = emmy_fuse.contract %a, %b over [k] : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[k] x bf16>) -> !emmy_fuse.value<[m] x f32>
  emmy_fuse.store %c to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<512xf32>
}
