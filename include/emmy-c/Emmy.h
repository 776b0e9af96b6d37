// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C interface of the compiler, used by the Python extension.
#ifndef EMMY_C_EMMY_H
#define EMMY_C_EMMY_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes all dialects that Emmy uses known to `context` and loads them.
MLIR_CAPI_EXPORTED void emmyRegisterDialects(MlirContext context);
/// Makes all passes and pipelines known to the pass manager's text form. Call once in a process.
MLIR_CAPI_EXPORTED void emmyRegisterPasses(void);

#ifdef __cplusplus
}
#endif

#endif // EMMY_C_EMMY_H
