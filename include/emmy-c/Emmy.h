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
/// Makes what passes say of their choices remarks to the diagnostic handlers of `context`.
MLIR_CAPI_EXPORTED void emmyEnableRemarks(MlirContext context);
/// Makes all passes and pipelines known to the pass manager's text form. Call once in a process.
MLIR_CAPI_EXPORTED void emmyRegisterPasses(void);
/// The `#emmy.target` of a chip ("sm_90a", "sm_80", "cpu"); null for an unknown one.
MLIR_CAPI_EXPORTED MlirAttribute emmyTargetAttrGetForChip(MlirContext context, MlirStringRef chip);

/// LLVM's IR of a module in the llvm dialect, given to `callback`. False with the reason given to it instead.
MLIR_CAPI_EXPORTED bool emmyTranslateToLlvmIr(MlirModule module, MlirStringCallback callback, void *userData);

/// Receives one text for each kernel.
typedef void (*EmmyKernelTextCallback)(MlirStringRef kernel, MlirStringRef text, void *userData);
/// PTX for `chip` of each gpu.module that `--emmy-tile-to-nvvm` made. False with the reason given to `error`.
MLIR_CAPI_EXPORTED bool emmyTranslateToPtx(MlirModule module, MlirStringRef chip, EmmyKernelTextCallback each,
                                           MlirStringCallback error, void *userData, void *errorData);
/// LLVM's IR of each gpu.module. False with the reason given to `error`.
MLIR_CAPI_EXPORTED bool emmyTranslateKernelsToLlvmIr(MlirModule module, EmmyKernelTextCallback each, MlirStringCallback error,
                                                     void *userData, void *errorData);

/// Machine code for this machine.
typedef struct EmmyCpuCode {
  void *ptr;
} EmmyCpuCode;
/// Compiles a module in the llvm dialect. Null with the reason given to `error`.
MLIR_CAPI_EXPORTED EmmyCpuCode emmyCpuCodeCompile(MlirModule module, MlirStringCallback error, void *userData);
MLIR_CAPI_EXPORTED void emmyCpuCodeDestroy(EmmyCpuCode code);
/// Address of a function, which is valid until the code is destroyed. 0 with the reason given to `error`.
MLIR_CAPI_EXPORTED uint64_t emmyCpuCodeGetAddress(EmmyCpuCode code, MlirStringRef symbol, MlirStringCallback error, void *userData);

/// Runs emmy_tile kernels of `module` on the simulator. `steps` is JSON; python/emmy/simulator.py describes and writes it.
/// Buffer i has `sizes[i]` bytes at `data[i]`. `output` gets what was run, as JSON, or the diagnostics where the result is false.
MLIR_CAPI_EXPORTED bool emmySimulate(MlirModule module, MlirStringRef steps, void *const *data, const int64_t *sizes, intptr_t count,
                                     uint64_t seed, MlirStringRef schedule, MlirStringCallback output, void *userData);

#ifdef __cplusplus
}
#endif

#endif // EMMY_C_EMMY_H
