// RUN: emmy-opt %s --emmy-approximate-math | FileCheck %s
// Functions without an instruction become arithmetic; those with one stay.

// CHECK-LABEL: func.func @expands
// CHECK-NOT: math.tanh
// CHECK-NOT: math.powf
// CHECK-NOT: math.erf
// CHECK: return
func.func @expands(%x: f32, %h: bf16) -> (f32, bf16) {
  %a = math.tanh %x : f32
  %b = math.powf %a, %x : f32
  %c = math.erf %h : bf16
  return %b, %c : f32, bf16
}

// CHECK-LABEL: func.func @keeps
// CHECK: math.sqrt
// CHECK: math.floor
func.func @keeps(%x: f64) -> f64 {
  %a = math.sqrt %x : f64
  %b = math.floor %a : f64
  return %b : f64
}
