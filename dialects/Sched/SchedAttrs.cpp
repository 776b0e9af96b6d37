// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Text form of the schedule attributes: fields in any order, each once; nothing but a flag may be left out.
#include "dialects/Sched/Sched.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
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

/// One of an enumeration's keywords; its values count up from 0.
template <typename Enum>
static ParseResult parseEnum(AsmParser &parser, Enum &value) {
  StringRef spelled;
  SMLoc at = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&spelled)) || !symbolizeEnum<Enum>(spelled)) {
    SmallVector<StringRef> known;
    for (uint32_t i = 0; !stringifyEnum(static_cast<Enum>(i)).empty(); ++i)
      known.push_back(stringifyEnum(static_cast<Enum>(i)));
    InFlightDiagnostic error = parser.emitError(at, "expects one of ") << llvm::join(known, ", ");
    return spelled.empty() ? error : error << ", but got '" << spelled << "'";
  }
  value = *symbolizeEnum<Enum>(spelled);
  return success();
}

namespace {
/// The fields of a schedule's text as they come.
class FieldNames {
public:
  FieldNames(StringRef schedule, ArrayRef<StringRef> values, ArrayRef<StringRef> flags)
      : schedule(schedule), values(values), flags(flags) {}

  /// The name of the next field, with its `=` unless it is a flag. Refuses what is unknown or was there before.
  ParseResult parse(AsmParser &parser, StringRef &field) {
    SMLoc here = parser.getCurrentLocation();
    if (parser.parseKeyword(&field))
      return failure();
    bool isFlag = llvm::is_contained(flags, field);
    if (!isFlag && !llvm::is_contained(values, field))
      return parser.emitError(here, "a ") << schedule << " schedule has no field '" << field << "'; its fields are "
                                          << llvm::join(values, ", ") << ", " << llvm::join(flags, ", ");
    if (!seen.insert(field).second)
      return parser.emitError(here, "the field '") << field << "' is there twice";
    return isFlag ? success() : parser.parseEqual();
  }

  /// Whether all fields with a value were there.
  ParseResult checkComplete(AsmParser &parser, SMLoc here) const {
    SmallVector<StringRef> missing;
    llvm::copy_if(values, std::back_inserter(missing), [&](StringRef field) { return !seen.contains(field); });
    if (missing.empty())
      return success();
    return parser.emitError(here, "a ") << schedule << " schedule needs each of its fields, but has no " << llvm::join(missing, ", ");
  }

private:
  StringRef schedule;
  ArrayRef<StringRef> values, flags;
  llvm::SmallDenseSet<StringRef> seen;
};
} // namespace

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
  if (failed(size) || parser.parseKeyword("by") || parser.parseInteger(block) || parseEnum(parser, kind) ||
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
constexpr StringRef kContractionFields[] = {"tile",      "step",   "stages", "consumers", "cluster",
                                            "multicast", "raster", "wait",   "epilogue",  "mma"};
constexpr StringRef kContractionFlags[] = {"persistent"};

/// The fields of a contraction schedule as they stand in the text.
struct ContractionFields {
  FieldNames names{"contraction", kContractionFields, kContractionFlags};
  StringAttr rowAxis, columnAxis;
  int64_t rows = 0, columns = 0, step = 0, stages = 0, consumers = 0, cluster = 0, raster = 0, wait = 0;
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
    if (names.parse(parser, field))
      return failure();
    if (field == "persistent")
      return persistent = true, success();
    if (field == "tile")
      return parseTile(parser);
    if (field == "multicast")
      return parseEnum(parser, multicast);
    if (field == "epilogue")
      return parseEnum(parser, epilogue);
    if (field == "mma")
      return parseEnum(parser, mma);
    int64_t *number = llvm::StringSwitch<int64_t *>(field)
                          .Case("step", &step)
                          .Case("stages", &stages)
                          .Case("consumers", &consumers)
                          .Case("cluster", &cluster)
                          .Case("raster", &raster)
                          .Case("wait", &wait);
    return parser.parseInteger(*number);
  }
};
} // namespace

Attribute ContractionAttr::parse(AsmParser &parser, Type) {
  ContractionFields f;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() { return f.parseField(parser); }))
    return {};
  if (f.names.checkComplete(parser, at))
    return {};
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

//===----------------------------------------------------------------------===//
// Chain
//===----------------------------------------------------------------------===//

