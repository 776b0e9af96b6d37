// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_SCHED_OPS_TD
#define EMMY_SCHED_OPS_TD

include "dialects/Base/BaseAttrs.td"
include "dialects/Sched/SchedAttrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Sched_Op<string mnemonic, list<Trait> traits = []> : Op<Sched_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Sched_ProgramOp : Sched_Op<"program", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator, HasParent<"::mlir::ModuleOp">]> {
  let summary = "What one CTA does for one block of every axis";
  let description = [{
    Block arguments are the tensors of the kernel that it was made from, inputs before outputs. In the body an axis means the block at
    hand. `schedule` holds what the lowering needs beyond the body: stages, units, cluster, raster order.

    Constraints: (program_c1) axis names are distinct; (program_c2) blocks are positive; (program_c3) arguments are tensors;
    (program_c4) every tile spans axes of the program, in its order, with its blocks, without those of block 1.

    ```mlir
    emmy_sched.program @scale(%x: tensor<4096xf32>) outs(%y: tensor<4096xf32>) axes(m = 4096 by 1024 grid) {
      %a = emmy_sched.read %x over [m] at m : tensor<4096xf32> -> !emmy_sched.tile<[m: 1024] x f32, register>
      %b = emmy_sched.map(%a) : (!emmy_sched.tile<[m: 1024] x f32, register>) -> !emmy_sched.tile<[m: 1024] x f32, register> {
      ^bb0(%e: f32):
        %two = arith.constant 2.0 : f32
        %r = arith.mulf %e, %two : f32
        emmy_sched.yield %r : f32
      }
      emmy_sched.write %b to %y over [m] at m via direct : !emmy_sched.tile<[m: 1024] x f32, register>, tensor<4096xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$numInputs, ArrayAttr:$axes, OptionalAttr<AnyAttr>:$schedule,
                       OptionalAttr<ArrayAttr>:$argAttrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::BlockArgument> getInputs() { return getBody().getArguments().take_front(getNumInputs()); }
    ::mlir::ArrayRef<::mlir::BlockArgument> getOutputs() { return getBody().getArguments().drop_front(getNumInputs()); }
    /// The axis of that name; null if there is none.
    AxisAttr getAxis(::mlir::StringAttr name);
    /// The tile over `axes`, whatever their order, with this program's blocks.
    TileType getTile(::llvm::ArrayRef<::mlir::StringAttr> axes, ::mlir::Type element, Level level = Level::reg);
    /// `#emmy.layout` of block argument `index`; null where the tensor is contiguous and 16-byte aligned.
    ::emmy::LayoutAttr getLayout(unsigned index);
  }];
}

