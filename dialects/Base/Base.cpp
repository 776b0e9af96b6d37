// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Base/Base.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace emmy;

#include "dialects/Base/BaseDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Base/BaseAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Base/BaseOps.cpp.inc"

void BaseDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Base/BaseAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Base/BaseOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> emitError) const {
  if (getSizes().size() != shape.size()) // dims_c1
    return emitError() << "expects " << shape.size() << " sizes in the encoding, but got " << getSizes().size();
  for (auto [i, dim, size] : llvm::enumerate(shape, getSizes())) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    bool isStatic = constant && constant.getValue() >= 0;
    if (ShapedType::isDynamic(dim) ? isStatic : !isStatic || constant.getValue() != dim) { // dims_c2
      InFlightDiagnostic diagnostic = emitError() << "expects the encoding to have ";
      if (ShapedType::isDynamic(dim))
        return diagnostic << "no number for dynamic dimension #" << i << ", but got " << constant.getValue();
      return diagnostic << dim << " for dimension #" << i << ", but got another size";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

TargetAttr TargetAttr::forChip(MLIRContext *context, StringRef chip) {
  auto name = StringAttr::get(context, chip);
  if (chip == "sm_90a") // H200: 4.25 TB/s and about 1.65 GHz are what sustained kernels reach
    return get(context, name, 132, 232448, 65536, 50 << 20, 4250, 1650);
  if (chip == "sm_80")
    return get(context, name, 108, 166912, 65536, 40 << 20, 1750, 1410);
  if (chip == "cpu")
    return get(context, name, 1, 0, 0, 1 << 20, 20, 3000);
  return {};
}

TargetAttr TargetAttr::of(Operation *op) {
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto target = at->getAttrOfType<TargetAttr>(kTargetAttr))
      return target;
  return forChip(op->getContext(), "sm_90a");
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom(*this, getKernelAttr()))
    return emitOpError("names kernel '") << getKernel() << "', but the module has no such symbol";
  std::optional<ArrayRef<int64_t>> tied = getTied();
  if (tied && tied->size() % 2)
    return emitOpError("expects pairs (result, operand) in 'tied', but got ") << tied->size() << " numbers";
  ArrayRef<int64_t> pairs = tied.value_or(ArrayRef<int64_t>());
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i] < 0 || pairs[i] >= getNumResults() || pairs[i + 1] < 0 || pairs[i + 1] >= getNumOperands())
      return emitOpError("ties result #") << pairs[i] << " to operand #" << pairs[i + 1] << ", but has " << getNumResults()
                                          << " results and " << getNumOperands() << " operands";
  return success();
}
