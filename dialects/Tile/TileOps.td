// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_TILE_OPS_TD
#define EMMY_TILE_OPS_TD

include "dialects/Base/BaseAttrs.td"
include "dialects/Tile/TileTypes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

/// An integer within the hardware's limits.
class Tile_Within<int low, int high> : ConfinedAttr<I64Attr, [IntMinValue<low>, IntMaxValue<high>]>;

/// A scalar of the element type of a pointer or buffer.
class Tile_ElementOf<string memory, string type, string scalar>
    : TypesMatchWith<"'" # scalar # "' has the element type of '" # memory # "'", memory, scalar,
                     "::llvm::cast<" # type # ">($_self).getElementType()">;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator, HasParent<"::mlir::ModuleOp">]> {
  let summary = "The program of one CTA";
  let description = [{
    Arguments are TMA descriptors, pointers and scalars; `emmy.bind` on each says how a launch fills it. `grid` counts CTAs as
    expressions over symbols, `cluster` is along x, `warps` counts all warps of the CTA.

    Constraints: (kernel_c1) warps between 1 and 32; (kernel_c2) cluster between 1 and 16; (kernel_c3) three grid sizes, below 2^31
    along x and 2^16 along y and z; (kernel_c4) shared memory within the target's; (kernel_c5) registers of the roles within the target's.

    ```mlir
    emmy_tile.kernel @copy(%x: !emmy_tile.ptr<f32> {emmy.bind = #emmy.bind_pointer<0>},
                           %n: i32 {emmy.bind = #emmy.bind_size<s0>}) grid [s0 ceildiv 1024, 1, 1] warps 4 {
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Base_DimsAttr:$grid, DefaultValuedAttr<I64Attr, "1">:$cluster, I64Attr:$warps,
                       UnitAttr:$pdl, OptionalAttr<ArrayAttr>:$argAttrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// `emmy.bind` of argument `index`; null if it has none.
    ::mlir::Attribute getBinding(unsigned index);
  }];
}

def Tile_WarpSpecializeOp : Tile_Op<"warp_specialize", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Give each warp of the CTA one of several programs";
  let description = [{
    Holds `role` ops, in the order of their warps. It comes last in a kernel; nothing but `return`-free teardown follows.

    ```mlir
    emmy_tile.warp_specialize {
      emmy_tile.role "producer" warps 1 registers 40 { … }
      emmy_tile.role "consumer" warpgroups 2 registers 232 { ^bb0(%wg: i32): … }
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Tile_RoleOp : Tile_Op<"role", [SingleBlock, NoTerminator, HasParent<"WarpSpecializeOp">]> {
  let summary = "The program of some warps";
  let description = [{
    With `warpgroups`, the unit is a warpgroup of four warps and the block argument counts them from 0; otherwise the unit is a
    single warp and the block argument counts warps. A role of warps occupies whole warpgroups of the CTA when any role has
    `registers` (setmaxnreg acts on warpgroups); its unused warps leave at once.

    Constraints: (role_c1) registers, where given, a multiple of 8 from 24 to 256.
  }];
  let arguments = (ins StrAttr:$name, Tile_Within<1, 32>:$units, BoolAttr:$warpgroups, OptionalAttr<I64Attr>:$registers);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_OneThreadOp : Tile_Op<"one_thread", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Run a region in one thread of the unit";
  let description = [{
    An elected lane of a warp, thread 0 of a warpgroup or CTA. Holds no fragment op and gives no results.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Tile_SpecialRegister : I32EnumAttr<"SpecialRegister", "a number of the running CTA", [
    I32EnumAttrCase<"cta_x", 0>, I32EnumAttrCase<"cta_y", 1>, I32EnumAttrCase<"cta_z", 2>,
    I32EnumAttrCase<"grid_x", 3>, I32EnumAttrCase<"grid_y", 4>, I32EnumAttrCase<"grid_z", 5>,
    I32EnumAttrCase<"cluster_rank", 6>, I32EnumAttrCase<"cluster_id", 7>, I32EnumAttrCase<"warp", 8>]> {
  let cppNamespace = "::emmy::tile";
}

def Tile_ReadOp : Tile_Op<"read", [Pure]> {
  let summary = "Read a number of the running CTA";
  let description = [{
    ```mlir
    %m = emmy_tile.read cta_x
    ```
  }];
  let arguments = (ins Tile_SpecialRegister:$which);
  let results = (outs I32:$result);
  let assemblyFormat = "$which attr-dict";
}

def Tile_RingSlotOp : Tile_Op<"ring_slot", [Pure]> {
  let summary = "Stage and parity of the n-th use of a ring";
  let description = [{
    stage = counter mod stages, parity = (counter / stages) mod 2; the counter counts uses from 0. A consumer waits for a full
    barrier with `parity`, a producer for an empty one with its complement.

    ```mlir
    %stage, %parity = emmy_tile.ring_slot %counter of 4
    ```
  }];
  let arguments = (ins I32:$counter, I64Attr:$stages);
  let results = (outs I32:$stage, I32:$parity);
  let assemblyFormat = "$counter `of` $stages attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shared memory and barriers
//===----------------------------------------------------------------------===//

def Tile_AllocOp : Tile_Op<"alloc"> {
  let summary = "Reserve shared memory for the whole kernel";
  let description = [{
    At the top of a kernel. Swizzled buffers are aligned to 1024 bytes, others to 16.

    ```mlir
    %a = emmy_tile.alloc : !emmy_tile.shared<4x128x64xbf16, swizzle = 128>
    %full = emmy_tile.alloc : !emmy_tile.barrier<4>
    ```
  }];
  let results = (outs AnyTypeOf<[Tile_SharedType, Tile_BarrierType]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SubviewOp : Tile_Op<"subview", [Pure]> {
  let summary = "Part of a shared buffer";
  let description = [{
    Offsets count elements of each dimension; the result keeps the strides and drops leading dimensions that its type does not
    name (they have size 1). Offsets into a swizzled buffer's rows are multiples of 8.

    ```mlir
    %s = emmy_tile.subview %a[%stage, %row, %zero] : !emmy_tile.shared<4x128x64xbf16, swizzle = 128>
        -> !emmy_tile.shared<64x64xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_SharedType:$source, Variadic<I32>:$offsets);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "$source `[` $offsets `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BarrierInitOp : Tile_Op<"barrier_init"> {
  let summary = "Set the arrivals that each barrier of an array expects";
  let description = [{ In one thread, before `fence_barrier_init` and a `sync` that all users pass. A phase counts below 2^20 arrivals. }];
  let arguments = (ins Tile_BarrierType:$barrier, Tile_Within<1, 1048575>:$arrivals);
  let assemblyFormat = "$barrier `,` $arrivals attr-dict `:` type($barrier)";
}

def Tile_FenceBarrierInitOp : Tile_Op<"fence_barrier_init"> {
  let summary = "Make initialised barriers visible to the cluster and the copy engine";
  let assemblyFormat = "attr-dict";
}

def Tile_BarrierArriveOp : Tile_Op<"barrier_arrive"> {
  let summary = "Count one arrival";
  let description = [{
    One thread of the unit arrives. With `to %rank` it arrives at that CTA's barrier of the cluster, with `to all` at every
    CTA's of the cluster.
  }];
  let arguments = (ins Tile_BarrierType:$barrier, I32:$index, Optional<I32>:$rank, UnitAttr:$all);
  let assemblyFormat = "$barrier `[` $index `]` (`to` $rank^)? (`to_all` $all^)? attr-dict `:` type($barrier)";
}

def Tile_BarrierExpectOp : Tile_Op<"barrier_expect"> {
  let summary = "Count one arrival and announce bytes that copies will deliver";
  let description = [{ One thread of the unit; the phase completes only when the bytes have landed too. A phase counts below 2^20 bytes. }];
  let arguments = (ins Tile_BarrierType:$barrier, I32:$index, Tile_Within<0, 1048575>:$bytes);
  let assemblyFormat = "$barrier `[` $index `]` `,` $bytes attr-dict `:` type($barrier)";
}

def Tile_BarrierWaitOp : Tile_Op<"barrier_wait"> {
  let summary = "Wait until the phase of that parity is complete";
  let description = [{ All threads of the unit wait. }];
  let arguments = (ins Tile_BarrierType:$barrier, I32:$index, I32:$parity);
  let assemblyFormat = "$barrier `[` $index `]` `parity` $parity attr-dict `:` type($barrier)";
}

def Tile_SyncScope : I32EnumAttr<"SyncScope", "threads that synchronise", [
    I32EnumAttrCase<"unit", 0>, I32EnumAttrCase<"role", 1>, I32EnumAttrCase<"cta", 2>, I32EnumAttrCase<"cluster", 3>]> {
  let cppNamespace = "::emmy::tile";
}

def Tile_SyncOp : Tile_Op<"sync"> {
  let summary = "Wait for all threads of the unit, role, CTA or cluster";
  let description = [{ Orders their shared-memory accesses. `cta` and `cluster` are for code outside roles. }];
  let arguments = (ins Tile_SyncScope:$scope);
  let assemblyFormat = "$scope attr-dict";
}

def Tile_FenceAsyncOp : Tile_Op<"fence_async"> {
  let summary = "Order this unit's shared-memory accesses before later ones of the copy engine and tensor cores";
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def Tile_TmaLoadOp : Tile_Op<"tma_load"> {
  let summary = "Copy a box of a tensor into shared memory and count its bytes on a barrier";
  let description = [{
    In one thread. Coordinates are in elements, outermost first; elements outside the tensor arrive as zeros and count in full.
    `multicast` is a mask of the cluster's CTAs that receive the box at the same offset and count its bytes on their barrier.
    `evict_first` and `evict_last` hint the L2 policy.

    Constraints: (tma_c1) one coordinate for each box dimension; (tma_c2) the buffer's shape is the box's without ones, element
    types and swizzles are equal, the buffer is contiguous.

    ```mlir
    emmy_tile.tma_load %map[%row, %col] to %s, %full[%stage] : !emmy_tile.tmap<128x64xbf16, swizzle = 128>,
        !emmy_tile.shared<128x64xbf16, swizzle = 128>, !emmy_tile.barrier<4>
    ```
  }];
  let arguments = (ins Tile_TmapType:$map, Variadic<I32>:$coords, Tile_SharedType:$target, Tile_BarrierType:$barrier, I32:$index,
                       OptionalAttr<Tile_Within<1, 65535>>:$multicast, UnitAttr:$evict_first, UnitAttr:$evict_last);
  let assemblyFormat = [{
    $map `[` $coords `]` `to` $target `,` $barrier `[` $index `]` (`multicast` $multicast^)? (`evict_first` $evict_first^)?
    (`evict_last` $evict_last^)? attr-dict `:` type($map) `,` type($target) `,` type($barrier)
  }];
  let hasVerifier = 1;
}

def Tile_TmaStoreOp : Tile_Op<"tma_store"> {
  let summary = "Copy a box from shared memory into a tensor";
  let description = [{
    In one thread, which commits and waits for it too. Elements outside the tensor are not written. With `add`, they are added
    to the tensor's. Constraints: tma_c1, tma_c2.
  }];
  let arguments = (ins Tile_SharedType:$source, Tile_TmapType:$map, Variadic<I32>:$coords, UnitAttr:$add);
  let assemblyFormat = [{
    $source `to` $map `[` $coords `]` (`add` $add^)? attr-dict `:` type($source) `,` type($map)
  }];
  let hasVerifier = 1;
}

def Tile_TmaCommitOp : Tile_Op<"tma_commit"> {
  let summary = "Close a group of TMA stores of this thread";
  let assemblyFormat = "attr-dict";
}

def Tile_TmaWaitOp : Tile_Op<"tma_wait"> {
  let summary = "Wait until at most some groups of this thread's TMA stores are pending";
  let description = [{ With `read`, only until their shared memory has been read. }];
  let arguments = (ins Tile_Within<0, 65535>:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
}

def Tile_CpAsyncOp : Tile_Op<"cp_async", [AttrSizedOperandSegments]> {
  let summary = "Copy a strided tile from global to shared memory, 4, 8 or 16 bytes at a time";
  let description = [{
    All threads of the unit share the work. Element (i, j, …) of the target comes from `source + offset + i·stride0 + j·stride1 …`;
    an index at or past its limit gives zero. `vector` is in elements: the innermost stride is 1, and offset, strides and limit
    keep that alignment.
  }];
  let arguments = (ins Tile_PtrType:$source, I64:$offset, Variadic<I64>:$strides, Variadic<I32>:$limits, Tile_SharedType:$target,
                       I64Attr:$vector);
  let assemblyFormat = [{
    $source `[` $offset `]` `strides` `(` $strides `)` `limits` `(` $limits `)` `to` $target `vector` $vector attr-dict
    `:` type($source) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Tile_CpAsyncCommitOp : Tile_Op<"cp_async_commit"> {
  let summary = "Close a group of the unit's asynchronous copies";
  let assemblyFormat = "attr-dict";
}

def Tile_CpAsyncWaitOp : Tile_Op<"cp_async_wait"> {
  let summary = "Wait until at most some groups of the unit's asynchronous copies are pending";
  let arguments = (ins Tile_Within<0, 65535>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A fragment with a scalar in every element";
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_UndefOp : Tile_Op<"undef", [Pure]> {
  let summary = "A fragment that the next `wgmma` with `zero` defines";
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_CoordOp : Tile_Op<"coord", [Pure]> {
  let summary = "The index of each element along a dimension, plus a base";
  let description = [{
    ```mlir
    %col = emmy_tile.coord 1 from %n0 : !emmy_tile.frag<64x128xi32, #acc>
    ```
  }];
  let arguments = (ins I64Attr:$dim, I32:$base);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = "$dim `from` $base attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [Pure, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Apply scalar operations to the elements of fragments";
  let description = [{
    Operands are fragments of one shape and layout, or scalars, which broadcast. The region yields the elements of the results.

    ```mlir
    %y = emmy_tile.map(%x, %s) : (!emmy_tile.frag<64x128xf32, #acc>, f32) -> !emmy_tile.frag<64x128xf32, #acc> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.mulf %a, %b : f32
      emmy_tile.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs Variadic<Tile_FragType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $outputs) $body";
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Combine the elements of a fragment along a dimension";
  let description = [{
    The region combines two elements; it must be associative and commutative. The result keeps the other dimensions; its layout is
    the operand's with the dimension's strides dropped, so threads that shared a line hold replicas. Where the line spans warps,
    `scratch` is shared memory of at least warps × result elements. The unit synchronises while using it, and before and after where
    other ops use it too.

    ```mlir
    %m = emmy_tile.reduce %x over 1 : !emmy_tile.frag<64x128xf32, #acc> -> !emmy_tile.frag<64xf32, #row> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      emmy_tile.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Tile_FragType:$input, I64Attr:$dim, Optional<Tile_SharedType>:$scratch);
  let results = (outs Tile_FragType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $input `over` $dim (`scratch` $scratch^ `:` type($scratch))? attr-dict-with-keyword `:` type($input) `->` type($result) $body
  }];
  let hasVerifier = 1;
}

def Tile_AnyOp : Tile_Op<"any"> {
  let summary = "True if any element of a fragment is, in all threads of the unit";
  let description = [{
    A vote that makes a scalar of what threads found, so that the whole unit can branch on it: a branch around `wgmma` is uniform over
    the warpgroup. It also synchronises the unit.

    ```mlir
    %grow = emmy_tile.any %above : !emmy_tile.frag<64xi1, #row>
    ```
  }];
  let arguments = (ins Tile_FragType:$input);
  let results = (outs I1:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Repeat a fragment along a new dimension";
  let description = [{
    The operand's layout is the result's with the strides of `dim` dropped; no data moves between threads.

    ```mlir
    %f = emmy_tile.broadcast %r along 1 : !emmy_tile.frag<64xf32, #row> -> !emmy_tile.frag<64x128xf32, #acc>
    ```
  }];
  let arguments = (ins Tile_FragType:$input, I64Attr:$dim);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = "$input `along` $dim attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "Some rows and columns of a fragment, by registers alone";
  let description = [{
    The result holds the elements from `offsets` on; every thread finds its part in registers of its own, so lane and warp modes
    stay and register modes are cut. Constraints: (extract_c1) the registers of the result, moved by the offsets, are registers of
    the operand.

    ```mlir
    %p = emmy_tile.extract %c [0, 64] : !emmy_tile.frag<64x256xf32, #acc256> -> !emmy_tile.frag<64x64xf32, #acc64>
    ```
  }];
  let arguments = (ins Tile_FragType:$input, DenseI64ArrayAttr:$offsets);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = "$input $offsets attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["MapOp", "ReduceOp"]>]> {
  let summary = "The elements that a map or a reduction makes";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values `:` type($values) attr-dict";
}

//===----------------------------------------------------------------------===//
// Fragments and memory
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "Read a strided tile of global memory";
  let description = [{
    Element (i, j, …) comes from `source + offset + i·stride0 + j·stride1 …`, all in elements; an index at or past its limit
    gives zero, and so does an element whose `mask` is false. `vector` elements are read at once: the layout's registers are contiguous
    along the innermost dimension, whose stride is the constant 1, offset, strides and limit are multiples of it, and the mask is the
    same for all of them. With no `limits`, everything is inside.

    ```mlir
    %x = emmy_tile.load %p[%off] strides(%s0, %s1) limits(%rows, %cols) vector 8
        : !emmy_tile.ptr<bf16> -> !emmy_tile.frag<4x1024xbf16, #blocked>
    ```
  }];
  let arguments = (ins Tile_PtrType:$source, I64:$offset, Variadic<I64>:$strides, Variadic<I32>:$limits, Optional<Tile_FragType>:$mask,
                       DefaultValuedAttr<I64Attr, "1">:$vector, UnitAttr:$evict_first);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = [{
    $source `[` $offset `]` `strides` `(` $strides `)` (`limits` `(` $limits^ `)`)? (`mask` $mask^ `:` type($mask))?
    (`vector` $vector^)? (`evict_first` $evict_first^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "Write a strided tile of global memory";
  let description = [{
    Addresses, limits and `vector` as for `load`; of replicated elements one thread writes. With `add`, each element is added
    atomically to what is there, in no order. Constraints: (store_c1) with `add`, elements of 32 or 64 bits.
  }];
  let arguments = (ins Tile_FragType:$value, Tile_PtrType:$target, I64:$offset, Variadic<I64>:$strides, Variadic<I32>:$limits,
                       DefaultValuedAttr<I64Attr, "1">:$vector, UnitAttr:$add);
  let assemblyFormat = [{
    $value `to` $target `[` $offset `]` `strides` `(` $strides `)` (`limits` `(` $limits^ `)`)? (`vector` $vector^)? (`add` $add^)?
    attr-dict `:` type($value) `,` type($target)
  }];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather"> {
  let summary = "Read global memory at an offset of its own for every element";
  let description = [{ `offsets` are in elements; where `mask` is false the element is zero and nothing is read. }];
  let arguments = (ins Tile_PtrType:$source, Tile_FragType:$offsets, Optional<Tile_FragType>:$mask);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = [{
    $source `at` $offsets (`mask` $mask^ `:` type($mask))? attr-dict `:` type($source) `,` type($offsets) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScatterOp : Tile_Op<"scatter"> {
  let summary = "Write global memory at an offset of its own for every element";
  let description = [{
    As `gather`. Threads of one warp may write equal values to one place; different ones are a race, and so are writes of several
    warps, as for `store`. With `add`, all are added, atomically. Constraints: store_c1.
  }];
  let arguments = (ins Tile_FragType:$value, Tile_PtrType:$target, Tile_FragType:$offsets, Optional<Tile_FragType>:$mask, UnitAttr:$add);
  let assemblyFormat = [{
    $value `to` $target `at` $offsets (`mask` $mask^ `:` type($mask))? (`add` $add^)? attr-dict
    `:` type($value) `,` type($target) `,` type($offsets)
  }];
  let hasVerifier = 1;
}

def Tile_LoadScalarOp : Tile_Op<"load_scalar", [Tile_ElementOf<"source", "PtrType", "result">]> {
  let summary = "Read one element of global memory that the whole unit uses";
  let arguments = (ins Tile_PtrType:$source, I64:$offset);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $offset `]` attr-dict `:` type($source) `->` type($result)";
}

def Tile_AtomicAddOp : Tile_Op<"atomic_add", [Tile_ElementOf<"target", "PtrType", "value">, Tile_ElementOf<"target", "PtrType", "old">]> {
  let summary = "Add to one element of global memory and give the old value";
  let description = [{
    In one thread. With `acq_rel` it publishes what the thread knows to be written, and teaches it what earlier such additions to
    this element published: units that count on it after their writes leave the last arriver knowing all of them.

    ```mlir
    emmy_tile.sync unit
    emmy_tile.one_thread {
      %old = emmy_tile.atomic_add %count[%tile], %one acq_rel : !emmy_tile.ptr<i32>, i32 -> i32
      emmy_tile.put %old to %seen[%c0] : i32, !emmy_tile.shared<1xi32>
    }
    emmy_tile.sync unit
    ```
  }];
  let arguments = (ins Tile_PtrType:$target, I64:$offset, Tile_Scalar32:$value, UnitAttr:$acq_rel);
  let results = (outs Tile_Scalar32:$old);
  let assemblyFormat = [{
    $target `[` $offset `]` `,` $value (`acq_rel` $acq_rel^)? attr-dict `:` type($target) `,` type($value) `->` type($old)
  }];
}

def Tile_PutOp : Tile_Op<"put", [Tile_ElementOf<"target", "SharedType", "value">]> {
  let summary = "Write one element of shared memory";
  let description = [{
    In one thread. With `in_cta %rank`, of the buffer that this CTA of the cluster has in the same place (distributed shared
    memory): the CTA must have started, and must not exit before a `sync cluster` or a barrier that comes after the access.
  }];
  let arguments = (ins AnyType:$value, Tile_SharedType:$target, I32:$index, Optional<I32>:$rank);
  let assemblyFormat = "$value `to` $target `[` $index `]` (`in_cta` $rank^)? attr-dict `:` type($value) `,` type($target)";
  // Of this CTA's buffer.
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$target, "::mlir::Value":$index),
                            [{ build($_builder, $_state, value, target, index, ::mlir::Value()); }]>];
}

def Tile_GetOp : Tile_Op<"get", [Tile_ElementOf<"source", "SharedType", "result">]> {
  let summary = "Read one element of shared memory that the whole unit uses";
  let description = [{ `in_cta` as for `put`. }];
  let arguments = (ins Tile_SharedType:$source, I32:$index, Optional<I32>:$rank);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $index `]` (`in_cta` $rank^)? attr-dict `:` type($source) `->` type($result)";
  // Of this CTA's buffer.
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source, "::mlir::Value":$index),
                            [{ build($_builder, $_state, result, source, index, ::mlir::Value()); }]>];
}

def Tile_LoadSharedOp : Tile_Op<"load_shared"> {
  let summary = "Read a shared buffer into a fragment of its shape";
  let description = [{
    With `matrix`, by ldmatrix: 16-bit elements and a layout that ldmatrix can fill. With `transpose`, element (i, j) is the
    buffer's (j, i). `in_cta` as for `put`. Constraints: (load_shared_c1) no `matrix` with `in_cta`.

    ```mlir
    %theirs = emmy_tile.load_shared %part in_cta %peer : !emmy_tile.shared<16x64xf32> -> !emmy_tile.frag<16x64xf32, #tile>
    ```
  }];
  let arguments = (ins Tile_SharedType:$source, Optional<I32>:$rank, UnitAttr:$matrix, UnitAttr:$transpose);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = [{
    $source (`in_cta` $rank^)? (`matrix` $matrix^)? (`transpose` $transpose^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  // Of this CTA's buffer.
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source, "::mlir::UnitAttr":$matrix, "::mlir::UnitAttr":$transpose),
                            [{ build($_builder, $_state, result, source, ::mlir::Value(), matrix, transpose); }]>];
}

def Tile_StoreSharedOp : Tile_Op<"store_shared"> {
  let summary = "Write a fragment into a shared buffer of its shape";
  let description = [{
    With `matrix`, by stmatrix: 16-bit elements in the accumulator's layout. `transpose` and `in_cta` as for `load_shared`, and
    load_shared_c1.
  }];
  let arguments = (ins Tile_FragType:$value, Tile_SharedType:$target, Optional<I32>:$rank, UnitAttr:$matrix, UnitAttr:$transpose);
  let assemblyFormat = [{
    $value `to` $target (`in_cta` $rank^)? (`matrix` $matrix^)? (`transpose` $transpose^)? attr-dict
    `:` type($value) `,` type($target)
  }];
  let hasVerifier = 1;
  // Of this CTA's buffer.
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$target, "::mlir::UnitAttr":$matrix, "::mlir::UnitAttr":$transpose),
                            [{ build($_builder, $_state, value, target, ::mlir::Value(), matrix, transpose); }]>];
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

def Tile_WgmmaFenceOp : Tile_Op<"wgmma_fence"> {
  let summary = "Order earlier register and shared-memory accesses before the next `wgmma`";
  let assemblyFormat = "attr-dict";
}

def Tile_WgmmaOp : Tile_Op<"wgmma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "Multiply-accumulate 64 rows by n columns on the tensor cores, asynchronously";
  let description = [{
    acc(64 × n) += a(64 × k) · b(n × k)^T, in steps of k16 (16-bit), k8 (tf32) or k32 (8-bit). `a` is shared memory
    (`64×64` or, for a longer k, panels `p×64×64`, both K-major) or a fragment in the accumulator's layout; `b` is shared memory:
    K-major `n×64` or `p×n×64`, or with `transpose_b` MN-major, `k×64` or `p×k×64` where panel q holds columns 64·q and on.
    With `zero`, the accumulator's old value is not read. The result is defined only after a `wgmma_wait` that covers the group.

    Constraints: (wgmma_c1) n a multiple of 8 from 8 to 256; (wgmma_c2) k agrees; (wgmma_c3) 128-byte swizzle on shared operands;
    (wgmma_c4) the accumulator's layout is that of m64nN.
  }];
  let arguments = (ins AnyTypeOf<[Tile_SharedType, Tile_FragType]>:$a, Tile_SharedType:$b, Tile_FragType:$acc, UnitAttr:$transpose_b,
                       UnitAttr:$zero);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`transpose_b` $transpose_b^)? (`zero` $zero^)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_WgmmaCommitOp : Tile_Op<"wgmma_commit"> {
  let summary = "Close a group of this warpgroup's `wgmma`";
  let assemblyFormat = "attr-dict";
}

def Tile_WgmmaWaitOp : Tile_Op<"wgmma_wait"> {
  let summary = "Wait until at most some `wgmma` groups are pending, and give the fragments they made or read";
  let description = [{
    The results are the operands, defined. Fragments that a pending `wgmma` reads as its register operand belong here too, so
    that nothing overwrites them before.

    ```mlir
    %c2 = emmy_tile.wgmma_wait 0 %c : !emmy_tile.frag<64x256xf32, #acc> -> !emmy_tile.frag<64x256xf32, #acc>
    ```
  }];
  let arguments = (ins Tile_Within<0, 7>:$pending, Variadic<Tile_FragType>:$frags);
  let results = (outs Variadic<Tile_FragType>:$results);
  let assemblyFormat = "$pending ($frags^ `:` type($frags) `->` type($results))? attr-dict";
  let hasVerifier = 1;
}

def Tile_MmaOp : Tile_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "Multiply-accumulate fragments with mma.sync";
  let description = [{
    acc(m × n) += a(m × k) · b(n × k)^T over the warps of the unit; layouts are those of m16n8k16 (16-bit), m16n8k8 (tf32),
    repeated in registers and warps.
  }];
  let arguments = (ins Tile_FragType:$a, Tile_FragType:$b, Tile_FragType:$acc);
  let results = (outs Tile_FragType:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Launch order
//===----------------------------------------------------------------------===//

def Tile_PdlWaitOp : Tile_Op<"pdl_wait"> {
  let summary = "Wait until the kernels that this launch depends on have finished and flushed";
  let assemblyFormat = "attr-dict";
}

def Tile_PdlLaunchOp : Tile_Op<"pdl_launch"> {
  let summary = "Let dependent kernels begin their prologue";
  let assemblyFormat = "attr-dict";
}

#endif // EMMY_TILE_OPS_TD
