// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_GRAPH_POINTWISE_TD
#define EMMY_GRAPH_POINTWISE_TD

// The named functions of elements; included by GraphOps.td.

def Graph_Function : I32EnumAttr<"Function", "a function of elements, with PyTorch's meaning", [
    I32EnumAttrCase<"cast", 0>, I32EnumAttrCase<"abs", 1>, I32EnumAttrCase<"neg", 2>, I32EnumAttrCase<"sign", 3>,
    I32EnumAttrCase<"square", 4>, I32EnumAttrCase<"sqrt", 5>, I32EnumAttrCase<"rsqrt", 6>, I32EnumAttrCase<"reciprocal", 7>,
    I32EnumAttrCase<"exp", 8>, I32EnumAttrCase<"exp2", 9>, I32EnumAttrCase<"expm1", 10>, I32EnumAttrCase<"log", 11>,
    I32EnumAttrCase<"log2", 12>, I32EnumAttrCase<"log10", 13>, I32EnumAttrCase<"log1p", 14>, I32EnumAttrCase<"sin", 15>,
    I32EnumAttrCase<"cos", 16>, I32EnumAttrCase<"tan", 17>, I32EnumAttrCase<"asin", 18>, I32EnumAttrCase<"acos", 19>,
    I32EnumAttrCase<"atan", 20>, I32EnumAttrCase<"sinh", 21>, I32EnumAttrCase<"cosh", 22>, I32EnumAttrCase<"tanh", 23>,
    I32EnumAttrCase<"asinh", 24>, I32EnumAttrCase<"acosh", 25>, I32EnumAttrCase<"atanh", 26>, I32EnumAttrCase<"erf", 27>,
    I32EnumAttrCase<"erfc", 28>, I32EnumAttrCase<"sigmoid", 29>, I32EnumAttrCase<"relu", 30>, I32EnumAttrCase<"silu", 31>,
    I32EnumAttrCase<"gelu", 32>, I32EnumAttrCase<"gelu_tanh", 33>, I32EnumAttrCase<"mish", 34>,
    I32EnumAttrCase<"hardsigmoid", 35>, I32EnumAttrCase<"hardswish", 36>, I32EnumAttrCase<"floor", 37>,
    I32EnumAttrCase<"ceil", 38>, I32EnumAttrCase<"round", 39>, I32EnumAttrCase<"trunc", 40>, I32EnumAttrCase<"isnan", 41>,
    I32EnumAttrCase<"isinf", 42>, I32EnumAttrCase<"isfinite", 43>, I32EnumAttrCase<"logical_not", 44>,
    I32EnumAttrCase<"bitwise_not", 45>, I32EnumAttrCase<"add", 46>, I32EnumAttrCase<"sub", 47>, I32EnumAttrCase<"mul", 48>,
    I32EnumAttrCase<"div", 49>, I32EnumAttrCase<"div_floor", 50>, I32EnumAttrCase<"div_trunc", 51>,
    I32EnumAttrCase<"remainder", 52>, I32EnumAttrCase<"fmod", 53>, I32EnumAttrCase<"pow", 54>, I32EnumAttrCase<"atan2", 55>,
    I32EnumAttrCase<"maximum", 56>, I32EnumAttrCase<"minimum", 57>, I32EnumAttrCase<"eq", 58>, I32EnumAttrCase<"ne", 59>,
    I32EnumAttrCase<"lt", 60>, I32EnumAttrCase<"le", 61>, I32EnumAttrCase<"gt", 62>, I32EnumAttrCase<"ge", 63>,
    I32EnumAttrCase<"logical_and", 64>, I32EnumAttrCase<"logical_or", 65>, I32EnumAttrCase<"logical_xor", 66>,
    I32EnumAttrCase<"bitwise_and", 67>, I32EnumAttrCase<"bitwise_or", 68>, I32EnumAttrCase<"bitwise_xor", 69>,
    I32EnumAttrCase<"leaky_relu", 70>, I32EnumAttrCase<"where", 71>, I32EnumAttrCase<"clamp", 72>, I32EnumAttrCase<"elu", 73>,
    I32EnumAttrCase<"softplus", 74>, I32EnumAttrCase<"nan_to_num", 75>]> {
  let cppNamespace = "::emmy::graph";
}

def Graph_PointwiseOp : Graph_Composite<"pointwise"> {
  let summary = "Apply a named function to the elements of tensors";
  let description = [{
    Operands broadcast to the result's shape and may differ in element type. The function is computed in the result's element type
    (bf16, f16 and f8 in f32) and rounded once; comparisons and predicates in the type that PyTorch promotes the operands to.
    Parameters are operands: `add` and `sub` take an optional factor of the second, `clamp` bounds, `leaky_relu` a slope, `elu`
    alpha, scale and input scale, `softplus` beta and threshold, `nan_to_num` the replacements of NaN, +inf and -inf, `where` the
    condition first.

    Constraints: (pointwise_c1) the function takes that many operands; (pointwise_c2) each operand broadcasts to the result.

    ```mlir
    %y = emmy_graph.pointwise silu(%x) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
    %z = emmy_graph.pointwise add(%x, %y) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins Graph_Function:$function, Variadic<Graph_Tensor>:$inputs);
  let assemblyFormat = "$function `(` $inputs `)` attr-dict `:` functional-type($inputs, $result)";
}

#endif // EMMY_GRAPH_POINTWISE_TD
