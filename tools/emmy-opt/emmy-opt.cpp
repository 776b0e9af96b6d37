// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mlir-opt with Emmy's dialects and passes.
#include "emmy/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  emmy::registerAllDialects(registry);
  emmy::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "emmy-opt: the compiler's passes on .mlir files", registry));
}
