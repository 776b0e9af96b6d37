// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Text form and look-ups of the streaming schedule.
#include "dialects/Sched/Sched.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace emmy::sched;

/// `[m: 4, n: 1024]`
static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<StringAttr> &names, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseColon() || parser.parseInteger(numbers.emplace_back()))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  });
}

static void printNumbers(AsmPrinter &printer, ArrayRef<StringAttr> names, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(names, numbers), printer.getStream(), [&](auto pair) {
    printer << std::get<0>(pair).getValue() << ": " << std::get<1>(pair);
  });
  printer << ']';
}

Attribute StreamingAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes, threadAxes, serial, vectorAxes;
  SmallVector<int64_t> blocks, threads, vectors;
  auto parseName = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    serial.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  auto parseField = [&](StringRef field) -> ParseResult { return failure(parser.parseKeyword(field) || parser.parseEqual()); };
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parseField("block") || parseNumbers(parser, axes, blocks) || parser.parseComma() ||
      parseField("threads") || parseNumbers(parser, threadAxes, threads) || parser.parseComma() || parseField("serial") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseName) || parser.parseComma() || parseField("vector") ||
      parseNumbers(parser, vectorAxes, vectors) || parser.parseGreater())
    return {};
  bool oneVector = vectors.size() == 1 && llvm::is_contained(axes, vectorAxes[0]);
  if (axes != threadAxes || !(oneVector || (axes.empty() && vectors.empty())))
    return parser.emitError(at, "expects the same axes in 'block' and 'threads', and one of them in 'vector'"), Attribute();
  StringAttr vectorAxis = oneVector ? vectorAxes[0] : StringAttr();
  return get(parser.getContext(), axes, blocks, threads, serial, vectorAxis, oneVector ? vectors[0] : 1);
}

void StreamingAttr::print(AsmPrinter &printer) const {
  printer << "<block = ";
  printNumbers(printer, getAxes(), getBlocks());
  printer << ", threads = ";
  printNumbers(printer, getAxes(), getThreads());
  printer << ", serial = [";
  llvm::interleaveComma(getSerial(), printer.getStream(), [&](StringAttr axis) { printer << axis.getValue(); });
  printer << "], vector = ";
  if (getVectorAxis())
    printNumbers(printer, getVectorAxis(), getVector());
  else
    printer << "[]";
  printer << '>';
}

static int64_t lookUp(StringAttr axis, ArrayRef<StringAttr> axes, ArrayRef<int64_t> numbers) {
  for (auto [name, number] : llvm::zip(axes, numbers))
    if (name == axis)
      return number;
  return 1;
}

int64_t StreamingAttr::getBlock(StringAttr axis) const { return lookUp(axis, getAxes(), getBlocks()); }
int64_t StreamingAttr::getThreads(StringAttr axis) const { return lookUp(axis, getAxes(), getThreads()); }

int64_t StreamingAttr::getNumThreads() const {
  int64_t product = 1;
  for (int64_t threads : getThreads())
    product *= threads;
  return product;
}
