// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Text form of the schedule attributes: fields in any order, each at most once.
#include "dialects/Sched/Sched.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace emmy::sched;

#define GET_ATTRDEF_CLASSES
#include "dialects/Sched/SchedAttrs.cpp.inc"

void SchedDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Sched/SchedAttrs.cpp.inc"
      >();
}

/// A keyword that `symbolize` knows.
template <typename Enum>
static ParseResult parseEnum(AsmParser &parser, std::optional<Enum> (*symbolize)(StringRef), Enum &value) {
  StringRef spelled;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&spelled))
    return failure();
  std::optional<Enum> known = symbolize(spelled);
  if (!known)
    return parser.emitError(at, "does not know '") << spelled << "' here";
  value = *known;
  return success();
}

//===----------------------------------------------------------------------===//
// Axis: <m = s0 by 128 grid>
//===----------------------------------------------------------------------===//

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  int64_t block;
  AxisKind kind;
  if (parser.parseLess() || parser.parseKeyword(&name) || parser.parseEqual())
    return {};
  FailureOr<AffineExpr> size = emmy::parseExpr(parser);
  if (failed(size) || parser.parseKeyword("by") || parser.parseInteger(block) || parseEnum(parser, symbolizeAxisKind, kind) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), parser.getBuilder().getStringAttr(name), *size, block, kind);
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '<' << getName().getValue() << " = ";
  emmy::printExpr(printer, getSize());
  printer << " by " << getBlock() << ' ' << stringifyAxisKind(getKind()) << '>';
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

namespace {
/// The fields of a contraction schedule as they stand in the text; what is left out has the value given here.
struct ContractionFields {
  StringAttr rowAxis, columnAxis;
  int64_t rows = 0, columns = 0, step = 64, stages = 1, consumers = 1, cluster = 1, raster = 1, wait = 0;
  Multicast multicast = Multicast::none;
  Via epilogue = Via::direct;
  MmaKind mma = MmaKind::wgmma;
  bool persistent = false;

  /// `[m: 128, n: 256]`
  ParseResult parseTile(AsmParser &parser) {
    auto parseSide = [&](StringAttr &axis, int64_t &size) -> ParseResult {
      StringRef name;
      if (parser.parseKeyword(&name) || parser.parseColon() || parser.parseInteger(size))
        return failure();
      axis = parser.getBuilder().getStringAttr(name);
      return success();
    };
    return failure(parser.parseLSquare() || parseSide(rowAxis, rows) || parser.parseComma() || parseSide(columnAxis, columns) ||
                   parser.parseRSquare());
  }

  ParseResult parseField(AsmParser &parser) {
    StringRef field;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&field))
      return failure();
    if (field == "persistent")
      return persistent = true, success();
    if (parser.parseEqual())
      return failure();
    if (field == "tile")
      return parseTile(parser);
    if (field == "multicast")
      return parseEnum(parser, symbolizeMulticast, multicast);
    if (field == "epilogue")
      return parseEnum(parser, symbolizeVia, epilogue);
    if (field == "mma")
      return parseEnum(parser, symbolizeMmaKind, mma);
    int64_t *number = llvm::StringSwitch<int64_t *>(field)
                          .Case("step", &step)
                          .Case("stages", &stages)
                          .Case("consumers", &consumers)
                          .Case("cluster", &cluster)
                          .Case("raster", &raster)
                          .Case("wait", &wait)
                          .Default(nullptr);
    if (!number)
      return parser.emitError(at, "a contraction schedule has no field '") << field << "'";
    return parser.parseInteger(*number);
  }
};
} // namespace

Attribute ContractionAttr::parse(AsmParser &parser, Type) {
  ContractionFields f;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() { return f.parseField(parser); }))
    return {};
  if (!f.rowAxis)
    return parser.emitError(at, "a contraction schedule needs a tile such as [m: 128, n: 256]"), Attribute();
  return get(parser.getContext(), f.rowAxis, f.rows, f.columnAxis, f.columns, f.step, f.stages, f.consumers, f.cluster, f.multicast,
             f.raster, f.wait, f.epilogue, f.mma, f.persistent);
}

void ContractionAttr::print(AsmPrinter &printer) const {
  printer << "<tile = [" << getRowAxis().getValue() << ": " << getRows() << ", " << getColumnAxis().getValue() << ": " << getColumns()
          << "], step = " << getStep() << ", stages = " << getStages() << ", consumers = " << getConsumers()
          << ", cluster = " << getCluster() << ", multicast = " << stringifyMulticast(getMulticast()) << ", raster = " << getRaster()
          << ", wait = " << getWait() << ", epilogue = " << stringifyVia(getEpilogue()) << ", mma = " << stringifyMmaKind(getMma())
          << (getPersistent() ? ", persistent>" : ">");
}
