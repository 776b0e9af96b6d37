// RUN: emmy-opt %s --split-input-file --emmy-fuse-kernels | FileCheck %s
// Views, assembly and indexing are addresses, selections and loads by index.

// CHECK-LABEL: emmy_fuse.kernel @map
// CHECK-DAG: emmy_fuse.load %{{.*}} over [m, n] at [m, n + 4] guarded
// CHECK-DAG: emmy_fuse.load %{{.*}} over [m, n] at [m, n - 4] guarded
// CHECK-DAG: emmy_fuse.index over [n] at n - 4
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK-LABEL: func.func @rotates_halves
func.func @rotates_halves(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %a = emmy_graph.slice %x starts <[0, 0]> steps [1, 1] : tensor<3x8xf32> -> tensor<3x4xf32>
  %b = emmy_graph.slice %x starts <[0, 4]> steps [1, 1] : tensor<3x8xf32> -> tensor<3x4xf32>
  %n = emmy_graph.map(%b) : (tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%p: f32):
    %0 = arith.negf %p : f32
    emmy_graph.yield %0 : f32
  }
  %c = emmy_graph.concat %n, %a dim 1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  return %c : tensor<3x8xf32>
}

// -----

// CHECK-LABEL: emmy_fuse.kernel @map
// CHECK: %[[I:.+]] = emmy_fuse.load %{{.*}} over [h, m] at [h, m] : tensor<2x3xi64>
// CHECK: %[[W:.+]] = emmy_fuse.map(%[[I]], %{{.*}})
// CHECK: emmy_fuse.load %{{.*}} over [h, m, n] using(%[[W]] : !emmy_fuse.value<[h, m] x i64>) at [i0, n]
// CHECK-LABEL: func.func @loads_by_index
func.func @loads_by_index(%x: tensor<10x8xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x8xf32> {
  %p = emmy_graph.take %x, %i dim 0 : (tensor<10x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  return %p : tensor<2x3x8xf32>
}

// -----

// The updated buffer is a copy, since the caller keeps the argument.
// CHECK-LABEL: emmy_fuse.kernel @scatter
// CHECK: emmy_fuse.store %{{.*}} to %{{.*}} over [m, n] using(%{{.*}}) at [i0, n]
// CHECK-LABEL: emmy_fuse.kernel @copy
// CHECK-LABEL: func.func @writes_slices
// CHECK: %[[COPY:.+]] = emmy.launch @copy
// CHECK: emmy.launch @scatter({{.*}}%[[COPY]]) tied
func.func @writes_slices(%x: tensor<10x8xf32>, %i: tensor<2xi64>, %u: tensor<2x8xf32>) -> tensor<10x8xf32> {
  %p = emmy_graph.scatter %x, %i, %u dim 0 : (tensor<10x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<10x8xf32>
  return %p : tensor<10x8xf32>
}

// -----

// A view that is a result is a copy, made once; an argument is returned as it is.
// CHECK-LABEL: emmy_fuse.kernel @copy
// CHECK-SAME: emmy.layout = #emmy.layout<strides = [s0, 1], align = 2>
// CHECK: emmy_fuse.load %{{.*}} over [m, n] at [n, m]
// CHECK-LABEL: func.func @copies_views_once
// CHECK: %[[T:.+]] = emmy.launch @copy
// CHECK: return %[[T]], %[[T]], %{{.*}} : tensor<8x10xf32>, tensor<8x10xf32>, tensor<10x8xf32>
func.func @copies_views_once(%x: tensor<10x8xf32> {emmy.layout = #emmy.layout<strides = [s0, 1], align = 2>})
    -> (tensor<8x10xf32>, tensor<8x10xf32>, tensor<10x8xf32>) {
  %p = emmy_graph.permute %x dims [1, 0] : tensor<10x8xf32> -> tensor<8x10xf32>
  return %p, %p, %x : tensor<8x10xf32>, tensor<8x10xf32>, tensor<10x8xf32>
}

// -----

// Channels split into groups where the statistics need it, so that one read serves both.
// CHECK-LABEL: emmy_fuse.kernel @reduce
// CHECK: emmy_fuse.load
// CHECK-NOT: emmy_fuse.load
// CHECK-LABEL: func.func @reads_groups_once
func.func @reads_groups_once(%x: tensor<2x8x15xf32>) -> tensor<2x8x15xf32> {
  %g = emmy_graph.reshape %x : tensor<2x8x15xf32> -> tensor<2x4x30xf32>
  %s = emmy_graph.reduce add %g dims [2] : tensor<2x4x30xf32> -> tensor<2x4xf32>
  %k = emmy_graph.reshape %s : tensor<2x4xf32> -> tensor<2x4x1xf32>
  %d = emmy_graph.map(%g, %k) : (tensor<2x4x30xf32>, tensor<2x4x1xf32>) -> tensor<2x4x30xf32> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    emmy_graph.yield %0 : f32
  }
  %y = emmy_graph.reshape %d : tensor<2x4x30xf32> -> tensor<2x8x15xf32>
  return %y : tensor<2x8x15xf32>
}
