// RUN: emmy-opt %s --verify-roundtrip --emmy-tile-to-nvvm | FileCheck %s
// O = softmax(Q·K^T · scale) · V for one block of 64 queries of a head of 64, over key blocks of 128: online softmax, the
// probabilities stay in registers as the first operand of the second product, V is read along the other dimension.

#scores = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 16:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
#acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 8:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
#row = #emmy_tile.layout<reg = [2:(8)], lane = [4:(0), 8:(1)], warp = [4:(16)]>
!scores = !emmy_tile.frag<64x128xf32, #scores>
!weights = !emmy_tile.frag<64x128xbf16, #scores>
!acc = !emmy_tile.frag<64x64xf32, #acc>
!out = !emmy_tile.frag<64x64xbf16, #acc>
!row = !emmy_tile.frag<64xf32, #row>
!index = !emmy_tile.frag<64x128xi32, #scores>
!q_map = !emmy_tile.tmap<64x64xbf16, swizzle = 128>
!kv_map = !emmy_tile.tmap<128x64xbf16, swizzle = 128>
!q_tile = !emmy_tile.shared<64x64xbf16, swizzle = 128>
!kv_ring = !emmy_tile.shared<2x128x64xbf16, swizzle = 128>
!kv_tile = !emmy_tile.shared<128x64xbf16, swizzle = 128>
!one = !emmy_tile.barrier<1>
!bars = !emmy_tile.barrier<2>

