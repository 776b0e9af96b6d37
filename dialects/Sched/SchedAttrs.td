// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_SCHED_ATTRS_TD
#define EMMY_SCHED_ATTRS_TD

include "dialects/Sched/SchedTypes.td"

class Sched_Attr<string name, string attrMnemonic> : AttrDef<Sched_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Sched_AxisAttr : Sched_Attr<"Axis", "axis"> {
  let summary = "A named axis, its size, its block, and how blocks are visited";
  let description = [{
    `grid` blocks go to different CTAs (or to one persistent CTA in turn), `serial` blocks to a `pipeline` loop, a `whole` axis is one
    block.

    ```mlir
    #emmy_sched.axis<m = s0 by 128 grid>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::AffineExpr":$size, "int64_t":$block, "::emmy::sched::AxisKind":$kind);
  let hasCustomAssemblyFormat = 1;
}

def Sched_Multicast : Sched_Enum<"Multicast", "the operand that the CTAs of a cluster share", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"a", 1>, I32EnumAttrCase<"b", 2>]>;

def Sched_MmaKind : Sched_Enum<"MmaKind", "the unit that multiplies", [
    I32EnumAttrCase<"wgmma", 0>, I32EnumAttrCase<"mma_sync", 1>, I32EnumAttrCase<"fma", 2>]>;

def Sched_ContractionAttr : Sched_Attr<"Contraction", "contraction"> {
  let summary = "A schedule of a kernel around one contraction";
  let description = [{
    `tile` names the axis that gives the rows of the accumulator, then that of its columns, with their blocks; the operand over the rows
    is `a`, the other `b`. `step` is the block of the contracted axis, `stages` the blocks of it in flight, `consumers` the warpgroups (or,
    without wgmma, the warps) that multiply. CTAs of a `cluster` are stacked along the axis that the `multicast` operand lacks and each
    loads its share of it for all. `raster` row blocks are visited before the next column block. `wait` wgmma groups stay in flight.
    `epilogue` says how results leave. `persistent` CTAs take blocks in turn.

    ```mlir
    #emmy_sched.contraction<tile = [m: 128, n: 256], step = 64, stages = 4, consumers = 2, cluster = 2, multicast = b, raster = 8,
                            wait = 1, epilogue = tma, mma = wgmma, persistent>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$rowAxis, "int64_t":$rows, "::mlir::StringAttr":$columnAxis, "int64_t":$columns,
                        "int64_t":$step, "int64_t":$stages, "int64_t":$consumers, "int64_t":$cluster,
                        "::emmy::sched::Multicast":$multicast, "int64_t":$raster, "int64_t":$wait, "::emmy::sched::Via":$epilogue,
                        "::emmy::sched::MmaKind":$mma, "bool":$persistent);
  let hasCustomAssemblyFormat = 1;
}

def Sched_ChainAttr : Sched_Attr<"Chain", "chain"> {
  let summary = "A schedule of a fold whose products feed products";
  let description = [{
    `rows` names the axis of the rows and its block, 64 for each of the `consumers` (warpgroups); `over` the fold's axis and its block.
    `stages` are the blocks in flight of the operands of the products along other axes, then of those along the fold's axis.
    `registers` are a producer's and a consumer's. Row blocks of `section` points of the remaining axes are visited together, the last
    rows first with `last_first`. `epilogue` says how results leave.

    ```mlir
    #emmy_sched.chain<rows = [m: 128], over = [n: 128], stages = [2, 2], consumers = 2, registers = [24, 240], section = 8,
                      epilogue = tma, last_first>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$rowAxis, "int64_t":$rows, "::mlir::StringAttr":$foldAxis, "int64_t":$step,
                        "int64_t":$scoreStages, "int64_t":$valueStages, "int64_t":$consumers, "int64_t":$producerRegisters,
                        "int64_t":$consumerRegisters, "int64_t":$section, "::emmy::sched::Via":$epilogue, "bool":$lastFirst);
  let hasCustomAssemblyFormat = 1;
}

def Sched_RangeAttr : Sched_Attr<"Range", "range"> {
  let summary = "The part of a serial axis that a pipeline has to visit, from the blocks of other axes";
  let description = [{
    Expressions are over where the blocks of `over` start. Elements before some expression of `from`, or at or past some of `to`, change
    nothing that the pipeline carries. Between all of `plain … to …`, operations in the body that are marked `emmy_sched.plain` are true.

    ```mlir
    #emmy_sched.range<over [m] from [0] to [m + 128, s0] plain [0] to [m + 1, s0]>
    ```
  }];
  let parameters = (ins "::mlir::ArrayAttr":$over, ArrayRefParameter<"::mlir::AffineExpr">:$from, ArrayRefParameter<"::mlir::AffineExpr">:$to,
                        ArrayRefParameter<"::mlir::AffineExpr">:$plainFrom, ArrayRefParameter<"::mlir::AffineExpr">:$plainTo);
  let hasCustomAssemblyFormat = 1;
}

def Sched_StreamingAttr : Sched_Attr<"Streaming", "streaming"> {
  let summary = "A schedule of a kernel that streams its tensors through registers";
  let description = [{
    `block` gives each axis' elements in one tile, in the kernel's order (an axis left out has 1), `threads` how many threads stand along
    it; their product is the CTA. Axes in `serial` are visited block by block in a loop, in as many passes as reductions depend on each
    other; an axis that is reduced and not serial is one block. Registers are contiguous along the `vector` axis, so that many elements
    of it move at once where a tensor's layout allows.

    ```mlir
    #emmy_sched.streaming<block = [m: 4, n: 1024], threads = [m: 4, n: 32], serial = [], vector = [n: 8]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes, ArrayRefParameter<"int64_t">:$blocks,
                        ArrayRefParameter<"int64_t">:$threads, ArrayRefParameter<"::mlir::StringAttr">:$serial,
                        "::mlir::StringAttr":$vectorAxis, "int64_t":$vector);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Elements of `axis` in one tile.
    int64_t getBlock(::mlir::StringAttr axis) const;
    /// Threads along `axis`.
    int64_t getThreads(::mlir::StringAttr axis) const;
    bool isSerial(::mlir::StringAttr axis) const { return ::llvm::is_contained(getSerial(), axis); }
    int64_t getNumThreads() const;
  }];
}

#endif // EMMY_SCHED_ATTRS_TD
