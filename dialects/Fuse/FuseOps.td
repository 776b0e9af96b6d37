// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_FUSE_OPS_TD
#define EMMY_FUSE_OPS_TD

include "dialects/Fuse/FuseTypes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Fuse_Op<string mnemonic, list<Trait> traits = []> : Op<Fuse_Dialect, mnemonic, traits>;

def Fuse_KernelOp : Fuse_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator, HasParent<"::mlir::ModuleOp">]> {
  let summary = "One kernel: tensors in, tensors out, elements over named axes";
  let description = [{
    Block arguments are the input tensors followed by the output tensors, which are written by `store`.
    `argAttrs` holds one dictionary for each of them (such as `emmy.layout`).

    Constraints: (kernel_c1) axis names are distinct; (kernel_c2) an output is only stored to, an input only loaded from,
    unless the launch ties them; (kernel_c3) every value's axes are axes of the kernel, in its order.

    ```mlir
    emmy_fuse.kernel @scale(%x: tensor<8xf32>) outs(%y: tensor<8xf32>) axes(m = 8) {
      %a = emmy_fuse.load %x over [m] at [m] : tensor<8xf32>
      %b = emmy_fuse.map(%a) : (!emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x f32> {
      ^bb0(%e: f32):
        %two = arith.constant 2.0 : f32
        %r = arith.mulf %e, %two : f32
        emmy_fuse.yield %r : f32
      }
      emmy_fuse.store %b to %y over [m] at [m] : !emmy_fuse.value<[m] x f32>, tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$numInputs, ArrayAttr:$axes, OptionalAttr<ArrayAttr>:$argAttrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::BlockArgument> getInputs() { return getBody().getArguments().take_front(getNumInputs()); }
    ::mlir::ArrayRef<::mlir::BlockArgument> getOutputs() { return getBody().getArguments().drop_front(getNumInputs()); }
    /// The axis of that name; null if there is none.
    AxisAttr getAxis(::mlir::StringAttr name);
    AxisAttr getAxis(::llvm::StringRef name);
    /// `axes` without duplicates in the kernel's order.
    ::llvm::SmallVector<::mlir::StringAttr> orderAxes(::llvm::ArrayRef<::mlir::StringAttr> axes);
    /// `#emmy.layout` of block argument `index`; null where the tensor is contiguous and 16-byte aligned.
    ::emmy::LayoutAttr getLayout(unsigned index);
  }];
}

