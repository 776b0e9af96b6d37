// RUN: emmy-opt %s -split-input-file -verify-diagnostics --emmy-import-torch
// What cannot be imported is refused with its name, its types and a way out.

func.func @unknown_op(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error @below {{'torch.aten.bessel' is not supported: ('!torch.vtensor<[4],f32>') -> ('!torch.vtensor<[4],f32>')}}
  // expected-note @below {{replace it by supported operations, or leave it out of the compiled part: torch.compile(backend="emmy") runs such operations eagerly}}
  %y = "torch.aten.bessel"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

// expected-error @below {{argument #0 of type '!torch.vtensor<[?],f32>' has a dynamic dimension, but no 'emmy.dims' says its size}}
func.func @size_without_name(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  return %x : !torch.vtensor<[?],f32>
}

// -----

// expected-error @below {{argument #0 of type '!torch.vtensor<[4],ui8>' has elements of type 'ui8', which Emmy does not have}}
func.func @unsigned_elements(%x: !torch.vtensor<[4],ui8>) -> !torch.vtensor<[4],ui8> {
  return %x : !torch.vtensor<[4],ui8>
}

// -----

// expected-error @below {{argument #0 of type '!torch.tensor' is not a tensor with a known shape}}
func.func @unranked(%x: !torch.tensor) -> !torch.tensor {
  return %x : !torch.tensor
}

// -----

// expected-error @below {{argument #0 is an integer that no 'emmy.symbol' such as "s0" names}}
func.func @integer_without_name(%n: !torch.int) {
  return
}

// -----

func.func @wrong_operand(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error @below {{'torch.aten.silu' expects 1 to 1 operands, but got 2}}
  %y = "torch.aten.silu"(%x, %x) : (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @wrong_kind(%x: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %none = "torch.constant.none"() : () -> !torch.none
  // expected-error @below {{'torch.aten.transpose.int' expects a known integer as operand #1}}
  %y = "torch.aten.transpose.int"(%x, %none, %none) : (!torch.vtensor<[4,4],f32>, !torch.none, !torch.none) -> !torch.vtensor<[4,4],f32>
  return %y : !torch.vtensor<[4,4],f32>
}

// -----

func.func @dimension_out_of_range(%x: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32> {
  %two = "torch.constant.int"() <{value = 2 : i64}> : () -> !torch.int
  // expected-error @below {{'torch.aten.transpose.int' names dimension 2 of a tensor with 2 dimensions}}
  %y = "torch.aten.transpose.int"(%x, %two, %two) : (!torch.vtensor<[4,4],f32>, !torch.int, !torch.int) -> !torch.vtensor<[4,4],f32>
  return %y : !torch.vtensor<[4,4],f32>
}

// -----

func.func @wrong_result(%x: !torch.vtensor<[4,5],f32>) -> !torch.vtensor<[4,5],f32> {
  // expected-error @below {{'torch.aten.t' gives tensor<5x4xf32>, but declares tensor<4x5xf32>}}
  %y = "torch.aten.t"(%x) : (!torch.vtensor<[4,5],f32>) -> !torch.vtensor<[4,5],f32>
  return %y : !torch.vtensor<[4,5],f32>
}

// -----

func.func @unused_result_used(%q: !torch.vtensor<[2,4,8],f32>) -> !torch.vtensor<[2,4],f32> {
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %o:2 = "torch.aten._scaled_dot_product_flash_attention_for_cpu"(%q, %q, %q, %zero, %false)
      : (!torch.vtensor<[2,4,8],f32>, !torch.vtensor<[2,4,8],f32>, !torch.vtensor<[2,4,8],f32>, !torch.float, !torch.bool)
      -> (!torch.vtensor<[2,4,8],f32>, !torch.vtensor<[2,4],f32>)
  // expected-error @below {{'torch.aten.exp' expects a tensor as operand #0, but that result is not supported}}
  %e = "torch.aten.exp"(%o#1) : (!torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32>
  return %e : !torch.vtensor<[2,4],f32>
}

// -----

func.func @mixed_levels(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error @below {{'arith.constant' stands among ops of the torch dialect}}
  %c = arith.constant 1 : i32
  return %x : !torch.vtensor<[4],f32>
}
