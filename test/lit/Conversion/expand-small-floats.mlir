// RUN: emmy-opt %s --emmy-expand-small-floats | FileCheck %s
// No arithmetic on bf16 or f16 remains; values of these types are only moved and reinterpreted.

// CHECK-LABEL: func.func @extends_by_shift
func.func @extends_by_shift(%x: bf16) -> f32 {
  // CHECK: %[[BITS:.+]] = arith.bitcast %{{.+}} : bf16 to i16
  // CHECK: %[[WIDE:.+]] = arith.extui %[[BITS]] : i16 to i32
  // CHECK: %[[UP:.+]] = arith.shli %[[WIDE]], %{{.+}} : i32
  // CHECK: arith.bitcast %[[UP]] : i32 to f32
  %0 = arith.extf %x : bf16 to f32
  return %0 : f32
}

// CHECK-LABEL: func.func @rounds_after_f32
// CHECK-NOT:     arith.extf
// CHECK:         arith.mulf %{{.+}}, %{{.+}} : f32
// CHECK-NOT:     arith.truncf
// CHECK:         return
func.func @rounds_after_f32(%x: f16, %y: f16) -> f16 {
  %0 = arith.mulf %x, %y : f16
  return %0 : f16
}

// CHECK-LABEL: func.func @selects_bits
// CHECK:         arith.select %{{.+}}, %{{.+}}, %{{.+}} : i16
func.func @selects_bits(%c: i1, %x: bf16, %y: bf16) -> bf16 {
  %0 = arith.select %c, %x, %y : bf16
  return %0 : bf16
}
