// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect and its tile type.
#include "dialects/Sched/Sched.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace emmy::sched;

#include "dialects/Sched/SchedDialect.cpp.inc"
#include "dialects/Sched/SchedEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Sched/SchedTypes.cpp.inc"

void SchedDialect::initialize() {
  registerAttrs();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Sched/SchedTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Sched/SchedOps.cpp.inc"
      >();
}

/// `<[m: 128, k: 64] x bf16, shared>`
Type TileType::parse(AsmParser &parser) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseColon() || parser.parseInteger(sizes.emplace_back()))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  Type element;
  StringRef spelled;
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) || parser.parseKeyword("x") ||
      parser.parseType(element) || parser.parseComma())
    return {};
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&spelled))
    return {};
  std::optional<Level> level = symbolizeLevel(spelled);
  if (!level)
    return parser.emitError(at, "expects register or shared, but got ") << spelled, Type();
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), axes, sizes, element, *level);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip(getAxes(), getSizes()), printer.getStream(), [&](auto axis) {
    printer << std::get<0>(axis).getValue() << ": " << std::get<1>(axis);
  });
  printer << "] x " << getElementType() << ", " << stringifyLevel(getLevel()) << '>';
}

int64_t TileType::getSize(StringAttr axis) const {
  for (auto [name, size] : llvm::zip(getAxes(), getSizes()))
    if (name == axis)
      return size;
  return 1;
}

//===----------------------------------------------------------------------===//
// Program helpers
//===----------------------------------------------------------------------===//

AxisAttr ProgramOp::getAxis(StringAttr name) {
  for (auto axis : getAxes().getAsRange<AxisAttr>())
    if (axis.getName() == name)
      return axis;
  return {};
}

TileType ProgramOp::getTile(ArrayRef<StringAttr> axes, Type element, Level level) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (auto axis : getAxes().getAsRange<AxisAttr>())
    if (axis.getBlock() != 1 && llvm::is_contained(axes, axis.getName())) {
      names.push_back(axis.getName());
      sizes.push_back(axis.getBlock());
    }
  return TileType::get(getContext(), names, sizes, element, level);
}

emmy::LayoutAttr ProgramOp::getLayout(unsigned index) {
  std::optional<ArrayAttr> attrs = getArgAttrs();
  if (!attrs || index >= attrs->size())
    return {};
  return cast<DictionaryAttr>((*attrs)[index]).getAs<LayoutAttr>(kLayoutAttr);
}
