// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The streaming class as scheduling knows it. Its time is that of memory, for every legal schedule alike.
#include "Streaming.h"

using namespace mlir;

namespace emmy::streaming {

/// Bytes of the kernel's tensors, symbolic sizes counted as `unknown`.
static double tensorBytes(fuse::KernelOp kernel, double unknown) {
  double total = 0;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    double bytes = llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
    for (int64_t size : type.getShape())
      bytes *= ShapedType::isDynamic(size) ? unknown : size;
    total += bytes;
  }
  return total;
}

static SmallVector<Candidate> enumerate(const KernelView &view, TargetAttr target) {
  constexpr double launch = 2.0, unknown = 2048; // microseconds; elements of a symbolic axis
  double microseconds = launch + tensorBytes(view.kernel, unknown) / (target.getHbm() * 1e3);
  return {{pickSchedule(view.kernel, target), microseconds, "memory"}};
}

KernelClass getClass() {
  return {"streaming",
          [](const KernelView &) { return true; },
          [](Attribute schedule) { return isa<sched::StreamingAttr>(schedule); },
          [](Attribute schedule, const KernelView &view, TargetAttr target) {
            return checkSchedule(cast<sched::StreamingAttr>(schedule), view.kernel, target);
          },
          enumerate,
          [](const KernelView &view, Attribute schedule, TargetAttr) {
            FailureOr<sched::ProgramOp> program = applySchedule(view.kernel, cast<sched::StreamingAttr>(schedule));
            return succeeded(program) ? *program : sched::ProgramOp();
          }};
}

} // namespace emmy::streaming
