// RUN: emmy-opt %s --emmy-simulate -split-input-file -o /dev/null -verify-diagnostics=only-expected
// Simulations that do not describe themselves fully.

// expected-error@below {{expects emmy.simulate to give the symbols of s0}}
emmy_tile.kernel @no_symbol(%n: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [1, 1, 1] warps 1 attributes {emmy.simulate = {}} {
}

// -----

// expected-error@below {{expects argument #0 to be bound to one of 1 buffers}}
emmy_tile.kernel @no_buffer(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<1xf32>}]}} {
}

// -----

// expected-error@below {{expects argument #0 to carry a binding}}
emmy_tile.kernel @no_binding(%x: f32) grid [1, 1, 1] warps 1 attributes {emmy.simulate = {}} {
}

// -----

// expected-error@below {{expects buffers {type = tensor<…>, fill = …, expect = …}, but got "zero"}}
emmy_tile.kernel @no_type() grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = ["zero"]}} {
}

// -----

// expected-error@below {{expects a reference of 4 elements, but got 'cube 0'}}
emmy_tile.kernel @no_reference() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xf32>, fill = "zero", expect = "cube 0"}]}} {
}

// -----

// expected-error@below {{expects emmy.simulate of a module to list its launches}}
module attributes {emmy.simulate = {}} {
}

// -----

// expected-error@below {{expects launches {kernel = @name, operands = array<i64: …>}, but got {kernel = @absent}}}
module attributes {emmy.simulate = {launches = [{kernel = @absent}]}} {
}

// -----

// A map that the hardware refuses: rows of 36 bytes.
// expected-error@below {{violates tensor-map: argument #0: stride #0 is a multiple of 16 bytes below 2^40, not 36}}
emmy_tile.kernel @odd_pitch(%x: !emmy_tile.tmap<8x16xbf16> {emmy.bind = #emmy.bind_tma<0, sizes = [8, 18], strides = [36], offset = 0, l2_promotion = 256>})
    grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = [{type = tensor<8x18xbf16>, fill = "zero"}]}} {
}

// -----

// expected-error@below {{violates launch: a grid of 3 CTAs is not whole clusters of 2}}
emmy_tile.kernel @broken_cluster() grid [3, 1, 1] cluster 2 warps 1 attributes {emmy.simulate = {}} {
}

// -----

// expected-error@below {{expects operands to be numbers of 1 buffers, but got 1}}
module attributes {emmy.simulate = {buffers = [{type = tensor<1xf32>}], launches = [{kernel = @k, operands = array<i64: 1>}]}} {
  emmy_tile.kernel @k(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1 {
  }
}

// -----

// expected-error@below {{expects buffers of at most 67108864 elements, but got 'tensor<2147483647xi32>'}}
emmy_tile.kernel @large_buffer() grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = [{type = tensor<2147483647xi32>}]}} {
}

// -----

// The reference's operands are no buffers, or do not fit each other.
// expected-error@below {{expects a reference of 4 elements, but got 'same 3'}}
emmy_tile.kernel @no_such_operand() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xf32>, fill = "zero", expect = "same 3"}]}} {
}

// expected-error@below {{expects a reference of 4 elements, but got 'matmul_nt 0 1'}}
emmy_tile.kernel @unlike_operands() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<2x4xf32>, fill = "zero"}, {type = tensor<2x3xf32>, fill = "zero"},
                                            {type = tensor<2x2xf32>, fill = "zero", expect = "matmul_nt 0 1"}]}} {
}

// -----

// expected-error@below {{expects buffers with type, fill, expect and dump, but got "expct"}}
emmy_tile.kernel @no_such_key() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xf32>, expct = "constant 0"}]}} {
}

// -----

// expected-error@below {{expects a fill of zero, iota or random SEED, but got "rand0m 1"}}
emmy_tile.kernel @no_such_fill() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xf32>, fill = "rand0m 1"}]}} {
}

// -----

// expected-error@below {{expects the name of a reference, but got ""}}
emmy_tile.kernel @no_name() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xf32>, expect = ""}]}} {
}

