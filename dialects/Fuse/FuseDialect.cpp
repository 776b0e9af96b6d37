// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect, its types and attributes, and the helpers of the kernel op.
#include "dialects/Fuse/Fuse.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace emmy::fuse;

#include "dialects/Fuse/FuseDialect.cpp.inc"
#include "dialects/Fuse/FuseEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Fuse/FuseAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Fuse/FuseTypes.cpp.inc"

namespace {
/// Constants stay in the region of the map that uses them.
struct FuseFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final { return isa<MapOp>(region->getParentOp()); }
};
} // namespace

void FuseDialect::initialize() {
  addInterfaces<FuseFoldInterface>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Fuse/FuseTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Fuse/FuseAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Fuse/FuseOps.cpp.inc"
      >();
}

Type ValueType::parse(AsmParser &parser) {
  SmallVector<StringAttr> axes;
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  Type element;
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) ||
      parser.parseKeyword("x") || parser.parseType(element) || parser.parseGreater())
    return {};
  return get(parser.getContext(), axes, element);
}

void ValueType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getAxes(), printer.getStream(), [&](StringAttr axis) { printer << axis.getValue(); });
  printer << "] x " << getElementType() << '>';
}

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  if (parser.parseLess() || parser.parseKeyword(&name) || parser.parseEqual())
    return {};
  FailureOr<AffineExpr> size = emmy::parseExpr(parser);
  if (failed(size) || parser.parseGreater())
    return {};
  return get(parser.getContext(), parser.getBuilder().getStringAttr(name), *size);
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '<' << getName().getValue() << " = ";
  emmy::printExpr(printer, getSize());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Kernel helpers
//===----------------------------------------------------------------------===//

AxisAttr KernelOp::getAxis(StringRef name) {
  for (auto axis : getAxes().getAsRange<AxisAttr>())
    if (axis.getName().getValue() == name)
      return axis;
  return {};
}

AxisAttr KernelOp::getAxis(StringAttr name) { return getAxis(name.getValue()); }

SmallVector<StringAttr> KernelOp::orderAxes(ArrayRef<StringAttr> axes) {
  SmallVector<StringAttr> ordered;
  for (auto axis : getAxes().getAsRange<AxisAttr>())
    if (llvm::is_contained(axes, axis.getName()))
      ordered.push_back(axis.getName());
  return ordered;
}

emmy::LayoutAttr KernelOp::getLayout(unsigned index) {
  std::optional<ArrayAttr> attrs = getArgAttrs();
  if (!attrs || index >= attrs->size())
    return {};
  return cast<DictionaryAttr>((*attrs)[index]).getAs<LayoutAttr>(kLayoutAttr);
}
