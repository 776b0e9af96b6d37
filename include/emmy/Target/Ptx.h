// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From gpu.modules in the nvvm dialect to LLVM's IR and PTX.
#ifndef EMMY_TARGET_PTX_H
#define EMMY_TARGET_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace emmy {

/// What translates the gpu, nvvm, llvm and builtin dialects, and what `--gpu-module-to-binary` needs.
void registerPtxTranslation(mlir::DialectRegistry &registry);

/// PTX of each gpu.module by its name, optimised for `chip`. Inline PTX of the nvvm dialect must have been made explicit before, as
/// `--emmy-tile-to-nvvm` does.
llvm::Expected<std::map<std::string, std::string>> translateToPtx(mlir::ModuleOp module, llvm::StringRef chip);

/// LLVM's IR of each gpu.module by its name, not optimised.
llvm::Expected<std::map<std::string, std::string>> translateKernelsToLlvmIr(mlir::ModuleOp module);

} // namespace emmy

#endif // EMMY_TARGET_PTX_H
