// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_TILE_DIALECT_TD
#define EMMY_TILE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "emmy_tile";
  let cppNamespace = "::emmy::tile";
  let summary = "The hardware program: warp roles, shared memory, mbarriers, TMA, tensor cores, register fragments";
  let description = [{
    `emmy_tile.kernel` is the program of one CTA. Control flow is scf on arith scalars. Scalars are uniform over the unit that
    executes them: the CTA, or inside a role each of its warps or warpgroups. What differs between threads lives in fragments
    only, whose layouts say which thread holds which element. Every op lowers alone; none stands for a whole operator.

    A level-form kernel holds ops of this dialect, scf, arith and, inside `map` and `reduce` regions, arith and math.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::emmy::BaseDialect"];
  let extraClassDeclaration = "void registerTypes();";
}

#endif // EMMY_TILE_DIALECT_TD
