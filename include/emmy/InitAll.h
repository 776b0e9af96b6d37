// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One call each for all dialects, passes and pipelines; what a tool or a binding needs to know of the compiler.
#ifndef EMMY_INITALL_H
#define EMMY_INITALL_H

namespace mlir {
class DialectRegistry;
}

namespace emmy {

void registerAllDialects(mlir::DialectRegistry &registry);
void registerAllPasses();

} // namespace emmy

#endif // EMMY_INITALL_H
