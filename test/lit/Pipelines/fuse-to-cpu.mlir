// RUN: emmy-opt %s --emmy-fuse-to-cpu | FileCheck %s
// Only the llvm dialect and the plan remain, and no call of a mathematical library.

// CHECK:       module attributes {emmy.plan = "{{.*}}\22launch\22: \22gelu\22
// CHECK-NOT:   func.func
// CHECK:       llvm.func @gelu(%{{.+}}: !llvm.ptr)
// CHECK-NOT:   {{(arith|math|scf|cf)\.}}
// CHECK-NOT:   llvm.call
// CHECK-NOT:   llvm.intr.{{(exp|log|sin|pow)}}
// CHECK:       llvm.return
emmy_fuse.kernel @gelu(%x: tensor<?xbf16, #emmy.dims<[s0]>>) outs(%y: tensor<?xbf16, #emmy.dims<[s0]>>) axes(m = s0) {
  %a = emmy_fuse.load %x over [m] at [m] : tensor<?xbf16, #emmy.dims<[s0]>>
  %b = emmy_fuse.map(%a) : (!emmy_fuse.value<[m] x bf16>) -> !emmy_fuse.value<[m] x bf16> {
  ^bb0(%p: bf16):
    %root = arith.constant 0.707106769 : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %w = arith.extf %p : bf16 to f32
    %s = arith.mulf %w, %root : f32
    %e = math.erf %s : f32
    %f = arith.addf %e, %one : f32
    %g = arith.mulf %w, %half : f32
    %h = arith.mulf %f, %g : f32
    %r = arith.truncf %h : f32 to bf16
    emmy_fuse.yield %r : bf16
  }
  emmy_fuse.store %b to %y over [m] at [m] : !emmy_fuse.value<[m] x bf16>, tensor<?xbf16, #emmy.dims<[s0]>>
}

func.func @main(%x: tensor<?xbf16, #emmy.dims<[s0]>>) -> tensor<?xbf16, #emmy.dims<[s0]>> {
  %y = emmy.launch @gelu(%x) : (tensor<?xbf16, #emmy.dims<[s0]>>) -> tensor<?xbf16, #emmy.dims<[s0]>>
  return %y : tensor<?xbf16, #emmy.dims<[s0]>>
}
