// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From a module in the llvm dialect to text in LLVM's IR or to code in this process.
#ifndef EMMY_TARGET_CPU_H
#define EMMY_TARGET_CPU_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlir {
class DialectRegistry;
}

namespace emmy {

/// The llvm dialect, and what translates it and builtin ops to LLVM's IR.
void registerLlvmTranslation(mlir::DialectRegistry &registry);

/// LLVM's IR of `module` as text.
llvm::Expected<std::string> translateToLlvmIr(mlir::ModuleOp module);

/// Machine code of a module for this machine; it lives as long as the object.
class CpuCode {
public:
  static llvm::Expected<std::unique_ptr<CpuCode>> compile(mlir::ModuleOp module);
  ~CpuCode();
  /// Address of function `symbol`.
  llvm::Expected<uint64_t> getAddress(llvm::StringRef symbol) const;

private:
  struct Impl;
  explicit CpuCode(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace emmy

#endif // EMMY_TARGET_CPU_H
