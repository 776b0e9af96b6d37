// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_FUSE_TYPES_TD
#define EMMY_FUSE_TYPES_TD

include "dialects/Fuse/FuseDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Fuse_ValueType : TypeDef<Fuse_Dialect, "Value"> {
  let mnemonic = "value";
  let summary = "An element for every point of some axes of the kernel";
  let description = [{
    Axes are in the order in which the kernel declares them. `!emmy_fuse.value<[] x f32>` is one scalar.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr", "axes">:$axes, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool hasAxis(::mlir::StringAttr axis) const { return ::llvm::is_contained(getAxes(), axis); }
  }];
}

def Fuse_AxisAttr : AttrDef<Fuse_Dialect, "Axis"> {
  let mnemonic = "axis";
  let summary = "A named axis and its size";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::AffineExpr":$size);
  let hasCustomAssemblyFormat = 1;
}

def Fuse_Combiner : I32EnumAttr<"Combiner", "how a reduction combines elements", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"any", 4>, I32EnumAttrCase<"all", 5>]> {
  let cppNamespace = "::emmy::fuse";
  let genSpecializedAttr = 0;
}
def Fuse_CombinerAttr : EnumAttr<Fuse_Dialect, Fuse_Combiner, "combiner"> {
  let assemblyFormat = "$value";
}

#endif // EMMY_FUSE_TYPES_TD
