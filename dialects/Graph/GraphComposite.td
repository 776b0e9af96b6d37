// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_GRAPH_COMPOSITE_TD
#define EMMY_GRAPH_COMPOSITE_TD

// Operations in the framework's words, but for the pointwise ones; included by GraphOps.td.

include "dialects/Graph/GraphInterfaces.td"

class Graph_Composite<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Graph_DecomposableOp>], traits)> {
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

def Graph_LinearOp : Graph_Composite<"linear"> {
  let summary = "Multiply by a transposed weight and add a bias";
  let description = [{
    result[…, n] = Σ_k input[…, k]·weight[n, k] + bias[n], rounded once. Constraints: (linear_c1) the weight is a matrix whose
    dimension 1 is the input's last; (linear_c2) the bias has the weight's dimension 0; (linear_c3) the result has the input's
    sizes but the last, then the weight's dimension 0.

    ```mlir
    %y = emmy_graph.linear %x, %w bias %b : (tensor<4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$weight, Optional<Graph_Tensor>:$bias);
  let assemblyFormat = "$input `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def Graph_MatmulOp : Graph_Composite<"matmul"> {
  let summary = "Matrix product with broadcast leading dimensions";
  let description = [{
    torch.matmul: a vector on the left counts as a row, on the right as a column, and leaves the shape; leading dimensions broadcast.
    Constraints: (matmul_c1) operands have a dimension; (matmul_c2) the summed sizes are equal; (matmul_c3) the leading sizes
    broadcast; (matmul_c4) the result has the sizes above.

    ```mlir
    %y = emmy_graph.matmul %a, %b : (tensor<2x4x8xbf16>, tensor<8x16xbf16>) -> tensor<2x4x16xbf16>
    ```
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

class Graph_SoftmaxBase<string mnemonic> : Graph_Composite<mnemonic> {
  let arguments = (ins Graph_Tensor:$input, I64Attr:$dim);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Graph_SoftmaxOp : Graph_SoftmaxBase<"softmax"> {
  let summary = "Exponentials that sum to one along a dimension";
  let description = [{
    A slice that is all -inf, or holds a NaN or +inf, becomes NaN. Constraints: (softmax_c1) `dim` is a dimension; (softmax_c2) the
    result has the operand's sizes.

    ```mlir
    %y = emmy_graph.softmax %x dim 1 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
    ```
  }];
}

def Graph_LogSoftmaxOp : Graph_SoftmaxBase<"log_softmax"> {
  let summary = "Logarithm of the softmax along a dimension";
  let description = [{
    Constraints: as softmax_c1 and softmax_c2.

    ```mlir
    %y = emmy_graph.log_softmax %x dim 1 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
    ```
  }];
}

def Graph_RmsNormOp : Graph_Composite<"rms_norm"> {
  let summary = "Divide by the root mean square over the last dimensions";
  let description = [{
    input·rsqrt(mean(input²) + eps)·weight, the mean over the last `rank` dimensions; rounded once. Constraints: (norm_c1) `rank` is
    between 1 and the operand's rank; (norm_c2) weight and bias have the last `rank` sizes; (norm_c3) the result has the operand's sizes.

    ```mlir
    %y = emmy_graph.rms_norm %x weight %g {eps = 1.0e-06 : f64, rank = 1 : i64} : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_Tensor>:$weight, I64Attr:$rank, F64Attr:$eps);
  let assemblyFormat = "$input (`weight` $weight^)? attr-dict `:` functional-type(operands, results)";
}

def Graph_LayerNormOp : Graph_Composite<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "Shift to mean zero and scale to variance one over the last dimensions";
  let description = [{
    (input - mean)·rsqrt(variance + eps)·weight + bias over the last `rank` dimensions; rounded once. Constraints: norm_c1, norm_c2,
    norm_c3 of rms_norm.

    ```mlir
    %y = emmy_graph.layer_norm %x weight %g bias %b {eps = 1.0e-05 : f64, rank = 1 : i64}
        : (tensor<4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_Tensor>:$weight, Optional<Graph_Tensor>:$bias, I64Attr:$rank, F64Attr:$eps);
  let assemblyFormat = "$input (`weight` $weight^)? (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def Graph_GroupNormOp : Graph_Composite<"group_norm", [AttrSizedOperandSegments]> {
  let summary = "Shift to mean zero and scale to variance one in groups of channels";
  let description = [{
    Dimension 1 holds the channels; a group is `groups` equal parts of it with all later dimensions. Constraints: (group_norm_c1) the
    operand has channels, a known multiple of `groups`; (group_norm_c2) weight and bias have one element for each channel;
    (group_norm_c3) the result has the operand's sizes.

    ```mlir
    %y = emmy_graph.group_norm %x {eps = 1.0e-05 : f64, groups = 2 : i64} : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_Tensor>:$weight, Optional<Graph_Tensor>:$bias, I64Attr:$groups, F64Attr:$eps);
  let assemblyFormat = "$input (`weight` $weight^)? (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def Graph_AttentionOp : Graph_Composite<"attention"> {
  let summary = "Softmax of scaled query-key products, times values";
  let description = [{
    Operands are […, heads, rows, width]. With `causal`, row i sees columns up to i (aligned at the top left). A mask of i1 keeps where
    true, one of floats is added to the scaled products. A row that sees nothing becomes zero. Keys and values may have fewer heads than
    the query, each then serves a block of query heads.

    Constraints: (attention_c1) ranks are equal and at least 2; (attention_c2) query and key agree in width, key and value in rows;
    (attention_c3) the other sizes are equal but for heads, where the query's number is a multiple; (attention_c4) the mask
    broadcasts to the products; (attention_c5) the result has the query's sizes with the value's width.

    ```mlir
    %o = emmy_graph.attention %q, %k, %v {causal, scale = 0.125 : f64}
        : (tensor<1x4x16x64xbf16>, tensor<1x2x16x64xbf16>, tensor<1x2x16x64xbf16>) -> tensor<1x4x16x64xbf16>
    ```
  }];
  let arguments = (ins Graph_Tensor:$query, Graph_Tensor:$key, Graph_Tensor:$value, Optional<Graph_Tensor>:$mask,
                       UnitAttr:$causal, F64Attr:$scale);
  let assemblyFormat = "$query `,` $key `,` $value (`mask` $mask^)? attr-dict `:` functional-type(operands, results)";
}

def Graph_EmbeddingOp : Graph_Composite<"embedding"> {
  let summary = "Rows of a table by index";
  let description = [{
    Constraints: (embedding_c1) the table is a matrix and the indices are integers; (embedding_c2) the result has the indices' sizes,
    then the table's dimension 1.

    ```mlir
    %e = emmy_graph.embedding %table, %ids : (tensor<100x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$table, Graph_Tensor:$indices);
  let assemblyFormat = "$table `,` $indices attr-dict `:` functional-type(operands, results)";
}

#endif // EMMY_GRAPH_COMPOSITE_TD
