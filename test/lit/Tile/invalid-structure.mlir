// RUN: emmy-opt %s --split-input-file --verify-diagnostics
// Each verifier branch of kernels, roles and shared memory.

// expected-error@below {{'emmy_tile.kernel' op expects 1 to 32 warps, but got 33}}
emmy_tile.kernel @k() grid [1, 1, 1] warps 33 {}

// -----

// expected-error@below {{'emmy_tile.kernel' op expects a cluster of 1 to 16 CTAs, but got 17}}
emmy_tile.kernel @k() grid [1, 1, 1] cluster 17 warps 1 {}

// -----

// expected-error@below {{'emmy_tile.kernel' op expects three grid sizes, but got 2}}
emmy_tile.kernel @k() grid [1, 1] warps 1 {}

// -----

// expected-error@below {{'emmy_tile.kernel' op uses 262144 bytes of shared memory, but "sm_90a" has 232448}}
emmy_tile.kernel @k() grid [1, 1, 1] warps 1 {
  %a = emmy_tile.alloc : !emmy_tile.shared<256x256xf32>
}

// -----

emmy_tile.kernel @k() grid [1, 1, 1] warps 5 {
  // expected-error@below {{'emmy_tile.warp_specialize' op has roles for 1 warps, but the kernel has 5}}
  emmy_tile.warp_specialize {
    emmy_tile.role "a" warps 1 {}
  }
}

// -----

emmy_tile.kernel @k() grid [1, 1, 1] warps 12 {
  // expected-error@below {{'emmy_tile.warp_specialize' op has roles with 66560 registers in all, but "sm_90a" has 65536}}
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 registers 24 {}
    emmy_tile.role "consumer" warpgroups 2 registers 248 {}
  }
}

// -----

func.func @f() {
  emmy_tile.warp_specialize {
    // expected-error@below {{'arith.constant' op stands where only roles may}}
    %c = arith.constant 0 : i32
  }
  return
}

// -----

emmy_tile.kernel @k() grid [1, 1, 1] warps 4 {
  emmy_tile.warp_specialize {
    // expected-error@below {{'emmy_tile.role' op expects registers in multiples of 8 from 24 to 256, but got 42}}
    emmy_tile.role "a" warps 1 registers 42 {}
  }
}

// -----

emmy_tile.kernel @k() grid [1, 1, 1] warps 1 {
  emmy_tile.warp_specialize {
    // expected-error@below {{'emmy_tile.role' op expects at most one block argument, the i32 number of the unit}}
    emmy_tile.role "a" warps 1 {
    ^bb0(%w: i64):
    }
  }
}

// -----

emmy_tile.kernel @k() grid [1, 1, 1] warps 1 {
  emmy_tile.warp_specialize {
    // expected-error@below {{expects 'warps' or 'warpgroups', but got 'threads'}}
    emmy_tile.role "a" threads 1 {}
  }
}

// -----

emmy_tile.kernel @k() grid [1, 1, 1] warps 1 {
  emmy_tile.one_thread {
    // expected-error@below {{'emmy_tile.sync' op needs the whole unit, but stands in 'emmy_tile.one_thread'}}
    emmy_tile.sync cta
  }
}

// -----

func.func @f(%c: i32) {
  // expected-error@below {{'emmy_tile.ring_slot' op expects 1 to 2147483647 stages, but got 0}}
  %s, %p = emmy_tile.ring_slot %c of 0
  return
}

// -----

emmy_tile.kernel @k() grid [1, 1, 1] warps 1 {
  emmy_tile.one_thread {
    // expected-error@below {{'emmy_tile.alloc' op expects to stand at the top of a kernel}}
    %a = emmy_tile.alloc : !emmy_tile.shared<8xf32>
  }
}

// -----

emmy_tile.kernel @k() grid [1, 1, 1] warps 1 {
  // expected-error@below {{'emmy_tile.alloc' op expects a row-major buffer, but got '!emmy_tile.shared<4x8xf32, strides = [16, 1]>'}}
  %a = emmy_tile.alloc : !emmy_tile.shared<4x8xf32, strides = [16, 1]>
}

// -----

func.func @f(%a: !emmy_tile.shared<4x8xf32>, %c: i32) {
  // expected-error@below {{'emmy_tile.subview' op expects 2 offsets, but got 1}}
  %s = emmy_tile.subview %a[%c] : !emmy_tile.shared<4x8xf32> -> !emmy_tile.shared<8xf32>
  return
}

// -----

func.func @f(%a: !emmy_tile.shared<4x8xf32>, %c: i32) {
  // expected-error@below {{'emmy_tile.subview' op expects element type, swizzle and trailing strides of '!emmy_tile.shared<4x8xf32>', but got '!emmy_tile.shared<8xi32>'}}
  %s = emmy_tile.subview %a[%c, %c] : !emmy_tile.shared<4x8xf32> -> !emmy_tile.shared<8xi32>
  return
}

// -----

func.func @f(%a: !emmy_tile.shared<4x8xf32>, %c: i32) {
  // expected-error@below {{'emmy_tile.subview' op expects at most 4 elements in dimension 0, but got 5}}
  %s = emmy_tile.subview %a[%c, %c] : !emmy_tile.shared<4x8xf32> -> !emmy_tile.shared<5x8xf32>
  return
}

// -----

func.func @f(%m: !emmy_tile.tmap<8x8xf32>, %a: !emmy_tile.shared<8x8xf32>, %b: !emmy_tile.barrier<1>, %c: i32) {
  // expected-error@below {{'emmy_tile.tma_load' op expects 2 coordinates, but got 1}}
  emmy_tile.tma_load %m[%c] to %a, %b[%c] : !emmy_tile.tmap<8x8xf32>, !emmy_tile.shared<8x8xf32>, !emmy_tile.barrier<1>
  return
}

// -----

func.func @f(%m: !emmy_tile.tmap<8x8xf32>, %a: !emmy_tile.shared<4x8xf32>, %c: i32) {
  // expected-error@below {{'emmy_tile.tma_store' op expects a contiguous buffer of the box of '!emmy_tile.tmap<8x8xf32>', but got '!emmy_tile.shared<4x8xf32>'}}
  emmy_tile.tma_store %a to %m[%c, %c] : !emmy_tile.shared<4x8xf32>, !emmy_tile.tmap<8x8xf32>
  return
}

// -----

func.func @f(%p: !emmy_tile.ptr<f32>, %a: !emmy_tile.shared<4x8xf32>, %o: i64, %c: i32) {
  // expected-error@below {{'emmy_tile.cp_async' op expects 2 strides and limits, but got 1 and 2}}
  emmy_tile.cp_async %p[%o] strides(%o) limits(%c, %c) to %a vector 4 : !emmy_tile.ptr<f32>, !emmy_tile.shared<4x8xf32>
  return
}

// -----

func.func @f(%p: !emmy_tile.ptr<f32>, %a: !emmy_tile.shared<4x8xf32>, %o: i64, %c: i32) {
  // expected-error@below {{'emmy_tile.cp_async' op expects to copy 4, 8 or 16 bytes at a time, but got 8 elements of 4 bytes}}
  emmy_tile.cp_async %p[%o] strides(%o, %o) limits(%c, %c) to %a vector 8 : !emmy_tile.ptr<f32>, !emmy_tile.shared<4x8xf32>
  return
}
