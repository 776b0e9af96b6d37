// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The C functions behind the Python extension `_emmy`.
#include "emmy-c/Emmy.h"
#include "dialects/Base/Base.h"
#include "emmy/InitAll.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/Remarks.h"

namespace {
/// Turns remarks into diagnostics, whose order does not depend on the threads that passes run on: `decision of @kernel: reason [pass]`.
class DiagnosticStreamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    mlir::InFlightDiagnostic diagnostic = mlir::emitRemark(remark.getLocation());
    diagnostic << remark.getRemarkName();
    if (remark.getFunction() != "<unknown function>")
      diagnostic << " of @" << remark.getFunction();
    for (const mlir::remark::detail::Remark::Arg &argument : remark.getArgs())
      diagnostic << ": " << argument.val;
    diagnostic << " [" << remark.getCombinedCategoryName() << "]";
  }
};
} // namespace

void emmyRegisterDialects(MlirContext context) {
  mlir::DialectRegistry registry;
  emmy::registerAllDialects(registry);
  unwrap(context)->appendDialectRegistry(registry);
  unwrap(context)->loadAllAvailableDialects();
}

void emmyEnableRemarks(MlirContext context) {
  mlir::remark::RemarkCategories categories;
  for (std::optional<std::string> *kind : {&categories.passed, &categories.missed, &categories.analysis, &categories.failed})
    *kind = "emmy-.*";
  // Fails only on an engine that is already there, which then stays.
  (void)mlir::remark::enableOptimizationRemarks(*unwrap(context), std::make_unique<DiagnosticStreamer>(),
                                                std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}

void emmyRegisterPasses(void) { emmy::registerAllPasses(); }

MlirAttribute emmyTargetAttrGetForChip(MlirContext context, MlirStringRef chip) {
  return wrap(emmy::TargetAttr::forChip(unwrap(context), llvm::StringRef(chip.data, chip.length)));
}
