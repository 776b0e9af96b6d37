// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_SCHED_DIALECT_TD
#define EMMY_SCHED_DIALECT_TD

include "mlir/IR/OpBase.td"

def Sched_Dialect : Dialect {
  let name = "emmy_sched";
  let cppNamespace = "::emmy::sched";
  let summary = "In which order and on which units: tiles as values at a memory level, loops, no synchronisation";
  let description = [{
    A schedule is a readable attribute on an `emmy_fuse.kernel` (`emmy_sched.schedule`), one attribute class for each class of
    kernels. Applied, it makes an `emmy_sched.program`: what one CTA does for one block of each axis. Tiles are values in registers
    or shared memory whose type names the axes they span; accesses carry the element's offset as one affine expression of the axes.
    There is no barrier and no thread here.

    Discardable attributes on a kernel: `emmy_sched.schedule`; `emmy_sched.predicted` (time and limiting resource, which nothing
    reads back); `emmy_sched.candidates` (the ranked list, on request).
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::emmy::BaseDialect"];
  let extraClassDeclaration = "void registerAttrs();";
}

#endif // EMMY_SCHED_DIALECT_TD