// CHECK-LABEL: llvm.func @attention
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: ex2.approx
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 1;
emmy_tile.kernel @attention(%q: !q_map {emmy.bind = #emmy.bind_tma<0, sizes = [s0, 64], strides = [128], offset = 0, l2_promotion = 256>},
                            %k: !kv_map {emmy.bind = #emmy.bind_tma<1, sizes = [s0, 64], strides = [128], offset = 0, l2_promotion = 256>},
                            %v: !kv_map {emmy.bind = #emmy.bind_tma<2, sizes = [s0, 64], strides = [128], offset = 0, l2_promotion = 256>},
                            %o: !q_map {emmy.bind = #emmy.bind_tma<3, sizes = [s0, 64], strides = [128], offset = 0, l2_promotion = 256>},
                            %keys: i32 {emmy.bind = #emmy.bind_size<s0>}, %scale: f32) grid [s0 ceildiv 64, 1, 1] warps 8 {
  %qs = emmy_tile.alloc : !q_tile
  %ks = emmy_tile.alloc : !kv_ring
  %vs = emmy_tile.alloc : !kv_ring
  %q_full = emmy_tile.alloc : !one
  %k_full = emmy_tile.alloc : !bars
  %v_full = emmy_tile.alloc : !bars
  %k_empty = emmy_tile.alloc : !bars
  %v_empty = emmy_tile.alloc : !bars
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %x = emmy_tile.read cta_x
  %row = arith.muli %x, %c64 : i32
  %blocks = arith.ceildivsi %keys, %c128 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %q_full, 1 : !one
    emmy_tile.barrier_init %k_full, 1 : !bars
    emmy_tile.barrier_init %v_full, 1 : !bars
    emmy_tile.barrier_init %k_empty, 1 : !bars
    emmy_tile.barrier_init %v_empty, 1 : !bars
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 registers 24 {
      emmy_tile.one_thread {
        emmy_tile.barrier_expect %q_full[%c0], 8192 : !one
        emmy_tile.tma_load %q[%row, %c0] to %qs, %q_full[%c0] : !q_map, !q_tile, !one
        scf.for %i = %c0 to %blocks step %c1 : i32 {
          %s, %p = emmy_tile.ring_slot %i of 2
          %free = arith.xori %p, %c1 : i32
          %key = arith.muli %i, %c128 : i32
          %kt = emmy_tile.subview %ks[%s, %c0, %c0] : !kv_ring -> !kv_tile
          %vt = emmy_tile.subview %vs[%s, %c0, %c0] : !kv_ring -> !kv_tile
          emmy_tile.barrier_wait %k_empty[%s] parity %free : !bars
          emmy_tile.barrier_expect %k_full[%s], 16384 : !bars
          emmy_tile.tma_load %k[%key, %c0] to %kt, %k_full[%s] : !kv_map, !kv_tile, !bars
          emmy_tile.barrier_wait %v_empty[%s] parity %free : !bars
          emmy_tile.barrier_expect %v_full[%s], 16384 : !bars
          emmy_tile.tma_load %v[%key, %c0] to %vt, %v_full[%s] : !kv_map, !kv_tile, !bars
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 1 registers 240 {
    ^bb0(%wg: i32):
      emmy_tile.barrier_wait %q_full[%c0] parity %c0 : !one
      %zero = arith.constant 0.0 : f32
      %low = arith.constant -1.0e+30 : f32
      %sums0 = emmy_tile.splat %zero : f32 -> !row
      %maxes0 = emmy_tile.splat %low : f32 -> !row
      %acc0 = emmy_tile.splat %zero : f32 -> !acc
      %acc, %maxes, %sums = scf.for %i = %c0 to %blocks step %c1 iter_args(%a = %acc0, %m = %maxes0, %l = %sums0) -> (!acc, !row, !row) : i32 {
        %s, %p = emmy_tile.ring_slot %i of 2
        %kt = emmy_tile.subview %ks[%s, %c0, %c0] : !kv_ring -> !kv_tile
        %vt = emmy_tile.subview %vs[%s, %c0, %c0] : !kv_ring -> !kv_tile
        emmy_tile.barrier_wait %k_full[%s] parity %p : !bars
        %undef = emmy_tile.undef : !scores
        emmy_tile.wgmma_fence
        %qk = emmy_tile.wgmma %qs, %kt, %undef zero : !q_tile, !kv_tile -> !scores
        emmy_tile.wgmma_commit
        %raw = emmy_tile.wgmma_wait 0 %qk : !scores -> !scores
        emmy_tile.barrier_arrive %k_empty[%s] : !bars
        %key = arith.muli %i, %c128 : i32
        %index = emmy_tile.coord 1 from %key : !index
        %scores = emmy_tile.map(%raw, %index, %scale, %keys) : (!scores, !index, f32, i32) -> !scores {
        ^bb0(%e: f32, %j: i32, %f: f32, %n: i32):
          %ninf = arith.constant 0xFF800000 : f32
          %scaled = arith.mulf %e, %f : f32
          %valid = arith.cmpi slt, %j, %n : i32
          %masked = arith.select %valid, %scaled, %ninf : f32
          emmy_tile.yield %masked : f32
        }
        %top = emmy_tile.reduce %scores over 1 : !scores -> !row {
        ^bb0(%e: f32, %f: f32):
          %g = arith.maximumf %e, %f : f32
          emmy_tile.yield %g : f32
        }
        %m_new = emmy_tile.map(%m, %top) : (!row, !row) -> !row {
        ^bb0(%e: f32, %f: f32):
          %g = arith.maximumf %e, %f : f32
          emmy_tile.yield %g : f32
        }
        %factor = emmy_tile.map(%m, %m_new) : (!row, !row) -> !row {
        ^bb0(%e: f32, %f: f32):
          %g = arith.subf %e, %f : f32
          %h = math.exp2 %g : f32
          emmy_tile.yield %h : f32
        }
        %m_wide = emmy_tile.broadcast %m_new along 1 : !row -> !scores
        %weights = emmy_tile.map(%scores, %m_wide) : (!scores, !scores) -> !scores {
        ^bb0(%e: f32, %f: f32):
          %g = arith.subf %e, %f : f32
          %h = math.exp2 %g : f32
          emmy_tile.yield %h : f32
        }
        %sum = emmy_tile.reduce %weights over 1 : !scores -> !row {
        ^bb0(%e: f32, %f: f32):
          %g = arith.addf %e, %f : f32
          emmy_tile.yield %g : f32
        }
        %l_new = emmy_tile.map(%l, %factor, %sum) : (!row, !row, !row) -> !row {
        ^bb0(%e: f32, %f: f32, %g: f32):
          %h = arith.mulf %e, %f : f32
          %j = arith.addf %h, %g : f32
          emmy_tile.yield %j : f32
        }
        %packed = emmy_tile.map(%weights) : (!scores) -> !weights {
        ^bb0(%e: f32):
          %h = arith.truncf %e : f32 to bf16
          emmy_tile.yield %h : bf16
        }
        %f_wide = emmy_tile.broadcast %factor along 1 : !row -> !acc
        %rescaled = emmy_tile.map(%a, %f_wide) : (!acc, !acc) -> !acc {
        ^bb0(%e: f32, %f: f32):
          %g = arith.mulf %e, %f : f32
          emmy_tile.yield %g : f32
        }
        emmy_tile.barrier_wait %v_full[%s] parity %p : !bars
        emmy_tile.wgmma_fence
        %pv = emmy_tile.wgmma %packed, %vt, %rescaled transpose_b : !weights, !kv_tile -> !acc
        emmy_tile.wgmma_commit
        %done, %read = emmy_tile.wgmma_wait 0 %pv, %packed : !acc, !weights -> !acc, !weights
        emmy_tile.barrier_arrive %v_empty[%s] : !bars
        scf.yield %done, %m_new, %l_new : !acc, !row, !row
      }
      %sums_wide = emmy_tile.broadcast %sums along 1 : !row -> !acc
      %out = emmy_tile.map(%acc, %sums_wide) : (!acc, !acc) -> !out {
      ^bb0(%e: f32, %f: f32):
        %g = arith.divf %e, %f : f32
        %h = arith.truncf %g : f32 to bf16
        emmy_tile.yield %h : bf16
      }
      emmy_tile.sync unit
      emmy_tile.store_shared %out to %qs matrix : !out, !q_tile
      emmy_tile.fence_async
      emmy_tile.sync unit
      emmy_tile.one_thread {
        emmy_tile.tma_store %qs to %o[%row, %c0] : !q_tile, !q_map
        emmy_tile.tma_commit
        emmy_tile.tma_wait 0
      }
    }
  }
}
