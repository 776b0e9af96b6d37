// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The streaming class as scheduling knows it. Its time is that of memory, for every legal schedule alike.
#include "Streaming.h"

using namespace mlir;

namespace emmy::streaming {

double tensorBytes(Type tensor, double unknown) {
  auto type = cast<RankedTensorType>(tensor);
  double bytes = llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  for (int64_t size : type.getShape())
    bytes *= ShapedType::isDynamic(size) ? unknown : size;
  return bytes;
}

static Candidate rate(Attribute schedule, const KernelView &view, TargetAttr target) {
  constexpr double launch = 2.0, unknown = 2048; // microseconds; elements of a symbolic axis
  double bytes = 0;
  for (Type tensor : view.kernel.getBody().getArgumentTypes())
    bytes += tensorBytes(tensor, unknown);
  return {schedule, launch + bytes / (target.getHbm() * 1e3), "memory"};
}

static SmallVector<Candidate> enumerate(const KernelView &view, TargetAttr target) {
  return {rate(pickSchedule(view.kernel, target), view, target)};
}

KernelClass getClass() {
  return {"streaming",
          [](const KernelView &) { return true; },
          [](Attribute schedule) { return isa<sched::StreamingAttr>(schedule); },
          [](Attribute schedule, const KernelView &view, TargetAttr target) {
            return checkSchedule(cast<sched::StreamingAttr>(schedule), view.kernel, target);
          },
          rate,
          enumerate,
          [](const KernelView &view, Attribute schedule, TargetAttr) {
            FailureOr<sched::ProgramOp> program = applySchedule(view.kernel, cast<sched::StreamingAttr>(schedule));
            return succeeded(program) ? *program : sched::ProgramOp();
          }};
}

} // namespace emmy::streaming
