// RUN: emmy-opt %s --emmy-torch-to-nvvm | FileCheck %s
// RUN: emmy-opt %s --emmy-torch-to-graph --emmy-graph-to-fuse --emmy-fuse-to-sched --emmy-sched-to-tile --emmy-tile-to-nvvm | FileCheck %s
// The whole way to a GPU under one name, and as its borders one after the other.

// CHECK:       module attributes {
// CHECK-SAME:  emmy.plan =
// CHECK:       gpu.module
// CHECK:       llvm.func @linear({{.*}}nvvm.kernel
// CHECK:       nvvm.wgmma
func.func @main(%w: !torch.vtensor<[256,64],bf16>, %x: !torch.vtensor<[512,64],bf16>) -> !torch.vtensor<[512,256],bf16> {
  %none = "torch.constant.none"() : () -> !torch.none
  %y = "torch.aten.linear"(%x, %w, %none) : (!torch.vtensor<[512,64],bf16>, !torch.vtensor<[256,64],bf16>, !torch.none) -> !torch.vtensor<[512,256],bf16>
  return %y : !torch.vtensor<[512,256],bf16>
}
