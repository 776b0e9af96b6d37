// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_FUSE_DIALECT_TD
#define EMMY_FUSE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Fuse_Dialect : Dialect {
  let name = "emmy_fuse";
  let cppNamespace = "::emmy::fuse";
  let summary = "What runs together: one op for each kernel, an algebra of elements over named axes";
  let description = [{
    `emmy_fuse.kernel` is one kernel. Its axes are named and sized; the type of a value says over which axes it varies,
    `!emmy_fuse.value<[m, k] x f32>`. Operands of `map` broadcast to the union of their axes; `reduce` and `contract`
    remove axes; loads and stores carry affine maps from axes to tensor indices, so that views, transposes, slices and
    head groups are addressing and nothing else. Nothing here speaks of threads, tiles or memory levels.

    A kernel holds ops of this dialect and, inside their regions, ops of arith and math on scalars.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::emmy::BaseDialect"];
}

#endif // EMMY_FUSE_DIALECT_TD
