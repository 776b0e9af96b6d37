// RUN: emmy-opt %s --convert-emmy-tile-to-nvvm | FileCheck %s
// Other CTAs' shared memory through mapped addresses, barriers of the cluster's scope where it is used, and atomic additions.

#part = #emmy_tile.layout<reg = [4:(0,1)], lane = [8:(0,4), 4:(1,0)], warp = [1:(0,0)]>
!part = !emmy_tile.frag<4x32xf32, #part>
!box = !emmy_tile.shared<4x32xf32>

// One address is mapped for all of an op's accesses; each thread moves vectors.
// CHECK-LABEL: llvm.func @peers
// CHECK: %[[PUT:.+]] = nvvm.mapa %{{.+}}, %[[RANK:.+]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<7>
// CHECK: nvvm.mapa %{{.+}}, %[[RANK]]
// CHECK: llvm.load %{{.*}} : !llvm.ptr<7> -> f32
// CHECK: nvvm.mapa %{{.+}}, %[[RANK]]
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xi32>
// CHECK: nvvm.mapa %{{.+}}, %[[RANK]]
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<7>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
emmy_tile.kernel @peers(%s: f32, %rank: i32, %slot: i32) grid [2, 1, 1] cluster 2 warps 1 {
  %b = emmy_tile.alloc : !box
  emmy_tile.one_thread {
    emmy_tile.put %s to %b[%slot] in_cta %rank : f32, !box
  }
  %v = emmy_tile.get %b[%slot] in_cta %rank : !box -> f32
  %x = emmy_tile.load_shared %b in_cta %rank : !box -> !part
  emmy_tile.store_shared %x to %b in_cta %rank : !part, !box
  emmy_tile.store_shared %x to %b : !part, !box
}

// Barriers publish other CTAs' memory only at the scope of the cluster.
// CHECK-LABEL: llvm.func @barriers
// CHECK: nvvm.mbarrier.arrive %{{.*}} {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
// CHECK: nvvm.mbarrier.try_wait %{{.*}}, %{{.*}} {scope = #nvvm.mem_scope<cluster>}
emmy_tile.kernel @barriers(%s: f32, %rank: i32, %slot: i32) grid [2, 1, 1] cluster 2 warps 1 {
  %b = emmy_tile.alloc : !box
  %full = emmy_tile.alloc : !emmy_tile.barrier<1>
  emmy_tile.one_thread {
    emmy_tile.put %s to %b[%slot] in_cta %rank : f32, !box
    emmy_tile.barrier_arrive %full[%slot] to %rank : !emmy_tile.barrier<1>
  }
  emmy_tile.barrier_wait %full[%slot] parity %slot : !emmy_tile.barrier<1>
}

// CHECK-LABEL: llvm.func @additions
// CHECK: llvm.fence syncscope("device") acq_rel
// CHECK-NEXT: llvm.atomicrmw add %{{.*}} monotonic : !llvm.ptr<1>, i32
// CHECK-NEXT: llvm.fence syncscope("device") acq_rel
// CHECK: "red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f"
// CHECK: "@$1 red.relaxed.gpu.global.add.v4.f32 [$0], {$2, $3, $4, $5};", "l,b,f,f,f,f"
// CHECK-COUNT-4: "red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f"
// CHECK: "red.relaxed.gpu.global.add.u32 [$0], $1;", "l,r"
emmy_tile.kernel @additions(%p: !emmy_tile.ptr<f32>, %c: !emmy_tile.ptr<i32>, %at: i64, %n: i32, %one: i32, %s: f32) grid [1, 1, 1] warps 1 {
  %c1 = arith.constant 1 : i64
  emmy_tile.one_thread {
    %old = emmy_tile.atomic_add %c[%at], %one acq_rel : !emmy_tile.ptr<i32>, i32 -> i32
  }
  %x = emmy_tile.splat %s : f32 -> !part
  %offsets = emmy_tile.splat %at : i64 -> !emmy_tile.frag<4x32xi64, #part>
  %ones = emmy_tile.splat %one : i32 -> !emmy_tile.frag<4x32xi32, #part>
  emmy_tile.store %x to %p[%at] strides(%c1, %c1) vector 4 add : !part, !emmy_tile.ptr<f32>
  emmy_tile.store %x to %p[%at] strides(%c1, %c1) limits(%n, %n) vector 4 add : !part, !emmy_tile.ptr<f32>
  emmy_tile.scatter %x to %p at %offsets add : !part, !emmy_tile.ptr<f32>, !emmy_tile.frag<4x32xi64, #part>
  emmy_tile.scatter %ones to %c at %offsets add : !emmy_tile.frag<4x32xi32, #part>, !emmy_tile.ptr<i32>, !emmy_tile.frag<4x32xi64, #part>
}
