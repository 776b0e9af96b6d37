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
