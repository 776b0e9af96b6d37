// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Classes of kernels: what each recognises, how it may be scheduled, and the program a schedule makes. A class is one entry in
// `getKernelClasses`, its functions in files of its own; a lowering of the programs it makes stands in SchedToTile/ProgramClass.h.
#ifndef EMMY_LIB_CONVERSION_FUSETOSCHED_KERNELCLASS_H
#define EMMY_LIB_CONVERSION_FUSETOSCHED_KERNELCLASS_H

#include "KernelView.h"
#include "dialects/Sched/Sched.h"

namespace emmy {

/// A legal schedule and what the cost model expects of it.
struct Candidate {
  mlir::Attribute schedule;
  double microseconds;
  std::string limit; // such as "tensor cores 97 %"
};

struct KernelClass {
  llvm::StringRef name;
  /// Whether kernels like this one belong to the class.
  bool (*matches)(const KernelView &view);
  /// Whether an attribute is a schedule of the class.
  bool (*owns)(mlir::Attribute schedule);
  /// The rule that `schedule` violates on this kernel, as text; nothing if it is legal. `schedule` is one the class owns.
  std::optional<std::string> (*violation)(mlir::Attribute schedule, const KernelView &view, TargetAttr target);
  /// What the cost model expects of a legal schedule.
  Candidate (*rate)(mlir::Attribute schedule, const KernelView &view, TargetAttr target);
  /// Legal schedules, in no order.
  llvm::SmallVector<Candidate> (*enumerate)(const KernelView &view, TargetAttr target);
  /// The program of a legal schedule, placed before the kernel under the same name; null after an error.
  sched::ProgramOp (*apply)(const KernelView &view, mlir::Attribute schedule, TargetAttr target);
};

/// In order of preference.
llvm::ArrayRef<KernelClass> getKernelClasses();
/// The class whose schedule `attribute` is; null if none.
const KernelClass *findClass(mlir::Attribute schedule);
/// The first class that matches; null if none.
const KernelClass *findClass(const KernelView &view);

/// The rule that `schedule` violates on a kernel, as text; nothing if it is legal.
std::optional<std::string> violatedRule(mlir::Attribute schedule, const KernelView &view, TargetAttr target);

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_FUSETOSCHED_KERNELCLASS_H
