// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowerings of tile programs, one for each class of kernels. A class is one entry in `lowerProgram`, its lowering a file of its own.
#ifndef EMMY_LIB_CONVERSION_SCHEDTOTILE_PROGRAMCLASS_H
#define EMMY_LIB_CONVERSION_SCHEDTOTILE_PROGRAMCLASS_H

#include "dialects/Sched/Sched.h"
#include "dialects/Tile/Tile.h"

namespace emmy {

/// Each puts an emmy_tile.kernel of the program's name before it, or emits an error. They do not erase the program.
mlir::LogicalResult lowerWgmmaContraction(sched::ProgramOp program, TargetAttr target);
mlir::LogicalResult lowerWgmmaChain(sched::ProgramOp program, TargetAttr target);
mlir::LogicalResult lowerPortableContraction(sched::ProgramOp program, TargetAttr target);
mlir::LogicalResult lowerStreaming(sched::ProgramOp program, TargetAttr target);

/// Calls the lowering that the program's schedule asks for.
mlir::LogicalResult lowerProgram(sched::ProgramOp program, TargetAttr target);

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_SCHEDTOTILE_PROGRAMCLASS_H
