// RUN: emmy-opt %s --pass-pipeline="builtin.module(func.func(emmy-plan-memory),emmy-emit-plan{output=-})" -o /dev/null | FileCheck %s
// The plan of a GPU program: grid, block, shared memory and parameters come from the kernel and its bindings.

emmy_tile.kernel @copy(%x: !emmy_tile.tmap<64x64xbf16, swizzle = 128> {emmy.bind = #emmy.bind_tma<0, sizes = [s0, 4096], strides = [8192], offset = 64, l2_promotion = 256>},
                       %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>},
                       %n: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [s0 ceildiv 64, 64, 1] cluster 2 warps 12 {
  %s = emmy_tile.alloc : !emmy_tile.shared<64x64xbf16, swizzle = 128>
}

// CHECK: "target": "sm_90a"
// CHECK: "steps": [
// CHECK-NEXT: {"launch": "copy", "module": "kernels", "grid": {{\[\[}}"ceildiv", "s0", 64], 64, 1], "block": 384, "cluster": [2, 1, 1], "shared": 8192, "pdl": false, "params": [{"tmap": {"buffer": 0, "offset": 64, "dtype": "bf16", "sizes": ["s0", 4096], "strides": [8192], "box": [64, 64], "swizzle": 128, "l2_promotion": 256}}, {"ptr": 1}, {"i32": "s0"}]}
func.func @main(%x: tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>) -> tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>> {
  %y = emmy.launch @copy(%x) : (tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>) -> tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>
  return %y : tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>
}
