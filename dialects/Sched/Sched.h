// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect `emmy_sched`: schedules and tile programs.
#ifndef EMMY_DIALECTS_SCHED_SCHED_H
#define EMMY_DIALECTS_SCHED_SCHED_H

#include "dialects/Base/Base.h"

#include "dialects/Sched/SchedDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/Sched/SchedOps.h.inc"

#endif // EMMY_DIALECTS_SCHED_SCHED_H