def Sched_PipelineOp : Sched_Op<"pipeline", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Visit the blocks of a serial axis in order, carrying tiles";
  let description = [{
    Loads of later blocks run ahead as far as the schedule's stages allow. With a `range`, blocks outside it may be left out.

    Constraints: (pipeline_c1) initial tiles, block arguments, yielded tiles and results have the same types; (pipeline_c2) the axis is
    a serial axis of the program, and no carried tile spans it.

    ```mlir
    %s = emmy_sched.pipeline over k init(%z : !emmy_sched.tile<[m: 64] x f32, register>) {
    ^bb0(%c: !emmy_sched.tile<[m: 64] x f32, register>):
      …
      emmy_sched.yield %d : !emmy_sched.tile<[m: 64] x f32, register>
    }
    ```
  }];
  let arguments = (ins StrAttr:$axis, Variadic<Sched_TileType>:$inits, OptionalAttr<Sched_RangeAttr>:$range);
  let results = (outs Variadic<Sched_TileType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Sched_YieldOp : Sched_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["MapOp", "PipelineOp"]>]> {
  let summary = "End of a region: the element of a map, the carried tiles of a pipeline";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Where an element of a tensor lies: `over [axes] (using(%i : type))? at expr (inside [exprs] of [sizes])?`.
class Sched_AccessOp<string mnemonic, list<Trait> traits = []> : Sched_Op<mnemonic, traits> {
  dag access = (ins Variadic<Sched_TileType>:$indices, ArrayAttr:$over, AffineMapAttr:$map, OptionalAttr<AffineMapAttr>:$guard,
                    OptionalAttr<Base_DimsAttr>:$limits);
  let hasVerifier = 1;
}

def Sched_ReadOp : Sched_AccessOp<"read", [Pure]> {
  let summary = "Read a tile of a tensor into registers";
  let description = [{
    The map gives the element's offset from the tensor's first, in elements, from the axes in `over`, then one dimension for each tile
    in `using` (i0, i1, …; integer elements). Elements past the end of an axis read as zero. With `inside [e, …] of [n, …]` so do
    those where some e is not in 0 … n - 1.

    Constraints: (access_c1) the map has one result over the axes and index tiles; (access_c2) the tile spans the axes in `over`;
    (access_c3) guard and limits have the same length and the guard is over the same dimensions; (access_c4) element types are equal;
    (access_c5) the tile is in the op's memory level.

    ```mlir
    %b = emmy_sched.read %bias over [n] at n : tensor<6144xbf16> -> !emmy_sched.tile<[n: 256] x bf16, register>
    ```
  }];
  let arguments = !con((ins AnyRankedTensor:$tensor), access);
  let results = (outs Sched_TileType:$result);
  let assemblyFormat = [{
    $tensor custom<Access>($over, $indices, type($indices), $map, $guard, $limits) attr-dict `:` type($tensor) `->` type($result)
  }];
}

def Sched_StageOp : Sched_AccessOp<"stage", [Pure]> {
  let summary = "Copy a tile of a tensor into shared memory, ahead of its use";
  let description = [{
    As `read`, by the copy engine or by asynchronous copies. With `multicast`, the CTAs of the cluster need the same tile, and each
    loads a share of it for all.

    ```mlir
    %a = emmy_sched.stage %x over [m, k] at m * 4096 + k via tma : tensor<512x4096xbf16>
        -> !emmy_sched.tile<[m: 128, k: 64] x bf16, shared>
    ```
  }];
  let arguments = !con((ins AnyRankedTensor:$tensor), access, (ins Sched_Via:$via, UnitAttr:$multicast));
  let results = (outs Sched_TileType:$result);
  let assemblyFormat = [{
    $tensor custom<Access>($over, $indices, type($indices), $map, $guard, $limits) `via` $via (`multicast` $multicast^)? attr-dict
    `:` type($tensor) `->` type($result)
  }];
}

def Sched_WriteOp : Sched_AccessOp<"write"> {
  let summary = "Write a tile from registers into a tensor";
  let description = [{
    Addresses as for `read`; elements past the end of an axis, or outside by `inside`, are not written. `via tma` goes through shared
    memory.

    ```mlir
    emmy_sched.write %c to %y over [m, n] at m * 6144 + n via tma : !emmy_sched.tile<[m: 128, n: 256] x bf16, register>,
        tensor<512x6144xbf16>
    ```
  }];
  let arguments = !con((ins Sched_TileType:$value, AnyRankedTensor:$tensor), access, (ins Sched_Via:$via));
  let assemblyFormat = [{
    $value `to` $tensor custom<Access>($over, $indices, type($indices), $map, $guard, $limits) `via` $via attr-dict `:` type($value)
    `,` type($tensor)
  }];
}

def Sched_ShareOp : Sched_Op<"share", [Pure]> {
  let summary = "Put a tile from registers into shared memory";
  let description = [{
    Constraints: (share_c1) the same axes and elements, from registers to shared memory.

    ```mlir
    %s = emmy_sched.share %a : !emmy_sched.tile<[m: 64, k: 16] x f32, register> -> !emmy_sched.tile<[m: 64, k: 16] x f32, shared>
    ```
  }];
  let arguments = (ins Sched_TileType:$value);
  let results = (outs Sched_TileType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def Sched_FillOp : Sched_Op<"fill", [Pure]> {
  let summary = "A tile with one number in every element";
  let description = [{
    Constraints: (fill_c1) the number has the tile's element type.

    ```mlir
    %z = emmy_sched.fill 0.0 : f32 -> !emmy_sched.tile<[m: 128, n: 256] x f32, register>
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Sched_TileType:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let hasVerifier = 1;
}

def Sched_IndexOp : Sched_Op<"index", [Pure]> {
  let summary = "An affine expression of the axes as i64 elements";
  let description = [{
    Constraints: (index_c1) the map has one result over the axes in `over`, which the tile spans.

    ```mlir
    %d = emmy_sched.index over [m, n] at m - n + s0 -> !emmy_sched.tile<[m: 128, n: 128] x i64, register>
    ```
  }];
  let arguments = (ins ArrayAttr:$over, AffineMapAttr:$map);
  let results = (outs Sched_TileType:$result);
  let assemblyFormat = "custom<Index>($over, $map) attr-dict `->` type($result)";
  let hasVerifier = 1;
}

def Sched_MapOp : Sched_Op<"map", [Pure, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Apply scalar operations to the elements of tiles";
  let description = [{
    Operands broadcast to the union of their axes.

    Constraints: (map_c1) the result's axes are the union of the operands'; (map_c2) block arguments and the yielded value have the
    element types.

    ```mlir
    %y = emmy_sched.map(%c, %r) : (!emmy_sched.tile<[m: 64, n: 64] x f32, register>, !emmy_sched.tile<[m: 64] x f32, register>)
        -> !emmy_sched.tile<[m: 64, n: 64] x f32, register> {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      emmy_sched.yield %p : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Sched_TileType>:$inputs);
  let results = (outs Sched_TileType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $result) $body";
  let hasVerifier = 1;
}

def Sched_ReduceOp : Sched_Op<"reduce", [Pure]> {
  let summary = "Combine the elements of a tile along axes";
  let description = [{
    Elements past the end of an axis do not count. The result's element type is the type of accumulation.

    Constraints: (reduce_c1) every axis in `over` is an axis of the operand and none of the result; the others stay.

    ```mlir
    %s = emmy_sched.reduce add %a over [n] : !emmy_sched.tile<[m: 4, n: 4096] x f32, register> -> !emmy_sched.tile<[m: 4] x f32, register>
    ```
  }];
  let arguments = (ins Sched_Combiner:$kind, Sched_TileType:$input, ArrayAttr:$over);
  let results = (outs Sched_TileType:$result);
  let assemblyFormat = "$kind $input `over` custom<AxisNames>($over) attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Sched_MmaOp : Sched_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "Multiply two tiles along the axes that only they have, and add to an accumulator";
  let description = [{
    Rows of the accumulator are those of `a`, columns those of `b`.

    Constraints: (mma_c1) the accumulator's axes are those of the operands without the shared ones it lacks; (mma_c2) at least one axis
    is contracted; (mma_c3) operands have equal element types.

    ```mlir
    %d = emmy_sched.mma %a, %b into %c : !emmy_sched.tile<[m: 128, k: 64] x bf16, shared>,
        !emmy_sched.tile<[n: 256, k: 64] x bf16, shared> -> !emmy_sched.tile<[m: 128, n: 256] x f32, register>
    ```
  }];
  let arguments = (ins Sched_TileType:$a, Sched_TileType:$b, Sched_TileType:$acc);
  let results = (outs Sched_TileType:$result);
  let assemblyFormat = "$a `,` $b `into` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
}

#endif // EMMY_SCHED_OPS_TD
