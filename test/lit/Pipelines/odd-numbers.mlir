// RUN: emmy-opt %s --emmy-fuse --emmy-fuse-to-cpu -o /dev/null
// Ranges that hold nothing and the largest number are legal text.

func.func @empty_range(%x: tensor<?x8xf32, #emmy.dims<[s0, 8]>>) -> tensor<?xf32, #emmy.dims<[s0 * 8]>>
    attributes {emmy.symbols = {s0 = [5, 1]}} {
  %y = emmy_graph.reshape %x : tensor<?x8xf32, #emmy.dims<[s0, 8]>> -> tensor<?xf32, #emmy.dims<[s0 * 8]>>
  %z = emmy_graph.map(%y) : (tensor<?xf32, #emmy.dims<[s0 * 8]>>) -> tensor<?xf32, #emmy.dims<[s0 * 8]>> {
  ^bb0(%a: f32):
    %b = arith.negf %a : f32
    emmy_graph.yield %b : f32
  }
  return %z : tensor<?xf32, #emmy.dims<[s0 * 8]>>
}

// The size is a key of no hash table.
emmy_fuse.kernel @k(%x: tensor<9223372036854775807xf32>) outs(%y: tensor<9223372036854775807xf32>) axes(m = 9223372036854775807) {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<9223372036854775807xf32>
  emmy_fuse.store %a to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<9223372036854775807xf32>
}
