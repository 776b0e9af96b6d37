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
    A schedule is a readable attribute on an `emmy_fuse.kernel`. Applied, it makes an `emmy_sched.program`: loops over tiles, tiles
    as values in shared memory or registers, the unit that computes each step, but no barrier and no thread.
  }];
  let dependentDialects = ["::emmy::BaseDialect"];
}

#endif // EMMY_SCHED_DIALECT_TD
