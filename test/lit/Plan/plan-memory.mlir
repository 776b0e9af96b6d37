// RUN: emmy-opt %s --pass-pipeline="builtin.module(func.func(emmy-plan-memory))" | FileCheck %s
// Temporaries get offsets in one arena; those whose lifetimes do not overlap share memory.

emmy_fuse.kernel @k(%x: tensor<100xf32>) outs(%y: tensor<100xf32>) axes(m = 100) {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<100xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<100xf32>
}

// The third temporary takes the memory of the first, which is dead by then; the result is not in the arena.
// CHECK-LABEL: func.func @reuses
// CHECK-SAME:    emmy.arena = #emmy.dims<[1024]>
func.func @reuses(%x: tensor<100xf32>) -> tensor<100xf32> {
  // CHECK: %[[A:.+]] = emmy.launch @k(%{{.+}}) {emmy.offsets = #emmy.dims<[0]>}
  %a = emmy.launch @k(%x) : (tensor<100xf32>) -> tensor<100xf32>
  // CHECK: %[[B:.+]] = emmy.launch @k(%[[A]]) {emmy.offsets = #emmy.dims<[512]>}
  %b = emmy.launch @k(%a) : (tensor<100xf32>) -> tensor<100xf32>
  // CHECK: %[[C:.+]] = emmy.launch @k(%[[B]]) {emmy.offsets = #emmy.dims<[0]>}
  %c = emmy.launch @k(%b) : (tensor<100xf32>) -> tensor<100xf32>
  // CHECK: emmy.launch @k(%[[C]]) {emmy.offsets = #emmy.dims<[-1]>}
  %d = emmy.launch @k(%c) : (tensor<100xf32>) -> tensor<100xf32>
  return %d : tensor<100xf32>
}

// Memory of symbolic size follows that of constant size; equal sizes share.
// CHECK-LABEL: func.func @symbolic
// CHECK-SAME:    emmy.arena = #emmy.dims<[((s0 * 4) ceildiv 256) * 512 + 512]>
func.func @symbolic(%x: tensor<?xf32, #emmy.dims<[s0]>>) -> tensor<100xf32> {
  // CHECK: emmy.offsets = #emmy.dims<[512]>
  %a = emmy.launch @k(%x) : (tensor<?xf32, #emmy.dims<[s0]>>) -> tensor<?xf32, #emmy.dims<[s0]>>
  // CHECK: emmy.offsets = #emmy.dims<[0]>
  %b = emmy.launch @k(%a) : (tensor<?xf32, #emmy.dims<[s0]>>) -> tensor<100xf32>
  // CHECK: emmy.offsets = #emmy.dims<[512]>
  %c = emmy.launch @k(%b) : (tensor<100xf32>) -> tensor<?xf32, #emmy.dims<[s0]>>
  // CHECK: emmy.offsets = #emmy.dims<[((s0 * 4) ceildiv 256) * 256 + 512]>
  %d = emmy.launch @k(%c) : (tensor<?xf32, #emmy.dims<[s0]>>) -> tensor<?xf32, #emmy.dims<[s0]>>
  // CHECK: emmy.offsets = #emmy.dims<[-1]>
  %e = emmy.launch @k(%d) : (tensor<?xf32, #emmy.dims<[s0]>>) -> tensor<100xf32>
  return %e : tensor<100xf32>
}

// What is tied to an argument lies in the argument; what is tied to a returned result lies in the output.
// CHECK-LABEL: func.func @tied
// CHECK-SAME:    emmy.arena = #emmy.dims<[0]>
func.func @tied(%x: tensor<100xf32>, %y: tensor<100xf32>) -> tensor<100xf32> {
  // CHECK-COUNT-3: emmy.offsets = #emmy.dims<[-1]>
  %a = emmy.launch @k(%y) tied [0, 0] : (tensor<100xf32>) -> tensor<100xf32>
  %b = emmy.launch @k(%a) : (tensor<100xf32>) -> tensor<100xf32>
  %c = emmy.launch @k(%b) tied [0, 0] : (tensor<100xf32>) -> tensor<100xf32>
  return %c : tensor<100xf32>
}
