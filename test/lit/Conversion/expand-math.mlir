// RUN: emmy-opt %s --emmy-expand-math | FileCheck %s
// RUN: emmy-opt %s --emmy-expand-math=approx | FileCheck %s --check-prefix=APPROX
// Elementary functions become straight-line arithmetic; values are in test/python/test_math.py.

// CHECK-LABEL: func.func @exp
// CHECK-NOT:     math.exp
// CHECK:         math.fma
// CHECK:         return
// APPROX-LABEL: func.func @exp
// APPROX:         %[[SCALED:.+]] = arith.mulf
// APPROX-NEXT:    math.exp2 %[[SCALED]] : f32
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @rounds_once
// CHECK:         %[[WIDE:.+]] = arith.extf %{{.+}} : bf16 to f32
// CHECK-NOT:     math.tanh
// CHECK:         arith.truncf %{{.+}} : f32 to bf16
func.func @rounds_once(%x: bf16) -> bf16 {
  %0 = math.tanh %x : bf16
  return %0 : bf16
}

// CHECK-LABEL: func.func @integer_power
// CHECK-NOT:     math.ipowi
func.func @integer_power(%x: i32, %y: i32) -> i32 {
  %0 = math.ipowi %x, %y : i32
  return %0 : i32
}

// Instructions of the target, and what only the target's library can do.
// CHECK-LABEL: func.func @stays
// CHECK:         math.floor
// CHECK:         math.sin %{{.+}} : f64
// APPROX-LABEL: func.func @stays
// APPROX:         math.rsqrt
func.func @stays(%x: f32, %y: f64) -> (f32, f64) {
  %0 = math.floor %x : f32
  %1 = math.rsqrt %0 : f32
  %2 = math.sin %y : f64
  return %1, %2 : f32, f64
}

// A quotient without a branch, an exponential or a choice, where a reciprocal is an instruction.
// APPROX-LABEL: func.func @error_function
// APPROX:         arith.minimumf
// APPROX-COUNT-10: math.fma
// APPROX-NOT:     math.fma
// APPROX:         arith.divf %{{.+}}, %{{.+}} fastmath<arcp>
// APPROX-NEXT:    arith.constant 1.0
// APPROX-NEXT:    arith.minimumf
// APPROX-NOT:     arith.select
func.func @error_function(%x: f32) -> f32 {
  %0 = math.erf %x : f32
  return %0 : f32
}
