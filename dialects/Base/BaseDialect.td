// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_BASE_DIALECT_TD
#define EMMY_BASE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Base_Dialect : Dialect {
  let name = "emmy";
  let cppNamespace = "::emmy";
  let summary = "What all levels share: sizes, layouts, targets, launch bindings and the host program";
  let description = [{
    The host program calls kernels with `emmy.launch`; kernels of every level (`emmy_fuse.kernel`, `emmy_sched.program`,
    `emmy_tile.kernel`) are symbols beside it. Sizes are affine expressions over symbols; symbol `s3` is the same size
    wherever it occurs in a module, and `emmy.symbols` on the host function holds the range of each.

    Discardable attributes: `emmy.symbols`, `emmy.param` (an argument that is a module's parameter, by its name),
    `emmy.layout` (strides and alignment of an argument), `emmy.bind` (how a launch fills a kernel argument),
    `emmy.target`, `emmy.plan`.
  }];
  let useDefaultAttributePrinterParser = 1;
}

#endif // EMMY_BASE_DIALECT_TD
