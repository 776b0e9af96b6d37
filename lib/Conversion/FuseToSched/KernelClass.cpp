// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The list of kernel classes.
#include "KernelClass.h"
#include "Chain.h"
#include "Contraction.h"
#include "Streaming.h"

using namespace mlir;

namespace emmy {

ArrayRef<KernelClass> getKernelClasses() {
  static const KernelClass classes[] = {
      contraction::getClass(),
      chain::getClass(),
      streaming::getClass(), // last: it takes any kernel
  };
  return classes;
}

const KernelClass *findClass(Attribute schedule) {
  for (const KernelClass &known : getKernelClasses())
    if (known.owns(schedule))
      return &known;
  return nullptr;
}

const KernelClass *findClass(const KernelView &view) {
  for (const KernelClass &known : getKernelClasses())
    if (known.matches(view))
      return &known;
  return nullptr;
}

std::optional<std::string> violatedRule(Attribute schedule, const KernelView &view, TargetAttr target) {
  const KernelClass *known = findClass(schedule);
  if (!known)
    return "it is not a schedule of any kernel class";
  if (!known->matches(view))
    return ("the kernel is not of the class '" + known->name + "'").str();
  return known->violation(schedule, view, target);
}

} // namespace emmy
