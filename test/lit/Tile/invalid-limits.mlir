// RUN: emmy-opt %s --split-input-file --verify-diagnostics
// Numbers that the hardware cannot hold, and sizes that no integer holds.

// expected-error@below {{'emmy_tile.kernel' op expects grid size #1 from 0 to 65535, but got 65536}}
emmy_tile.kernel @tall() grid [1, 65536, 1] warps 1 {
}

// -----

// expected-error@below {{'emmy_tile.kernel' op expects grid size #0 from 0 to 2147483647, but got -1}}
emmy_tile.kernel @negative() grid [-1, 1, 1] warps 1 {
}

// -----

func.func @f(%b: !emmy_tile.barrier<1>) {
  // expected-error@below {{attribute 'arrivals' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 1 whose maximum value is 1048575}}
  emmy_tile.barrier_init %b, 1048576 : !emmy_tile.barrier<1>
  return
}

// -----

func.func @f(%b: !emmy_tile.barrier<1>) {
  // expected-error@below {{attribute 'arrivals' failed to satisfy constraint}}
  emmy_tile.barrier_init %b, 0 : !emmy_tile.barrier<1>
  return
}

// -----

func.func @f(%b: !emmy_tile.barrier<1>, %i: i32) {
  // expected-error@below {{attribute 'bytes' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0 whose maximum value is 1048575}}
  emmy_tile.barrier_expect %b[%i], 1048576 : !emmy_tile.barrier<1>
  return
}

// -----

func.func @f(%m: !emmy_tile.tmap<8x8xf32>, %a: !emmy_tile.shared<8x8xf32>, %b: !emmy_tile.barrier<1>, %i: i32) {
  // expected-error@below {{attribute 'multicast' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 1 whose maximum value is 65535}}
  emmy_tile.tma_load %m[%i, %i] to %a, %b[%i] multicast 65536 : !emmy_tile.tmap<8x8xf32>, !emmy_tile.shared<8x8xf32>, !emmy_tile.barrier<1>
  return
}

// -----

// expected-error@below {{attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0 whose maximum value is 7}}
emmy_tile.wgmma_wait 8

// -----

// expected-error@below {{attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0}}
emmy_tile.tma_wait -1

// -----

// expected-error@below {{attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0}}
emmy_tile.cp_async_wait -1

// -----

emmy_tile.kernel @k() grid [1, 1, 1] warps 1 {
  emmy_tile.warp_specialize {
    emmy_tile.role "one" warps 1 {
    }
    // expected-error@below {{attribute 'units' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 1 whose maximum value is 32}}
    emmy_tile.role "none" warps 0 {
    }
  }
}

// -----

func.func @f(%p: !emmy_tile.ptr<f32>, %a: !emmy_tile.shared<33xf32>, %o: i64, %c: i32) {
  // expected-error@below {{'emmy_tile.cp_async' op expects rows of whole vectors of 4 elements, but got '!emmy_tile.shared<33xf32>'}}
  emmy_tile.cp_async %p[%o] strides(%o) limits(%c) to %a vector 4 : !emmy_tile.ptr<f32>, !emmy_tile.shared<33xf32>
  return
}

// -----

func.func @f(%p: !emmy_tile.ptr<f32>, %a: !emmy_tile.shared<32xf32>, %o: i64, %c: i32) {
  // expected-error@below {{expects to copy 4, 8 or 16 bytes at a time, but got 4611686018427387905 elements of 4 bytes}}
  emmy_tile.cp_async %p[%o] strides(%o) limits(%c) to %a vector 4611686018427387905 : !emmy_tile.ptr<f32>, !emmy_tile.shared<32xf32>
  return
}

// -----

func.func @f(%p: !emmy_tile.ptr<f32>, %o: i64) {
  // expected-error@below {{'result' has the element type of 'source'}}
  %x = emmy_tile.load_scalar %p[%o] : !emmy_tile.ptr<f32> -> i32
  return
}

// -----

func.func @f(%p: !emmy_tile.ptr<f32>, %o: i64, %v: i32) {
  // expected-error@below {{'value' has the element type of 'target'}}
  %x = emmy_tile.atomic_add %p[%o], %v : !emmy_tile.ptr<f32>, i32 -> i32
  return
}

// -----

func.func @f(%a: !emmy_tile.shared<4xf32>, %i: i32) {
  // expected-error@below {{'value' has the element type of 'target'}}
  emmy_tile.put %i to %a[%i] : i32, !emmy_tile.shared<4xf32>
  return
}

// -----

func.func @f(%a: !emmy_tile.shared<4xf32>, %i: i32) {
  // expected-error@below {{'result' has the element type of 'source'}}
  %x = emmy_tile.get %a[%i] : !emmy_tile.shared<4xf32> -> i32
  return
}

// -----

// expected-error@below {{expects 1 to 65536 barriers, but got 0}}
func.func private @f(!emmy_tile.barrier<0>)

// -----

// expected-error@below {{expects elements of whole bytes or i1, but got 'index'}}
func.func private @f(!emmy_tile.ptr<index>)

// -----

// expected-error@below {{expects strides of at least 0 and less than 2^28 elements in all}}
func.func private @f(!emmy_tile.shared<4294967296x4294967296xf32>)

// -----

// expected-error@below {{expects strides below 2^31, but got 2147483648}}
func.func private @f(!emmy_tile.frag<32xf32, #emmy_tile.layout<reg = [2:(2147483648)], lane = [32:(1)], warp = []>>)

// -----

// expected-error@below {{expects warp modes of at most 32 warps in all}}
func.func private @f(!emmy_tile.frag<32xf32, #emmy_tile.layout<reg = [], lane = [32:(1)], warp = [64:(0)]>>)

// -----

// expected-error@below {{expects register modes of at most 65536 registers in all}}
func.func private @f(!emmy_tile.frag<32xf32, #emmy_tile.layout<reg = [1048576:(0), 4294967296:(0), 4294967296:(0)], lane = [32:(1)], warp = []>>)

// -----

// expected-error@below {{expects less than 2^31 elements}}
func.func private @f(!emmy_tile.frag<1048577x1048576xf32, #emmy_tile.layout<reg = [2:(1048576,0), 2:(0,1048544)], lane = [32:(0,1)], warp = []>>)
