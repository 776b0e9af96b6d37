// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_BASE_ATTRS_TD
#define EMMY_BASE_ATTRS_TD

include "dialects/Base/BaseDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class Base_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Base_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

/// A list of affine expressions over symbols (`s0`, `s1`, …), written `[s0, 4096, s0 * 2]`.
def Base_Exprs : ArrayRefParameter<"::mlir::AffineExpr", "affine expressions over symbols"> {
  let parser = "::emmy::parseExprs($_parser)";
  let printer = "::emmy::printExprs($_printer, $_self)";
}

def Base_Expr : AttrOrTypeParameter<"::mlir::AffineExpr", "an affine expression over symbols"> {
  let parser = "::emmy::parseExpr($_parser)";
  let printer = "::emmy::printExpr($_printer, $_self)";
}

def Base_DimsAttr : Base_Attr<"Dims", "dims", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Sizes of a tensor, one expression over symbols for each dimension";
  let description = [{
    The encoding of a tensor type with a dynamic dimension; also a plain list of sizes, such as a grid.
    Two sizes are equal only when their expressions are.

    Constraints, as an encoding: (dims_c1) there is one size for each dimension; (dims_c2) a static dimension has its number, a dynamic
    one no number that could be static.

    ```mlir
    func.func private @f(tensor<?x4096xbf16, #emmy.dims<[s0, 4096]>>)
    ```
  }];
  let parameters = (ins Base_Exprs:$sizes);
  let assemblyFormat = "`<` $sizes `>`";
}

def Base_LayoutAttr : Base_Attr<"Layout", "layout"> {
  let summary = "Strides in elements and base alignment in bytes of a tensor argument";
  let description = [{
    An argument without one is contiguous in row-major order and 16-byte aligned.

    ```mlir
    func.func private @f(tensor<4x8xf32> {emmy.layout = #emmy.layout<strides = [s1, 1], align = 4>})
    ```
  }];
  let parameters = (ins Base_Exprs:$strides, "int64_t":$align);
  let assemblyFormat = "`<` `strides` `=` $strides `,` `align` `=` $align `>`";
}

def Base_TargetAttr : Base_Attr<"Target", "target"> {
  let summary = "The machine that a module is compiled for, with every number a pass may need";
  let description = [{
    No pass asks the machine it runs on. `TargetAttr::forChip` gives the numbers of a known chip.

    ```mlir
    module attributes {emmy.target = #emmy.target<"sm_90a", sms = 132, shared = 232448, registers = 65536,
                       l2 = 52428800, hbm = 4250, clock = 1650>} {}
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$chip,
    "int64_t":$sms,        // multiprocessors
    "int64_t":$shared,     // bytes of shared memory one CTA can have
    "int64_t":$registers,  // 32-bit registers of a multiprocessor
    "int64_t":$l2,         // bytes
    "int64_t":$hbm,        // achievable GB/s
    "int64_t":$clock       // sustained MHz
  );
  let assemblyFormat = [{
    `<` $chip `,` `sms` `=` $sms `,` `shared` `=` $shared `,` `registers` `=` $registers `,` `l2` `=` $l2 `,`
    `hbm` `=` $hbm `,` `clock` `=` $clock `>`
  }];
  let extraClassDeclaration = [{
    /// The numbers of `chip` ("sm_90a", "sm_80", "cpu"); null for an unknown one.
    static TargetAttr forChip(::mlir::MLIRContext *context, ::llvm::StringRef chip);
    /// The target of the module around `op`; sm_90a where the module names none.
    static TargetAttr of(::mlir::Operation *op);
    bool isCpu() const { return getChip() == "cpu"; }
    bool hasWgmma() const { return getChip() == "sm_90a"; }
    /// Launches that begin before the kernel ahead of them has ended.
    bool hasDependentLaunch() const { return getChip() == "sm_90a"; }
  }];
}

// How a launch fills a kernel argument. `operand` counts the launch's operands, then its results.

def Base_BindPointerAttr : Base_Attr<"BindPointer", "bind_pointer"> {
  let summary = "A kernel argument that is the address of a launch operand";
  let parameters = (ins "int64_t":$operand);
  let assemblyFormat = "`<` $operand `>`";
}

def Base_BindSizeAttr : Base_Attr<"BindSize", "bind_size"> {
  let summary = "A kernel argument that is an expression over symbols";
  let parameters = (ins Base_Expr:$size);
  let assemblyFormat = "`<` $size `>`";
}

def Base_BindTmaAttr : Base_Attr<"BindTma", "bind_tma"> {
  let summary = "A kernel argument that is a TMA descriptor of a launch operand";
  let description = [{
    The tensor as the copy engine sees it, outermost dimension first: sizes in elements, strides in bytes for all but the
    innermost dimension (whose stride is one element), an offset in bytes. Box, element type and swizzle are those of the
    argument's `!emmy_tile.tmap` type. Views, merged and split dimensions are expressed here, not by a copy.

    ```mlir
    #emmy.bind_tma<0, sizes = [s0, 4096], strides = [8192], offset = 0, l2_promotion = 256>
    ```
  }];
  let parameters = (ins "int64_t":$operand, Base_Exprs:$sizes, Base_Exprs:$strides, Base_Expr:$offset, "int64_t":$l2Promotion);
  let assemblyFormat = [{
    `<` $operand `,` `sizes` `=` $sizes `,` `strides` `=` $strides `,` `offset` `=` $offset `,`
    `l2_promotion` `=` $l2Promotion `>`
  }];
}

#endif // EMMY_BASE_ATTRS_TD
