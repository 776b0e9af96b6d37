// RUN: emmy-opt %s --pass-pipeline="builtin.module(func.func(emmy-plan-memory),emmy-emit-plan{output=-})" -o /dev/null | FileCheck %s
// The plan of a CPU program: symbols, arguments, buffers, outputs, launches.

#scaled = #emmy.dims<[s0, 8]>
emmy_fuse.kernel @scale(%x: tensor<?x8xbf16, #scaled> {emmy.layout = #emmy.layout<strides = [s4, 1], align = 2>})
    outs(%y: tensor<?x8xbf16, #scaled>) axes(m = s0, n = 8) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<?x8xbf16, #scaled>
  emmy_fuse.store %a to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<?x8xbf16, #scaled>
}
emmy_fuse.kernel @write(%x: tensor<?x8xbf16, #scaled>, %i: tensor<4xbf16>) outs(%y: tensor<4xbf16>) axes(n = 4) {
  %at = emmy_fuse.index over [n] at n + s2
  %a = emmy_fuse.load %x over [n] using(%at : !emmy_fuse.value<[n] x i64>) at [i0, 0] guarded : tensor<?x8xbf16, #scaled>
  emmy_fuse.store %a to %y over [n] at [n] : !emmy_fuse.value<[n] x bf16>, tensor<4xbf16>
}
emmy_fuse.kernel @copy(%x: tensor<?x8xbf16, #scaled>) outs(%y: tensor<?x8xbf16, #scaled>) axes(m = s0, n = 8) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<?x8xbf16, #scaled>
  emmy_fuse.store %a to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x bf16>, tensor<?x8xbf16, #scaled>
}

// CHECK:      {
// CHECK-NEXT:   "version": 1,
// CHECK-NEXT:   "target": "cpu",
// CHECK-NEXT:   "symbols": [
// CHECK-NEXT:     {"id": 0, "arg": 0, "dim": 0, "range": [1, 64]},
// CHECK-NEXT:     {"id": 2, "arg": 2, "scalar": true},
// CHECK-NEXT:     {"id": 4, "arg": 0, "stride": 0}
// CHECK-NEXT:   ],
// CHECK-NEXT:   "args": [
// CHECK-NEXT:     {"name": "x", "dtype": "bf16", "sizes": ["s0", 8], "strides": ["s4", 1], "align": 2, "mutable": false},
// CHECK-NEXT:     {"name": "arg1", "dtype": "bf16", "sizes": [4], "strides": [1], "align": 16, "mutable": true},
// CHECK-NEXT:     {"name": "arg2", "scalar": "i64"}
// CHECK-NEXT:   ],
// CHECK-NEXT:   "buffers": [
// CHECK-NEXT:     {"arg": 0},
// CHECK-NEXT:     {"arg": 1},
// CHECK-NEXT:     {"temp": true, "offset": 0, "bytes": ["*", "s0", 16]},
// CHECK-NEXT:     {"output": 0, "dtype": "bf16", "sizes": ["s0", 8], "strides": [8, 1]}
// CHECK-NEXT:   ],
// CHECK-NEXT:   "arena_bytes": ["*", ["ceildiv", ["*", "s0", 16], 256], 256],
// CHECK-NEXT:   "outputs": [
// CHECK-NEXT:     3,
// CHECK-NEXT:     {"alias_of": 1, "sizes": [4], "strides": [1], "offset": 0}
// CHECK-NEXT:   ],
// CHECK-NEXT:   "steps": [
// CHECK-NEXT:     {"launch": "scale", "module": "scale", "params": [{"ptr": 0}, {"ptr": 2}, {"i64": "s0"}, {"i64": "s4"}]},
// CHECK-NEXT:     {"launch": "write", "module": "write", "params": [{"ptr": 2}, {"ptr": 1}, {"ptr": 1}, {"i64": "s0"}, {"i64": "s2"}]},
// CHECK-NEXT:     {"launch": "copy", "module": "copy", "params": [{"ptr": 2}, {"ptr": 3}, {"i64": "s0"}]}
// CHECK-NEXT:   ]
// CHECK-NEXT: }
func.func @main(%x: tensor<?x8xbf16, #scaled> {emmy.name = "x", emmy.layout = #emmy.layout<strides = [s4, 1], align = 2>},
                %cache: tensor<4xbf16>, %start: i64 {emmy.symbol = "s2"}) -> (tensor<?x8xbf16, #scaled>, tensor<4xbf16>)
    attributes {emmy.symbols = {s0 = [1, 64]}} {
  %t = emmy.launch @scale(%x) : (tensor<?x8xbf16, #scaled>) -> tensor<?x8xbf16, #scaled>
  %c = emmy.launch @write(%t, %cache) tied [0, 1] : (tensor<?x8xbf16, #scaled>, tensor<4xbf16>) -> tensor<4xbf16>
  %y = emmy.launch @copy(%t) : (tensor<?x8xbf16, #scaled>) -> tensor<?x8xbf16, #scaled>
  return %y, %c : tensor<?x8xbf16, #scaled>, tensor<4xbf16>
}