def Fuse_LoadOp : Fuse_Op<"load", [Pure]> {
  let summary = "Read an element of a tensor for every point of the result's axes";
  let description = [{
    `map` goes from the axes in `over`, then one dimension for each operand of `using` (named i0, i1, …; integer values), to
    the tensor's indices. With `guarded`, an index outside the tensor reads as zero; without, it is undefined.

    Constraints: (load_c1) the map has a result for each tensor dimension; (load_c2) its dimensions are the axes and operands;
    (load_c3) the axes of `using` values are in `over`.

    ```mlir
    %a = emmy_fuse.load %x over [h, m] at [h floordiv 4, m] : tensor<8x16xbf16>
    %e = emmy_fuse.load %table over [m, d] using(%ids : !emmy_fuse.value<[m] x i64>) at [i0, d] : tensor<100x16xbf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Fuse_ValueType>:$indices, AffineMapAttr:$map, UnitAttr:$guarded);
  let results = (outs Fuse_ValueType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fuse_StoreOp : Fuse_Op<"store"> {
  let summary = "Write an element of an output tensor for every point of some axes";
  let description = [{
    Constraints: (store_c1) as load_c1 and load_c2; (store_c2) the value's axes are in `over`; (store_c3) element types are equal.
    With `guarded`, an index outside the tensor is not written.

    ```mlir
    emmy_fuse.store %b to %y over [m, n] at [n, m] : !emmy_fuse.value<[m, n] x f32>, tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Fuse_ValueType:$value, AnyRankedTensor:$target, Variadic<Fuse_ValueType>:$indices,
                       ArrayAttr:$over, AffineMapAttr:$map, UnitAttr:$guarded);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fuse_IndexOp : Fuse_Op<"index", [Pure]> {
  let summary = "An affine expression of the axes as an i64 element";
  let description = [{
    ```mlir
    %d = emmy_fuse.index over [m, n] at m - n + s0
    ```
  }];
  let arguments = (ins AffineMapAttr:$map);
  let results = (outs Fuse_ValueType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fuse_MapOp : Fuse_Op<"map", [Pure, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Apply scalar operations to the elements of values";
  let description = [{
    The region takes one scalar for each operand and yields the result's element. Operands broadcast to the union of their axes.

    Constraints: (map_c1) the result's axes are the union of the operands' in the kernel's order; (map_c2) block arguments and
    the yielded value have the element types.

    ```mlir
    %c = emmy_fuse.map(%a, %r) : (!emmy_fuse.value<[m, k] x f32>, !emmy_fuse.value<[m] x f32>) -> !emmy_fuse.value<[m] x f32> {
    ^bb0(%x: f32, %y: f32):
      %z = arith.mulf %x, %y : f32
      emmy_fuse.yield %z : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Fuse_ValueType>:$inputs);
  let results = (outs Fuse_ValueType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fuse_ReduceOp : Fuse_Op<"reduce", [Pure]> {
  let summary = "Combine the elements along axes";
  let description = [{
    The result's element type is the type of accumulation; the operand is extended to it. `max` and `min` propagate NaN.

    Constraints: (reduce_c1) every axis in `over` is an axis of the operand and none of the result; the others stay.

    ```mlir
    %s = emmy_fuse.reduce add %a over [k] : !emmy_fuse.value<[m, k] x bf16> -> !emmy_fuse.value<[m] x f32>
    ```
  }];
  let arguments = (ins Fuse_CombinerAttr:$kind, Fuse_ValueType:$input, ArrayAttr:$over);
  let results = (outs Fuse_ValueType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fuse_ContractOp : Fuse_Op<"contract", [Pure]> {
  let summary = "Sum of products of two values along axes";
  let description = [{
    The result's element type is the type of accumulation.

    Constraints: (contract_c1) every axis in `over` is an axis of both operands and none of the result; (contract_c2) the
    result's axes are the others of both.

    ```mlir
    %c = emmy_fuse.contract %a, %b over [k]
        : (!emmy_fuse.value<[m, k] x bf16>, !emmy_fuse.value<[n, k] x bf16>) -> !emmy_fuse.value<[m, n] x f32>
    ```
  }];
  let arguments = (ins Fuse_ValueType:$lhs, Fuse_ValueType:$rhs, ArrayAttr:$over);
  let results = (outs Fuse_ValueType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fuse_FoldOp : Fuse_Op<"fold", [Pure, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Stream over an axis in blocks, carrying values";
  let description = [{
    The axis is cut into consecutive blocks of any size; the body runs once for each, in order, with the values that the block
    before it yielded. Inside the body the axis means the block: values over it are the block's elements, `reduce` and
    `contract` over it are the block's partial results, `index` gives the index in the whole axis. The result does not depend
    on the block size, up to rounding. Online softmax, Welford's variance and flash attention are folds.

    Constraints: (fold_c1) initial values, block arguments, yielded values and results have the same types, none over the axis.

    ```mlir
    %m, %l = emmy_fuse.fold over n init(%m0, %l0 : !emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[m] x f32>) {
    ^bb0(%pm: !emmy_fuse.value<[m] x f32>, %pl: !emmy_fuse.value<[m] x f32>):
      …
      emmy_fuse.yield %nm, %nl : !emmy_fuse.value<[m] x f32>, !emmy_fuse.value<[m] x f32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$axis, Variadic<Fuse_ValueType>:$inits);
  let results = (outs Variadic<Fuse_ValueType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fuse_YieldOp : Fuse_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["MapOp", "FoldOp"]>]> {
  let summary = "End of a region: the element of a map, the carried values of a fold";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // EMMY_FUSE_OPS_TD
