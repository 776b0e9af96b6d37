// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The extension `emmy._mlir_libs._emmy`: dialects, passes and the code generator's entry points.
#include "emmy-c/Emmy.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"

NB_MODULE(_emmy, m) {
  m.doc() = "Emmy's dialects and passes for MLIR's Python bindings";
  emmyRegisterPasses();
  m.def("register_dialects", [](MlirContext context) { emmyRegisterDialects(context); },
        "Make Emmy's dialects known to a context and load them.");
}
