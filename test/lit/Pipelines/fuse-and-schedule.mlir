// RUN: emmy-opt %s --emmy-fuse --emmy-schedule | FileCheck %s
// RUN: emmy-opt %s --emmy-schedule | FileCheck %s
// RUN: emmy-opt %s --emmy-torch-to-graph --emmy-fuse --emmy-schedule | FileCheck %s
// RUN: emmy-opt %s --emmy-torch-to-graph --emmy-graph-to-fuse --emmy-fuse --emmy-schedule | FileCheck %s
// RUN: emmy-opt %s --emmy-fuse --emmy-fuse --emmy-schedule --emmy-schedule | FileCheck %s
// RUN: emmy-opt %s --mlir-print-op-generic | emmy-opt --emmy-fuse --emmy-schedule | FileCheck %s
// Raw torch ops in generic form, linalg on tensors and emmy_graph: each comes to scheduled kernels, alone or after the passes before.

// CHECK-LABEL: emmy_fuse.kernel @linear(
// CHECK-SAME:  emmy_sched.schedule = #emmy_sched.contraction<
// CHECK-LABEL: func.func @from_torch
// CHECK-NEXT:  emmy.launch @linear
func.func @from_torch(%w: !torch.vtensor<[32,64],bf16>, %x: !torch.vtensor<[16,64],bf16>) -> !torch.vtensor<[16,32],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %y = "torch.aten.linear"(%x, %w, %none) : (!torch.vtensor<[16,64],bf16>, !torch.vtensor<[32,64],bf16>, !torch.none) -> !torch.vtensor<[16,32],bf16>
  return %y : !torch.vtensor<[16,32],bf16>
}

// CHECK-LABEL: emmy_fuse.kernel @map(
// CHECK-SAME:  emmy_sched.schedule = #emmy_sched.streaming<
// CHECK-LABEL: func.func @from_linalg
// CHECK-NEXT:  emmy.launch
func.func @from_linalg(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %empty = tensor.empty() : tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: emmy_fuse.kernel @softmax(
// CHECK-SAME:  emmy_sched.schedule = #emmy_sched.streaming<
// CHECK-LABEL: func.func @from_graph
// CHECK-NEXT:  emmy.launch @softmax
func.func @from_graph(%x: tensor<8x16xbf16>) -> tensor<8x16xbf16> {
  %y = emmy_graph.softmax %x dim 1 : (tensor<8x16xbf16>) -> tensor<8x16xbf16>
  return %y : tensor<8x16xbf16>
}
