// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect and its attributes.
#include "dialects/Tile/Tile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace emmy::tile;

#include "dialects/Tile/TileDialect.cpp.inc"
#include "dialects/Tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.cpp.inc"

void TileDialect::initialize() {
  registerTypes();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tile/TileOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Layout: <reg = [2:(0,1), …], lane = […], warp = […]>
//===----------------------------------------------------------------------===//

static ParseResult parseModes(AsmParser &parser, StringRef keyword, int64_t &rank, SmallVectorImpl<int64_t> &modes) {
  auto parseMode = [&]() -> ParseResult {
    int64_t size, count = 0;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseInteger(size) || parser.parseColon())
      return failure();
    modes.push_back(size);
    auto parseStride = [&]() -> ParseResult {
      int64_t stride;
      if (parser.parseInteger(stride))
        return failure();
      modes.push_back(stride);
      ++count;
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseStride))
      return failure();
    if (rank && rank != count)
      return parser.emitError(at, "expects ") << rank << " strides in each mode, but got " << count;
    rank = count;
    return success();
  };
  return failure(parser.parseKeyword(keyword) || parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseMode));
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  int64_t rank = 0;
  SmallVector<int64_t> reg, lane, warp;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parseModes(parser, "reg", rank, reg) || parser.parseComma() ||
      parseModes(parser, "lane", rank, lane) || parser.parseComma() || parseModes(parser, "warp", rank, warp) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(at, parser.getContext(), rank, reg, lane, warp);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  auto printModes = [&](StringRef keyword, ArrayRef<int64_t> modes) {
    printer << keyword << " = [";
    for (size_t i = 0; i < modes.size(); i += getRank() + 1) {
      printer << (i ? ", " : "") << modes[i] << ":(";
      llvm::interleave(modes.slice(i + 1, getRank()), printer.getStream(), [&](int64_t s) { printer << s; }, ",");
      printer << ')';
    }
    printer << ']';
  };
  printer << '<';
  printModes("reg", getReg());
  printer << ", ";
  printModes("lane", getLane());
  printer << ", ";
  printModes("warp", getWarp());
  printer << '>';
}

/// Stops multiplying beyond what any thread or CTA has, so that nothing overflows.
static int64_t countDigits(ArrayRef<int64_t> modes, int64_t rank) {
  int64_t product = 1;
  for (size_t i = 0; i < modes.size() && product <= LayoutAttr::maxRegisters; i += rank + 1)
    product *= std::min(modes[i], LayoutAttr::maxRegisters + 1);
  return product;
}

int64_t LayoutAttr::getNumRegisters() const { return countDigits(getReg(), getRank()); }
int64_t LayoutAttr::getNumWarps() const { return countDigits(getWarp(), getRank()); }

LogicalResult LayoutAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t rank, ArrayRef<int64_t> reg,
                                 ArrayRef<int64_t> lane, ArrayRef<int64_t> warp) {
  if (rank < 1)
    return emitError() << "expects a layout of at least one dimension";
  for (ArrayRef<int64_t> modes : {reg, lane, warp}) {
    if (modes.size() % (rank + 1))
      return emitError() << "expects a size and " << rank << " strides in each mode, but got " << modes.size() << " numbers";
    for (auto [i, number] : llvm::enumerate(modes))
      if (i % (rank + 1) == 0 ? number < 1 : number < 0)
        return emitError() << "expects positive sizes and no negative stride, but got " << number;
  }
  for (ArrayRef<int64_t> modes : {reg, lane, warp})
    for (size_t i = 0; i < modes.size(); ++i)
      if (i % (rank + 1) && modes[i] > std::numeric_limits<int32_t>::max())
        return emitError() << "expects strides below 2^31, but got " << modes[i];
  if (countDigits(lane, rank) != 32)
    return emitError() << "expects lane modes of 32 lanes in all, but got " << countDigits(lane, rank);
  if (countDigits(warp, rank) > 32)
    return emitError() << "expects warp modes of at most 32 warps in all";
  if (countDigits(reg, rank) > maxRegisters)
    return emitError() << "expects register modes of at most " << maxRegisters << " registers in all";
  return success();
}
