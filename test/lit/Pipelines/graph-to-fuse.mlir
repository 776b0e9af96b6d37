// RUN: emmy-opt %s --emmy-fuse | FileCheck %s
// RUN: emmy-opt %s --emmy-fuse --emmy-fuse | FileCheck %s
// From the framework's words to kernels named after them; a file of kernels stays as it is.

// CHECK-LABEL: emmy_fuse.kernel @rms_norm(
// CHECK-SAME: axes(m = s0, n = 4096)
// CHECK-LABEL: emmy_fuse.kernel @linear(
// CHECK-SAME: axes(m = s0, n = 6144, k = 4096)
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[H:.+]] = emmy.launch @rms_norm
// CHECK-NEXT: %[[Y:.+]] = emmy.launch @linear(%[[H]]
// CHECK-NEXT: return %[[Y]]
!x = tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>
!y = tensor<?x6144xbf16, #emmy.dims<[s0, 6144]>>
func.func @main(%x: !x, %g: tensor<4096xbf16> {emmy.param = "0.weight"}, %w: tensor<6144x4096xbf16> {emmy.param = "1.weight"}) -> !y
    attributes {emmy.symbols = {s0 = [1, 8192]}} {
  %h = emmy_graph.rms_norm %x weight %g {eps = 1.1920929e-07 : f64, rank = 1 : i64} : (!x, tensor<4096xbf16>) -> !x
  %y = emmy_graph.linear %h, %w : (!x, tensor<6144x4096xbf16>) -> !y
  return %y : !y
}
