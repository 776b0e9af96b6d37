// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_GRAPH_PRIMITIVES_TD
#define EMMY_GRAPH_PRIMITIVES_TD

// The primitives that every composite op decomposes into; included by GraphOps.td.

def Graph_Combiner : I32EnumAttr<"Combiner", "how a reduction combines elements", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"any", 4>, I32EnumAttrCase<"all", 5>]> {
  let cppNamespace = "::emmy::graph";
}

def Graph_MapOp : Graph_Op<"map", [Pure, IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Apply scalar operations to the elements of tensors";
  let description = [{
    Operands broadcast to the result's shape as in PyTorch: aligned at the last dimension, a static size of 1 repeats.
    The region takes one scalar for each operand and yields the result's element.

    Constraints: (map_c1) each operand broadcasts to the result; (map_c2) block arguments and the yielded value have the element types.

    ```mlir
    %y = emmy_graph.map(%x, %g) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.mulf %a, %b : f32
      emmy_graph.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs);
  let results = (outs Graph_Tensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $result) custom<IsolatedRegion>($body)";
  let hasVerifier = 1;
}

def Graph_YieldOp : Graph_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"MapOp">]> {
  let summary = "The element that a map makes";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value `:` type($value) attr-dict";
}

def Graph_ReduceOp : Graph_Op<"reduce", [Pure]> {
  let summary = "Combine the elements along dimensions";
  let description = [{
    The dimensions leave the shape. Elements are extended to the result's element type, the type of accumulation; `max` and `min`
    propagate NaN. Constraints: (reduce_c1) `dims` are distinct dimensions in ascending order; (reduce_c2) the result has the others;
    (reduce_c3) `any` and `all` combine i1.

    ```mlir
    %s = emmy_graph.reduce add %x dims [1] : tensor<4x8xbf16> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Graph_Combiner:$kind, Graph_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ContractOp : Graph_Op<"contract", [Pure]> {
  let summary = "Sum of products of two tensors along dimensions";
  let description = [{
    `batch` lists pairs of dimensions that go together, `over` pairs that are summed, as flat lists lhs, rhs, lhs, rhs, ….
    The result has the batch dimensions, then the others of lhs, then those of rhs. Products accumulate in its element type.
    Constraints: (contract_c1) paired sizes are equal; (contract_c2) the result has the sizes above.

    ```mlir
    %y = emmy_graph.contract %x, %w batch [] over [1, 1] : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, DenseI64ArrayAttr:$batch, DenseI64ArrayAttr:$over);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `batch` $batch `over` $over attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Graph_IotaOp : Graph_Op<"iota", [Pure]> {
  let summary = "The index along a dimension, as i64 elements";
  let description = [{
    Constraints: (iota_c1) `dim` is a dimension of the result; (iota_c2) its elements are i64.

    ```mlir
    %i = emmy_graph.iota dim 1 : tensor<4x8xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_SizeOp : Graph_Op<"size", [Pure]> {
  let summary = "An expression over symbols as an i64 tensor of no dimensions";
  let description = [{
    ```mlir
    %n = emmy_graph.size <[s0 * 2]> : tensor<i64>
    ```
  }];
  let arguments = (ins Base_DimsAttr:$expr);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$expr attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Views: no element changes
//===----------------------------------------------------------------------===//

def Graph_ReshapeOp : Graph_Op<"reshape", [Pure]> {
  let summary = "The elements in row-major order under another shape";
  let description = [{ Constraints: (reshape_c1) the element counts are equal expressions where both are known. }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_PermuteOp : Graph_Op<"permute", [Pure]> {
  let summary = "Reorder dimensions";
  let description = [{
    Dimension i of the result is dimension `dims[i]` of the operand. Constraints: (permute_c1) `dims` is a permutation.

    ```mlir
    %t = emmy_graph.permute %x dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ExpandOp : Graph_Op<"expand", [Pure]> {
  let summary = "Repeat along new leading dimensions and dimensions of size 1";
  let description = [{ Constraints: (expand_c1) the operand broadcasts to the result, as in `map`. }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_Op<"slice", [Pure]> {
  let summary = "Every step-th element from a start, along each dimension";
  let description = [{
    `starts` are expressions over symbols (`#emmy.dims`), already clamped; the result's type says how many elements. Negative steps
    flip. Constraints: (slice_c1) one start and step for each dimension; (slice_c2) no step is 0.

    ```mlir
    %s = emmy_graph.slice %x starts <[0, 2]> steps [1, 2] : tensor<4x8xf32> -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Base_DimsAttr:$starts, DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `starts` $starts `steps` $steps attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Assembly and indexing
//===----------------------------------------------------------------------===//

def Graph_ConcatOp : Graph_Op<"concat", [Pure]> {
  let summary = "Tensors one after the other along a dimension";
  let description = [{ Constraints: (concat_c1) sizes agree but along `dim`, where they add up to the result's. }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
}

def Graph_PadOp : Graph_Op<"pad", [Pure]> {
  let summary = "Surround with a value";
  let description = [{
    `low` elements before each dimension (a negative number crops); the result's type says how many after. `value` is a tensor of no
    dimensions.

    ```mlir
    %p = emmy_graph.pad %x, %v low [0, 1] : tensor<4x8xf32>, tensor<f32> -> tensor<4x10xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$value, DenseI64ArrayAttr:$low);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $value `low` $low attr-dict `:` type($input) `,` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_TakeOp : Graph_Op<"take", [Pure]> {
  let summary = "Whole slices of a tensor by index along a dimension";
  let description = [{
    Dimension `dim` is replaced by the dimensions of `indices` (embedding, index_select). Indices are in range; negative ones are
    counted from the end. Constraints: (take_c1) `dim` is a dimension; (take_c2) indices are integers; (take_c3) the result has the sizes
    above.

    ```mlir
    %e = emmy_graph.take %table, %ids dim 0 : (tensor<100x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `dim` $dim attr-dict `:` `(` type($input) `,` type($indices) `)` `->` type($result)";
  let hasVerifier = 1;
}

def Graph_GatherOp : Graph_Op<"gather", [Pure]> {
  let summary = "Elements by an index of their own along a dimension";
  let description = [{
    result[i, j, …] = input[…, indices[i, j, …], …] at `dim` (torch.gather). Constraints: (gather_c1) ranks are equal and the result
    has the indices' shape; (gather_c2) `dim` is a dimension; (gather_c3) indices are integers.
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `dim` $dim attr-dict `:` `(` type($input) `,` type($indices) `)` `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ScatterOp : Graph_Op<"scatter", [Pure]> {
  let summary = "A tensor with slices replaced by index along a dimension";
  let description = [{
    The tensor with its slice number `indices[i]` along `dim` replaced by slice i of `updates` (index_copy, a cache write). Indices
    are distinct. Constraints: (scatter_c1) `dim` is a dimension; (scatter_c2) indices are a vector of integers; (scatter_c3) updates have
    the operand's sizes but for `dim`, where there is one for each index; (scatter_c4) the result has the operand's type.
  }];
  let arguments = (ins Graph_Tensor:$input, Graph_Tensor:$indices, Graph_Tensor:$updates, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $indices `,` $updates `dim` $dim attr-dict `:` `(` type($input) `,` type($indices) `,` type($updates) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // EMMY_GRAPH_PRIMITIVES_TD