// -----

// expected-error@below {{expects buffers of at most 67108864 elements}}
emmy_tile.kernel @too_large() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4294967296x4294967296xi32>}]}} {
}

// -----

// Nothing is equal to nothing.
emmy_tile.kernel @empty() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4x0xf32>, fill = "zero"},
                                            {type = tensor<4x0xf32>, fill = "zero", expect = "softmax 0"}]}} {
}

// -----

// The filler of an output that nothing wrote is -1.
// expected-error@below {{writes no element 0 of buffer #0, which it starts without}}
emmy_tile.kernel @nothing_written() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xi8>, expect = "constant -1"}]}} {
}

// -----

// expected-error@below {{writes no element 1 of buffer #0, which it starts without}}
emmy_tile.kernel @one_written(%y: !emmy_tile.ptr<i8> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<2xi8>, expect = "constant -1"}]}} {
  %zero = arith.constant 0 : i64
  %v = arith.constant -1 : i8
  %x = emmy_tile.splat %v : i8 -> !emmy_tile.frag<1xi8, #emmy_tile.layout<reg = [], lane = [32:(0)], warp = []>>
  emmy_tile.store %x to %y[%zero] strides(%zero) : !emmy_tile.frag<1xi8, #emmy_tile.layout<reg = [], lane = [32:(0)], warp = []>>, !emmy_tile.ptr<i8>
}

// -----

// Nor may the reference be made of what nothing wrote.
// expected-error@below {{writes no element 0 of buffer #1, which it starts without}}
emmy_tile.kernel @nothing_to_compare_with() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xi8>, fill = "zero", expect = "same 1"}, {type = tensor<4xi8>}]}} {
}

// -----

// expected-error@below {{expects buffer #0 to hold what argument #0 of type '!emmy_tile.ptr<f32>' points to, but got 'tensor<4xbf16>'}}
emmy_tile.kernel @wrong_type(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<4xbf16>, fill = "zero"}]}} {
}

// -----

// expected-error@below {{expects fill to be a string, but got 0 : i64}}
emmy_tile.kernel @no_string() grid [1, 1, 1] warps 1 attributes {emmy.simulate = {buffers = [{type = tensor<4xf32>, fill = 0}]}} {
}

// -----

// expected-error@below {{expects emmy.simulate to hold symbols = array<i64: …>, buffers = […], but got "symbol" = array<i64: 1>}}
emmy_tile.kernel @misspelt() grid [1, 1, 1] warps 1 attributes {emmy.simulate = {symbol = array<i64: 1>}} {
}

// -----

// expected-error@below {{expects emmy.simulate to be a dictionary, but got unit}}
emmy_tile.kernel @no_dictionary() grid [1, 1, 1] warps 1 attributes {emmy.simulate} {
}

// -----

// expected-error@below {{expects buffers of at most 134217728 bytes in all, but got 268435456}}
emmy_tile.kernel @too_much() grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {buffers = [{type = tensor<16777216xf64>, fill = "zero"}, {type = tensor<16777216xf64>, fill = "zero"}]}} {
}

// -----

// expected-error@below {{violates launch: argument #0 of type 'i32' does not hold 4294967296}}
emmy_tile.kernel @wide_symbol(%n: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {symbols = array<i64: 4294967296>}} {
}

// -----

// expected-error@below {{violates launch: argument #0 of type 'f32' is no integer}}
emmy_tile.kernel @no_integer(%n: f32 {emmy.bind = #emmy.bind_size<s0>}) grid [1, 1, 1] warps 1
    attributes {emmy.simulate = {symbols = array<i64: 1>}} {
}

// -----

// expected-error@below {{violates launch: grid size #2 is 0 to 65535, not 65536}}
emmy_tile.kernel @deep_grid() grid [1, 1, s0] warps 1 attributes {emmy.simulate = {symbols = array<i64: 65536>}} {
}

// -----

// expected-error@below {{expects emmy.simulate of a module to list its launches}}
module attributes {emmy.simulate = {launches = []}} {
}
