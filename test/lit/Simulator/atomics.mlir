// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Atomic additions: sums in any order, the last arriver that reads what all CTAs wrote, and its faults.

// Four CTAs add to one line, then each draws a number; the last one copies the line.
#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>
!frag = !emmy_tile.frag<128xf32, #line>

emmy_tile.kernel @last_arriver(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                               %sums: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>},
                               %count: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<2>},
                               %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<3>}) grid [4, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1x128xf32>, fill = "random 1"}, {type = tensor<1x128xf32>, fill = "zero"},
                                            {type = tensor<1xi32>, fill = "zero", expect = "constant 0"},
                                            {type = tensor<1x128xf32>, expect = "same 1"}]}} {
  %seen = emmy_tile.alloc : !emmy_tile.shared<1xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = arith.constant 3 : i32
  %back = arith.constant -4 : i32
  %zero = arith.constant 0 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s1) vector 4 : !emmy_tile.ptr<f32> -> !frag
  emmy_tile.store %v to %sums[%zero] strides(%s1) vector 4 add : !frag, !emmy_tile.ptr<f32>
  emmy_tile.sync unit
  emmy_tile.one_thread {
    %old = emmy_tile.atomic_add %count[%zero], %c1 acq_rel : !emmy_tile.ptr<i32>, i32 -> i32
    emmy_tile.put %old to %seen[%c0] : i32, !emmy_tile.shared<1xi32>
  }
  emmy_tile.sync unit
  %drawn = emmy_tile.get %seen[%c0] : !emmy_tile.shared<1xi32> -> i32
  %isLast = arith.cmpi eq, %drawn, %last : i32
  scf.if %isLast {
    %all = emmy_tile.load %sums[%zero] strides(%s1) vector 4 : !emmy_tile.ptr<f32> -> !frag
    emmy_tile.store %all to %y[%zero] strides(%s1) vector 4 : !frag, !emmy_tile.ptr<f32>
    emmy_tile.one_thread {
      %total = emmy_tile.atomic_add %count[%zero], %back : !emmy_tile.ptr<i32>, i32 -> i32
    }
  }
}

// -----

// A relaxed count orders nothing: the last arriver reads sums that may not have arrived.
#line = #emmy_tile.layout<reg = [4:(1)], lane = [32:(4)], warp = [1:(0)]>
!frag = !emmy_tile.frag<128xf32, #line>

emmy_tile.kernel @relaxed_count(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                                %sums: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>},
                                %count: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<2>},
                                %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<3>}) grid [4, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1x128xf32>, fill = "random 1"}, {type = tensor<1x128xf32>, fill = "zero"},
                                            {type = tensor<1xi32>, fill = "zero"}, {type = tensor<1x128xf32>}]}} {
  %seen = emmy_tile.alloc : !emmy_tile.shared<1xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = arith.constant 3 : i32
  %zero = arith.constant 0 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s1) vector 4 : !emmy_tile.ptr<f32> -> !frag
  // expected-note-re@below {{the other access: CTA {{[0-3]}} writes it here}}
  emmy_tile.store %v to %sums[%zero] strides(%s1) vector 4 add : !frag, !emmy_tile.ptr<f32>
  emmy_tile.sync unit
  emmy_tile.one_thread {
    %old = emmy_tile.atomic_add %count[%zero], %c1 : !emmy_tile.ptr<i32>, i32 -> i32
    emmy_tile.put %old to %seen[%c0] : i32, !emmy_tile.shared<1xi32>
  }
  emmy_tile.sync unit
  %drawn = emmy_tile.get %seen[%c0] : !emmy_tile.shared<1xi32> -> i32
  %isLast = arith.cmpi eq, %drawn, %last : i32
  scf.if %isLast {
    // expected-error-re@below {{violates data-race: CTA {{[0-3]}} reads byte {{.*}} of buffer #1 without an order}}
    %all = emmy_tile.load %sums[%zero] strides(%s1) vector 4 : !emmy_tile.ptr<f32> -> !frag
    emmy_tile.store %all to %y[%zero] strides(%s1) vector 4 : !frag, !emmy_tile.ptr<f32>
  }
}

// -----

// The second warp counts on nothing: its writes are not published by the thread that counts.
#rows = #emmy_tile.layout<reg = [2:(1)], lane = [32:(2)], warp = [2:(64)]>
!frag = !emmy_tile.frag<128xf32, #rows>

