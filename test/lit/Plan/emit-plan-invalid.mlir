// RUN: emmy-opt %s --emmy-emit-plan -split-input-file -verify-diagnostics
// Programs that no plan can express.

// expected-error@below {{expects one host function, but got 2}}
module {
  func.func @a() {
    return
  }
  func.func @b() {
    return
  }
}

// -----

// expected-error@below {{uses symbol s1, which is not the size or stride of any argument, nor a scalar argument}}
func.func @main(%x: tensor<?xf32, #emmy.dims<[s1 * 2]>>) {
  return
}

// -----

emmy_fuse.kernel @k() outs(%y: tensor<4xf32>) axes(m = 4) {
}
func.func @main() {
  // expected-error@below {{'emmy.launch' op has a temporary without an offset: '--emmy-plan-memory' gives it one}}
  %y = emmy.launch @k() : () -> tensor<4xf32>
  return
}

// -----

func.func @main() {
  // expected-error@below {{'arith.constant' op is no step of a plan; a host program holds 'emmy.launch' only}}
  %zero = arith.constant 0 : i64
  return
}

// -----

// expected-error@below {{has a tensor of type 'tensor<4xi7>', whose elements no plan can hold}}
func.func @main(%x: tensor<4xi7>) {
  return
}

// -----

// expected-error@below {{has a tensor of type 'tensor<?xf32>', whose sizes are unknown}}
func.func @main(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error@below {{expects tensors, i64 or f64 as arguments, but argument #0 is 'f32'}}
func.func @main(%x: f32) {
  return
}

// -----

// expected-error@below {{expects tensors as results, but returns 'i64'}}
func.func @main(%x: i64) -> i64 {
  return %x : i64
}

// -----

func.func private @other()
func.func @main() {
  // expected-error@below {{'emmy.launch' op calls 'func.func', which is neither a kernel of the CPU nor of emmy_tile}}
  emmy.launch @other() : () -> ()
  return
}

// -----

// expected-error@below {{'emmy_tile.kernel' op expects 'emmy.bind' on argument #0 of type 'i32' to say how a launch fills it}}
emmy_tile.kernel @k(%n: i32) grid [1, 1, 1] warps 1 {
}
func.func @main() {
  emmy.launch @k() : () -> ()
  return
}

// -----

emmy_fuse.kernel @k(%x: tensor<4xf32>) outs(%y: tensor<4xf32>) axes(m = 4) {
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'emmy.launch' op has 0 operands and 1 results, but its kernel has 2 arguments}}
  %y = emmy.launch @k() : () -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

emmy_tile.kernel @k(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<2>}) grid [1, 1, 1] warps 1 {
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'emmy.launch' op has no operand or result #2 for argument #0 of its kernel}}
  %y = emmy.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
