// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect itself.
#include "dialects/Sched/Sched.h"

using namespace mlir;
using namespace emmy::sched;

#include "dialects/Sched/SchedDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Sched/SchedOps.cpp.inc"

void SchedDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Sched/SchedOps.cpp.inc"
      >();
}
