// RUN: emmy-opt %s --verify-roundtrip | FileCheck %s
// Attributes of the base dialect and a launch keep their meaning through text.

// CHECK: emmy.target = #emmy.target<"sm_90a", sms = 132, shared = 232448, registers = 65536, l2 = 52428800, hbm = 4250, clock = 1650>
module attributes {emmy.target = #emmy.target<"sm_90a", sms = 132, shared = 232448, registers = 65536, l2 = 52428800, hbm = 4250, clock = 1650>} {
  emmy_fuse.kernel @copy(%x: tensor<?x8xf32, #emmy.dims<[s0 * 2 + 1, 8]>>) outs(%y: tensor<?x8xf32, #emmy.dims<[s0 * 2 + 1, 8]>>)
      axes(m = s0 * 2 + 1, n = 8) {
    %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<?x8xf32, #emmy.dims<[s0 * 2 + 1, 8]>>
    emmy_fuse.store %a to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<?x8xf32, #emmy.dims<[s0 * 2 + 1, 8]>>
  }
  // CHECK: #emmy.layout<strides = [s1, 1], align = 4>
  func.func @main(%x: tensor<?x8xf32, #emmy.dims<[s0 * 2 + 1, 8]>> {emmy.layout = #emmy.layout<strides = [s1, 1], align = 4>})
      -> tensor<?x8xf32, #emmy.dims<[s0 * 2 + 1, 8]>> {
    // CHECK: emmy.launch @copy(%{{.*}}) tied [0, 0]
    %y = emmy.launch @copy(%x) tied [0, 0] : (tensor<?x8xf32, #emmy.dims<[s0 * 2 + 1, 8]>>) -> tensor<?x8xf32, #emmy.dims<[s0 * 2 + 1, 8]>>
    return %y : tensor<?x8xf32, #emmy.dims<[s0 * 2 + 1, 8]>>
  }
}
