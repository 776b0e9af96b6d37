// RUN: emmy-opt %s -split-input-file --emmy-split-reductions --verify-roundtrip | FileCheck %s
// Reductions that would run in few CTAs become parts, each its own CTA's, and a kernel that combines them.

// Rows in turns, parts, registers and threads; vectors run along the columns.
// CHECK-LABEL: emmy_fuse.kernel @columns_parts
// CHECK-SAME:  outs(%{{.+}}: tensor<[[$PARTS:[0-9]+]]x4096xf32>) axes(k_turn = {{[0-9]+}}, k_part = [[$PARTS]], k_item = 4, k_lane = 8, n = 4096)
// CHECK-SAME:  n: 256], threads = [k_turn: 1, k_part: 1, k_item: 1, k_lane: 8, n: 32], serial = [k_turn], vector = [n: 8]>
// CHECK:       emmy_fuse.reduce add %{{.+}} over [k_turn, k_item] : !emmy_fuse.value<[k_turn, k_part, k_item, k_lane, n] x bf16>
// CHECK-NEXT:  emmy_fuse.reduce add %{{.+}} over [k_lane] : {{.+}} -> !emmy_fuse.value<[k_part, n] x f32>
// CHECK-LABEL: emmy_fuse.kernel @columns(
// CHECK-SAME:  axes(k_part = [[$PARTS]], n = 4096)
// CHECK:       emmy_fuse.reduce add %{{.+}} over [k_part]
// CHECK-LABEL: func.func @main
// CHECK:         %[[P:.+]] = emmy.launch @columns_parts(
// CHECK-NEXT:    emmy.launch @columns(%[[P]])
emmy_fuse.kernel @columns(%x: tensor<4096x4096xbf16>) outs(%y: tensor<4096xf32>) axes(n = 4096, k = 4096) {
  %a = emmy_fuse.load %x over [n, k] at [k, n] : tensor<4096x4096xbf16>
  %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[n, k] x bf16> -> !emmy_fuse.value<[n] x f32>
  emmy_fuse.store %s to %y over [n] at [n] : !emmy_fuse.value<[n] x f32>, tensor<4096xf32>
}
func.func @main(%x: tensor<4096x4096xbf16>) -> tensor<4096xf32> {
  %0 = emmy.launch @columns(%x) : (tensor<4096x4096xbf16>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

// 4099 rows divide into no equal parts: loads are guarded, and what lies past the last row is the maximum's least number.
// CHECK-LABEL: emmy_fuse.kernel @uneven_parts
// CHECK:       emmy_fuse.load %{{.+}} guarded
// CHECK:       emmy_fuse.index over [{{.*}}k_item, k_lane] at {{.+}} - 4099
// CHECK:       arith.constant 0xFF800000
// CHECK:       arith.cmpi slt
// CHECK-NEXT:  arith.select
// CHECK:       emmy_fuse.reduce max
emmy_fuse.kernel @uneven(%x: tensor<4099x64xf32>) outs(%y: tensor<64xf32>) axes(n = 64, k = 4099) {
  %a = emmy_fuse.load %x over [n, k] at [k, n] : tensor<4099x64xf32>
  %s = emmy_fuse.reduce max %a over [k] : !emmy_fuse.value<[n, k] x f32> -> !emmy_fuse.value<[n] x f32>
  emmy_fuse.store %s to %y over [n] at [n] : !emmy_fuse.value<[n] x f32>, tensor<64xf32>
}
func.func @main(%x: tensor<4099x64xf32>) -> tensor<64xf32> {
  %0 = emmy.launch @uneven(%x) : (tensor<4099x64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// Rows of a symbolic number: turns follow the number of rows, parts do not.
// CHECK-LABEL: emmy_fuse.kernel @any_length_parts
// CHECK-SAME:  axes(k_turn = s0 ceildiv {{[0-9]+}}, k_part = {{[0-9]+}},
// CHECK:       emmy_fuse.load %{{.+}} guarded
// A sum of what reads as zero needs no comparison.
// CHECK-NOT:   arith.select
emmy_fuse.kernel @any_length(%x: tensor<?x64xf32, #emmy.dims<[s0, 64]>>) outs(%y: tensor<64xf32>) axes(n = 64, k = s0) {
  %a = emmy_fuse.load %x over [n, k] at [k, n] : tensor<?x64xf32, #emmy.dims<[s0, 64]>>
  %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[n, k] x f32> -> !emmy_fuse.value<[n] x f32>
  emmy_fuse.store %s to %y over [n] at [n] : !emmy_fuse.value<[n] x f32>, tensor<64xf32>
}
func.func @main(%x: tensor<?x64xf32, #emmy.dims<[s0, 64]>>) -> tensor<64xf32> {
  %0 = emmy.launch @any_length(%x) : (tensor<?x64xf32, #emmy.dims<[s0, 64]>>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// What is stored along the reduced axis reads the combined result; it does not combine the parts again in every CTA.
// CHECK-LABEL: emmy_fuse.kernel @scaled_parts
// CHECK-LABEL: emmy_fuse.kernel @scaled_totals
// CHECK-LABEL: emmy_fuse.kernel @scaled(
// CHECK-SAME:  axes(n = 64, k = 4096)
// CHECK-NOT:   emmy_fuse.reduce
// CHECK:         %[[P:.+]] = emmy.launch @scaled_parts(%[[X:.+]]) :
// CHECK-NEXT:    %[[T:.+]] = emmy.launch @scaled_totals(%[[P]])
// CHECK-NEXT:    emmy.launch @scaled(%[[X]], %[[T]])
emmy_fuse.kernel @scaled(%x: tensor<4096x64xf32>) outs(%y: tensor<4096x64xf32>) axes(n = 64, k = 4096) {
  %a = emmy_fuse.load %x over [n, k] at [k, n] : tensor<4096x64xf32>
  %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[n, k] x f32> -> !emmy_fuse.value<[n] x f32>
  %b = emmy_fuse.map(%a, %s) : (!emmy_fuse.value<[n, k] x f32>, !emmy_fuse.value<[n] x f32>) -> !emmy_fuse.value<[n, k] x f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.divf %p, %q : f32
    emmy_fuse.yield %r : f32
  }
  emmy_fuse.store %b to %y over [n, k] at [k, n] : !emmy_fuse.value<[n, k] x f32>, tensor<4096x64xf32>
}
func.func @main(%x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %0 = emmy.launch @scaled(%x) : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  return %0 : tensor<4096x64xf32>
}

// -----

// Rows enough for the machine, a short row, and a kernel that nothing launches stay whole.
// CHECK-NOT: _parts
emmy_fuse.kernel @many_rows(%x: tensor<4096x4096xf32>) outs(%y: tensor<4096xf32>) axes(m = 4096, k = 4096) {
  %a = emmy_fuse.load %x over [m, k] at [m, k] : tensor<4096x4096xf32>
  %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[m, k] x f32> -> !emmy_fuse.value<[m] x f32>
  emmy_fuse.store %s to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<4096xf32>
}
emmy_fuse.kernel @short(%x: tensor<4096xf32>) outs(%y: tensor<f32>) axes(k = 4096) {
  %a = emmy_fuse.load %x over [k] at [k] : tensor<4096xf32>
  %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[k] x f32> -> !emmy_fuse.value<[] x f32>
  emmy_fuse.store %s to %y over [] at [] : !emmy_fuse.value<[] x f32>, tensor<f32>
}
emmy_fuse.kernel @alone(%x: tensor<1048576xf32>) outs(%y: tensor<f32>) axes(k = 1048576) {
  %a = emmy_fuse.load %x over [k] at [k] : tensor<1048576xf32>
  %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[k] x f32> -> !emmy_fuse.value<[] x f32>
  emmy_fuse.store %s to %y over [] at [] : !emmy_fuse.value<[] x f32>, tensor<f32>
}
func.func @main(%x: tensor<4096x4096xf32>, %z: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<f32>) {
  %0 = emmy.launch @many_rows(%x) : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  %1 = emmy.launch @short(%z) : (tensor<4096xf32>) -> tensor<f32>
  return %0, %1 : tensor<4096xf32>, tensor<f32>
}
