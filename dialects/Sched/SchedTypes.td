// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_SCHED_TYPES_TD
#define EMMY_SCHED_TYPES_TD

include "dialects/Sched/SchedDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Sched_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::emmy::sched";
}

def Sched_Level : Sched_Enum<"Level", "where a tile lives", [I32EnumAttrCase<"reg", 0, "register">, I32EnumAttrCase<"shared", 1>]>;

def Sched_Via : Sched_Enum<"Via", "how a tile travels between global memory and the CTA", [
    I32EnumAttrCase<"direct", 0>, I32EnumAttrCase<"tma", 1>, I32EnumAttrCase<"cp_async", 2>]>;

def Sched_AxisKind : Sched_Enum<"AxisKind", "how the blocks of an axis are visited", [
    I32EnumAttrCase<"grid", 0>, I32EnumAttrCase<"serial", 1>, I32EnumAttrCase<"whole", 2>]>;

def Sched_Combiner : Sched_Enum<"Combiner", "how a reduction combines elements", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"any", 4>, I32EnumAttrCase<"all", 5>]>;

def Sched_TileType : TypeDef<Sched_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "A block of elements over some axes of the program";
  let description = [{
    `!emmy_sched.tile<[m: 128, k: 64] x bf16, shared>`. Axes are in the program's order with the program's block sizes; an axis whose
    block is 1 does not appear. `!emmy_sched.tile<[] x f32, register>` is one scalar.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes, ArrayRefParameter<"int64_t">:$sizes,
                        "::mlir::Type":$elementType, "::emmy::sched::Level":$level);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool hasAxis(::mlir::StringAttr axis) const { return ::llvm::is_contained(getAxes(), axis); }
    /// Elements along `axis`; 1 if the tile does not span it.
    int64_t getSize(::mlir::StringAttr axis) const;
  }];
}

#endif // EMMY_SCHED_TYPES_TD
