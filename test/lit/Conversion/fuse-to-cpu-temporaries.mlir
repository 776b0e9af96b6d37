// RUN: emmy-opt %s --convert-emmy-fuse-to-llvm | FileCheck %s
// A large temporary comes from malloc and lives until the last loop that reads it.

// Both nests read the exponentials, in different orders, so these are computed once, before both.
// CHECK-LABEL: llvm.func @two_nests
// CHECK:         %[[BUFFER:.+]] = llvm.call @malloc
// CHECK:         math.exp
// CHECK:         llvm.getelementptr inbounds %[[BUFFER]]
// CHECK:         scf.for
// CHECK-NOT:     math.exp
// CHECK:         llvm.getelementptr inbounds %[[BUFFER]]
// CHECK:         scf.for
// CHECK-NOT:     math.exp
// CHECK:         llvm.getelementptr inbounds %[[BUFFER]]
// CHECK:         llvm.call @free(%[[BUFFER]])
// CHECK-NEXT:    llvm.return
emmy_fuse.kernel @two_nests(%x: tensor<64x64xf32>) outs(%y: tensor<64x64xf32>, %z: tensor<64x64xf32>) axes(m = 64, n = 64) {
  %a = emmy_fuse.load %x over [m, n] at [m, n] : tensor<64x64xf32>
  %e = emmy_fuse.map(%a) : (!emmy_fuse.value<[m, n] x f32>) -> !emmy_fuse.value<[m, n] x f32> {
  ^bb0(%p: f32):
    %r = math.exp %p : f32
    emmy_fuse.yield %r : f32
  }
  emmy_fuse.store %e to %y over [m, n] at [m, n] : !emmy_fuse.value<[m, n] x f32>, tensor<64x64xf32>
  emmy_fuse.store %e to %z over [n, m] at [n, m] : !emmy_fuse.value<[m, n] x f32>, tensor<64x64xf32>
}
