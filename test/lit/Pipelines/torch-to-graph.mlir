// RUN: emmy-opt %s --emmy-torch-to-graph | FileCheck %s
// RMSNorm and Linear, from raw torch ops to primitives.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[G:.+]]: tensor<64xbf16> {{.*}}, %[[W:.+]]: tensor<32x64xbf16> {{.*}}, %[[X:.+]]: tensor<?x64xbf16, #emmy.dims<[s0, 64]>>
// CHECK:         %[[SQUARES:.+]] = emmy_graph.map(%[[X]])
// CHECK:         %[[SUM:.+]] = emmy_graph.reduce add %[[SQUARES]] dims [1]
// CHECK:         math.rsqrt
// CHECK:         %[[H:.+]] = emmy_graph.map(%[[X]], %{{.+}}, %[[G]])
// CHECK:         %[[C:.+]] = emmy_graph.contract %[[H]], %[[W]] batch [] over [1, 1]
// CHECK:         emmy_graph.map(%[[C]])
func.func @main(%g: !torch.vtensor<[64],bf16> {emmy.param = "0.weight"}, %w: !torch.vtensor<[32,64],bf16> {emmy.param = "1.weight"},
                %x: !torch.vtensor<[?,64],bf16> {emmy.dims = #emmy.dims<[s0, 64]>}) -> !torch.vtensor<[?,32],bf16> {
  %size = "torch.constant.int"() <{value = 64 : i64}> : () -> !torch.int
  %shape = "torch.prim.ListConstruct"(%size) : (!torch.int) -> !torch.list<int>
  %none = "torch.constant.none"() : () -> !torch.none
  %h = "torch.aten.rms_norm"(%x, %shape, %g, %none) {emmy.dims = [#emmy.dims<[s0, 64]>]}
      : (!torch.vtensor<[?,64],bf16>, !torch.list<int>, !torch.vtensor<[64],bf16>, !torch.none) -> !torch.vtensor<[?,64],bf16>
  %y = "torch.aten.linear"(%h, %w, %none) {emmy.dims = [#emmy.dims<[s0, 32]>]}
      : (!torch.vtensor<[?,64],bf16>, !torch.vtensor<[32,64],bf16>, !torch.none) -> !torch.vtensor<[?,32],bf16>
  return %y : !torch.vtensor<[?,32],bf16>
}