emmy_tile.kernel @no_sync_before_the_count(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                                           %sums: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>},
                                           %count: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<2>}) grid [2, 1, 1] warps 2
    attributes {emmy.simulate = {buffers = [{type = tensor<1x128xf32>, fill = "random 1"}, {type = tensor<1x128xf32>, fill = "zero"},
                                            {type = tensor<1xi32>, fill = "zero"}]}} {
  %seen = emmy_tile.alloc : !emmy_tile.shared<1xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %s1 = arith.constant 1 : i64
  %v = emmy_tile.load %x[%zero] strides(%s1) : !emmy_tile.ptr<f32> -> !frag
  // expected-note-re@below {{the other access: CTA {{[01]}} writes it here}}
  emmy_tile.store %v to %sums[%zero] strides(%s1) vector 2 add : !frag, !emmy_tile.ptr<f32>
  emmy_tile.one_thread {
    %old = emmy_tile.atomic_add %count[%zero], %c1 acq_rel : !emmy_tile.ptr<i32>, i32 -> i32
    emmy_tile.put %old to %seen[%c0] : i32, !emmy_tile.shared<1xi32>
  }
  emmy_tile.sync unit
  %drawn = emmy_tile.get %seen[%c0] : !emmy_tile.shared<1xi32> -> i32
  %isLast = arith.cmpi eq, %drawn, %c1 : i32
  scf.if %isLast {
    // expected-error-re@below {{violates data-race: CTA {{[01]}} reads byte 256 of buffer #1 without an order}}
    %all = emmy_tile.load %sums[%zero] strides(%s1) : !emmy_tile.ptr<f32> -> !frag
  }
}

// -----

// Equal offsets all count.
#line = #emmy_tile.layout<reg = [], lane = [32:(1)], warp = [1:(0)]>

emmy_tile.kernel @histogram(%count: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<0>}) grid [3, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xi32>, fill = "zero", expect = "constant 24"}]}} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %index = emmy_tile.coord 0 from %c0 : !emmy_tile.frag<32xi32, #line>
  %ones = emmy_tile.splat %c1 : i32 -> !emmy_tile.frag<32xi32, #line>
  %bins = emmy_tile.map(%index) : (!emmy_tile.frag<32xi32, #line>) -> !emmy_tile.frag<32xi64, #line> {
  ^bb0(%e: i32):
    %c3 = arith.constant 3 : i32
    %bin = arith.andi %e, %c3 : i32
    %wide = arith.extsi %bin : i32 to i64
    emmy_tile.yield %wide : i64
  }
  emmy_tile.scatter %ones to %count at %bins add : !emmy_tile.frag<32xi32, #line>, !emmy_tile.ptr<i32>, !emmy_tile.frag<32xi64, #line>
}

// -----

// TMA stores that add: three CTAs on one box, and the last arriver reads the sum after each store is complete.
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [8:(0,4), 4:(1,0)], warp = [1:(0,0)]>
!frag = !emmy_tile.frag<4x32xf32, #rows>
!box = !emmy_tile.shared<4x32xf32>
!map = !emmy_tile.tmap<4x32xf32>

emmy_tile.kernel @added_boxes(%m: !map {emmy.bind = #emmy.bind_tma<0, sizes = [4, 32], strides = [128], offset = 0, l2_promotion = 128>},
                              %p: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                              %count: !emmy_tile.ptr<i32> {emmy.bind = #emmy.bind_pointer<1>},
                              %y: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>}) grid [3, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4x32xf32>, fill = "zero", expect = "constant 1.5"},
                                            {type = tensor<1xi32>, fill = "zero"}, {type = tensor<4x32xf32>, expect = "same 0"}]}} {
  %part = emmy_tile.alloc : !box
  %seen = emmy_tile.alloc : !emmy_tile.shared<1xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = arith.constant 2 : i32
  %zero = arith.constant 0 : i64
  %s0 = arith.constant 32 : i64
  %s1 = arith.constant 1 : i64
  %half = arith.constant 0.5 : f32
  %v = emmy_tile.splat %half : f32 -> !frag
  emmy_tile.store_shared %v to %part : !frag, !box
  emmy_tile.fence_async
  emmy_tile.sync unit
  emmy_tile.one_thread {
    emmy_tile.tma_store %part to %m[%c0, %c0] add : !box, !map
    emmy_tile.tma_commit
    emmy_tile.tma_wait 0
    %old = emmy_tile.atomic_add %count[%zero], %c1 acq_rel : !emmy_tile.ptr<i32>, i32 -> i32
    emmy_tile.put %old to %seen[%c0] : i32, !emmy_tile.shared<1xi32>
  }
  emmy_tile.sync unit
  %drawn = emmy_tile.get %seen[%c0] : !emmy_tile.shared<1xi32> -> i32
  %isLast = arith.cmpi eq, %drawn, %last : i32
  scf.if %isLast {
    %sum = emmy_tile.load %p[%zero] strides(%s0, %s1) vector 4 : !emmy_tile.ptr<f32> -> !frag
    emmy_tile.store %sum to %y[%zero] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<f32>
  }
}
