// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect `emmy_sched`: schedules and tile programs.
#ifndef EMMY_DIALECTS_SCHED_SCHED_H
#define EMMY_DIALECTS_SCHED_SCHED_H

#include "dialects/Base/Base.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace emmy::sched {

/// Discardable attributes on an `emmy_fuse.kernel`.
constexpr llvm::StringLiteral kScheduleAttr = "emmy_sched.schedule";
constexpr llvm::StringLiteral kPredictedAttr = "emmy_sched.predicted";
constexpr llvm::StringLiteral kCandidatesAttr = "emmy_sched.candidates";
/// On an operation in a region of `map`: its result is true in the plain range of the pipeline around it.
constexpr llvm::StringLiteral kPlainAttr = "emmy_sched.plain";

} // namespace emmy::sched

#include "dialects/Sched/SchedDialect.h.inc"
#include "dialects/Sched/SchedEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Sched/SchedAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Sched/SchedTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Sched/SchedOps.h.inc"

#endif // EMMY_DIALECTS_SCHED_SCHED_H
