// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The C functions behind the Python extension `_emmy`.
#include "emmy-c/Emmy.h"
#include "emmy/InitAll.h"
#include "mlir/CAPI/IR.h"

void emmyRegisterDialects(MlirContext context) {
  mlir::DialectRegistry registry;
  emmy::registerAllDialects(registry);
  unwrap(context)->appendDialectRegistry(registry);
  unwrap(context)->loadAllAvailableDialects();
}

void emmyRegisterPasses(void) { emmy::registerAllPasses(); }
