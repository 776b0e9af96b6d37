// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What may be one kernel, and what it costs: judged on the kernel itself, not on the ops it came from.
#ifndef EMMY_LIB_CONVERSION_GRAPHTOFUSE_LEGALITY_H
#define EMMY_LIB_CONVERSION_GRAPHTOFUSE_LEGALITY_H

#include "KernelDag.h"
#include "dialects/Base/Base.h"

namespace emmy {

/// How a kernel runs: element by element, with reductions along one set of axes, as one class of contractions with work on
/// their results, or streaming scores that contractions consume.
enum class KernelClass { Pointwise, Reduction, Contraction, Streaming };

struct Verdict {
  KernelClass kind = KernelClass::Pointwise;
  std::string reason; // why it may not be one kernel; empty where it may
  bool isLegal() const { return reason.empty(); }
};

Verdict judge(const KernelDag &dag, TargetAttr target);

/// Bytes that the loads under `node` read once, by the estimate of sizes.
double estimateLoadBytes(const KernelDag &dag, unsigned node);
/// Bytes of a tensor, by the estimate of sizes.
double estimateBytes(const IndexMath &math, mlir::Value value);
/// Points of the axes, by the estimate of sizes.
double estimatePoints(const KernelDag &dag, llvm::ArrayRef<unsigned> axes);

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_GRAPHTOFUSE_LEGALITY_H
