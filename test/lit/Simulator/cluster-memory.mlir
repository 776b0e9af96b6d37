// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Distributed shared memory: CTAs of a cluster read and write each other's, between syncs of the cluster or through barriers.

// Each CTA gives half of its sums to the other and adds what it gets; the last sync keeps both alive.
#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>
!frag = !emmy_tile.frag<128xf32, #line>
!buffer = !emmy_tile.shared<128xf32>

emmy_tile.kernel @exchange(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                           %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [2, 1, 1] cluster 2 warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<2x128xf32>, fill = "random 1"}, {type = tensor<2x128xf32>, expect = "add 0 0"}]}} {
  %pushed = emmy_tile.alloc : !buffer
  %left = emmy_tile.alloc : !buffer
  %c1 = arith.constant 1 : i32
  %s1 = arith.constant 1 : i64
  %size = arith.constant 128 : i32
  %rank = emmy_tile.read cluster_rank
  %peer = arith.xori %rank, %c1 : i32
  %at = arith.muli %rank, %size : i32
  %mine = arith.extsi %at : i32 to i64
  %from = arith.muli %peer, %size : i32
  %theirs = arith.extsi %from : i32 to i64
  %v = emmy_tile.load %x[%theirs] strides(%s1) vector 4 : !emmy_tile.ptr<f32> -> !frag
  %u = emmy_tile.load %x[%mine] strides(%s1) vector 4 : !emmy_tile.ptr<f32> -> !frag
  emmy_tile.store_shared %u to %left : !frag, !buffer
  emmy_tile.sync cluster
  emmy_tile.store_shared %v to %pushed in_cta %peer : !frag, !buffer
  emmy_tile.sync cluster
  %a = emmy_tile.load_shared %pushed : !buffer -> !frag
  %b = emmy_tile.load_shared %left in_cta %rank : !buffer -> !frag
  %sum = emmy_tile.map(%a, %b) : (!frag, !frag) -> !frag {
  ^bb0(%e: f32, %f: f32):
    %g = arith.addf %e, %f : f32
    emmy_tile.yield %g : f32
  }
  emmy_tile.store %sum to %y[%mine] strides(%s1) vector 4 : !frag, !emmy_tile.ptr<f32>
  emmy_tile.sync cluster
}

// -----

// Single elements, and a remote arrival instead of a sync in the middle.
!buffer = !emmy_tile.shared<1xi32>
!bar = !emmy_tile.barrier<1>

emmy_tile.kernel @signal(%y: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<0>}) grid [2, 1, 1] cluster 2 warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1xi32>, fill = "zero", expect = "constant 7"}]}} {
  %slot = emmy_tile.alloc : !buffer
  %full = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %zero = arith.constant 0 : i64
  %rank = emmy_tile.read cluster_rank
  %isFirst = arith.cmpi eq, %rank, %c0 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cluster
  scf.if %isFirst {
    emmy_tile.one_thread {
      emmy_tile.put %c7 to %slot[%c0] in_cta %c1 : i32, !buffer
      emmy_tile.barrier_arrive %full[%c0] to %c1 : !bar
    }
  } else {
    emmy_tile.barrier_wait %full[%c0] parity %c0 : !bar
    %v = emmy_tile.get %slot[%c0] in_cta %rank : !buffer -> i32
    emmy_tile.one_thread {
      %old = emmy_tile.atomic_add %y[%zero], %v : !emmy_tile.ptr<i32>, i32 -> i32
    }
  }
  emmy_tile.sync cluster
}

// -----

// Nothing says that the peer runs already.
!buffer = !emmy_tile.shared<1xi32>

emmy_tile.kernel @no_start() grid [2, 1, 1] cluster 2 warps 1 attributes {emmy.simulate = {buffers = []}} {
  %slot = emmy_tile.alloc : !buffer
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rank = emmy_tile.read cluster_rank
  %peer = arith.xori %rank, %c1 : i32
  emmy_tile.one_thread {
    // expected-error-re@below {{violates peer-start: CTA {{0|1}} accesses shared memory of CTA {{0|1}}, which may not have started}}
    emmy_tile.put %c1 to %slot[%c0] in_cta %peer : i32, !buffer
  }
  emmy_tile.sync cluster
}

// -----

// The peer may have exited when it is written to.
!buffer = !emmy_tile.shared<1xi32>

emmy_tile.kernel @no_end() grid [2, 1, 1] cluster 2 warps 1 attributes {emmy.simulate = {buffers = []}} {
  %slot = emmy_tile.alloc : !buffer
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rank = emmy_tile.read cluster_rank
  %peer = arith.xori %rank, %c1 : i32
  emmy_tile.sync cluster
  emmy_tile.one_thread {
    // expected-error-re@below {{violates exit-before-peers: CTA {{0|1}} {{may access its shared memory after|accesses shared memory of}} CTA {{0|1}}{{,?}} {{.*}}exited}}
    emmy_tile.put %c1 to %slot[%c0] in_cta %peer : i32, !buffer
  }
}

// -----

// The pushed value is read without a sync after the push.
!buffer = !emmy_tile.shared<1xi32>

emmy_tile.kernel @no_sync() grid [2, 1, 1] cluster 2 warps 1 attributes {emmy.simulate = {buffers = []}} {
  %slot = emmy_tile.alloc : !buffer
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rank = emmy_tile.read cluster_rank
  %peer = arith.xori %rank, %c1 : i32
  emmy_tile.one_thread {
    emmy_tile.put %c0 to %slot[%c0] : i32, !buffer
  }
  emmy_tile.sync cluster
  emmy_tile.one_thread {
    // expected-error-re@below {{violates data-race: CTA {{0|1}} writes byte 0 of shared memory}}
    emmy_tile.put %c1 to %slot[%c0] in_cta %peer : i32, !buffer
  }
  // expected-note-re@below {{the other access: CTA {{0|1}} reads it here}}
  %v = emmy_tile.get %slot[%c0] : !buffer -> i32
  emmy_tile.sync cluster
}

// -----

!buffer = !emmy_tile.shared<1xi32>

emmy_tile.kernel @no_such_peer() grid [2, 1, 1] cluster 2 warps 1 attributes {emmy.simulate = {buffers = []}} {
  %slot = emmy_tile.alloc : !buffer
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  emmy_tile.sync cluster
  // expected-error-re@below {{violates out-of-bounds: CTA {{0|1}} accesses CTA 2 of a cluster of 2}}
  %v = emmy_tile.get %slot[%c0] in_cta %c2 : !buffer -> i32
  emmy_tile.sync cluster
}
