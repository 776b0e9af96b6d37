// RUN: emmy-opt %s --emmy-approximate-math -split-input-file -verify-diagnostics
// A function of f64 has no polynomial here.

func.func @refuses(%x: f64) -> f64 {
  // expected-error @below {{'math.erf' op has no expansion for 'f64' on a GPU}}
  %a = math.erf %x : f64
  return %a : f64
}