namespace {
constexpr StringRef kChainFields[] = {"rows", "over", "stages", "consumers", "registers", "section", "epilogue"};
constexpr StringRef kChainFlags[] = {"last_first"};

/// The fields of a chain schedule as they stand in the text.
struct ChainFields {
  FieldNames names{"chain", kChainFields, kChainFlags};
  StringAttr rowAxis, foldAxis;
  int64_t rows = 0, step = 0, scoreStages = 0, valueStages = 0, consumers = 0, producerRegisters = 0, consumerRegisters = 0, section = 0;
  Via epilogue = Via::direct;
  bool lastFirst = false;

  /// `[m: 128]`
  static ParseResult parseBlock(AsmParser &parser, StringAttr &axis, int64_t &size) {
    StringRef name;
    if (parser.parseLSquare() || parser.parseKeyword(&name) || parser.parseColon() || parser.parseInteger(size) || parser.parseRSquare())
      return failure();
    axis = parser.getBuilder().getStringAttr(name);
    return success();
  }

  static ParseResult parsePair(AsmParser &parser, int64_t &first, int64_t &second) {
    return failure(parser.parseLSquare() || parser.parseInteger(first) || parser.parseComma() || parser.parseInteger(second) ||
                   parser.parseRSquare());
  }

  ParseResult parseField(AsmParser &parser) {
    StringRef field;
    if (names.parse(parser, field))
      return failure();
    if (field == "last_first")
      return lastFirst = true, success();
    if (field == "rows")
      return parseBlock(parser, rowAxis, rows);
    if (field == "over")
      return parseBlock(parser, foldAxis, step);
    if (field == "stages")
      return parsePair(parser, scoreStages, valueStages);
    if (field == "registers")
      return parsePair(parser, producerRegisters, consumerRegisters);
    if (field == "epilogue")
      return parseEnum(parser, epilogue);
    return parser.parseInteger(field == "consumers" ? consumers : section);
  }
};
} // namespace

Attribute ChainAttr::parse(AsmParser &parser, Type) {
  ChainFields f;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() { return f.parseField(parser); }))
    return {};
  if (f.names.checkComplete(parser, at))
    return {};
  return get(parser.getContext(), f.rowAxis, f.rows, f.foldAxis, f.step, f.scoreStages, f.valueStages, f.consumers, f.producerRegisters,
             f.consumerRegisters, f.section, f.epilogue, f.lastFirst);
}

void ChainAttr::print(AsmPrinter &printer) const {
  printer << "<rows = [" << getRowAxis().getValue() << ": " << getRows() << "], over = [" << getFoldAxis().getValue() << ": " << getStep()
          << "], stages = [" << getScoreStages() << ", " << getValueStages() << "], consumers = " << getConsumers() << ", registers = ["
          << getProducerRegisters() << ", " << getConsumerRegisters() << "], section = " << getSection()
          << ", epilogue = " << stringifyVia(getEpilogue()) << (getLastFirst() ? ", last_first>" : ">");
}

//===----------------------------------------------------------------------===//
// Range: <over [m] from [0] to [m + 128] plain [0] to [m + 1]>
//===----------------------------------------------------------------------===//

Attribute RangeAttr::parse(AsmParser &parser, Type) {
  SmallVector<Attribute> over;
  SmallVector<StringRef> names;
  auto parseName = [&]() -> ParseResult {
    if (parser.parseKeyword(&names.emplace_back()))
      return failure();
    over.push_back(parser.getBuilder().getStringAttr(names.back()));
    return success();
  };
  if (parser.parseLess() || parser.parseKeyword("over") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseName))
    return {};
  SmallVector<AffineExpr> bounds[4];
  const StringRef keywords[] = {"from", "to", "plain", "to"};
  for (auto [keyword, exprs] : llvm::zip(keywords, bounds)) {
    if (parser.parseKeyword(keyword))
      return {};
    FailureOr<SmallVector<AffineExpr>> parsed = emmy::parseExprs(parser, names);
    if (failed(parsed))
      return {};
    exprs = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), parser.getBuilder().getArrayAttr(over), bounds[0], bounds[1], bounds[2], bounds[3]);
}

void RangeAttr::print(AsmPrinter &printer) const {
  SmallVector<StringRef> names;
  for (auto name : getOver().getAsRange<StringAttr>())
    names.push_back(name.getValue());
  printer << "<over [";
  llvm::interleaveComma(names, printer.getStream());
  printer << "] from ";
  emmy::printExprs(printer, getFrom(), names);
  printer << " to ";
  emmy::printExprs(printer, getTo(), names);
  printer << " plain ";
  emmy::printExprs(printer, getPlainFrom(), names);
  printer << " to ";
  emmy::printExprs(printer, getPlainTo(), names);
  printer << '>';
}
