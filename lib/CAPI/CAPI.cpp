// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The C functions behind the Python extension `_emmy`.
#include "emmy-c/Emmy.h"
#include "dialects/Base/Base.h"
#include "emmy/InitAll.h"
#include "mlir/CAPI/IR.h"

void emmyRegisterDialects(MlirContext context) {
  mlir::DialectRegistry registry;
  emmy::registerAllDialects(registry);
  unwrap(context)->appendDialectRegistry(registry);
  unwrap(context)->loadAllAvailableDialects();
}

void emmyRegisterPasses(void) { emmy::registerAllPasses(); }

MlirAttribute emmyTargetAttrGetForChip(MlirContext context, MlirStringRef chip) {
  return wrap(emmy::TargetAttr::forChip(unwrap(context), llvm::StringRef(chip.data, chip.length)));
}
