// RUN: emmy-opt %s --convert-emmy-tile-to-nvvm | FileCheck %s
// mbarriers, fences, and which threads a `sync` waits for.

// CHECK-LABEL: llvm.func @barriers
// CHECK-COUNT-2: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier
// CHECK: llvm.br ^[[SPIN:bb[0-9]+]]
// CHECK: ^[[SPIN]]:
// CHECK: %[[DONE:.+]] = nvvm.mbarrier.try_wait
// CHECK: llvm.cond_br %[[DONE]], ^{{bb[0-9]+}}, ^[[SPIN]]
// CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
// CHECK: nvvm.mbarrier.arrive.expect_tx
emmy_tile.kernel @barriers(%i: i32, %parity: i32) grid [1, 1, 1] warps 4 {
  %b = emmy_tile.alloc : !emmy_tile.barrier<2>
  emmy_tile.one_thread {
    emmy_tile.barrier_init %b, 3 : !emmy_tile.barrier<2>
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.barrier_wait %b[%i] parity %parity : !emmy_tile.barrier<2>
  emmy_tile.barrier_arrive %b[%i] : !emmy_tile.barrier<2>
  emmy_tile.barrier_expect %b[%i], 128 : !emmy_tile.barrier<2>
}

// Arrivals at other CTAs carry no cluster-scope release.
// CHECK-LABEL: llvm.func @remote
// CHECK: nvvm.cluster.arrive
// CHECK: nvvm.mapa
// CHECK-NEXT: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<7>
// CHECK: %[[TID:.+]] = arith.cmpi ult
// CHECK: llvm.cond_br %[[TID]]
// CHECK: nvvm.mapa
// CHECK-NEXT: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<7>
// CHECK-COUNT-2: nvvm.mapa
emmy_tile.kernel @remote(%i: i32, %rank: i32) grid [1, 1, 1] cluster 2 warps 4 {
  %b = emmy_tile.alloc : !emmy_tile.barrier<1>
  emmy_tile.sync cluster
  emmy_tile.barrier_arrive %b[%i] to %rank : !emmy_tile.barrier<1>
  emmy_tile.barrier_arrive %b[%i] to_all : !emmy_tile.barrier<1>
  emmy_tile.one_thread {
    emmy_tile.barrier_arrive %b[%i] to_all : !emmy_tile.barrier<1>
  }
}

// CHECK-LABEL: llvm.func @scopes
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
emmy_tile.kernel @scopes() grid [1, 1, 1] warps 12 {
  emmy_tile.warp_specialize {
    emmy_tile.role "one" warps 1 {
      emmy_tile.sync unit
    }
    emmy_tile.role "two" warpgroups 2 {
      emmy_tile.sync unit
      emmy_tile.sync role
      emmy_tile.fence_async
    }
  }
}

// CHECK-LABEL: llvm.func @launch_order
// CHECK: nvvm.griddepcontrol wait
// CHECK: nvvm.griddepcontrol launch_dependents
emmy_tile.kernel @launch_order() grid [1, 1, 1] warps 1 pdl {
  emmy_tile.pdl_wait
  emmy_tile.pdl_launch
}
